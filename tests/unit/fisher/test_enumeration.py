from itertools import combinations

import numpy as np
import pytest

from labelworth.data.lengths import LengthDistribution
from labelworth.errors import InvalidInputError
from labelworth.fisher.dense import DenseInformation
from labelworth.fisher.enumeration import enumerated
from labelworth.fisher.sequences.population import ChainPopulation
from labelworth.fisher.sequences.rule_list import RuleList
from labelworth.policies.function_rule import FunctionRule
from labelworth.policies.spec import parse_rule
from support.chain_models import chain_model
from support.chain_oracle import ChainOracle, drawn_tables

RULES = ["everything", "nothing", "prefix:0.5", "prefix:1", "window:2", "every-other", "random:0.3"]
CASES = [
    ("hidden-markov", True),
    ("boltzmann-chain", True),
    ("boltzmann-chain", False),
    ("conditional-random-field", True),
    ("conditional-random-field", False),
]
SIZES = [(2, 3, {1: 0.2, 2: 0.3, 4: 0.5}), (3, 2, {2: 0.6, 3: 0.4}), (2, 2, {5: 1.0})]


def population(kind, tables, lengths, **inputs) -> ChainPopulation:
    return ChainPopulation.of(chain_model(kind, tables), lengths=LengthDistribution.from_mapping(lengths), **inputs)


def enumerated_rules(chains: ChainPopulation, rules) -> DenseInformation:
    return enumerated(chains, RuleList.of(rules))


@pytest.mark.parametrize(("kind", "start"), CASES)
@pytest.mark.parametrize(("n_labels", "n_words", "lengths"), SIZES)
def test_every_rule_carries_what_brute_force_finds(kind, start, n_labels, n_words, lengths) -> None:
    tables = drawn_tables(kind, n_labels, n_words, 1, start=start)
    oracle = ChainOracle(kind, tables, lengths)
    information = enumerated_rules(population(kind, tables, lengths), [parse_rule(rule) for rule in RULES])
    assert information.rules == tuple(RULES)
    for rule, matrix in zip(information.rules, information.matrices, strict=True):
        np.testing.assert_allclose(matrix, oracle.rule_information(rule), rtol=1e-8, atol=1e-11)
    np.testing.assert_allclose(
        information.expected_labels, [oracle.expected_labels(rule) for rule in RULES], rtol=1e-12
    )


@pytest.mark.parametrize(("kind", "start"), CASES)
def test_more_labels_never_carry_less_information(kind, start) -> None:
    """All nested pairs of sets of positions of three tokens."""
    masks = [frozenset(subset) for size in range(4) for subset in combinations(range(3), size)]
    rules = [
        FunctionRule("of-" + "".join(map(str, sorted(mask))), lambda length, mask=mask: sorted(mask))
        for mask in masks
    ]
    found = enumerated_rules(population(kind, drawn_tables(kind, 2, 3, 2, start=start), {3: 1.0}), rules)
    for (small, less), (large, more) in combinations(zip(masks, found.matrices, strict=False), 2):
        if small < large:
            assert np.linalg.eigvalsh(more - less)[0] > -1e-13
    # The control: sets of which neither holds the other need not be ordered.
    first, last = found.matrices[masks.index(frozenset({0}))], found.matrices[masks.index(frozenset({1}))]
    assert np.linalg.eigvalsh(first - last)[0] < -1e-4 < 1e-4 < np.linalg.eigvalsh(first - last)[-1]


@pytest.mark.parametrize("start", [True, False])
def test_a_conditional_model_learns_nothing_where_nothing_is_labeled(start) -> None:
    kind = "conditional-random-field"
    tables = drawn_tables(kind, 2, 3, 3, start=start)
    found = enumerated_rules(population(kind, tables, {2: 0.5, 3: 0.5}), [])
    assert not found.matrices[found.nothing].any()
    assert found.matrices[found.everything].any()


def test_the_words_of_a_conditional_model_come_from_the_given_probabilities() -> None:
    kind, shares = "conditional-random-field", np.array([0.7, 0.2, 0.1])
    tables = drawn_tables(kind, 2, 3, 4)
    oracle = ChainOracle(kind, tables, {3: 1.0}, shares)
    rules = [parse_rule(rule) for rule in RULES]
    found = enumerated_rules(population(kind, tables, {3: 1.0}, input_probabilities=shares), rules)
    uniform = enumerated_rules(population(kind, tables, {3: 1.0}), rules)
    for rule, matrix, other in zip(found.rules, found.matrices, uniform.matrices, strict=True):
        expected = oracle.rule_information(rule)
        np.testing.assert_allclose(matrix, expected, rtol=1e-8, atol=1e-11)
        assert rule == "nothing" or np.abs(other - expected).max() > 1e-3


@pytest.mark.parametrize(("kind", "start"), CASES)
def test_relabeling_permutes_everything(kind, start) -> None:
    """The same model with its labels in another order: the same information, permuted."""
    tables = drawn_tables(kind, 3, 2, 5, start=start)
    order = np.array([2, 0, 1])
    permuted = {name: np.asarray(table) for name, table in tables.items()}
    permuted["transition"] = permuted["transition"][np.ix_(order, order)]
    permuted["emission"] = permuted["emission"][order]
    if start:
        permuted["start"] = permuted["start"][order]
    rules = [parse_rule(rule) for rule in ("window:2", "random:0.4")]
    one, other = (enumerated_rules(population(kind, item, {3: 1.0}), rules) for item in (tables, permuted))
    # Free coordinates of one model by those of the other: push through the named tables.
    names = one.coordinates.n_named
    places = {block.table: np.arange(int(np.prod(block.shape))) for block in one.coordinates.blocks}
    offset, moved = 0, []
    for block in one.coordinates.blocks:
        grid = places[block.table].reshape(block.shape) + offset
        if block.table == "transition":
            grid = grid[np.ix_(order, order)]
        else:
            grid = grid[:, order] if block.table == "start" else grid[order]
        moved.append(grid.ravel())
        offset += grid.size
    permutation = np.eye(names)[np.concatenate(moved)]
    change = np.linalg.pinv(other.coordinates.jacobian()) @ permutation @ one.coordinates.jacobian()
    for before, after in zip(one.matrices, other.matrices, strict=True):
        np.testing.assert_allclose(change.T @ after @ change, before, rtol=1e-9, atol=1e-11)
    # The control: without the permutation they differ.
    assert np.abs(other.matrices[0] - one.matrices[0]).max() > 1e-3


def test_too_much_to_enumerate_is_refused() -> None:
    tables = drawn_tables("hidden-markov", 2, 3, 6)
    with pytest.raises(InvalidInputError, match="sampling"):
        enumerated_rules(population("hidden-markov", tables, {12: 1.0}), [])
    with pytest.raises(InvalidInputError, match="sets of positions"):
        enumerated_rules(
            population("hidden-markov", drawn_tables("hidden-markov", 2, 1, 6), {15: 1.0}), [parse_rule("random:0.5")]
        )
