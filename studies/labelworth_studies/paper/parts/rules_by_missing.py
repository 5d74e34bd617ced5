"""The information of labeling rules of log-weight chains: what labels leave open, exactly for every drawn sequence.

Mean squares of scores are noisy where a word stands beside a label once in a million tokens: most samples miss it.
What such a pair leaves open, given the words, is known for every sequence with the word, so that far fewer will do.
"""

from collections.abc import Sequence

import numpy as np

from labelworth.arrays import FloatArray, require_between
from labelworth.data.sequences import Sequences
from labelworth.errors import InvalidInputError
from labelworth.fisher.dense import DenseInformation
from labelworth.fisher.sequences.population import ChainPopulation
from labelworth.fisher.sequences.rule_list import RuleList
from labelworth.models.chains.boltzmann_chain import BoltzmannChainModel
from labelworth.models.chains.conditional_random_field import ConditionalRandomFieldModel
from labelworth.policies.rule import Rule
from labelworth_studies.robust.curvature import WordModel, clamped_covariance, reference_covariance


def rules_by_missing(
    population: ChainPopulation, rules: Sequence[Rule], rng: np.random.Generator, *, n_draws: int, n_batches: int = 16
) -> DenseInformation:
    r"""The information of every rule as the complete one less what is missing.

    .. math:: I_j = \operatorname{Cov}(T | \text{reference}) - E \operatorname{Cov}(T | X, Y_S)

    with T the counts. The first is exact: by the recursion over all words and labels (Boltzmann chain), or over all
    labels of every drawn input (CRF). The second is exact given the words and the labels that are shown, and averaged
    over drawn sequences.

    Parameters
    ----------
    population : ChainPopulation
        Of a Boltzmann chain, or of a CRF with one word per token.
    rules : sequence of Rule
    rng : Generator
    n_draws : int
        Sequences in all batches together.
    n_batches : int
        For standard errors.

    Returns
    -------
    DenseInformation
        With batches, so that figures have standard errors.

    Notes
    -----
    O(n_draws n_rules) walks of `count_covariance`. Paper: prop:efficiency2.
    """
    require_between("n_batches", n_batches, 2, 1000)
    require_between("n_draws", n_draws, n_batches, 10**9)
    model = population.model
    if not isinstance(model, BoltzmannChainModel | ConditionalRandomFieldModel):
        raise InvalidInputError(f"This is for Boltzmann chains and CRFs. Got a {type(model).__name__}.")
    listed = RuleList.of(rules)
    reference = model.complete_information(population.lengths) if isinstance(model, BoltzmannChainModel) else None
    batches = np.stack(
        [
            _batch(model, population.draw(-(-n_draws // n_batches), rng), listed, reference, rng)
            for _ in range(n_batches)
        ]
    )
    n_drawn = n_batches * -(-n_draws // n_batches)
    return DenseInformation(
        population.coordinates,
        listed.specs,
        batches.mean(axis=0),
        listed.everything,
        listed.nothing,
        population.labels_of(listed),
        "sampling",
        batches,
        n_drawn,
    )


def _batch(
    model: WordModel, drawn: Sequences, listed: RuleList, reference: FloatArray | None, rng: np.random.Generator
) -> FloatArray:
    """The information of every rule from one batch, (n_rules, d, d)."""
    if reference is None:
        reference = reference_covariance(model, drawn)
    rows, seed = np.arange(drawn.n_sequences), int(rng.integers(2**63))
    matrices = []
    for index, rule in enumerate(listed.rules):
        if index == listed.everything:
            matrices.append(reference)
            continue
        # The same random numbers for every rule, so that policies are compared on the same ground.
        mask = rule.draw_for(drawn, rows, np.random.default_rng(seed))
        matrices.append(reference - clamped_covariance(model, drawn.hide(~mask), reference))
    return np.stack(matrices)
