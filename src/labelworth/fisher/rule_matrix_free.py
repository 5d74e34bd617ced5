r"""Figures of policies of a hidden Markov model with many parameters, from passes over drawn sequences.

In coordinates in which complete labels carry the identity, the information of a policy is
:math:`M = \frac1n \sum_i s_i s_i'`, and is never formed: conjugate gradients solve :math:`M X = Z` for random probes
Z by passes over the sequences. A dense neighbor :math:`M_0` from a few of the draws preconditions, so that a handful
of passes is enough, and carries most of every figure exactly: only
:math:`\operatorname{tr} G (M^{-1} - M_0^{-1})` is left to the probes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from labelworth.arrays import FloatArray, require_between
from labelworth.data.sequences import Sequences
from labelworth.errors import InvalidInputError, MoreSamplesNeededError
from labelworth.fisher.chain_population import ChainPopulation
from labelworth.fisher.policy_figures import FIGURES
from labelworth.fisher.rule_estimates import PolicyEstimate
from labelworth.fisher.rule_operator import GROUPS, PARTS, DenseNeighbor, PolicyOperator, Shown
from labelworth.fisher.rule_whitening import Whitening
from labelworth.linalg.conjugate_gradients import LockstepConjugateGradients
from labelworth.models.hidden_markov_model import HiddenMarkovModel
from labelworth.policies.catalog import Everything, Nothing
from labelworth.policies.policy import Policy
from labelworth.progress import SILENT, Progress, Task, tracking

MAX_PARAMETERS = 12_000
"""So many at most: a dense neighbor of more would not fit."""

_NEIGHBOR_DRAWS = 10
"""Draws per parameter in the dense neighbor: its eigenvalues are then within (0.5, 1.7) of the operator's."""

_FEWEST_NEIGHBOR_DRAWS = 4000
_FEWEST_DRAWS = 64
_DRAWS_PER_PARAMETER = 100
_MAX_STEPS = 40


@dataclass(frozen=True)
class MatrixFree:
    """Figures of policies without their matrices.

    Attributes
    ----------
    estimates : tuple of PolicyEstimate
        One per policy; without the worst direction.
    n_parameters : int
    expected_labels : array of shape (n_policies,)
        Labels per sequence.
    n_drawn : int
        How many sequences were drawn.
    n_passes : int
        How many passes over all of them were made.
    n_rare : int
        How many entries were so rarely labeled in the draws that they were counted alone; see `Shown`.
    """

    estimates: tuple[PolicyEstimate, ...]
    n_parameters: int
    expected_labels: FloatArray
    n_drawn: int
    n_passes: int
    n_rare: int


def matrix_free_policies(
    population: ChainPopulation,
    policies: Sequence[Policy],
    rng: np.random.Generator,
    *,
    n_draws: int | None = None,
    drawn: Sequences | None = None,
    n_probes: int = 4,
    tolerance: float = 5e-3,
    progress: Progress = SILENT,
) -> MatrixFree:
    r"""Every figure but the worst direction, of policies of a hidden Markov model.

    Parameters
    ----------
    population : ChainPopulation
        Of a hidden Markov model.
    policies : sequence of Policy
    rng : Generator
    n_draws : int, optional
        How many sequences to draw; a hundred per parameter when absent.
    drawn : Sequences, optional
        Fully labeled sequences drawn from the model, instead.
    n_probes : int
        Random vectors per figure; standard errors fall with its square root.
    tolerance : float
        Steps are taken until what is left would add less than this share to the figures.
    progress : Progress

    Raises
    ------
    InvalidInputError
        If the model is no hidden Markov model, or too large.
    MoreSamplesNeededError
        If there are too few draws per parameter. A policy that is too weak to be told from them has no figures.

    Notes
    -----
    A noisy matrix has a biased inverse, by about d/n of itself. With :math:`t_g` the figures of G groups of the
    draws, whose vectors ride along in the same passes, every figure is :math:`t + (t - \bar t_g) / (G - 1)`; its
    standard error joins that over the probes, that over the groups, the size of the correction, what conjugate
    gradients have left, and by how much entries that the draws hardly meet may mislead.

    Paper: prop:efficiency2.
    """
    model = population.model
    if not isinstance(model, HiddenMarkovModel):
        raise InvalidInputError(
            f"The matrix-free way needs a hidden-markov model. Got a {model.kind} model; use method='sampling'."
        )
    require_between("n_probes", n_probes, 2, 1000)
    whitening = Whitening(model, population.lengths)
    d = whitening.n_parameters
    if d > MAX_PARAMETERS:
        raise InvalidInputError(f"At most {MAX_PARAMETERS} parameters fit; there are {d}. Use fewer words.")
    if drawn is None:
        drawn = population.draw(n_draws or _DRAWS_PER_PARAMETER * d, rng)
    if drawn.n_sequences < _FEWEST_DRAWS * d:
        raise MoreSamplesNeededError(
            f"{drawn.n_sequences} draws are too few for {d} parameters: draw {_FEWEST_DRAWS * d} or more."
        )
    with tracking(progress, "Passes over drawn sequences", None) as task:
        work = _Work(whitening, drawn, rng, n_probes, tolerance, task)
        estimates = tuple(work.estimate(policy) for policy in policies)
    labels = np.array([policy.expected_cost(population.lengths).labels for policy in policies])
    return MatrixFree(estimates, d, labels, drawn.n_sequences, work.n_passes, work.n_rare)


