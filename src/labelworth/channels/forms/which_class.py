"""Which class is it?"""

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.channels.forms.form import Accurate


@dataclass(frozen=True)
class WhichClass(Accurate):
    """Which class is it? A wrong answer is each of the others alike (one coin)."""

    def split(self, channel: str, classes: tuple[Hashable, ...]) -> tuple[tuple[str, ...], FloatArray, FloatArray]:
        size = len(classes)
        right = np.eye(size)
        return tuple(str(item) for item in classes), right, (1 - right) / (size - 1)
