"""A folder of shards, as commands take any data: fits walk through all of it, plans and checks take a sample."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.data.evidence import Evidence
from labelworth.data.sequences import Sequences
from labelworth.data.shards.features import in_memory
from labelworth.data.shards.folder import Shards
from labelworth.errors import InvalidInputError
from labelworth.estimators.storage import Reading

if TYPE_CHECKING:
    from labelworth.cli.options.data import DataOptions

_MOST_UNLABELED = 20_000
"""Rows without a label that plans and checks take into memory, beside all that have one."""
_SEED = 0


@dataclass(frozen=True, eq=False)
class ShardedData:
    """Documents or sequences in shards, each with labels or none."""

    shards: Shards
    options: "DataOptions"

    exported: ClassVar[None] = None
    y: ClassVar[None] = None
    classes: ClassVar[None] = None  # Named when the shards were made.
    offsets: ClassVar[None] = None

    @property
    def sample(self) -> str:
        return "sequence" if self.shards.manifest.holds_sequences else "document"

    @property
    def usual_model(self) -> str:
        usual = {"vectors": "gaussian", "words": "hidden-markov", "attributes": "conditional-random-field"}
        return usual.get(self.shards.manifest.kind, "multinomial")

    @property
    def holds_vectors(self) -> bool:
        return self.shards.manifest.kind == "vectors"

    @property
    def raw(self) -> "ShardedData":
        """Labels need no reading."""
        return self

    def evidence(self, classes: Sequence[Any] | None = None) -> Evidence:
        return self.shards.data.evidence

    @property
    def X(self) -> Any:
        """All of it, where it is. Words of documents are kept with how texts are read, as those of files are."""
        data = self.shards.data
        return data if isinstance(data, Sequences) else replace(data, feature_names=None)

    def X_for(self, estimator: Any) -> Any:
        """What plans and checks take: all that is labeled, and some of the rest, in memory."""
        return self._taken

    @cached_property
    def _taken(self) -> Any:
        data = self.X
        rest = np.flatnonzero(~data.is_labeled)
        drawn = np.random.default_rng(_SEED).permutation(rest)[:_MOST_UNLABELED]
        taken = data.take(np.sort(np.concatenate([np.flatnonzero(data.is_labeled), drawn])))
        return replace(taken, features=in_memory(taken.features))

    @property
    def sampling_notes(self) -> tuple[str, ...]:
        """What it means that not all rows were looked at."""
        n_taken, n_samples = self._taken.n_samples, self.n_samples
        if n_taken == n_samples:
            return ()
        return (
            f"Of {n_samples:,} {self.sample}s in shards {n_taken:,} were looked at: all that have a label and "
            f"{_MOST_UNLABELED:,} of the others, at random. What more unlabeled ones would add is not in the "
            "figures, and no more labels are planned than there are rows in the sample.",
        )

    @property
    def notes(self) -> tuple[str, ...]:
        return ()

    @property
    def reading(self) -> Reading:
        """How features were made, for the next file."""
        return Reading(vocabulary=self.shards.vocabulary)

    @property
    def n_samples(self) -> int:
        return self.shards.manifest.n_samples

    @property
    def sizes(self) -> dict[str, int]:
        if not self.shards.manifest.holds_sequences:
            return {"n_rows": self.n_samples}
        return {"n_sequences": self.n_samples, "n_tokens": self.shards.data.evidence.n_samples}

    def labels_and_tokens(self) -> tuple[FloatArray, FloatArray]:
        raise InvalidInputError("Times of annotation are read from a file of rows, not from shards.")

    def written(self) -> None:
        """Shards keep no texts."""

    def check(self, estimator: Any, *, specification: bool, policies: Sequence[str], **options: Any) -> Any:
        """Of the sample that plans take."""
        own = {"policies": policies} if self.shards.manifest.holds_sequences else {"specification": specification}
        return estimator.check(self._taken, **own, **options)

    def batches(self, path: Any) -> Any:
        raise InvalidInputError(
            "Batches are drawn from, and merged into, a file of rows with their texts, which shards do not keep. "
            "Give the file that they were made of."
        )
