r"""Figures of policies of a hidden Markov model with many parameters, from passes over drawn sequences.

In coordinates in which complete labels carry the identity, the information M of a policy is what its labels show by
themselves, which is known, plus what is gathered of the rest, which is drawn: see `PolicyOperator`. It is never
formed: conjugate gradients solve :math:`M X = Z` for random probes Z by passes over the sequences. A dense neighbor
:math:`M_0` from some of the draws preconditions, so that a handful of passes is enough, and carries most of every
figure exactly: only how :math:`\operatorname{tr} G M^{-1}` differs from :math:`\operatorname{tr} G M_0^{-1}` is left
to the probes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.data.sequences import Sequences
from labelworth.errors import InvalidInputError, MoreSamplesNeededError
from labelworth.fisher.criteria import CRITERIA
from labelworth.fisher.information import Figures, draw_notes, draws_needed
from labelworth.fisher.matrix_free.operator import DenseNeighbor, PolicyOperator, Shown
from labelworth.fisher.matrix_free.probes import Probes, Solved, complete_figures, policy_figures
from labelworth.fisher.matrix_free.whitening import Whitening, labeled_shares
from labelworth.fisher.sequences.population import FEWEST_FOR_PROBES, ChainPopulation
from labelworth.fisher.sequences.rule_list import RuleList
from labelworth.linalg.conjugate_gradients import LockstepConjugateGradients
from labelworth.models.chains.hidden_markov import HiddenMarkovModel
from labelworth.policies.catalog import Everything, Nothing
from labelworth.policies.policy import Policy
from labelworth.progress import SILENT, Progress, Task, tracking
from labelworth.wording import percent

MAX_PARAMETERS = 12_000
"""So many at most: a dense neighbor of more would not fit."""

_NEIGHBOR_DRAWS = 20
"""Draws per parameter in the dense neighbor: its eigenvalues are then within (0.6, 1.5) of the operator's."""

_FEWEST_NEIGHBOR_DRAWS = 4000
_FEWEST_DRAWS = 64
_DRAWS_PER_PARAMETER = 100
_N_PROBES = 4  # Random vectors per figure; standard errors fall with its square root.
_TOLERANCE = 1e-3  # Steps are taken until what is left would add less than this share to the figures.
_MAX_STEPS = 40

_LEAST_MET = 0.5
"""Of an entry that was met, draws show at least so much of what is expected."""

_ENOUGH = 10
"""So often should be expected what must be met."""

_MOST_DOUBT = 0.05
"""By so much of a figure, at most, entries that were not met may mislead."""


@dataclass(frozen=True, eq=False)
class MatrixFree:
    """Figures of some policies without their matrices; see `GivesFigures`."""

    rules: RuleList
    weights: FloatArray  # (n_policies, n_rules): The policies that were asked about.
    answers: tuple[Figures, ...]  # One per policy; without the worst direction.
    n_parameters: int
    n_drawn: int  # How many sequences were drawn.
    n_passes: int  # How many passes over all of them were made.
    n_hardly_met: int  # How many probabilities the draws hardly met where a policy leaves their labels open.

    @property
    def method(self) -> str:
        return "matrix-free"

    @property
    def n_estimable(self) -> int:
        return self.n_parameters

    def figures(self, weights: FloatArray) -> Figures:
        """Of a policy that was asked about."""
        (indices,) = np.nonzero((self.weights == weights).all(axis=1))
        if not indices.size:
            raise InvalidInputError("Without matrices only the policies that were asked about have figures.")
        return self.answers[int(indices[0])]

    def notes(self, figures: Sequence[Figures], relative_error: float) -> list[str]:
        """That draws hardly met some probabilities, or say too little of some figures."""
        missed = []
        if self.n_hardly_met:
            missed.append(
                f"{self.n_drawn} draws hardly meet {self.n_hardly_met} of the probabilities; the standard errors "
                "allow for the most that they may matter. More draws make them smaller."
            )
        needed = draws_needed(figures, self.n_drawn, self.n_parameters, relative_error)
        return [*missed, *draw_notes(self.n_drawn, needed, relative_error)]


