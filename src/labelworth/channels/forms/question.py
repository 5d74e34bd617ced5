"""Is it one of these classes?"""

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.channels.forms.form import Accurate, Classes, require_known
from labelworth.errors import InvalidInputError


@dataclass(frozen=True)
class IsItOneOf(Accurate):
    """Is it one of these? Yes or no."""

    about: tuple[Hashable, ...]

    def split(self, channel: str, classes: tuple[Hashable, ...]) -> tuple[tuple[str, ...], FloatArray, FloatArray]:
        inside = self.inside(channel, classes)
        if inside.all():
            raise InvalidInputError(
                f"Channel {channel!r} asks whether it is one of {len(classes)} classes, and there are no others: "
                "the answer is yes."
            )
        right = np.stack([inside, 1 - inside], axis=1)
        return ("yes", "no"), right, right[:, ::-1]

    def inside(self, channel: str, classes: Classes) -> FloatArray:
        """One for each of the classes that are asked about, zero for others, (K,)."""
        about = require_known(channel, self.about, tuple(classes))
        return np.array([item in about for item in classes], dtype=np.float64)
