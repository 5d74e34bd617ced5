"""What a policy drew: kept, so that the same labels can be hidden again."""

from dataclasses import dataclass

import numpy as np

from labelworth.arrays import BoolArray, IntArray
from labelworth.data.protocol import DataT
from labelworth.errors import InvalidInputError


@dataclass(frozen=True, eq=False)
class Draw:
    """The record of a policy applied to sequences."""

    policy: str  # The spec of the policy.
    rules: tuple[str, ...]  # The specs of its rules.
    seed: int  # Of the draw.
    offsets: IntArray  # (n_sequences + 1,): Where the sequences began.
    rule_of_sequence: IntArray  # (n_sequences,): Which of `rules` each sequence drew.
    labeled: BoolArray  # (n_tokens,): The positions to label.

    @property
    def n_labels(self) -> int:
        return int(self.labeled.sum())

    def positions(self, sequence: int) -> IntArray:
        """The positions to label in one sequence."""
        return np.flatnonzero(self.labeled[self.offsets[sequence] : self.offsets[sequence + 1]])

    def hide(self, sequences: DataT) -> DataT:
        """Forget the labels at all other positions.

        Raises
        ------
        InvalidInputError
            If these are not sequences of the same lengths.
        """
        if not np.array_equal(sequences.lengths, np.diff(self.offsets)):
            raise InvalidInputError(
                f"The draw was made for {len(self.offsets) - 1} sequences with {int(self.offsets[-1])} tokens; these "
                f"are {sequences.n_samples} with {sequences.evidence.n_samples}, or of other lengths. Use the same "
                "data."
            )
        return sequences.hide(~self.labeled)