def matrix_free_policies(
    population: ChainPopulation,
    policies: Sequence[Policy],
    rng: np.random.Generator,
    *,
    rules: RuleList | None = None,
    n_draws: int | None = None,
    drawn: Sequences | None = None,
    progress: Progress = SILENT,
) -> MatrixFree:
    r"""Every figure but the worst direction, of policies of a hidden Markov model.

    Parameters
    ----------
    population : ChainPopulation
        Of a hidden Markov model.
    rules : RuleList, optional
        Those that the policies mix; found when absent.
    n_draws : int, optional
        How many sequences to draw; a hundred per parameter when absent.
    drawn : Sequences, optional
        Fully labeled sequences drawn from the model, instead.

    Raises
    ------
    InvalidInputError
        If the model is no hidden Markov model, too large, or too small to do without matrices.
    MoreSamplesNeededError
        If there are too few draws per parameter. A policy that is too weak to be told from them has no figures.

    Notes
    -----
    A noisy matrix has a biased inverse, by about d/n of itself. That is estimated from what single draws do to a
    figure, and taken off; the standard error joins that over the draws, that over the probes, what is left of the
    bias, what conjugate gradients have left, and by how much entries that no draw meets may mislead.

    Paper: prop:efficiency2.
    """
    model = population.model
    if not isinstance(model, HiddenMarkovModel):
        raise InvalidInputError(
            f"The matrix-free way needs a hidden-markov model. Got a {model.kind} model; use method='sampling'."
        )
    whitening = Whitening(model, population.lengths)
    d = whitening.n_parameters
    if not FEWEST_FOR_PROBES <= d <= MAX_PARAMETERS:
        raise InvalidInputError(
            f"The matrix-free way is for {FEWEST_FOR_PROBES} to {MAX_PARAMETERS} parameters; there are {d}. "
            f"{'Use fewer words.' if d > MAX_PARAMETERS else 'Use method=sampling.'}"
        )
    if drawn is None:
        drawn = population.draw(n_draws or _DRAWS_PER_PARAMETER * d, rng)
    if drawn.n_sequences < _FEWEST_DRAWS * d:
        raise MoreSamplesNeededError(
            f"{drawn.n_sequences} draws are too few for {d} parameters: draw {_FEWEST_DRAWS * d} or more."
        )
    with tracking(progress, "Passes over drawn sequences", None) as task:
        probes, seed = Probes.drawn(whitening, _N_PROBES, rng), int(rng.integers(2**63))
        work = _Work(whitening, drawn, probes, seed, task)
        answers = tuple(work.estimate(policy) for policy in policies)
    rules = rules or RuleList.of([rule for policy in policies for rule in policy.rules])
    weights = np.array([rules.weights_of(policy) for policy in policies])
    return MatrixFree(rules, weights, answers, d, drawn.n_sequences, work.n_passes, work.n_hardly_met)


