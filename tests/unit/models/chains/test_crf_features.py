from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelworth.data.sequences import Sequences
from labelworth.errors import InvalidInputError
from labelworth.models.chains.crf_features import FeatureSet, feature_set
from support.log_weight_chains import Drawn, drawn_sequences


def pairs_of(features: FeatureSet) -> set[tuple[int, int]]:
    owner = np.repeat(np.arange(features.n_attributes), np.diff(features.starts))
    return set(zip(owner.tolist(), features.labels.tolist(), strict=True))


def named_by_hand(sequences: Sequences, token: int) -> set[int]:
    code = int(sequences.evidence.codes[token])
    if code >= 0:
        return {code}
    return set() if code == -1 else set(np.flatnonzero(sequences.evidence.weights[-2 - code]).tolist())


@given(st.integers(0, 10_000), st.sampled_from([(1.0, 0.0), (0.5, 0.0), (0.4, 0.3), (0.0, 1.0), (0.1, 0.1)]))
def test_weights_are_those_that_the_evidence_names_and_allows(seed: int, known: tuple[float, float]) -> None:
    rng = np.random.default_rng(seed)
    sequences = drawn_sequences(Drawn(gold=known[0], ambiguous=known[1], lengths=(1, 3, 2, 2)), rng)
    features = feature_set(sequences)
    dense = sequences.attributes.toarray()
    expected, transitions = set(), np.zeros((3, 3), dtype=bool)
    for token in range(sequences.n_tokens):
        expected |= {(int(a), y) for a in np.flatnonzero(dense[token]) for y in named_by_hand(sequences, token)}
    for first, last in pairwise(sequences.offsets.tolist()):
        if any(named_by_hand(sequences, token) for token in range(first, last)):
            for one, two in pairwise(range(first, last)):
                before, after = (named_by_hand(sequences, token) or {0, 1, 2} for token in (one, two))
                transitions[np.ix_(sorted(before), sorted(after))] = True
    assert pairs_of(features) == expected
    np.testing.assert_array_equal(features.transitions, transitions)


def test_rare_pairs_can_be_left_out() -> None:
    sequences = drawn_sequences(Drawn(lengths=(3,) * 8), np.random.default_rng(0))
    few, codes = feature_set(sequences, min_count=3), sequences.evidence.codes
    counts = (sequences.attributes.toarray() > 0).T.astype(int) @ np.eye(3, dtype=int)[codes]
    assert pairs_of(few) == {(int(a), int(y)) for a, y in np.argwhere(counts >= 3)}
    assert 0 < few.n_features < feature_set(sequences).n_features
    followed = np.zeros((3, 3), dtype=int)
    np.add.at(followed, (codes.reshape(8, 3)[:, :-1].ravel(), codes.reshape(8, 3)[:, 1:].ravel()), 1)
    np.testing.assert_array_equal(few.transitions, followed >= 3)


def test_all_is_everything() -> None:
    features = feature_set(drawn_sequences(Drawn(), np.random.default_rng(0)), "all")
    assert pairs_of(features) == {(a, y) for a in range(5) for y in range(3)}
    assert features.transitions.all()
    assert features.n_weights == 15 + 9


def test_which_sequences_have_a_label() -> None:
    sequences = drawn_sequences(Drawn(lengths=(2, 3, 1)), np.random.default_rng(0)).hide(np.array([0, 1, 3]))
    assert sequences.is_labeled.tolist() == [False, True, True]


def test_another_choice_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="observed, all"):
        feature_set(drawn_sequences(Drawn(), np.random.default_rng(0)), "some")
