"""One information matrix per labeling rule: every policy is a weighted sum of them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from labelworth.arrays import FloatArray, as_floats, require_probabilities, require_shape
from labelworth.errors import InvalidInputError, MoreSamplesNeededError, NotIdentifiableError
from labelworth.fisher.contrasts import Contrasts
from labelworth.fisher.criteria import CRITERIA, Criterion
from labelworth.fisher.directions import WEAK, WeakDirection, most_changed, weak_direction
from labelworth.fisher.information import DOCUMENT_RULES, Figures, draw_notes, draws_needed, of_fraction
from labelworth.fisher.jackknife import Jackknife, Replicates, corrected, require_batches
from labelworth.fisher.whitened import FigurePoint, MatrixRules, PencilRules
from labelworth.models.coordinates import Coordinates

DENSE_LIMIT = 1500
"""Up to so many parameters matrices are written out and weak directions looked for."""

_CERTAIN = 5.0
"""So many standard errors a smallest share must be away from zero for a policy to be called identifiable."""

_MOST_DIRECTIONS = 20
_MOST_OPEN = 6

_ROUNDING = 1e-12
"""A share of weights that were added in another order is the same share."""


@dataclass(frozen=True, eq=False)
class DenseInformation:
    r"""The information of one sample under every rule, and so under every mixture of them; see `Information`.

    .. math::

        I(policy) = \sum_j weight_j I_j, \qquad
        I_j = \sum_m q(m)\, E_S \operatorname{Var}\bigl(\nabla \log p(Y_S, X)\bigr)

    with S the positions that rule j draws at length m; for a conditional model read p(Y_S | X). Single samples have
    the rules everything and nothing, :math:`I(f) = f I_{everything} + (1-f) I_{nothing} = I_{everything} - (1-f)
    I_{miss}` with :math:`I_{miss} = E[\operatorname{Var}(S \mid X)]`.

    Notes
    -----
    A direction of which unlabeled samples tell nothing is normal: it is open where nothing is labeled, and pinned by
    any label.

    Paper: prop:efficiency1, prop:efficiency2.

    Examples
    --------
    Complete labels carry 4 units, none carry 1; label a quarter of the samples:

    >>> from labelworth.models.coordinates import FreeTable
    >>> line = Coordinates((FreeTable("start", [""], ["a"]),))
    >>> information = DenseInformation.of_labels(line, np.array([[4.0]]), np.array([[3.0]]), "enumeration")
    >>> information.of_policy([0.25, 0.75])
    array([[1.75]])
    >>> information.estimate(CRITERIA["total_variance"], np.array([0.25, 0.75]))
    (0.5714285714285714, None)
    """

    coordinates: Coordinates  # Of the model; criteria of "named" tables are carried there by its Jacobian.
    rules: tuple[str, ...]  # What the rules are called, complete labels and none among them.
    # (n_rules, d, d): I_j in free coordinates; (n_rules, d + p, d + p) with p nuisance parameters.
    matrices: FloatArray
    everything: int  # The indices of complete labels and of none among the rules.
    nothing: int
    expected_labels: FloatArray  # (n_rules,): Labels per sample.
    method: str  # How it was computed.
    # (n_batches, n_rules, ..), optional: Independent estimates whose mean is `matrices`; with them every
    # figure has a standard error.
    batches: FloatArray | None = None
    n_drawn: int = 0  # How many samples were drawn; 0 if none.
    # Of how many parameters the draws say too little, as of a word too rare to be drawn: standard errors do not
    # show that.
    n_hardly_met: int = 0
    # (d, d), optional: I_everything - I_nothing, where it was summed by itself and has all its digits even if
    # it is tiny.
    known_missing: FloatArray | None = None
    # The directions that figures are about; those that I_everything can see when absent.
    known_contrasts: Contrasts | None = None
    lowest_fraction: float = 0.0  # The smallest share of complete labels for which the matrices may be used.
    # What rules bring that is estimated without being asked for, as the confusion of a channel, by name, behind the
    # model's own parameters; figures are of the model's.
    nuisance: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        d, n_rules = self.coordinates.n_free + len(self.nuisance), len(self.rules)
        require_shape("matrices", self.matrices, (n_rules, d, d))
        require_shape("expected_labels", self.expected_labels, (n_rules,))
        require_batches(self.batches, (n_rules, d, d))

    @classmethod
    def of_labels(
        cls,
        coordinates: Coordinates,
        complete: FloatArray,
        missing: FloatArray,
        method: str,
        *,
        lowest_fraction: float = 0.0,
    ) -> "DenseInformation":
        """Of single samples, labeled or not, from complete and missing information, (d, d) each."""
        require_shape("complete", complete, missing.shape)
        return cls(
            coordinates,
            DOCUMENT_RULES,
            np.stack([complete, complete - missing]),
            0,
            1,
            np.array([1.0, 0.0]),
            method,
            known_missing=missing,
            known_contrasts=Contrasts.whole(coordinates),
            lowest_fraction=lowest_fraction,
        )

    @property
    def n_parameters(self) -> int:
        return self.coordinates.n_free

    @property
    def n_estimable(self) -> int:
        """How many independent directions complete labels can see."""
        return self.contrasts.rank

    @property
    def n_replicates(self) -> int:
        """How many batches there are."""
        return 0 if self.batches is None else len(self.batches)

    @property
    def complete(self) -> FloatArray:
        return self._own(self.everything)

    @cached_property
    def missing(self) -> FloatArray:
        """I_everything - I_nothing, (d, d)."""
        return self.complete - self._own(self.nothing) if self.known_missing is None else self.known_missing

    @cached_property
    def contrasts(self) -> Contrasts:
        """What complete labels can see."""
        return self.known_contrasts or Contrasts.of(self.coordinates, self.complete)

    @cached_property
    def whitened(self) -> PencilRules | MatrixRules:
        """The rules in coordinates in which complete labels carry the identity; two of them diagonal at once.

        Raises
        ------
        NotIdentifiableError
            If even complete labels leave a direction open, or tell so little of it that it is lost in rounding.
        """
        with self.contrasts.told_apart():
            if len(self.rules) == 2 and not self.nuisance:
                return PencilRules.of(self.contrasts, self.complete, self.missing, self.everything)
            return MatrixRules.of(self.contrasts, self.matrices, self.everything, self.nothing)

    @property
    def parameter_names(self) -> list[str]:
        """Of the rows of the matrices."""
        return [*self.coordinates.names(), *self.nuisance]

    def _own(self, rule: int) -> FloatArray:
        """What a rule tells of the model's parameters where those of channels are known, (d, d)."""
        d = self.coordinates.n_free
        return np.asarray(self.matrices[rule][:d, :d])

    def without_batches(self) -> "DenseInformation":
        """The same as if it were exact."""
        return replace(self, batches=None, known_contrasts=self.contrasts)

    def with_rule(
        self, rule: str, matrix: FloatArray, batches: FloatArray | None = None, *, labels: float = 0.0
    ) -> "DenseInformation":
        """The same with one more rule, such as that by which samples already held were labeled."""
        require_shape("matrix", matrix, self.matrices.shape[1:])
        joined = None
        if batches is not None or self.batches is not None:
            own = self.matrices[None] if self.batches is None else self.batches
            other = matrix[None] if batches is None else batches
            count = min(len(part) for part in (own, other) if len(part) > 1)
            parts = [
                np.broadcast_to(part, (count, *part.shape[1:])) if len(part) == 1 else part[:count]
                for part in (own, other[:, None])
            ]
            joined = np.concatenate(parts, axis=1)
        return replace(
            self,
            rules=(*self.rules, rule),
            matrices=np.concatenate([self.matrices, matrix[None]]),
            expected_labels=np.append(self.expected_labels, labels),
            batches=joined,
            known_contrasts=self.contrasts,
        )

    def of_policy(self, weights: FloatArray | list[float]) -> FloatArray:
        """I(policy) in free coordinates, (d, d), for the probability of every rule."""
        return np.asarray(np.tensordot(self._checked(weights), self.matrices, axes=1))

    def at(self, fraction: float) -> FloatArray:
        """I(f) of single samples, (d, d)."""
        return self.of_policy(of_fraction(fraction))

    def covariance(self, counts: FloatArray) -> FloatArray:
        """M^-1 in free coordinates, (d, d), M that of a design; zero along what nothing can estimate.

        Raises
        ------
        NotIdentifiableError
            If M is singular.
        """
        if self.point(CRITERIA["log_volume"], counts) is None:
            raise NotIdentifiableError(
                f"The information of {self._described(counts)} is singular, so there is no covariance. Label some "
                "samples.",
                self.open_directions(counts),
            )
        shares, vectors = self.whitened.shares(counts)
        root = self.contrasts.lifted(vectors / np.sqrt(shares))
        return root @ root.T

    def require_criterion(self, criterion: Criterion) -> None:
        """All of them."""

    def is_convex(self, criterion: Criterion) -> bool:
        """Yes, unless the weight matrix of a trace is indefinite."""
        return self.whitened.is_convex(criterion)

    def point(self, criterion: Criterion, counts: FloatArray) -> FigurePoint | None:
        """The figure of a design with its slope, of the mean of all batches; None where M is singular."""
        if not counts.sum() > 0 or self._is_below(counts):
            return None
        return self.whitened.point(criterion, counts)

    def left_out(self, criterion: Criterion, counts: FloatArray) -> FloatArray:
        """The figures of the means of all batches but one, (n_batches,); infinite where one is not positive."""
        if self._replicates is None:
            return np.empty(0)
        try:
            return self._replicates.figures([criterion], counts)[:, 0]
        except (np.linalg.LinAlgError, MoreSamplesNeededError):
            return np.full(self.n_replicates, np.inf)

    def standard_error(self, criterion: Criterion, counts: FloatArray) -> float | None:
        """By the jackknife over the batches, joined with the bias that it tells; None if there are none."""
        point = self.point(criterion, counts)
        if point is None:
            return np.inf
        if self.batches is None:
            return None
        left_out = self.left_out(criterion, counts)
        if not np.isfinite(left_out).all():
            return np.inf
        noise = Jackknife.of(point.value, left_out)
        return float(np.sqrt(noise.variance + noise.correction**2))

    def estimate(self, criterion: Criterion, weights: FloatArray) -> tuple[float, float | None]:
        """One figure of a policy; see `figures`."""
        if not self._is_positive(self._checked(weights)):
            return np.nan, None if self.batches is None else np.nan
        values, errors = self._estimates([criterion], weights)
        return float(values[0]), None if errors is None else float(errors[0])

    def figures(self, weights: FloatArray) -> Figures:
        r"""Every figure of a policy.

        A noisy matrix has a biased inverse. The jackknife takes the leading bias off: with :math:`t_{-b}` the figure
        without batch b of B, the figure is :math:`B t - (B-1) \bar t_{-b}`. Its standard error joins the jackknife's
        with the size of that correction, and with rounding.

        Raises
        ------
        MoreSamplesNeededError
            If the draws do not tell whether the policy is identifiable.
        """
        if not self._is_positive(self._checked(weights)):
            nothing = dict.fromkeys(CRITERIA, float("nan"))
            no_errors = {} if self.batches is None else nothing
            return Figures(False, 0.0, nothing, no_errors, self.weak_directions(weights))
        values, errors = self._estimates(list(CRITERIA.values()), weights)
        return Figures(
            True,
            float(self.whitened.shares(weights, 1)[0][0]),
            dict(zip(CRITERIA, values.tolist(), strict=True)),
            {} if errors is None else dict(zip(CRITERIA, errors.tolist(), strict=True)),
            self.weak_directions(weights),
        )

    def exchange_rate(self, criterion: Criterion, weights: FloatArray) -> tuple[float, float | None]:
        r"""How many unlabeled samples take as much off a trace as a labeled one, and its standard error.

        One more labeled sample lowers the criterion by :math:`\operatorname{tr}(G M^{-1} I_{everything} M^{-1})`, one
        more unlabeled sample by :math:`\operatorname{tr}(G M^{-1} I_{nothing} M^{-1})`; infinite where that is zero.
        """
        if not self._is_positive(self._checked(weights)):
            return np.nan, None if self.batches is None else np.nan
        point = self.whitened.point(criterion, weights)
        if point is None or point.slope is None:
            return np.nan, None if self.batches is None else np.nan
        labeled, unlabeled = -point.slope[self.everything], -point.slope[self.nothing]
        if unlabeled <= self.whitened.tolerance * labeled:
            return np.inf, None if self.batches is None else np.nan
        rate = float(labeled / unlabeled)
        if self._replicates is None:
            return rate, None
        worths = self._replicates.worths(criterion, weights)
        return corrected(rate, worths[:, 0] / worths[:, 1], self.whitened.tolerance)

    def draws_needed(
        self, figures: Sequence[Figures], relative_error: float, criteria: Collection[str] = tuple(CRITERIA)
    ) -> int:
        """How many draws bring every figure's standard error down to `relative_error`; those drawn if they do."""
        return draws_needed(
            figures,
            self.n_drawn,
            self.n_estimable,
            relative_error,
            rounding=self.whitened.tolerance,
            criteria=criteria,
        )

    def notes(self, figures: Sequence[Figures], relative_error: float) -> list[str]:
        """That draws say too little of some parameters, or of some figures."""
        if not self.n_drawn:
            return []
        rare = []
        if self.n_hardly_met:
            rare.append(
                f"{self.n_drawn} draws say too little of {self.n_hardly_met} parameter(s), as of words too rare to "
                "be drawn. Standard errors do not show that, and figures may be off by more: it needs more draws."
            )
        return [*rare, *draw_notes(self.n_drawn, self.draws_needed(figures, relative_error), relative_error)]

    def weak_directions(self, weights: FloatArray, threshold: float = WEAK) -> tuple[WeakDirection, ...]:
        """Directions of which a policy tells less than `threshold` of what complete labels would, weakest first.

        Paper: def:identifiable.
        """
        shares, vectors = self.whitened.shares(weights, _MOST_DIRECTIONS)
        chosen = np.flatnonzero(shares < threshold)[:_MOST_DIRECTIONS]
        lifted = self.contrasts.lifted(vectors[:, chosen])
        blind = self.whitened.blind_at(weights)
        rounded = [0.0 if abs(shares[index]) <= blind else float(shares[index]) for index in chosen]
        return tuple(
            weak_direction(self.coordinates, share, direction)
            for share, direction in zip(rounded, lifted.T, strict=True)
        )

    def open_directions(self, counts: FloatArray) -> tuple[str, ...]:
        """The parameters that change most along directions of which a design tells nothing."""
        shares, vectors = self.whitened.shares(counts, _MOST_OPEN)
        least = self.whitened.blind_at(counts) * max(float(shares[-1]), 0.0)
        is_open = shares <= (0.0 if counts[self.everything] > 0 and len(self.rules) == 2 else least)
        return most_changed(self.coordinates, self.contrasts.lifted(vectors[:, is_open[:_MOST_OPEN]]))

    def _estimates(self, criteria: list[Criterion], weights: FloatArray) -> tuple[FloatArray, FloatArray | None]:
        values = self.whitened.values(criteria, weights)
        if self._replicates is None:
            return values, None
        try:
            left_out = self._replicates.figures(criteria, weights)
        except np.linalg.LinAlgError as error:
            raise MoreSamplesNeededError(
                f"Without one of {self.n_replicates} batches of {self.n_drawn} draws the information is not positive "
                f"definite: draw {16 * self.n_drawn} or more."
            ) from error
        tolerance = self.whitened.tolerance
        pairs = np.array([corrected(*pair, tolerance) for pair in zip(values, left_out.T, strict=True)])
        return pairs[:, 0], pairs[:, 1]

    @cached_property
    def _replicates(self) -> Replicates | None:
        if self.batches is None:
            return None
        return Replicates(self.whitened, self.batches, self.everything, self.nothing)

    def _is_positive(self, weights: FloatArray) -> bool:
        """Whether the smallest share is above zero, beyond rounding and noise."""
        shares, vectors = self.whitened.shares(weights, 1)
        smallest, blind = float(shares[0]), self.whitened.blind_at(weights)
        error = 0.0 if self._replicates is None else self._replicates.share_error(weights, smallest, vectors[:, 0])
        # A sum over all answers is positive; of what is left of the model's parameters rounding may take more.
        is_rounding = self.batches is None and bool(self.nuisance) and smallest < 0
        if is_rounding or (abs(smallest) <= blind and error <= blind):
            # Where some samples are labeled whole rounding decides nothing: the share is at least theirs.
            return bool(weights[self.everything] > 0 and smallest > 0)
        if self.batches is None and smallest < 0:
            raise MoreSamplesNeededError(
                f"The {self.method} information of {self._described(weights)} is not positive definite (smallest "
                f"relative eigenvalue {smallest:.3g}): take more samples, or ask for larger fractions."
            )
        if smallest <= _CERTAIN * error:
            factor = max(4.0, (2 * _CERTAIN * error / smallest) ** 2) if smallest > 0 else 16.0
            raise MoreSamplesNeededError(
                f"After {self.n_drawn} draws it is open whether the policy is identifiable: its weakest direction "
                f"has {smallest:.2g} of the information of complete labels, give or take {error:.2g}. About "
                f"{factor * self.n_drawn:.2g} draws may tell; or use method='enumeration' if the model is small."
            )
        return True

    def _is_below(self, counts: FloatArray) -> bool:
        lowest = self.lowest_fraction * (1 - _ROUNDING)
        return lowest > 0 and bool(counts[self.everything] < lowest * counts.sum())

    def _described(self, weights: FloatArray) -> str:
        share = float(weights[self.everything] / weights.sum())
        return (
            f"labeled fraction {share:g}" if self.rules == DOCUMENT_RULES else f"{weights.tolist()} of {self.rules}"
        )

    def _checked(self, weights: FloatArray | list[float]) -> FloatArray:
        values = as_floats("The weights of a policy", weights, ndim=1)
        require_shape("The weights of a policy", values, (len(self.rules),))
        require_probabilities("The weights of a policy", values)
        if self._is_below(values):
            raise InvalidInputError(
                f"This information holds for labeled fractions from {self.lowest_fraction:g} up, the one that was "
                f"fitted. Got {values[self.everything]:g}."
            )
        return values
