"""Information per rule at parameters near some, quickly: what was learned of the noise there serves here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.fisher.contrasts import Contrasts
from labelworth.fisher.controls import Control
from labelworth.fisher.dense import DenseInformation
from labelworth.fisher.sampling import RuleBatches, default_count
from labelworth.fisher.sequences.population import ChainPopulation
from labelworth.fisher.sequences.rule_list import RuleList
from labelworth.policies.rule import Rule
from labelworth.progress import SILENT, tracking

_FEWEST_DRAWS = 8192
_DRAWS_PER_PARAMETER = 32
_BATCHES = 4
"""Few: their noise is looked at over many parameters together."""


@dataclass(frozen=True, eq=False)
class NearbyRules:
    r"""Samples at any parameters near those of a population, each time the same number of sequences.

    Where I_everything is known, the noise that goes with that of :math:`S S'` and of :math:`s (S - s)'` is taken off
    as in `labelworth.fisher.controls.sharpened`. How much of it was learned once, from draws of their own at the
    parameters in the middle: any fixed share leaves the expectation as it is, and nearby the best one is nearly the
    same. So a few batches do, where learning takes many.
    """

    listed: RuleList
    n_draws: int  # Sequences at every parameter.
    controls: Mapping[int, Control]  # By the number of a sampled rule; empty where I_everything is not known.
    contrasts: Mapping[int, Contrasts]  # On which they work.

    @classmethod
    def learned(
        cls,
        population: ChainPopulation,
        rules: Sequence[Rule],
        rng: np.random.Generator,
        *,
        n_draws: int | None = None,
    ) -> "NearbyRules":
        """Learn at the parameters in the middle; 8192 draws, or 32 per parameter if that is more, when absent."""
        listed, d = RuleList.of(rules, population.model.classes), population.model.coordinates.n_free
        count = n_draws or max(_FEWEST_DRAWS, _DRAWS_PER_PARAMETER * d)
        exact = population.complete_information()
        if exact is None:
            return cls(listed, count, {}, {})
        batches = _drawn(population, listed, count, default_count(d), rng)
        of_model = Contrasts.of(population.model.coordinates, exact)
        contrasts, controls = dict[int, Contrasts](), dict[int, Control]()
        for number in range(len(batches.sampled)):
            own = batches.exact_of(number)
            contrasts[number] = of_model.beside(own)
            with contrasts[number].told_apart():
                controls[number] = Control.learned(
                    contrasts[number].restricted(own), _on_contrasts(contrasts[number], batches.means(number))
                )
        return cls(listed, count, controls, contrasts)

    def at(
        self,
        population: ChainPopulation,
        rng: np.random.Generator,
        *,
        rules: Sequence[Rule] | None = None,
        n_batches: int = _BATCHES,
    ) -> DenseInformation:
        """One matrix per rule at the parameters of `population`, with the batches that tell their noise.

        `rules` are the same with other confusions of channels near those that were learned.
        """
        listed = self.listed if rules is None else RuleList.of(rules, population.model.classes)
        batches, exact = _drawn(population, listed, self.n_draws, n_batches, rng), population.complete_information()
        if not self.controls or exact is None:
            return batches.as_drawn()

        def sharper(number: int) -> FloatArray:
            control, contrasts = self.controls[number], self.contrasts[number]
            known, parts = contrasts.restricted(batches.exact_of(number)), batches.means(number)
            return np.stack(
                [contrasts.extended(control.applied(part, known)) for part in _on_contrasts(contrasts, parts)]
            )

        return batches.with_complete(exact, sharper)


def _drawn(
    population: ChainPopulation, listed: RuleList, n_draws: int, count: int, rng: np.random.Generator
) -> RuleBatches[RuleList]:
    batches = RuleBatches(population, listed, count)
    with tracking(SILENT, "", None) as task:
        batches.extend(-(-n_draws // count), rng, task)
    return batches


def _on_contrasts(contrasts: Contrasts, means: tuple[FloatArray, ...]) -> list[tuple[FloatArray, ...]]:
    """Batch by batch, on the estimable contrasts."""
    return [tuple(contrasts.restricted(matrix) for matrix in batch) for batch in zip(*means, strict=True)]
