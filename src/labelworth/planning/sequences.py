"""Sequences: what every labeling rule on the menu is worth at a fit, by formulas or by simulation."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.linalg

from labelworth.arrays import BoolArray, FloatArray
from labelworth.criteria.asymptotic import CRITERIA
from labelworth.criteria.policy_reading import read_rules
from labelworth.data.lengths import LengthDistribution
from labelworth.data.sequences import Sequences
from labelworth.errors import InvalidInputError, LabelworthWarning, NotIdentifiableError
from labelworth.fisher.chain_population import ChainPopulation
from labelworth.fisher.rule_enumeration import enumerated_rules, enumeration_work
from labelworth.fisher.rule_information import RuleInformation
from labelworth.fisher.rule_list import RuleList
from labelworth.fisher.rule_sampling import sampled_rules
from labelworth.models.chain_protocol import Reference
from labelworth.planning.answer import Held
from labelworth.planning.randomness import labeled_samples
from labelworth.planning.situation import Situation
from labelworth.policies.policy import Policy
from labelworth.policies.rule import Rule
from labelworth.progress import SILENT, Progress, tracking
from labelworth.robust.sequence_identifiability import as_labeled
from labelworth.tradeoff.accuracy import Accuracy
from labelworth.tradeoff.costs import ArmPrices, Prices
from labelworth.tradeoff.matrix_accuracy import MatrixAccuracy

SEQUENCE_CRITERIA = ("error", "log_loss", *CRITERIA)
"""What "error" can mean for sequences; the first two by simulation."""
USUAL_MENU = ("everything", "nothing")
MOST_PARAMETERS = 300
"""Up to so many the information per rule is computed within seconds."""
_QUICK_WORK = 4e9
_QUICK_ALTERNATIVE = 2e8
_RELATIVE_ERROR = 0.02
_SMALLEST = 1e-4
_CHANCE = 0.01
_MOST_OUTSIDE = 0.01
_MOST_REFITS = 40


@dataclass(frozen=True, eq=False)
class LabeledSequences:
    """Sequences with and without labels, and the model fitted to them.

    Attributes
    ----------
    sequences : Sequences
    model : ChainModel
        Fitted to all of them.
    converged : bool
    fit : function of sequences and a Progress
        Fits such a model to other sequences; answers with something that has ``model``.
    """

    sequences: Sequences
    model: Any
    converged: bool
    fit: Callable[[Sequences, Progress], Any]

    @property
    def labeled(self) -> BoolArray:
        """Which sequences carry a label."""
        return labeled_samples(self.sequences)

    @property
    def n_labels(self) -> int:
        """Labeled tokens."""
        return int((~self.sequences.evidence.is_unlabeled).sum())

    @property
    def n_parameters(self) -> int:
        """Of the model."""
        return int(self.model.coordinates.n_free)

    @property
    def is_conditional(self) -> bool:
        """Whether sequences without labels tell the model nothing."""
        return bool(self.model.reference is Reference.LABELS)

    @property
    def lengths(self) -> LengthDistribution:
        """Of all sequences."""
        found, counts = np.unique(self.sequences.lengths, return_counts=True)
        return LengthDistribution(found, counts / counts.sum())

    def held(self, prices: Prices, error: float | None) -> Held:
        """What there is before the plan."""
        labeled = self.labeled
        tokens = int(self.sequences.lengths[labeled].sum())
        cost = prices.fixed + prices.per_label * self.n_labels + prices.per_token * tokens
        return Held(
            "sequences",
            self.sequences.n_sequences,
            int(labeled.sum()),
            self.n_labels,
            int((~labeled).sum()),
            self.n_parameters,
            tuple(str(name) for name in self.sequences.evidence.classes),
            cost + prices.per_sequence * int(labeled.sum()),
            error,
        )


def read_menu(rules: Sequence[Any] | str | None, data: LabeledSequences, *, uses_unlabeled: bool) -> list[Rule]:
    """The rules to choose from; without "nothing" where unlabeled sequences are not to be learned from.

    Raises
    ------
    NotIdentifiableError
        If no rule labels anything.
    """
    listed = rules.split(",") if isinstance(rules, str) else rules
    menu = read_rules([rule.strip() if isinstance(rule, str) else rule for rule in listed or USUAL_MENU])
    menu = list(dict.fromkeys(menu))
    if data.is_conditional or not uses_unlabeled:
        menu = [rule for rule in menu if rule.spec != "nothing"]
    if not any(rule.expected_labels(length) > 0 for rule in menu for length in data.lengths.lengths.tolist()):
        raise NotIdentifiableError(
            "No rule on the menu labels anything, so labels have no names. Add one, as everything or window:5."
        )
    return menu


def menu_prices(menu: Sequence[Rule], data: LabeledSequences, prices: Prices) -> ArmPrices:
    """Of one more sequence by every rule; the fixed part was paid with the pilot."""
    each = prices.of_rules(list(menu), data.lengths)
    return ArmPrices(each.arms, each.per_sample)


def asymptotic_sequences(
    data: LabeledSequences,
    menu: Sequence[Rule],
    criterion: str,
    prices: Prices,
    pool: float,
    *,
    n_draws: int,
    seed: int,
    reason: str,
    progress: Progress = SILENT,
) -> Situation:
    """The situation by the formulas.

    Raises
    ------
    InvalidInputError
        If there are too many parameters for matrices.
    """
    if data.n_parameters > MOST_PARAMETERS:
        raise InvalidInputError(
            f"A {data.model.kind} model with {data.n_parameters:,} parameters is too large for the formulas of a "
            f"plan, which take up to {MOST_PARAMETERS}. Take source='simulated', or fewer words (min_count=)."
        )
    model, inputs = interior(data.model), data.sequences.hide()
    at = partial(
        _accuracy, data=data, inputs=inputs, menu=menu, criterion=criterion, pool=pool, seed=seed, reason=reason
    )
    accuracy, spread = at(model, progress=progress)
    models: list[Any] = []
    origin = "normal draws"
    population = ChainPopulation.of(model, inputs=inputs)
    if n_draws and enumeration_work(population, RuleList.of(menu)) <= _QUICK_ALTERNATIVE:
        rng = np.random.default_rng([seed, 13])
        models = _drawn(model, spread, n_draws, rng)
        if len(models) < (1 - _MOST_OUTSIDE) * n_draws:
            models, origin = _refitted(data, min(n_draws, _MOST_REFITS), rng, progress), "bootstrap"
    return Situation(
        data.held(prices, None),
        accuracy,
        menu_prices(menu, data, prices),
        pool,
        float(data.sequences.lengths.mean()),
        alternatives=tuple(partial(_only_accuracy, at, other) for other in models),
        origin=origin,
    )


def _only_accuracy(at: Callable[..., tuple[MatrixAccuracy, FloatArray]], model: Any) -> Accuracy:
    return at(model)[0]


def _accuracy(
    model: Any,
    *,
    data: LabeledSequences,
    inputs: Sequences,
    menu: Sequence[Rule],
    criterion: str,
    pool: float,
    seed: int,
    reason: str,
    progress: Progress = SILENT,
) -> tuple[MatrixAccuracy, FloatArray]:
    """The accuracy at a model, and the information that the fit itself rests on: labels held and the pool."""
    information = _information(model, inputs, menu, seed, progress)
    everything = information.matrices[information.everything]
    labeled = data.sequences.take(data.labeled)
    gold = ~labeled.evidence.is_unlabeled
    whole = np.logical_and.reduceat(gold, labeled.offsets[:-1])
    held = float(whole.sum()) * everything
    if not whole.all():
        partly = labeled.take(~whole)
        rule = as_labeled(partly)
        own = _information(model, partly.hide(), [rule], seed, progress)
        held = held + partly.n_sequences * own.matrices[own.rules.index(rule.spec)]
    accuracy = MatrixAccuracy(
        information,
        criterion,
        tuple(information.rules.index(rule.spec) for rule in menu),
        held,
        reason,
    )
    return accuracy, held + pool * information.matrices[information.nothing]


def _information(
    model: Any, inputs: Sequences, rules: Sequence[Rule], seed: int, progress: Progress
) -> RuleInformation:
    """One matrix per rule: exactly where that is quick."""
    population = ChainPopulation.of(model, inputs=inputs)
    if enumeration_work(population, RuleList.of(rules)) <= _QUICK_WORK:
        return enumerated_rules(population, rules)
    labeling = [Policy.of(rule) for rule in rules if rule.spec != "nothing"]
    return sampled_rules(
        population,
        rules,
        labeling,
        np.random.default_rng([seed, 17]),
        relative_error=_RELATIVE_ERROR,
        progress=progress,
    )


def interior(model: Any) -> Any:
    """The model; where probabilities are all but zero, a nearby one with a hundredth of each row spread evenly.

    At the edge the theory does not hold, and near it the rarest of events would decide.
    """
    is_edge = min(float(table.min()) for table in model.tables.values()) < _SMALLEST
    if model.reference is not Reference.NOTHING or not is_edge:
        return model
    return model.with_tables(
        {name: (1 - _CHANCE) * table + _CHANCE / table.shape[1] for name, table in model.tables.items()}
    )


def _drawn(model: Any, information: FloatArray, n_draws: int, rng: np.random.Generator) -> list[Any]:
    """Parameters drawn from the normal law of the fit, along the directions that the data sees."""
    values, vectors = scipy.linalg.eigh(information)
    seen = values > 1e-9 * values[-1]
    half = vectors[:, seen] / np.sqrt(values[seen])
    center = model.coordinates.flatten(model.tables)
    found = []
    for _ in range(n_draws):
        shift = half @ rng.standard_normal(half.shape[1])
        try:
            found.append(model.with_tables(model.coordinates.named(center + shift)))
        except InvalidInputError:
            continue
    return found


def _refitted(data: LabeledSequences, n_models: int, rng: np.random.Generator, progress: Progress) -> list[Any]:
    """Fits to sequences drawn with replacement, labeled and unlabeled ones each among their own."""
    groups = [np.flatnonzero(data.labeled), np.flatnonzero(~data.labeled)]
    found = []
    with tracking(progress, "bootstrap", n_models) as task, warnings.catch_warnings():
        # A resample of a small pilot may lack a label, or be slow to settle: that is part of how unsure it is.
        warnings.simplefilter("ignore", LabelworthWarning)
        for _ in range(n_models):
            rows = np.concatenate([rng.choice(group, size=len(group)) for group in groups if len(group)])
            found.append(interior(data.fit(data.sequences.take(rows), SILENT).model))
            task.advance()
    return found
