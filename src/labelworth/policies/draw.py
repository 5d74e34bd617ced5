"""What a policy drew: kept, so that the same labels can be hidden again."""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from labelworth.arrays import BoolArray, IntArray
from labelworth.data.protocol import DataT
from labelworth.errors import InvalidInputError

_SCHEMA = 1


@dataclass(frozen=True, eq=False)
class Draw:
    """The record of a policy applied to sequences.

    Attributes
    ----------
    policy : str
        The spec of the policy.
    rules : tuple of str
        The specs of its rules.
    seed : int
        Of the draw.
    offsets : integer array of shape (n_sequences + 1,)
        Where the sequences began.
    rule_of_sequence : integer array of shape (n_sequences,)
        Which of `rules` each sequence drew.
    labeled : boolean array of shape (n_tokens,)
        The positions to label.
    """

    policy: str
    rules: tuple[str, ...]
    seed: int
    offsets: IntArray
    rule_of_sequence: IntArray
    labeled: BoolArray

    def __post_init__(self) -> None:
        n_sequences = len(self.offsets) - 1
        fits = (
            n_sequences >= 0
            and self.offsets[0] == 0
            and (np.diff(self.offsets) >= 1).all()
            and self.labeled.shape == (int(self.offsets[-1]),)
            and self.rule_of_sequence.shape == (n_sequences,)
            and not ((self.rule_of_sequence < 0) | (self.rule_of_sequence >= len(self.rules))).any()
        )
        if not fits:
            raise InvalidInputError("This record of a draw does not fit together. Was it changed by hand?")

    @property
    def n_labels(self) -> int:
        """How many positions are to be labeled."""
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

    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON values; the positions are packed, a bit per token."""
        return {
            "schema": _SCHEMA,
            "policy": self.policy,
            "rules": list(self.rules),
            "seed": self.seed,
            "lengths": np.diff(self.offsets).tolist(),
            "rule_of_sequence": self.rule_of_sequence.tolist(),
            "labeled": base64.b64encode(np.packbits(self.labeled).tobytes()).decode("ascii"),
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "Draw":
        """Read what `to_json` gave.

        Raises
        ------
        InvalidInputError
            If the record is not whole.
        """
        if record.get("schema") != _SCHEMA:
            raise InvalidInputError(f"This is not the record of a draw, or of another version ({_SCHEMA} is known).")
        try:
            lengths = np.array(record["lengths"], dtype=np.int64)
            bits = np.frombuffer(base64.b64decode(record["labeled"], validate=True), dtype=np.uint8)
            offsets = np.concatenate([[0], np.cumsum(lengths)])
            if len(bits) != -(-int(offsets[-1]) // 8):
                raise InvalidInputError("This record of a draw does not fit together. Was it changed by hand?")
            return cls(
                str(record["policy"]),
                tuple(record["rules"]),
                int(record["seed"]),
                offsets,
                np.array(record["rule_of_sequence"], dtype=np.int64),
                np.unpackbits(bits, count=int(offsets[-1])).astype(bool),
            )
        except (KeyError, TypeError, OverflowError, binascii.Error) as error:
            raise InvalidInputError(f"This record of a draw is not whole: {error}.") from error
