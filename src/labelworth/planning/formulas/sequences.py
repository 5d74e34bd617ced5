"""What every labeling rule tells at a fit, and at other parameters near it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.data.sequences import Sequences
from labelworth.estimators.pools.sequences import SequencePool
from labelworth.fisher.dense import DenseInformation
from labelworth.fisher.enumeration import enumerated
from labelworth.fisher.sampling import sampled
from labelworth.fisher.sequences.asked import AskedRule
from labelworth.fisher.sequences.nearby import NearbyRules
from labelworth.fisher.sequences.population import QUICK_WORK, ChainPopulation
from labelworth.fisher.sequences.rule_list import RuleList
from labelworth.models.chains.protocol import Reference
from labelworth.models.probability_rows import spread_evenly
from labelworth.planning.formulas.nearby import drawn_models
from labelworth.planning.kinds.menu import KindMenu
from labelworth.planning.source import ChosenSource
from labelworth.policies.policy import Policy
from labelworth.policies.rule import Rule
from labelworth.progress import SILENT, Progress
from labelworth.robust.sequences.identifiability import as_labeled
from labelworth.tradeoff.asymptotic_accuracy import AsymptoticAccuracy

QUICK_ALTERNATIVE = 2e8
"""Up to so many multiplications outcomes are enumerated at every other parameter."""
_RELATIVE_ERROR = 0.02
_SMALLEST = 1e-4
_TWIN_BATCHES = 32
_RAREST = 5e-3
"""Rates of answers are not drawn below this: sampled sequences hardly show such an answer, and how well its rate can
be learned is noise. Measured on 80 sequences: errors with 0.003 and 0.01 differ by a hundredth; with 0.001 some are
twice as large, or infinite."""
_IN_PART = "labeled in part"
"""What the rule is called by which sequences held were labeled in part."""


@dataclass(frozen=True, eq=False)
class RulesOnInputs:
    """The information of some rules on some inputs, at the fit and near it."""

    center: Any  # At the fit.
    inputs: Sequences  # Whose lengths, and for a conditional model whose words, information is averaged over.
    rules: tuple[Rule, ...]
    criterion: str  # The figure that decides how many draws are needed at the fit.
    stream: tuple[int, ...]  # Seeds the draws.

    @cached_property
    def _population(self) -> ChainPopulation:
        return ChainPopulation.of(self.center, inputs=self.inputs)

    @cached_property
    def _listed(self) -> RuleList:
        return RuleList.of(self.rules, self.center.classes)

    @cached_property
    def _work(self) -> float:
        return self._population.enumeration_work(self._listed)

    @property
    def is_sampled_nearby(self) -> bool:
        """Whether other parameters take draws."""
        return self._work > QUICK_ALTERNATIVE

    @cached_property
    def _near(self) -> NearbyRules:
        return NearbyRules.learned(self._population, self.rules, self._rng(1))

    def at_fit(self, progress: Progress) -> DenseInformation:
        """One matrix per rule: exactly where that is quick."""
        if self._work <= QUICK_WORK:
            return enumerated(self._population, self._listed)
        labeling = [rule for rule in self.rules if rule.spec != "nothing"]
        return sampled(
            self._population,
            self._listed,
            [self._design_of(rule) for rule in labeling],
            self._rng(0),
            relative_error=_RELATIVE_ERROR,
            criteria=(self.criterion,),
            progress=progress,
        )

    def _design_of(self, rule: Rule) -> FloatArray:
        """A rule alone; answers, which may leave confusions open, beside as much gold."""
        if not isinstance(rule, AskedRule) or not rule.arm.asked:
            return self._listed.weights_of(Policy.of(rule.rule if isinstance(rule, AskedRule) else rule))
        weights = np.zeros(len(self._listed.rules))
        weights[[self._listed.rules.index(rule), self._listed.everything]] = 0.5
        return weights

    def near(self, model: Any, number: int, rules: tuple[Rule, ...] | None = None) -> DenseInformation:
        """The same at other parameters, of channels too where `rules` say so; every number has its own draws."""
        population = ChainPopulation.of(model, inputs=self.inputs)
        if not self.is_sampled_nearby:
            return enumerated(population, self._listed if rules is None else RuleList.of(rules, model.classes))
        return self._near.at(population, self._rng(2, number), rules=rules)

    def twin(self) -> DenseInformation:
        """At the fit, from as many draws as at other parameters, in many batches: what their bias is."""
        if not self.is_sampled_nearby:
            return enumerated(self._population, self._listed)
        return self._near.at(self._population, self._rng(3), n_batches=_TWIN_BATCHES)

    def _rng(self, *purpose: int) -> np.random.Generator:
        return np.random.default_rng([*self.stream, *purpose])


@dataclass(frozen=True, eq=False)
class PluggedIn:
    """The information at one set of parameters, as a plan needs it."""

    pool: SequencePool
    menu: tuple[str, ...]  # The arms.
    criterion: str  # As in `AsymptoticAccuracy`.
    information: DenseInformation  # Of the arms, complete labels and none.
    partly: DenseInformation | None  # What sequences labeled in part tell, each; the first of its rules.

    @cached_property
    def _all_rules(self) -> DenseInformation:
        """The arms, and what sequences labeled in part tell, each."""
        if self.partly is None:
            return self.information
        batches = None if self.partly.batches is None else self.partly.batches[:, 0]
        # Labels tell nothing of those who answer.
        p = (0, len(self.information.nuisance))
        padded = None if batches is None else np.pad(batches, ((0, 0), p, p))
        return self.information.with_rule(_IN_PART, np.pad(self.partly.matrices[0], (p, p)), padded)

    @property
    def _held(self) -> dict[str, float]:
        """Sequences with labels, by rule."""
        whole = self.pool.is_whole
        held = {"everything": float(whole.sum())}
        return held if self.partly is None else held | {_IN_PART: float((~whole).sum())}

    @property
    def of_fit(self) -> FloatArray:
        """The information that the fit itself rests on: labels held, and the sequences without any."""
        held = self._held | {"nothing": float((~self.pool.is_labeled).sum())}
        counts = np.array([held.get(rule, 0.0) for rule in self._all_rules.rules])
        d = self.information.n_parameters
        return np.asarray(np.tensordot(counts, self._all_rules.matrices, axes=1)[:d, :d])

    @property
    def accuracy(self) -> AsymptoticAccuracy:
        """Of designs that add to what is held."""
        return self._accuracy_of(self._all_rules)

    @property
    def exact_accuracy(self) -> AsymptoticAccuracy:
        """The same as if nothing had been sampled: noise is looked at once, where it is needed."""
        return self._accuracy_of(self._all_rules.without_batches())

    def _accuracy_of(self, information: DenseInformation) -> AsymptoticAccuracy:
        return AsymptoticAccuracy.of(information, self.criterion, menu=self.menu, held=self._held)


@dataclass(frozen=True, eq=False)
class SequenceFormulas:
    """Everything that formulas need to know of the data and the menu."""

    pool: SequencePool
    center: Any  # At which the plan is made, with the words or attributes that occur.
    menu: Sequence[Rule]
    criterion: str
    seed: int
    progress: Progress = SILENT
    kinds: KindMenu | None = None  # Whom parts of sequences can be given to; `menu` has these arms.

    most_refits = 39
    """Of 39 answers the 2nd and the 38th are the ends of an interval."""

    @cached_property
    def _arms(self) -> RulesOnInputs:
        inputs = self.pool.occurrence.of_sequences(self.pool.data.hide())
        return RulesOnInputs(self.center, inputs, tuple(self.menu), self.criterion, (self.seed, 17))

    @cached_property
    def _partly(self) -> RulesOnInputs | None:
        whole = self.pool.is_whole
        if whole.all():
            return None
        partly = self.pool.data.take(np.flatnonzero(self.pool.is_labeled)[~whole])
        inputs = self.pool.occurrence.of_sequences(partly.hide())
        return RulesOnInputs(self.center, inputs, (as_labeled(partly),), self.criterion, (self.seed, 19))

    @property
    def _parts(self) -> list[RulesOnInputs]:
        return [self._arms] if self._partly is None else [self._arms, self._partly]

    @property
    def is_sampled_nearby(self) -> bool:
        """Whether other parameters take draws."""
        return any(part.is_sampled_nearby for part in self._parts)

    @classmethod
    def of(
        cls,
        pool: SequencePool,
        menu: Sequence[Rule],
        chosen: ChosenSource,
        seed: int,
        progress: Progress,
        kinds: KindMenu | None = None,
    ) -> "SequenceFormulas":
        center = _off_the_edge(pool.occurring_model)
        return cls(
            pool, center, menu if kinds is None else kinds.asked_rules, chosen.criterion, seed, progress, kinds
        )

    def accuracy(self) -> AsymptoticAccuracy:
        return self._at_fit.exact_accuracy

    def sampled(self) -> AsymptoticAccuracy:
        return self._at_fit.accuracy

    def near(self, model: Any, number: int) -> AsymptoticAccuracy:
        drawn = None
        if self.kinds is not None:
            drawn = self.kinds.drawn(np.random.default_rng([self.seed, 21, number]), rarest=_RAREST).asked_rules
        parts = [part.near(model, number, drawn if part is self._arms else None) for part in self._parts]
        return self._plugged(parts).accuracy

    def twin(self) -> AsymptoticAccuracy:
        return self._plugged([part.twin() for part in self._parts]).accuracy

    def normal_draws(self, n_draws: int) -> list[Any]:
        """From the normal law of what the fit rests on, for probabilities alone.

        For log-weights the penalty decides along directions that the data hardly sees, and the normal law of the data
        alone would go astray there.
        """
        if self.center.reference is not Reference.NOTHING:
            return []
        information = self._at_fit.of_fit
        normals = np.random.default_rng([self.seed, 13]).standard_normal((n_draws, len(information)))
        return drawn_models(self.center, information, normals.T)

    def refits(self, n_refits: int) -> tuple[Callable[[], Any], ...]:
        return tuple(partial(self._refit, number) for number in range(n_refits))

    def _refit(self, number: int) -> Any:
        return _off_the_edge(self.pool.refit_reweighted(np.random.default_rng([self.seed, 13, number])))

    @cached_property
    def _at_fit(self) -> PluggedIn:
        return self._plugged([part.at_fit(self.progress) for part in self._parts])

    def _plugged(self, parts: list[DenseInformation]) -> PluggedIn:
        specs = tuple(rule.spec for rule in self.menu)
        partly = parts[1] if len(parts) > 1 else None
        return PluggedIn(self.pool, specs, self.criterion, parts[0], partly)


def _off_the_edge(model: Any) -> Any:
    """The model; where probabilities are all but zero, a nearby one.

    At the edge the theory does not hold, and near it the rarest of events would decide.
    """
    is_edge = min(float(table.min()) for table in model.tables.values()) < _SMALLEST
    return spread_evenly(model) if is_edge and model.reference is Reference.NOTHING else model
