r"""Figures of designs over kinds of answers from random probes: any number of words and classes, no matrix.

With M the information of a design, in coordinates in which a gold label carries the identity, and probes u,
:math:`E u u' = G`,

.. math::

    \operatorname{tr} G M^{-1} = E[u' M^{-1} u], \qquad
    \frac{\partial}{\partial w_a} = -x' I_a x, \quad x = M^{-1} u

by conjugate gradients. Probes are drawn once for all designs: what is optimized is as convex as the figure itself,
with its exact slope. Parameters of channels are few: their Schur complement is taken off every product.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.errors import InvalidInputError, MoreSamplesNeededError
from labelworth.fisher.criteria import CRITERIA, Criterion, Weight
from labelworth.fisher.documents.answered_documents import AnsweredDocuments
from labelworth.fisher.documents.channels import ArmSet, OfArms
from labelworth.fisher.documents.count_whitening import CountWhitening
from labelworth.fisher.information import Figures, draw_notes, draws_needed
from labelworth.fisher.matrix_free.probes import draw_variance
from labelworth.fisher.matrix_free.reduced import ReducedForms, orthonormal
from labelworth.fisher.whitened import BLIND, NUISANCE_BLIND, FigurePoint, followed, inverse_on_range
from labelworth.linalg.conjugate_gradients import LockstepConjugateGradients
from labelworth.linalg.lanczos import Quadrature
from labelworth.models.classes.multinomial import MultinomialModel
from labelworth.models.probability_rows import require_interior
from labelworth.progress import SILENT, Progress, tracking
from labelworth.wording import percent

SHARP = 1e-10
"""Steps are taken until what is left would add less than this share to a figure: slopes are then good to 1e-5."""
_ROUGH = 1e-5
"""The same where nobody climbs along slopes, and draws tell less."""
_ALIKE = 1e-5
"""A residual up to which a design is answered on directions of others: the square of it is what a figure lacks."""
_MOST_DIRECTIONS = 300
_FEWEST_STEPS, _MOST_STEPS = 4, 400
_N_PROBES = 8
_DRAWS_PER_PARAMETER = 40
_FEWEST_DRAWS = 20_000
_MOST_WORDS_DRAWN = 4e7
_MOST_BIAS, _FINE_BIAS = 0.3, 0.1
"""Of a figure: where the noise of the draws moves it by more than the first, they are too few; the second will do."""


class Solved(NamedTuple):
    """What conjugate gradients found for one kind of probes."""

    forms: FloatArray  # (b,): u' M^-1 u.
    solutions: FloatArray  # (size, b): M^-1 u.
    rule: Quadrature  # Gauss' rule of M as seen from every probe.


class Blocks(NamedTuple):
    """What a design makes of channels' parameters."""

    crossed: FloatArray  # (size, p)
    inverse: FloatArray  # (p, p): On what is seen of them.
    null: FloatArray  # (p, ..): What is not.


