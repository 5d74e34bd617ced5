import numpy as np
import pytest

from labelworth.data.readers.raw_sequences import RawTokens
from labelworth_studies.chains import policy_ranking
from labelworth_studies.chains.parts import policy_ranking_fit
from labelworth_studies.chains.parts.policy_ranking_fit import compute, policy_of, sentences, windows_of_five
from labelworth_studies.chains.parts.policy_ranking_order import ranking_of, ranking_words
from labelworth_studies.chains.policy_ranking import ALL_LABELS, KINDS, POLICIES
from labelworth_studies.runner.study import canonical


def drawn_tokens(n_sentences: int, seed: int) -> RawTokens:
    """Sentences of nouns, verbs and prepositions, whose chunks mostly follow from the part of speech."""
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(2, 7, size=n_sentences))])
    tags = rng.choice(["NN", "VB", "IN"], p=[0.5, 0.3, 0.2], size=offsets[-1])
    label_of = {"NN": ["B-NP", "I-NP"], "VB": ["B-VP", "I-VP"], "IN": ["B-PP", "O"]}
    labels = tuple(label_of[tag][rng.random() < 0.4] for tag in tags)
    return RawTokens((tuple(tags), tuple(tags)), ("word", "part of speech"), 0, offsets, labels, "here")


@pytest.fixture
def small_corpus(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = {"train": drawn_tokens(60, 0), "test": drawn_tokens(20, 1)}
    monkeypatch.setattr(policy_ranking_fit, "conll2000", lambda split: parts[split])
    monkeypatch.setattr(policy_ranking_fit, "MIN_TAG_COUNT", 30)
    monkeypatch.setattr(policy_ranking_fit, "MIN_PAIR_COUNT", 2)
    sentences.cache_clear()
    yield
    sentences.cache_clear()


def test_windows_of_five_label_half_of_the_tokens() -> None:
    for length in (1, 4, 5, 13, 40):
        share = np.zeros(length)
        for probability, positions in windows_of_five(length):
            share[positions] += probability
        np.testing.assert_allclose(share, 0.5)
    assert windows_of_five(12)[0][1] == [0, 1, 2, 3, 4, 10, 11]


def test_every_policy_costs_half_of_the_labels() -> None:
    for spec in POLICIES:
        # Every other token of an odd number of tokens is half a token more than half, its first half as much less;
        # mixtures cost half at the mean length of the sentences, which is 23.7.
        assert policy_of(spec).expected_labels(24) == pytest.approx(12, abs=0.02)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.usefixtures("small_corpus")
def test_sentences_are_those_of_five_labels(kind: str) -> None:
    train, test = sentences(kind, "train"), sentences(kind, "test")
    assert train.evidence.classes == ("B-NP", "B-VP", "I-NP", "I-VP", "O")
    assert train.feature_names == test.feature_names
    assert train.evidence.is_gold.all()


@pytest.mark.usefixtures("small_corpus")
def test_draws_are_the_same_for_all_policies_and_again() -> None:
    cell = {"sort": "fit", "kind": "crf", "policy": "random:0.5", "n_sentences": 20, "seed": 3}
    assert compute(cell) == compute(cell)
    assert compute({**cell, "seed": 4}) != compute(cell)


@pytest.mark.usefixtures("small_corpus")
def test_rankings_stand_side_by_side() -> None:
    pairs = []
    for cell in policy_ranking.cells(True, 0):
        if cell["sort"] == "theory":
            figure = {policy: float(place) for place, policy in enumerate([*POLICIES, ALL_LABELS])}
            points = [
                {
                    "expected_labels_per_sample": 2.0,
                    "excess_log_loss": figure[policy],
                    "excess_log_loss_se": 0.1,
                    "excess_joint_log_loss": -figure[policy],
                    "excess_joint_log_loss_se": 0.1,
                }
                for policy in cell["policies"]
            ]
            pairs.append((cell, {"points": points, "notes": [], "method": "sampling"}))
        elif cell["sort"] == "robust":
            place = float([*POLICIES, ALL_LABELS].index(cell["policy"]))
            pairs.append((cell, {"joint": 1 + place, "conditional": None if place == 3 else 2 + place}))
        else:
            pairs.append((cell, compute({**cell, "n_sentences": 30})))
    outcome = policy_ranking.summarize(pairs)
    canonical(dict(outcome.figures))
    rankings = outcome.figures["boltzmann-chain"]["rankings"]
    assert rankings["conditional"]["theory"] == list(POLICIES)
    assert rankings["joint"]["theory"] == list(POLICIES)[::-1]
    whole = outcome.figures["crf"]["policies"][ALL_LABELS]
    assert whole["labeled_share"] == 1.0
    assert whole["conditional_above_all_labels"] == 0.0
    assert len(outcome.words) == 3
    assert len(outcome.pictures[""].panels) == 4
    assert outcome.grid is not None
    assert len(outcome.grid.rows) == len(KINDS) * (len(POLICIES) + 1)
    for pair in rankings["conditional"]["pairs_told_apart"]:
        rows = outcome.figures["boltzmann-chain"]["policies"]
        assert rows[pair["better"]]["conditional"] < rows[pair["worse"]]["conditional"]
        places = [list(POLICIES).index(pair[name]) for name in ("better", "worse")]
        assert pair["theory_agrees"] == (places[0] < places[1])

    robust = outcome.figures["boltzmann-chain"]["robust_rankings"]
    assert robust["joint"]["theory"] == list(POLICIES)
    assert robust["conditional"]["untold_by_theory"] == [list(POLICIES)[3]]
    assert "robust_rankings" not in outcome.figures["crf"]


def test_pairs_with_a_policy_that_is_not_told_are_left_out_and_counted() -> None:
    names = list(POLICIES)
    # Every policy is worse than the one before it, in both draws.
    draws = {name: [{"joint": place + 0.01}, {"joint": float(place)}] for place, name in enumerate(names)}
    rows = {
        name: {"joint": float(place), "predicted_excess_joint": float(-place)} for place, name in enumerate(names)
    }
    rows[names[2]]["predicted_excess_joint"] = None
    ranking = ranking_of({"policies": rows}, draws, "joint", "predicted")
    assert len(ranking["pairs_told_apart"]) == 21
    assert (ranking["n_pairs_compared"], ranking["n_pairs_alike"], ranking["n_pairs_left_out"]) == (15, 0, 6)
    assert ranking["untold_by_theory"] == [names[2]]
    assert not ranking["same"]
    assert "6 more are left out" in ranking_words(ranking)
    rows[names[2]]["predicted_excess_joint"] = -2.0
    whole = ranking_of({"policies": rows}, draws, "joint", "predicted")
    assert (whole["n_pairs_compared"], whole["n_pairs_left_out"]) == (21, 0)


@pytest.mark.usefixtures("small_corpus")
def test_the_robust_formula_is_asked_of_the_boltzmann_chain() -> None:
    cell = {"sort": "robust", "kind": "boltzmann-chain", "policy": "windows-of-5", "n_sentences": 30, "seed": 0}
    found = compute(cell)
    assert 0 < found["joint"] < 5
    assert compute({**cell, "n_sentences": 300})["joint"] < found["joint"]


@pytest.mark.usefixtures("small_corpus")
def test_the_theory_is_asked_for_every_policy() -> None:
    result = compute(
        {"sort": "theory", "kind": "boltzmann-chain", "policies": ["everything"], "n_sentences": 100, "seed": 0}
    )
    canonical(result)
    train = sentences("boltzmann-chain", "train")
    assert result["points"][0]["identifiable"]
    assert 0 < result["points"][0]["excess_joint_log_loss"] < (25 + 5 * train.n_features) / 200
