"""What every labeling rule tells at a fit, and at other parameters near it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.data.sequences import Sequences
from labelworth.fisher.chain_population import ChainPopulation
from labelworth.fisher.rule_enumeration import enumerated_rules, enumeration_work
from labelworth.fisher.rule_information import RuleInformation
from labelworth.fisher.rule_list import RuleList
from labelworth.fisher.rule_nearby import NearbyRules
from labelworth.fisher.rule_sampling import sampled_rules
from labelworth.planning.sampled import SampledAccuracy
from labelworth.planning.sequences import LabeledSequences
from labelworth.policies.policy import Policy
from labelworth.policies.rule import Rule
from labelworth.progress import Progress
from labelworth.robust.sequences.identifiability import as_labeled
from labelworth.tradeoff.matrix_accuracy import MatrixAccuracy

QUICK_WORK = 4e9
"""Up to so many multiplications outcomes are enumerated at the fit."""
QUICK_ALTERNATIVE = 2e8
"""And up to so many at every other parameter."""
_RELATIVE_ERROR = 0.02
_TWIN_BATCHES = 32


@dataclass(frozen=True, eq=False)
class RulesOnInputs:
    """The information of some rules on some inputs, at the fit and near it.

    Attributes
    ----------
    center : ChainModel
        At the fit.
    inputs : Sequences
        Whose lengths, and for a conditional model whose words, information is averaged over.
    rules : tuple of Rule
    criterion : str
        The figure that decides how many draws are needed at the fit.
    stream : tuple of int
        Seeds the draws.
    """

    center: Any
    inputs: Sequences
    rules: tuple[Rule, ...]
    criterion: str
    stream: tuple[int, ...]

    @cached_property
    def _population(self) -> ChainPopulation:
        return ChainPopulation.of(self.center, inputs=self.inputs)

    @cached_property
    def _work(self) -> float:
        return enumeration_work(self._population, RuleList.of(self.rules))

    @property
    def is_sampled_nearby(self) -> bool:
        """Whether other parameters take draws."""
        return self._work > QUICK_ALTERNATIVE

    @cached_property
    def _near(self) -> NearbyRules:
        return NearbyRules.learned(self._population, self.rules, self._rng(1))

    def at_fit(self, progress: Progress) -> RuleInformation:
        """One matrix per rule: exactly where that is quick."""
        if self._work <= QUICK_WORK:
            return enumerated_rules(self._population, self.rules)
        labeling = [Policy.of(rule) for rule in self.rules if rule.spec != "nothing"]
        return sampled_rules(
            self._population,
            self.rules,
            labeling,
            self._rng(0),
            relative_error=_RELATIVE_ERROR,
            figures=(self.criterion,),
            progress=progress,
        )

    def near(self, model: Any, number: int) -> RuleInformation:
        """The same at other parameters; draws are their own for every number."""
        population = ChainPopulation.of(model, inputs=self.inputs)
        if not self.is_sampled_nearby:
            return enumerated_rules(population, self.rules)
        return self._near.at(population, self._rng(2, number))

    def twin(self) -> RuleInformation:
        """At the fit, from as many draws as at other parameters, in many batches: what their bias is."""
        if not self.is_sampled_nearby:
            return enumerated_rules(self._population, self.rules)
        return self._near.at(self._population, self._rng(3), n_batches=_TWIN_BATCHES)

    def _rng(self, *place: int) -> np.random.Generator:
        return np.random.default_rng([*self.stream, *place])


@dataclass(frozen=True, eq=False)
class PluggedIn:
    """The information at one set of parameters, as a plan needs it.

    Attributes
    ----------
    data : LabeledSequences
    menu : tuple of str
        The arms.
    criterion, reason : str
        As in `MatrixAccuracy`.
    information : RuleInformation
        Of the arms, complete labels and none.
    partly : RuleInformation or None
        What sequences labeled in part tell, each; the first of its rules.
    """

    data: LabeledSequences
    menu: tuple[str, ...]
    criterion: str
    reason: str
    information: RuleInformation
    partly: RuleInformation | None

    @property
    def held(self) -> FloatArray:
        """Of the labels held."""
        whole = self.data.is_whole
        held = float(whole.sum()) * self.information.matrices[self.information.everything]
        if self.partly is not None:
            held = held + float((~whole).sum()) * self.partly.matrices[0]
        return np.asarray(held)

    @property
    def of_fit(self) -> FloatArray:
        """That which the fit itself rests on: labels held, and the sequences without any."""
        n_unlabeled = float((~self.data.labeled).sum())
        return np.asarray(self.held + n_unlabeled * self.information.matrices[self.information.nothing])

    @property
    def accuracy(self) -> SampledAccuracy:
        """Of designs that add to what is held."""
        return SampledAccuracy(self._matrix_accuracy(), self._replicates)

    def _matrix_accuracy(self) -> MatrixAccuracy:
        rules = self.information.rules
        # Without batches: noise is looked at where it is needed, held labels counted in.
        plain = self.information
        if plain.batches is not None:
            plain = replace(plain, batches=None)
        places = tuple(rules.index(spec) for spec in self.menu)
        return MatrixAccuracy(plain, self.criterion, places, self.held, self.reason)

    def _replicates(self) -> tuple[MatrixAccuracy, ...]:
        sampled = [part for part in (self.information, self.partly) if part is not None and part.batches is not None]
        if not sampled:
            return ()
        count = min(len(part.batches) for part in sampled if part.batches is not None)
        return tuple(self._without(batch)._matrix_accuracy() for batch in range(count))

    def _without(self, batch: int) -> "PluggedIn":
        return PluggedIn(
            self.data,
            self.menu,
            self.criterion,
            self.reason,
            _without(self.information, batch),
            None if self.partly is None else _without(self.partly, batch),
        )


def _without(information: RuleInformation, batch: int) -> RuleInformation:
    return information if information.batches is None else information.without_batch(batch)


@dataclass(frozen=True, eq=False)
class SequenceFormulas:
    """Everything that formulas need to know of the data and the menu.

    Attributes
    ----------
    data : LabeledSequences
    center : ChainModel
        At which the plan is made, with the words or attributes that occur.
    menu : sequence of Rule
    criterion, reason : str
    seed : int
    """

    data: LabeledSequences
    center: Any
    menu: Sequence[Rule]
    criterion: str
    reason: str
    seed: int

    @cached_property
    def _arms(self) -> RulesOnInputs:
        inputs = self.data.occurrence.of_sequences(self.data.sequences.hide())
        return RulesOnInputs(self.center, inputs, tuple(self.menu), self.criterion, (self.seed, 17))

    @cached_property
    def _partly(self) -> RulesOnInputs | None:
        whole = self.data.is_whole
        if whole.all():
            return None
        partly = self.data.sequences.take(np.flatnonzero(self.data.labeled)[~whole])
        inputs = self.data.occurrence.of_sequences(partly.hide())
        return RulesOnInputs(self.center, inputs, (as_labeled(partly),), self.criterion, (self.seed, 19))

    @property
    def _parts(self) -> list[RulesOnInputs]:
        return [self._arms] if self._partly is None else [self._arms, self._partly]

    @property
    def is_sampled_nearby(self) -> bool:
        """Whether other parameters take draws."""
        return any(part.is_sampled_nearby for part in self._parts)

    def twin(self) -> PluggedIn:
        """At the fit, as it would be found at other parameters."""
        return self._plugged([part.twin() for part in self._parts])

    def at_fit(self, progress: Progress) -> PluggedIn:
        """At the fit."""
        return self._plugged([part.at_fit(progress) for part in self._parts])

    def near(self, model: Any, number: int) -> PluggedIn:
        """At other parameters."""
        return self._plugged([part.near(model, number) for part in self._parts])

    def _plugged(self, found: list[RuleInformation]) -> PluggedIn:
        specs = tuple(rule.spec for rule in self.menu)
        partly = found[1] if len(found) > 1 else None
        return PluggedIn(self.data, specs, self.criterion, self.reason, found[0], partly)
