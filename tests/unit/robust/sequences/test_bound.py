"""What counting promises is there: the bound holds against the information by enumeration."""

import numpy as np
import pytest

from labelworth.criteria.policy_information import policy_information
from labelworth.data.evidence import Evidence
from labelworth.data.sequences import Sequences
from labelworth.policies.policy import Policy
from labelworth.robust.sequences.bound import least_share
from labelworth.robust.sequences.identifiability import as_labeled
from support.chain_models import chain_model
from support.chain_oracle import drawn_tables


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
