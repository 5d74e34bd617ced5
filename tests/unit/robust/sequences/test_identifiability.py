"""What counting promises is there: the bound holds against the information by enumeration."""

import numpy as np
import pytest

from labelworth.criteria.policy_information import policy_information
from labelworth.data.evidence import Evidence
from labelworth.data.sequences import Sequences
from labelworth.policies.policy import Policy
from labelworth.policies.spec import parse_policy
from labelworth.robust.sequences.identifiability import LEFT_OPEN, NOT_ANCHORED, as_labeled, judge_policy, least_share
from support.chain_models import chain_model
from support.chain_oracle import drawn_tables


def sequences_of(codes: list[list[int]], n_labels: int = 2, n_words: int = 3, weights=None) -> Sequences:
    """Words in turn, labels as given."""
    flat = np.array([code for row in codes for code in row])
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in codes])])
    classes = ("A", "B", "C", "D")[:n_labels]
    evidence = Evidence(flat, classes) if weights is None else Evidence(flat, classes, np.array(weights, float))
    names = tuple(f"word {code}" for code in range(n_words))
    return Sequences(np.arange(len(flat)) % n_words, offsets, evidence, names)


def model(kind: str = "hidden-markov", n_labels: int = 2):
    tables = drawn_tables(kind, n_labels, 3, 1)
    built = chain_model(kind, tables)
    return built


def test_labels_that_are_all_seen_identify_the_model() -> None:
    found = judge_policy(model(), sequences_of([[0, 1, -1, 0], [1, 1, 0, -1]]))
    assert found.verdict == "identified"
    assert found.point.smallest_share > 0.1
    assert found.expected_labels == 3.0


def test_labels_without_an_anchor_are_told_apart_from_weak_directions() -> None:
    """Only A is ever labeled, of three: B and C could be swapped, although each direction is seen locally."""
    found = judge_policy(model(n_labels=3), sequences_of([[0, -1, -1, 0], [-1, 0, -1, -1]], n_labels=3))
    assert found.verdict == NOT_ANCHORED
    assert found.point.is_identifiable


def test_candidate_sets_that_differ_are_an_anchor() -> None:
    codes, sets = [[0, -2, -1, 0], [-1, 0, -1, -1]], [[1.0, 1.0, 0.0]]
    assert judge_policy(model(n_labels=3), sequences_of(codes, n_labels=3, weights=sets)).is_anchored
    alike = sequences_of(codes, n_labels=3, weights=[[0.0, 1.0, 1.0]])
    assert not judge_policy(model(n_labels=3), alike).is_anchored


def test_a_policy_is_judged_by_its_own_labels() -> None:
    """Nothing is labeled yet: every label could be swapped, but not after some have been bought."""
    data = sequences_of([[-1, -1, -1], [-1, -1, -1, -1]])
    assert judge_policy(model(), data).verdict == NOT_ANCHORED
    assert judge_policy(model(), data, policy=parse_policy("every-other")).verdict == "identified"
    assert judge_policy(model(), data, policy=parse_policy("nothing")).verdict == NOT_ANCHORED


def test_a_policy_that_labels_too_little_leaves_named_directions_weak() -> None:
    data = sequences_of([[0, 1, 0, 1, 0], [1, 0, 1, 1, 0]])
    strong = judge_policy(model(), data, policy=parse_policy("everything"))
    weak = judge_policy(model(), data, policy=parse_policy("0.001*everything + 0.999*nothing"))
    assert strong.verdict == "identified"
    assert strong.point.smallest_share == pytest.approx(1.0)
    assert weak.verdict == "identified, but weakly"
    assert any(line.startswith("Left weak: ") and "transition" in line for line in weak.lines())
    assert weak.to_dict()["information"]["weak_directions"]


def test_a_conditional_model_is_open_where_nothing_is_labeled() -> None:
    crf = model("conditional-random-field")
    data = sequences_of([[0, 1, 0], [1, 0, 1]])
    data = Sequences(data.features, data.offsets, data.evidence, crf.feature_names)
    assert judge_policy(crf, data).verdict == "identified"
    nothing = parse_policy("nothing")
    assert judge_policy(crf, data, policy=nothing).verdict == LEFT_OPEN
    assert judge_policy(crf, data, policy=nothing, quick_parameters=0).verdict == LEFT_OPEN
    unseen = data.with_evidence(Evidence(np.zeros(6, dtype=int), crf.classes))
    assert judge_policy(crf, unseen).verdict == NOT_ANCHORED