class _Work:
    """What all policies share: the draws, the probes, and what unlabeled sequences say to the probes."""

    def __init__(
        self,
        whitening: Whitening,
        drawn: Sequences,
        rng: np.random.Generator,
        n_probes: int,
        tolerance: float,
        task: Task,
    ) -> None:
        self.whitening, self.drawn, self.n_probes, self.tolerance = whitening, drawn, n_probes, tolerance
        self._seed, self._task, self.n_passes = int(rng.integers(2**63)), task, 0
        self.n_rare = 0
        signs = rng.integers(0, 2, size=(3, whitening.size, n_probes)) * 2.0 - 1.0
        self._plain = whitening.project(signs[0])
        self._named = whitening.project(whitening.named_scale[:, None] * signs[1])
        self._signs = whitening.project(signs[2])
        self._nothing, self._nothing_neighbor = self._both(drawn.hide(), 0.0)
        self._dark = self._counted(self._nothing, np.tile(self._plain, PARTS))

    def estimate(self, policy: Policy) -> PolicyEstimate:
        """All figures of one policy."""
        try:
            figures, remainder, doubt = self._figures(policy)
        except MoreSamplesNeededError as error:
            return PolicyEstimate.untold(str(error))
        whole, groups = figures[0].mean(axis=1), figures[1:].mean(axis=2)
        correction = (whole - groups.mean(axis=0)) / (GROUPS - 1)
        of_probes = figures[0].var(axis=1, ddof=1) / self.n_probes
        left = remainder * whole
        errors = np.sqrt(of_probes + groups.var(axis=0, ddof=1) / GROUPS + correction**2 + left**2 + doubt**2)
        named = dict(zip(FIGURES, (whole + correction).tolist(), strict=True))
        return PolicyEstimate(True, None, named, dict(zip(FIGURES, errors.tolist(), strict=True)), None)

    def _figures(self, policy: Policy) -> tuple[FloatArray, float, FloatArray]:
        """Of all draws and every group, per probe, (PARTS, n_figures, n_probes); what is left; what is doubtful."""
        whole = dict(policy.items()).get(Everything(), 0.0)
        if whole == 1.0:
            return self._complete_figures(), 0.0, np.zeros(len(FIGURES))
        operator, neighbor = self._operators(policy, whole)
        try:
            # The Cholesky factor exists only of a positive definite matrix.
            starts = np.concatenate([self._plain, self._named, neighbor.root(self._signs)], axis=1)
            run = self._solved(operator, neighbor, starts)
        except np.linalg.LinAlgError as error:
            raise MoreSamplesNeededError(
                f"It tells so little of some direction that {self.drawn.n_sequences} draws do not show "
                "it. Label more, or look for the direction in a smaller model with method='enumeration'."
            ) from error
        return self._assembled(run, neighbor), run.remainder(), self._doubt(operator.shown)

    def _doubt(self, shown: Shown) -> FloatArray:
        """By how much rare entries, counted alone, may make every figure too large, (n_figures,)."""
        excess = shown.doubt()
        half, named = excess.sum() / 2, np.square(self.whitening.named_scale) @ excess
        return np.array([named, 0.0, half, half, half, np.log1p(excess).sum()])

    def _operators(self, policy: Policy, whole: float) -> tuple[PolicyOperator, DenseNeighbor]:
        rest = [(rule, weight) for rule, weight in policy.items() if rule != Everything()]
        if [rule for rule, _ in rest] == [Nothing()] and whole == 0.0:
            return self._nothing, self._nothing_neighbor
        total = sum(weight for _, weight in rest)
        mixture = Policy(tuple(rule for rule, _ in rest), tuple(weight / total for _, weight in rest))
        # The same random numbers for every policy.
        seen, _ = mixture.apply(self.drawn, self._seed)
        return self._both(seen, whole)

    def _both(self, seen: Sequences, whole: float) -> tuple[PolicyOperator, DenseNeighbor]:
        shown = Shown.of(self.whitening, seen, whole)
        self.n_rare = max(self.n_rare, int(shown.rare.sum()))
        wanted = max(_NEIGHBOR_DRAWS * self.whitening.n_parameters, _FEWEST_NEIGHBOR_DRAWS)
        return PolicyOperator(shown), DenseNeighbor.of(shown.first(wanted))

    def _solved(
        self, operator: PolicyOperator, neighbor: DenseNeighbor, starts: FloatArray
    ) -> LockstepConjugateGradients:
        run = LockstepConjugateGradients(
            lambda block: self._counted(operator, block), neighbor.solve, np.tile(starts, PARTS)
        )
        while run.remainder() > self.tolerance:
            if run.n_steps == _MAX_STEPS:
                raise np.linalg.LinAlgError("Conjugate gradients do not converge.")
            run.step()
        return run

    def _assembled(self, run: LockstepConjugateGradients, neighbor: DenseNeighbor) -> FloatArray:
        """Exact figures of the neighbor, plus what probes say of the difference."""
        white, b = self.whitening, self.n_probes
        columns = np.arange(PARTS * 3 * b).reshape(PARTS, 3, b)
        near_plain, near_named = neighbor.solve(self._plain), neighbor.solve(self._named)
        diagonal, scale = neighbor.inverse_diagonal(), np.square(white.named_scale)
        is_dark = neighbor is self._nothing_neighbor
        marginal = 0.0 if is_dark else neighbor.inverse_trace(self._nothing_neighbor)
        near_dark = self._nothing_neighbor.matrix @ self._plain
        logs = run.gauss().of(np.log)
        figures = np.empty((PARTS, len(FIGURES), b))
        for part, (plain, named, signs) in enumerate(columns):
            solution, dark = run.solutions[:, plain], self._dark[:, part * b : (part + 1) * b]
            joints = diagonal.sum() + _inner(self._plain, solution - near_plain)
            marginals = marginal + _inner(dark, solution) - _inner(near_dark, near_plain)
            if is_dark:
                marginals = np.full(b, float(white.n_parameters))  # trace(M M^-1)
            traces = diagonal @ scale + run.forms[named] - _inner(self._named, near_named)
            volumes = -white.log_determinant() - neighbor.log_determinant() - logs[signs]
            nothing = np.full(b, np.nan)
            figures[part] = [traces, nothing, (joints - marginals) / 2, joints / 2, marginals / 2, volumes]
        return figures

    def _complete_figures(self) -> FloatArray:
        """Of complete labels: all is known but what unlabeled sequences tell."""
        white, b = self.whitening, self.n_probes
        total = float(np.square(white.named_scale) @ (1 - white.probabilities))
        worst = float("nan")
        exact = np.trace(self._nothing_neighbor.matrix) - white.n_rows
        near = _inner(self._plain, self._nothing_neighbor.matrix @ self._plain)
        figures = np.empty((PARTS, len(FIGURES), b))
        for part in range(PARTS):
            marginals = exact + _inner(self._plain, self._dark[:, part * b : (part + 1) * b]) - near
            joints = np.full(b, float(white.n_parameters))
            constants = [np.full(b, value) for value in (total, worst, -white.log_determinant())]
            figures[part] = [*constants[:2], (joints - marginals) / 2, joints / 2, marginals / 2, constants[2]]
        return figures

    def _counted(self, operator: PolicyOperator, block: FloatArray) -> FloatArray:
        self.n_passes += 1
        self._task.advance(1)
        return operator(block)


def _inner(first: FloatArray, second: FloatArray) -> FloatArray:
    """Of each column with the same column, (b,)."""
    return np.asarray(np.einsum("ij,ij->j", first, second))
