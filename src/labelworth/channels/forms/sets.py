"""Which of these sets of classes is it in?"""

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.channels.forms.form import Accurate, require_known
from labelworth.errors import InvalidInputError


@dataclass(frozen=True)
class WhichSet(Accurate):
    """Which of these sets is it in? A right answer is each of the sets with the class alike."""

    sets: tuple[tuple[Hashable, ...], ...]

    def split(self, channel: str, classes: tuple[Hashable, ...]) -> tuple[tuple[str, ...], FloatArray, FloatArray]:
        sets = [require_known(channel, members, classes) for members in self.sets]
        holds = np.array([[item in members for members in sets] for item in classes], dtype=np.float64)
        parts = []
        for member, words, is_needed in ((holds, "no set", True), (1 - holds, "every set", self.accuracy < 1)):
            sums = member.sum(axis=1, keepdims=True)
            if is_needed and not sums.all():
                lost = classes[int(np.argmin(sums))]
                raise InvalidInputError(
                    f"The class {lost!r} is in {words} of channel {channel!r}, so a "
                    f"{'right' if words == 'no set' else 'wrong'} answer cannot be given."
                )
            parts.append(np.divide(member, sums, out=np.zeros_like(member), where=sums > 0))
        names = tuple(" or ".join(str(item) for item in members) for members in self.sets)
        return names, parts[0], parts[1]
