"""What every source of accuracy offers a trade-off: the error as a function of how many samples go to each arm."""

from typing import Literal, Protocol, runtime_checkable

from labelworth.arrays import FloatArray

Source = Literal["asymptotic", "simulated"]


class Accuracy(Protocol):
    """Counts of samples per arm -> error.

    Arms are labeling rules; for classification they are "everything" (a labeled example) and "nothing" (an unlabeled
    one). What is already held, labels and unlabeled samples, is counted in and is not part of the counts.
    """

    @property
    def arms(self) -> tuple[str, ...]:
        """What the arms are called: specs of rules."""

    @property
    def labels_per_sample(self) -> FloatArray:
        """The expected number of labels that one sample of every arm costs, (n_arms,)."""

    @property
    def criterion(self) -> str:
        """What "error" means here; a name of `labelworth.fisher.criteria.CRITERIA`, "error" or "log_loss"."""

    @property
    def source(self) -> Source:
        """Where the figures come from."""

    def error(self, counts: FloatArray) -> float:
        """The error at these counts, (n_arms,); infinite where the model is not identified."""

    def standard_error(self, counts: FloatArray) -> float | None:
        """Of that figure, where it was sampled; None where it is exact."""


@runtime_checkable
class ConvexAccuracy(Accuracy, Protocol):
    """An error with a slope; where it is convex in the counts optima carry certificates."""

    @property
    def is_convex(self) -> bool:
        """Whether convexity is a theorem; False for a curve that sampling or bias correction may have bent."""

    @property
    def has_kinks(self) -> bool:
        """Whether there are counts at which a slope is one of many: no single plane may show what is best there."""

    def slope(self, counts: FloatArray) -> FloatArray:
        """A (sub)gradient of the error, (n_arms,): minus what one more sample of every arm is worth."""

    def open_directions(self, counts: FloatArray) -> tuple[str, ...]:
        """What these counts leave open, by the names of the parameters; empty if nothing, or if it is not known."""