@dataclass(frozen=True, eq=False)
class ProbedChannels(OfArms):
    """Information of every arm, through products with random probes; see `Information`."""

    documents: AnsweredDocuments
    seed: int = 0
    n_probes: int = _N_PROBES
    n_drawn: int = 0  # Documents drawn from the model; 0 where they are those that a model was fitted to.
    tolerance: float = SHARP  # Of conjugate gradients.
    n_replicates = 0
    method = "matrix-free"
    _last: dict[Weight, tuple[bytes, Solved | None]] = field(default_factory=dict, init=False, repr=False)
    _reduced: dict[Weight, tuple[ReducedForms, FloatArray]] = field(default_factory=dict, init=False, repr=False)

    @property
    def arms(self) -> ArmSet:
        return self.documents.arms

    @property
    def n_parameters(self) -> int:
        return self.documents.whitening.n_parameters

    @property
    def n_estimable(self) -> int:
        return self.n_parameters

    def require_criterion(self, criterion: Criterion) -> None:
        """All but the worst direction."""
        if criterion.form == "largest":
            raise InvalidInputError(
                f"Without matrices, which {self.n_parameters:,} parameters are too many for, there is no "
                f"{criterion.name}. Take one of {', '.join(name for name in CRITERIA if name != criterion.name)}."
            )

    def is_convex(self, criterion: Criterion) -> bool:
        """Where it is a mean of u' M^-1 u over fixed probes; a difference of two and a log determinant are none."""
        return criterion.weight in (Weight.NAMED, Weight.COMPLETE, Weight.MISSING) and criterion.form == "trace"

    @cached_property
    def _probes(self) -> dict[Weight, FloatArray]:
        """By weight: scaled together so that gold alone has its figure exactly, (size, b)."""
        white, rng = self.documents.whitening, np.random.default_rng([self.seed, 31])
        plain = _signs(rng, (white.size, self.n_probes))
        named = np.sqrt(white.named_weights)[:, None] * _signs(rng, (white.size, self.n_probes))
        white.project(plain)
        white.project(named)
        lost = self.documents.missing_root(_signs(rng, (*self.documents.posterior.shape, self.n_probes)))
        none = np.zeros(len(self.rules))
        none[self.nothing] = 1.0
        exact = {
            Weight.COMPLETE: (plain, float(white.n_parameters)),
            Weight.NAMED: (named, white.named_complete),
            Weight.MISSING: (lost, self.documents.missing_trace(self.documents.mixed(none))),
        }
        scaled = {}
        for weight, (block, trace) in exact.items():
            drawn = float(np.square(block).sum(axis=0).mean())
            scaled[weight] = block * np.sqrt(trace / drawn) if drawn else block
        return scaled

    @cached_property
    def _of_channels(self) -> tuple[FloatArray, FloatArray]:
        return self.documents.nuisance

    def _blocks(self, counts: FloatArray) -> Blocks:
        crossed, own = (np.tensordot(counts, blocks, axes=1) for blocks in self._of_channels)
        return Blocks(crossed, *inverse_on_range(own))

    def product(self, counts: FloatArray, block: FloatArray) -> FloatArray:
        """M times a whitened block (size, b), channels' parameters estimated too."""
        return self._product(counts, self.documents.mixed(counts), self._blocks(counts), block)

    def _product(self, counts: FloatArray, left: FloatArray, blocks: Blocks, block: FloatArray) -> FloatArray:
        told = counts.sum() * block - self.documents.missing(left, block)
        if self.nuisance:
            told -= blocks.crossed @ (blocks.inverse @ (blocks.crossed.T @ block))
        return np.asarray(told)

    def _solved(self, weight: Weight, counts: FloatArray) -> Solved | None:
        """None where the design leaves something open, or draws do not show that it does not."""
        key = np.asarray(counts, dtype=np.float64).tobytes()
        if weight not in self._last or self._last[weight][0] != key:
            self._last[weight] = (key, self._computed(weight, np.asarray(counts, dtype=np.float64)))
        return self._last[weight][1]

    def _computed(self, weight: Weight, counts: FloatArray) -> Solved | None:
        n, right = float(counts.sum()), self._probes[weight]
        if n <= 0:
            return None
        left, blocks = self.documents.mixed(counts / n), self._blocks(counts / n)
        run = LockstepConjugateGradients(
            lambda block: self._product(counts / n, left, blocks, block), lambda block: block, right
        )
        try:
            while run.n_steps < _FEWEST_STEPS or run.remainders().max() > self.tolerance:
                if run.n_steps == _MOST_STEPS:
                    return None
                run.step()
        except np.linalg.LinAlgError:
            return None
        rule = run.gauss()
        if rule.nodes[rule.weights > 0].min(initial=1.0) <= self._blind:
            return None
        return Solved(run.forms / n, run.solutions / n, Quadrature(rule.nodes * n, rule.weights))

    @property
    def _blind(self) -> float:
        return NUISANCE_BLIND if self.nuisance else BLIND

    def _rates(self, counts: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
        """u' I_a v of every arm, vector by vector of two blocks, (n_arms, b); channels' parameters follow."""
        documents = self.documents
        scale = documents.whitening.total_weight * documents.shares
        one, other = documents.inner(first), documents.inner(second)
        rates = np.tile(np.einsum("sb,sb->b", first, second), (len(self.rules), 1))
        for index, left in enumerate(documents.left):
            if not self.arms.answers[index].has_gold:
                rates[index] -= np.einsum("n,nkb,nkb->b", scale, one, np.matmul(left, other), optimize=True)
        if self.nuisance:
            blocks, (crossed, own) = self._blocks(counts), self._of_channels
            follow = blocks.inverse @ blocks.crossed.T
            mean_crossed, mean_own = crossed.mean(axis=0), own.mean(axis=0)
            moved = [
                followed(follow @ block, blocks.null, mean_crossed.T @ block, mean_own) for block in (first, second)
            ]
            for index in range(len(self.rules)):
                rates[index] -= np.einsum("pb,pb->b", moved[0], crossed[index].T @ second)
                rates[index] -= np.einsum("pb,pb->b", moved[1], crossed[index].T @ first)
                rates[index] += np.einsum("pb,pq,qb->b", moved[0], own[index], moved[1])
        return rates

    def point(self, criterion: Criterion, counts: FloatArray) -> FigurePoint | None:
        """The figure of a design with its slope; None where the model is not identified, as far as is known."""
        self.require_criterion(criterion)
        if criterion.form == "log det":
            return self._volume(counts)
        parts = [self._trace(weight, counts) for weight, _ in _parts(criterion)]
        if any(part is None for part in parts):
            return None
        value, slope = 0.0, np.zeros(len(self.rules))
        for (_, sign), part in zip(_parts(criterion), parts, strict=True):
            if part is not None and part.slope is not None:
                value, slope = value + sign * part.value, slope + sign * part.slope
        return FigurePoint(criterion.factor * value, criterion.factor * slope)

    def _trace(self, weight: Weight, counts: FloatArray) -> FigurePoint | None:
        n = float(np.sum(counts))
        known = self._reduced.get(weight) if n > 0 else None
        if known is not None:
            # On directions that were solved for at other designs, where that is as good.
            found = known[0].at(counts / n, known[1])
            if found is not None and found[1] <= _ALIKE:
                return FigurePoint(found[0].value / n, None if found[0].slope is None else found[0].slope / n**2)
        solved = self._solved(weight, counts)
        if solved is None:
            return None
        if not self.n_drawn:
            self._extend(weight, solved.solutions)
        rates = self._rates(counts, solved.solutions, solved.solutions)
        return FigurePoint(float(solved.forms.mean()), -rates.mean(axis=1))

    def _extend(self, weight: Weight, solutions: FloatArray) -> None:
        """Add directions to those that other designs are answered on."""
        known = self._reduced.get(weight)
        before = None if known is None else known[0].basis
        fresh = orthonormal(solutions, before)
        if not fresh.size or (before is not None and before.shape[1] > _MOST_DIRECTIONS):
            return
        crossed, own = self._of_channels
        told = np.stack([fresh - self.documents.missing(left, fresh) for left in self.documents.left])
        if known is None or before is None:
            forms = ReducedForms.of(fresh, np.concatenate([told, crossed], axis=2), own, self._probes[weight])
        else:
            images = np.concatenate([known[0].images[:, :, : before.shape[1]], told, crossed], axis=2)
            forms = ReducedForms.of(np.hstack([before, fresh]), images, own, self._probes[weight])
        self._reduced[weight] = (forms, forms.matrices)

    def _volume(self, counts: FloatArray) -> FigurePoint | None:
        solved = self._solved(Weight.COMPLETE, counts)
        if solved is None:
            return None
        value = -self.documents.whitening.log_determinant - float(solved.rule.of(np.log).mean())
        # M^-1 and the signs of a probe on its two sides: the mean of it is the derivative.
        middle = self._probes[Weight.COMPLETE]
        return FigurePoint(value, -self._rates(counts, middle, solved.solutions).mean(axis=1))

    def left_out(self, criterion: Criterion, counts: FloatArray) -> FloatArray:
        """There are no batches."""
        return np.empty(0)

    def standard_error(self, criterion: Criterion, counts: FloatArray) -> float | None:
        """Over the probes, and over the documents where they were drawn."""
        self.require_criterion(criterion)
        if criterion.form == "log det":
            solved = self._solved(Weight.COMPLETE, counts)
            if solved is None:
                return np.inf
            error = self._probe_error(Weight.COMPLETE, solved.rule.of(np.log))
            if not self.n_drawn:
                return error
            leverage = self._leverage_of(counts, self.documents.mixed(counts))
            return float(np.hypot(error, np.sqrt(draw_variance(self._among_all(leverage)))))
        weights = [(self._solved(weight, counts), weight, sign) for weight, sign in _parts(criterion)]
        variance = 0.0
        for solved, weight, _ in weights:
            if solved is None:
                return np.inf
            variance += self._probe_error(weight, solved.forms) ** 2
        if self.n_drawn:
            variance += draw_variance(self._influence(criterion, counts))
        return criterion.factor * float(np.sqrt(variance))

    def _probe_error(self, weight: Weight, forms: FloatArray) -> float:
        """Of a mean over probes: gold has its figure exactly, so what they have in common with it is no noise."""
        base = np.square(self._probes[weight]).sum(axis=0)
        rest = forms - forms.sum() / base.sum() * base if base.any() else forms
        return float(rest.std(ddof=1) / np.sqrt(len(rest)))

    def _influence(self, criterion: Criterion, counts: FloatArray) -> FloatArray:
        """By how much every drawn document moves a trace, once per probe, (n, b)."""
        left, scale = self.documents.mixed(counts), self.documents.whitening.total_weight
        total = np.zeros((len(left), self.n_probes))
        for weight, sign in _parts(criterion):
            solved = self._solved(weight, counts)
            if solved is None:
                break
            inner = self.documents.inner(solved.solutions)
            total += sign * scale * np.einsum("nkb,nkb->nb", inner, np.matmul(left, inner))
            if weight is Weight.MISSING:
                total += sign * self._leverage_of(counts, self.documents.left[self.nothing])
        return self._among_all(total)

    def _among_all(self, influence: FloatArray) -> FloatArray:
        """With those of documents that are decided: nothing."""
        return np.concatenate([influence, np.zeros((self.documents.n_decided, self.n_probes))])

    def _leverage_of(self, counts: FloatArray, left: FloatArray) -> FloatArray:
        """tr(S' B S M^-1) of every document, once per plain probe, (n, b)."""
        solved = self._solved(Weight.COMPLETE, counts)
        if solved is None:
            return np.zeros((len(left), self.n_probes))
        inner = self.documents.inner(solved.solutions)
        probes = self.documents.inner(self._probes[Weight.COMPLETE])
        return np.asarray(
            self.documents.whitening.total_weight * np.einsum("nkb,nkb->nb", probes, np.matmul(left, inner))
        )

    def bias(self, criterion: Criterion, counts: FloatArray) -> float:
        """What the noise of drawn documents adds to a figure on average, about; 0 where none were drawn."""
        plain = self._solved(Weight.COMPLETE, counts)
        if not self.n_drawn or plain is None:
            return 0.0
        documents, scale = self.documents, self.documents.whitening.total_weight
        left = documents.mixed(counts)
        inner, probes = documents.inner(plain.solutions), documents.inner(self._probes[Weight.COMPLETE])
        leverage = scale * np.matmul(inner, probes.transpose(0, 2, 1)) / self.n_probes
        leverage = (leverage + leverage.transpose(0, 2, 1)) / 2
        both = np.matmul(left, leverage)
        if criterion.form == "log det":
            return float(np.einsum("nkj,njk->", both, both)) / 2 / self.n_drawn**2
        total = 0.0
        for weight, sign in _parts(criterion):
            solved = self._solved(weight, counts)
            if solved is None:
                return 0.0
            moved = np.matmul(left, documents.inner(solved.solutions))
            total += sign * scale * float(np.einsum("nkb,nkj,njb->", moved, leverage, moved, optimize=True))
            if weight is Weight.MISSING:
                own = np.matmul(documents.left[self.nothing], leverage)
                total += sign * self.n_probes * float(np.einsum("nkj,njk->", own, both))
        return criterion.factor * total / self.n_probes / self.n_drawn**2

    def estimate(self, criterion: Criterion, weights: FloatArray) -> tuple[float, float | None]:
        """Without the bias of the draws; NaN if not identified."""
        point = self.point(criterion, weights)
        if point is None:
            return np.nan, np.nan
        bias, error = self.bias(criterion, weights), self.standard_error(criterion, weights)
        size = float(self.n_parameters) if criterion.is_logarithmic else point.value
        share = bias / size if size else 0.0
        if share > _MOST_BIAS:
            needed = float(f"{self.n_drawn * share / _FINE_BIAS:.1e}")
            raise MoreSamplesNeededError(
                f"The noise of {self.n_drawn:,} drawn documents makes up {percent(share)} of the {criterion.name}: "
                f"draw {needed:,.0f} or more (max_draws), or use fewer words."
            )
        # The next term of the series, as that of d/n + (d/n)^2 + ...
        return point.value - bias, float(np.hypot(error or 0.0, bias * share))

    def exchange_rate(self, criterion: Criterion, weights: FloatArray) -> tuple[float, float | None]:
        """How many unlabeled samples take as much off a trace as one with gold."""
        point = self.point(criterion, weights)
        if point is None or point.slope is None:
            return np.nan, np.nan
        labeled, unlabeled = point.slope[self.everything], point.slope[self.nothing]
        return (float(labeled / unlabeled) if unlabeled else np.inf), None

    def figures(self, weights: FloatArray) -> Figures:
        values, errors = {}, {}
        for name, criterion in CRITERIA.items():
            if criterion.form == "largest":
                values[name] = errors[name] = np.nan
            else:
                values[name], error = self.estimate(criterion, weights)
                errors[name] = np.nan if error is None else error
        is_known = bool(np.isfinite(values["total_variance"]))
        if not is_known and self.n_drawn:
            return Figures.refused(
                f"It tells so little of some direction that {self.n_drawn:,} drawn documents do not show it. Draw "
                "more (max_draws), label more, or look for the direction in a smaller model."
            )
        return Figures(is_known, None, values, errors, None)

    def notes(self, figures: Sequence[Figures], relative_error: float) -> list[str]:
        """That draws say too little of some figures."""
        needed = draws_needed(figures, self.n_drawn, self.n_parameters, relative_error)
        return draw_notes(self.n_drawn, needed, relative_error) if self.n_drawn else []

    def open_directions(self, counts: FloatArray) -> tuple[str, ...]:
        """They are not looked for."""
        return ()


def _parts(criterion: Criterion) -> tuple[tuple[Weight, int], ...]:
    """The weights of probes that a trace is a sum of, with signs."""
    if criterion.weight is Weight.MARGINAL:
        return ((Weight.COMPLETE, 1), (Weight.MISSING, -1))
    if criterion.weight is None:
        raise InvalidInputError(f"{criterion.name} is no trace.")
    return ((criterion.weight, 1),)


def _signs(rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    return np.asarray(rng.integers(0, 2, shape) * 2 - 1, dtype=np.float64)


def drawn_channels(
    model: MultinomialModel,
    arms: ArmSet,
    rng: np.random.Generator,
    *,
    n_draws: int | None = None,
    progress: Progress = SILENT,
) -> ProbedChannels:
    """At the parameters of a model, from documents drawn from it.

    Parameters
    ----------
    n_draws : int, optional
        How many to draw; forty per parameter when absent, as far as memory goes.

    Raises
    ------
    InvalidInputError
        If there are probabilities of zero, or too many documents for so many arms.
    """
    require_interior("class_probabilities", model.class_probabilities)
    require_interior("word_probabilities", model.word_probabilities)
    white = CountWhitening.of_population(model)
    most = int(_MOST_WORDS_DRAWN / max(model.lengths.mean, 1.0))
    count = n_draws or min(max(_DRAWS_PER_PARAMETER * white.n_parameters, _FEWEST_DRAWS), most)
    with tracking(progress, "Drawing documents", 1) as task:
        documents = AnsweredDocuments.of(white, arms, model.sample(count, rng))
        task.advance(1)
    return ProbedChannels(documents, int(rng.integers(2**31)), n_drawn=count, tolerance=_ROUGH)