class _Work:
    """What all policies share: the draws, the probes, and what unlabeled sequences say to the probes."""

    def __init__(self, whitening: Whitening, drawn: Sequences, probes: Probes, seed: int, task: Task) -> None:
        self.whitening, self.drawn, self.probes = whitening, drawn, probes
        self._seed, self._task = seed, task
        self.n_passes = self.n_hardly_met = 0
        self._nothing = PolicyOperator(Shown(whitening, drawn.hide(), np.zeros(whitening.size), 1.0))
        self._nothing_neighbor = self._near(self._nothing.shown)
        self._dark_inner, self._dark = self._nothing.gram(probes.plain)
        self._count()

    def estimate(self, policy: Policy) -> Figures:
        """All figures of one policy."""
        try:
            values, errors = self._figures(policy)
        except MoreSamplesNeededError as error:
            return Figures.refused(str(error))
        named = dict(zip(CRITERIA, values.tolist(), strict=True))
        return Figures(True, None, named, dict(zip(CRITERIA, errors.tolist(), strict=True)), None)

    def _figures(self, policy: Policy) -> tuple[FloatArray, FloatArray]:
        """Values and standard errors, (n_figures,)."""
        whole = dict(policy.items()).get(Everything(), 0.0)
        if whole == 1.0:
            values, errors = complete_figures(
                self.probes, self._nothing_neighbor.matrix, self._dark, self._dark_inner
            )
            nothing, all_of_it = np.zeros(self.whitening.size), np.ones(self.whitening.size)
            return values, np.hypot(errors, self._doubt(nothing, all_of_it))
        operator, neighbor = self._operators(policy, whole)
        try:
            # The Cholesky factor exists only of a positive definite matrix.
            solved = self._solved(operator, neighbor)
        except np.linalg.LinAlgError as error:
            raise MoreSamplesNeededError(
                f"It tells so little of some direction that {self.drawn.n_sequences} draws do not show "
                "it. Label more, or look for the direction in a smaller model with method='enumeration'."
            ) from error
        values, errors = policy_figures(solved)
        missed = self._missed(operator.shown, neighbor)
        doubt = self._doubt(missed, np.diag(neighbor.matrix))
        self._require_met(operator.shown, missed, doubt, values)
        return values, np.hypot(errors, doubt)

    def _operators(self, policy: Policy, whole: float) -> tuple[PolicyOperator, DenseNeighbor]:
        shares = labeled_shares(self.whitening, policy)
        rest = [(rule, weight) for rule, weight in policy.items() if rule != Everything()]
        if [rule for rule, _ in rest] == [Nothing()]:
            if whole == 0.0:
                return self._nothing, self._nothing_neighbor
            partly = (shares, 1 - whole)
            return self._nothing.weighted(*partly), self._nothing_neighbor.weighted(*partly)
        total = sum(weight for _, weight in rest)
        mixture = Policy(tuple(rule for rule, _ in rest), tuple(weight / total for _, weight in rest))
        # The same random numbers for every policy.
        seen, _ = mixture.apply(self.drawn, self._seed)
        shown = Shown(self.whitening, seen, shares, 1 - whole)
        return PolicyOperator(shown), self._near(shown)

    def _near(self, shown: Shown) -> DenseNeighbor:
        # The more draws there are the less noise the probes may add: a closer neighbor leaves less to them.
        share = shown.sequences.n_sequences * _NEIGHBOR_DRAWS // _DRAWS_PER_PARAMETER
        wanted = max(_NEIGHBOR_DRAWS * self.whitening.n_parameters, _FEWEST_NEIGHBOR_DRAWS, share)
        return DenseNeighbor.of(shown, wanted)

    def _solved(self, operator: PolicyOperator, neighbor: DenseNeighbor) -> Solved:
        """Conjugate gradients for all probes at once."""
        is_dark = operator is self._nothing
        starts = [self.probes.plain, self.probes.named, neighbor.root(self.probes.signs)]
        starts += [] if is_dark else [self._dark]
        of_directions: list[FloatArray] = []

        def product(block: FloatArray) -> FloatArray:
            inner, result = operator.gram(block)
            of_directions.append(inner)
            self._count()
            return result

        run = LockstepConjugateGradients(product, neighbor.solve, np.concatenate(starts, axis=1))
        while run.remainders(len(starts)).max() > _TOLERANCE:
            if run.n_steps == _MAX_STEPS:
                raise np.linalg.LinAlgError("Conjugate gradients do not converge.")
            run.step()
        inner = run.of_solutions(of_directions)
        if is_dark:
            return Solved(self.probes, neighbor, run, operator.shown.partly, inner)
        both = [run.solutions[:, self.probes.columns(kind)] for kind in (0, 2)]
        dark_inner = np.concatenate([self._dark_inner, self._nothing.inner(np.hstack(both))], axis=1)
        self._count()
        return Solved(
            self.probes, neighbor, run, operator.shown.partly, inner, self._nothing_neighbor, self._dark, dark_inner
        )

    def _missed(self, shown: Shown, neighbor: DenseNeighbor) -> FloatArray:
        """How much of what is open of every entry the draws did not meet, where that is most of it, (n_named,)."""
        missed = np.where(neighbor.met < _LEAST_MET, 1 - neighbor.met, 0.0)
        return np.asarray(missed * shown.partly * shown.open_shares)

    def _doubt(self, missed: FloatArray, known: FloatArray) -> FloatArray:
        """By how much entries that the draws hardly met may mislead in every figure, (n_figures,).

        What was `missed` of an entry tells of it at most as much as labels would, in addition to what is `known`; and
        what unlabeled sequences tell of it is at most all that is told.
        """
        dark = self._missed(self._nothing.shown, self._nothing_neighbor)
        self.n_hardly_met = max(self.n_hardly_met, int((missed > 0).sum()), int((dark > 0).sum()))
        excess = np.where(missed > 0, 1 / known - 1 / (known + missed), 0.0)
        joint, marginal = excess.sum() / 2, np.minimum(dark / known, 1.0).sum() / 2
        named = np.square(self.whitening.named_scale) @ excess
        return np.array([named, 0.0, joint + marginal, joint, marginal, np.log1p(missed / known).sum()])

    def _require_met(self, shown: Shown, missed: FloatArray, doubt: FloatArray, values: FloatArray) -> None:
        indices = [list(CRITERIA).index(name) for name in ("total_variance", "excess_joint_log_loss")]
        if (doubt[indices] <= _MOST_DOUBT * values[indices]).all():
            return
        rarest = float((self.whitening.counts * shown.open_shares)[missed > 0].min())
        raise MoreSamplesNeededError(
            f"{self.drawn.n_sequences} draws hardly meet {int((missed > 0).sum())} of the probabilities where their "
            f"labels are open: figures may be off by more than {percent(_MOST_DOUBT)}. About {_ENOUGH / rarest:.2g} "
            "draws meet all of them; or use a model without what is so rare."
        )

    def _count(self) -> None:
        """One more pass over all draws."""
        self.n_passes += 1
        self._task.advance(1)