def test_with_many_parameters_what_is_labeled_is_counted() -> None:
    data = sequences_of([[0, 1, -1, 0], [1, 1, 0, -1]])
    counted = judge_policy(model(), data, quick_parameters=0)
    assert counted.point is None
    assert counted.verdict == "identified"
    assert "or more" in counted.lines()[-1]
    assert 0 < counted.to_dict()["least_share"] <= judge_policy(model(), data).point.smallest_share


def test_the_rule_of_what_is_labeled_has_the_masks_of_the_data() -> None:
    rule = as_labeled(sequences_of([[0, -1], [-1, -1], [1, -1], [0, 1, -1]]))
    found = {tuple(mask.tolist()): probability for probability, mask in rule.outcomes(2)}
    assert found == {(True, False): pytest.approx(2 / 3), (False, False): pytest.approx(1 / 3)}
    assert rule.expected_labels(3) == 2.0


def data(masks: list[list[int]]) -> Sequences:
    flat = np.array([bit for mask in masks for bit in mask])
    offsets = np.concatenate([[0], np.cumsum([len(mask) for mask in masks])])
    evidence = Evidence(np.where(flat == 1, np.arange(len(flat)) % 2, -1), ("A", "B"))
    return Sequences(np.arange(len(flat)) % 3, offsets, evidence, ("word 0", "word 1", "word 2"))


MASKS = {
    "runs": [[1, 1, 0, 1], [0, 1, 1], [1, 1, 0], [0, 0, 1, 1]],
    "whole or not": [[1, 1, 1], [0, 0, 0], [1, 1, 1, 1], [0, 0, 0, 0], [0, 0, 0]],
    "all": [[1, 1], [1, 1, 1]],
}


@pytest.mark.parametrize("masks", MASKS.values(), ids=MASKS.keys())
@pytest.mark.parametrize("seed", range(4))
def test_the_bound_holds_for_a_hidden_markov_model(masks: list[list[int]], seed: int) -> None:
    model, sequences = chain_model("hidden-markov", drawn_tables("hidden-markov", 2, 3, seed)), data(masks)
    table = policy_information(
        model, policies=[Policy.of(as_labeled(sequences))], inputs=sequences, n_samples=1, method="enumeration"
    )
    promised = least_share(model, sequences, sequences.evidence.is_gold)
    assert 0 < promised.value <= table.points[0].smallest_share + 1e-12
    assert promised.missing == ()


def test_complete_labels_are_all_there_is() -> None:
    for kind in ("hidden-markov", "boltzmann-chain", "conditional-random-field"):
        model, sequences = chain_model(kind, drawn_tables(kind, 2, 3, 0)), data(MASKS["all"])
        assert least_share(model, sequences, np.ones(5, dtype=bool)).value == pytest.approx(1.0)


def test_the_share_is_that_of_what_is_expected_of_each_label() -> None:
    """By hand: A first, then B or A with equal chance; only first tokens are labeled, and one pair of two."""
    tables = {
        "start": np.array([0.8, 0.2]),
        "transition": np.array([[0.5, 0.5], [0.5, 0.5]]),
        "emission": np.full((2, 3), 1 / 3),
    }
    sequences = data([[1, 0], [1, 1]])
    found = least_share(chain_model("hidden-markov", tables), sequences, sequences.evidence.is_gold)
    # Of A 0.8 + 0.5 tokens are expected in a sequence, of which 0.8 + 0.25 are labeled; of B 0.2 + 0.25 of 0.7.
    assert found.value == pytest.approx(min(1.05 / 1.3, 0.45 / 0.7, 0.5))


def test_labels_without_labeled_neighbors_are_named() -> None:
    model = chain_model("hidden-markov", drawn_tables("hidden-markov", 2, 3, 0))
    sequences = data([[1, 0, 1], [1, 0, 1]])
    found = least_share(model, sequences, sequences.evidence.is_gold)
    assert found.value == 0
    assert found.missing == model.classes


def test_short_sequences_labeled_whole_do_not_speak_for_long_ones() -> None:
    model = chain_model("boltzmann-chain", drawn_tables("boltzmann-chain", 2, 3, 0))
    sequences = data([[1]] * 60 + [[1, 0, 1, 0]] * 60)
    assert least_share(model, sequences, sequences.evidence.is_gold).value == 0
    mixed = data([[1], [0]] * 30 + [[1, 1, 1, 1], [0, 0, 0, 0], [1, 0, 0, 0]] * 30)
    assert least_share(model, mixed, mixed.evidence.is_gold).value == pytest.approx(1 / 3, abs=0.05)
