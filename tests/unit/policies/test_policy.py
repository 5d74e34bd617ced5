import time

import numpy as np
import pytest

from labelworth.data.evidence import Evidence
from labelworth.data.sequences import Sequences
from labelworth.errors import InvalidInputError
from labelworth.policies.policy import Policy
from labelworth.policies.rule import Rule
from labelworth.policies.spec import parse_policy
from support.token_lists import word_sequences


def labeled(lengths: list[int]) -> Sequences:
    n_tokens = sum(lengths)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return Sequences(np.zeros(n_tokens, int), offsets, Evidence(np.arange(n_tokens) % 3, ("a", "b", "c")), ("w",))


def test_labels_stay_where_the_rule_is_and_nowhere_else() -> None:
    sequences = labeled([3, 1, 4])
    hidden, draw = parse_policy("prefix:2").apply(sequences, seed=0)
    assert hidden.evidence.codes.tolist() == [0, 1, -1, 0, 1, 2, -1, -1]
    assert draw.n_labels == 5
    assert [draw.positions(i).tolist() for i in range(3)] == [[0, 1], [0], [0, 1]]
    assert sequences.evidence.is_gold.all()


def test_what_was_known_at_a_drawn_position_stays_known() -> None:
    sequences = word_sequences([["x", "y", "z"]], [[None, ["a", "b"], "c"]])
    hidden, _ = parse_policy("prefix:2").apply(sequences, seed=0)
    assert hidden.evidence.codes.tolist() == [-1, -2, -1]
    assert hidden.evidence.weights.tolist() == [[1, 1, 0]]


def test_the_same_seed_draws_the_same_and_another_does_not() -> None:
    sequences, policy = labeled([7] * 50), parse_policy("0.5*window:2 + 0.5*random:0.3")
    first, second, third = (policy.draw(sequences, seed) for seed in (1, 1, 2))
    assert (first.labeled == second.labeled).all()
    assert (first.labeled != third.labeled).any()
    with pytest.raises(InvalidInputError, match="seed must be a whole number"):
        policy.draw(sequences, -1)


def test_each_sequence_is_labeled_by_the_rule_it_drew() -> None:
    sequences = labeled([6] * 200)
    draw = parse_policy("0.3*everything + 0.3*nothing + 0.4*window:2").draw(sequences, seed=3)
    assert draw.rules == ("everything", "nothing", "window:2")
    counts = draw.labeled.reshape(200, 6).sum(axis=1)
    assert counts.tolist() == [[6, 0, 2][rule] for rule in draw.rule_of_sequence.tolist()]


@pytest.mark.statistical
def test_rules_are_drawn_with_their_weights() -> None:
    """A binomial count within five standard deviations: a false-alarm rate below 1e-6."""
    draw = parse_policy("0.2*everything + 0.8*nothing").draw(labeled([1] * 10_000), seed=0)
    assert abs(draw.n_labels - 2000) < 5 * np.sqrt(10_000 * 0.2 * 0.8)


def test_a_draw_can_be_replayed_on_the_same_data_only() -> None:
    sequences = labeled([5, 2, 9])
    hidden, draw = parse_policy("0.5*window:2 + 0.5*random:0.3").apply(sequences, seed=4)
    assert (draw.hide(sequences).evidence.codes == hidden.evidence.codes).all()
    with pytest.raises(InvalidInputError, match="Use the same data"):
        draw.hide(labeled([5, 3, 8]))


def test_a_rule_may_look_at_the_sample() -> None:
    class FirstWord(Rule):
        """Labels the tokens whose word has code 0."""

        spec = "first-word"

        def n_outcomes(self, length: int) -> int:
            raise AssertionError("only the sample is to be looked at")

        outcomes = expected_labels = draw = n_outcomes

        def draw_for(self, sequences: Sequences, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
            return sequences.words[sequences.positions_of(rows)] == 0

    sequences = word_sequences([["the", "cat"], ["a", "the", "the"]], [["D", "N"], ["D", "D", "D"]])
    hidden, _ = Policy.of(FirstWord()).apply(sequences, seed=0)
    assert hidden.evidence.codes.tolist() == [0, -1, -1, 0, 0]


def test_expected_labels_are_those_of_the_mixture() -> None:
    policy = parse_policy("0.25*everything + 0.75*prefix:0.5")
    assert policy.expected_labels(5) == 0.25 * 5 + 0.75 * 2


@pytest.mark.parametrize("lengths", [[1_000_000], [25] * 40_000])
def test_a_million_tokens_are_hidden_fast(lengths: list[int]) -> None:
    sequences = labeled(lengths)
    begun = time.process_time()
    parse_policy("0.4*window:5 + 0.3*random:0.5 + 0.3*prefix:0.5").apply(sequences, seed=0)
    assert time.process_time() - begun < 2.0
