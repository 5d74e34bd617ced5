"""Information of a model too large to enumerate: complete part exact, missing part from draws of the model."""

from dataclasses import dataclass, field, replace

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.errors import InvalidInputError, MoreSamplesNeededError
from labelworth.fisher.fraction_information import FractionInformation
from labelworth.fisher.sampled_information import SampledInformation
from labelworth.fisher.score_moments import chunks, marginal_scores, score_spread
from labelworth.linalg.pencil import Pencil
from labelworth.models.classes.responsibilities import condition
from labelworth.models.protocol import Model
from labelworth.progress import SILENT, Progress, Task, tracking

_BATCHES = 64
"""With so many batches a standard error is itself known to 9 %, and five of them are a fair bound."""

_FEWER_BATCHES = 32
_MANY_PARAMETERS = 200
"""Beyond so many, memory counts, and half the batches must do: a standard error is then known to 13 %."""

_DRAWS_PER_PARAMETER = 64
_FIRST_DRAWS = 1 << 14
_MAX_DRAWS = 1 << 22
_MAX_WORK = 2e12
_MAX_PARAMETERS = 1500


def sampled_information(
    model: Model,
    fractions: FloatArray,
    rng: np.random.Generator,
    *,
    relative_error: float = 0.01,
    max_draws: int | None = None,
    progress: Progress = SILENT,
) -> SampledInformation:
    r"""Draw from the model until every figure at `fractions` is known to `relative_error`, or a limit is met.

    The complete information is exact. The missing information is the mean of Var(S | x) over drawn x, sharpened by
    what is known of its noise: the same draws give the squares of E[S | x], whose mean is the rest of the complete
    information, so the sum of the two is wrong by a known amount, and the noise that goes with it is taken off.
    Directions unlabeled samples do not see at all then come out exactly. The same sum tells which parameters the
    draws hardly met, as a word too rare to be drawn: their noise does not show in the standard errors.

    Parameters
    ----------
    model : Model
    fractions : array of shape (n_fractions,)
        Where the figures will be asked for.
    rng : Generator
    relative_error : float
        The standard error aimed at, relative to each figure.
    max_draws : int, optional
        Stop there; about four million, less for many parameters, when absent. The curve then says how many would do.
    progress : Progress

    Raises
    ------
    MoreSamplesNeededError
        If at the limit the information is still not positive definite at one of the fractions.

    Notes
    -----
    O(n_draws K d^2), doubling the number of draws until it is enough. Nothing is clipped: a sampled matrix that makes
    no sense is refused.

    Paper: prop:efficiency1.
    """
    d, n_classes = model.coordinates.n_free, len(model.classes)
    if d > _MAX_PARAMETERS:
        raise InvalidInputError(
            f"Sampling keeps many matrices of {d} x {d} numbers in memory; it is meant for up to "
            f"{_MAX_PARAMETERS} parameters. Give the fitted data too, as in classifier.information(X, y, ...), which "
            "forms no matrix; or use fewer features."
        )
    limit = max_draws or min(_MAX_DRAWS, int(_MAX_WORK / (n_classes * d**2)))
    batches = _Batches(model)
    per_batch = -(-max(_FIRST_DRAWS, _DRAWS_PER_PARAMETER * d) // batches.count)
    with tracking(progress, "Drawing from the model", None) as task:
        while True:
            batches.extend(per_batch, rng, task)
            curve, refusal = batches.curve(), None
            try:
                needed = curve.draws_needed(fractions, relative_error)
            except MoreSamplesNeededError as error:
                refusal, needed = error, 2 * curve.n_drawn
            if needed <= curve.n_drawn:
                return curve
            if 2 * curve.n_drawn > limit:
                break
            per_batch = curve.n_drawn // batches.count
    if refusal is not None:
        raise MoreSamplesNeededError(f"{refusal} {curve.n_drawn} were drawn; double max_draws.") from refusal
    return curve


@dataclass
class _Batches:
    """Sums over batches of draws, each (n_batches, d, d): of Var(S | x), and of the squares of E[S | x]."""

    model: Model
    missing: FloatArray = field(init=False)
    marginal: FloatArray = field(init=False)
    n_per_batch: int = 0

    def __post_init__(self) -> None:
        d = self.model.coordinates.n_free
        count = _BATCHES if d <= _MANY_PARAMETERS else _FEWER_BATCHES
        self.missing, self.marginal = np.zeros((count, d, d)), np.zeros((count, d, d))

    @property
    def count(self) -> int:
        """How many batches."""
        return len(self.missing)

    def extend(self, n_more: int, rng: np.random.Generator, task: Task) -> None:
        """Add `n_more` draws to every batch."""
        for batch in range(self.count):
            samples = self.model.sample(n_more, rng).hide()
            responsibilities, _ = condition(self.model.log_joint(samples), samples.evidence)
            for part in chunks(self.model, n_more):
                scores = self.model.class_scores(samples.take(part))
                means = marginal_scores(scores, responsibilities[part])
                self.missing[batch] += score_spread(scores, responsibilities[part], means, np.ones(len(part)))
                self.marginal[batch] += means.T @ means
            task.advance(n_more)
        self.n_per_batch += n_more

    def curve(self) -> SampledInformation:
        """The information these batches give."""
        complete = self.model.complete_information()
        sharpened = _sharpened(complete, self.missing, self.marginal, self.n_per_batch)
        information = FractionInformation(
            self.model.coordinates, complete, sharpened.mean(axis=0), "sampling", sharpened
        )
        shown = np.einsum("bii->bi", self.missing) + np.einsum("bii->bi", self.marginal)
        met = shown / (self.n_per_batch * np.diag(complete))
        return SampledInformation(information, self.count * self.n_per_batch, met)


def _sharpened(complete: FloatArray, missing: FloatArray, marginal: FloatArray, n_per_batch: int) -> FloatArray:
    """Take off the noise that goes with the known error of missing + marginal - complete.

    How to do it best is learned from one half of the batches and applied to the other, both ways round. Learned from
    the very draws it is applied to, it would prefer their accidents and bias the result.
    """
    middle = len(missing) // 2
    first, second = range(middle), range(middle, len(missing))
    sharpened = np.empty_like(missing)
    for own, other in ((first, second), (second, first)):
        control = _Control.learned(complete, [(missing[b] / n_per_batch, marginal[b] / n_per_batch) for b in other])
        for b in own:
            sharpened[b] = control.applied(missing[b] / n_per_batch, marginal[b] / n_per_batch)
    return sharpened


@dataclass(frozen=True)
class _Control:
    r"""A control variate for every entry: :math:`A - c\,(A + B - 1)` with :math:`c = Cov(A, A + B) / Var(A + B)`.

    A and B are the missing and the marginal information in a basis in which the complete information is the identity
    and the marginal information diagonal, or nearly so. There c is near 1 for directions that unlabeled samples
    hardly see, whose own noise then vanishes.
    """

    basis: FloatArray
    inverse_basis: FloatArray
    coefficients: FloatArray

    @classmethod
    def learned(cls, complete: FloatArray, batches: list[tuple[FloatArray, FloatArray]]) -> "_Control":
        """Find the basis and the coefficients that suit these batches."""
        mean = sum((marginal for _, marginal in batches), np.zeros_like(complete)) / len(batches)
        basis = Pencil.of(mean, complete).vectors
        control = cls(basis, basis.T @ complete, np.zeros_like(complete))
        # Sums of products about a value near the mean lose no digits, and need no room for all batches at once.
        near, _ = control._in_basis(*batches[0])
        sums = np.zeros((4, *complete.shape))
        for missing, marginal in batches:
            lost, error = control._in_basis(missing, marginal)
            lost -= near
            sums += lost, error, lost * error, np.square(error)
        moved, erred, product, square = sums
        covariance, variance = product - moved * erred / len(batches), square - np.square(erred) / len(batches)
        coefficients = np.divide(covariance, variance, out=np.zeros_like(variance), where=variance > 0)
        return replace(control, coefficients=coefficients)

    def applied(self, missing: FloatArray, marginal: FloatArray) -> FloatArray:
        """Sharpen another batch; its expectation is still what it was."""
        lost, error = self._in_basis(missing, marginal)
        return self.inverse_basis.T @ (lost - self.coefficients * error) @ self.inverse_basis

    def _in_basis(self, missing: FloatArray, marginal: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The missing information of a batch, and by how much missing + marginal miss the identity."""
        lost = self.basis.T @ missing @ self.basis
        return lost, lost + self.basis.T @ marginal @ self.basis - np.eye(len(lost))
