from typing import Any

import numpy as np
import pytest

from labelworth.data.sequences import Sequences
from labelworth.errors import InvalidInputError
from labelworth.models.chains.protocol import Reference
from labelworth_studies.evaluation.perplexity import evaluate_log_perplexity, log_perplexity
from support.token_lists import word_sequences

WORDS = [["a", "b"], ["b"], ["a", "a", "b"]]
SEQUENCES = word_sequences(WORDS, [["X", "Y"], ["Y"], ["X", "X", "Y"]])


class Coins:
    """Tokens are independent: p(label) and p(word | label) are given, so log p is a sum over tokens."""

    reference = Reference.NOTHING
    joint = np.array([[0.4, 0.1], [0.2, 0.3]])  # p(label, word)

    def log_evidence(self, sequences: Sequences) -> np.ndarray:
        per_token = np.log((sequences.evidence.dense() * self.joint[:, sequences.words].T).sum(axis=1))
        return np.add.reduceat(per_token, sequences.offsets[:-1])


class ConditionalCoins(Coins):
    reference = Reference.LABELS

    def log_evidence(self, sequences: Sequences) -> np.ndarray:
        return super().log_evidence(sequences) - super().log_evidence(sequences.hide())


def model(kind: type) -> Any:
    return kind()


def test_joint_and_conditional_of_a_model_without_memory() -> None:
    scores = evaluate_log_perplexity(model(Coins), SEQUENCES)
    a, b = -np.log(0.4), -np.log(0.3)  # (X, a) and (Y, b)
    joint = np.array([a + b, b, 2 * a + b])
    conditional = np.array([a + b, b, 2 * a + b]) + np.array([1, 0, 2]) * np.log(0.6) + np.log(0.4)
    assert scores.joint is not None
    assert scores.joint.per_sequence == pytest.approx(joint.mean())
    assert scores.joint.per_token == pytest.approx(joint.sum() / 6)
    assert scores.conditional.per_sequence == pytest.approx(conditional.mean())
    assert scores.conditional.per_token == pytest.approx(conditional.sum() / 6)
    assert scores.joint.per_sequence_se == pytest.approx(joint.std(ddof=1) / np.sqrt(3))


def test_a_conditional_model_has_no_joint_perplexity() -> None:
    scores = evaluate_log_perplexity(model(ConditionalCoins), SEQUENCES)
    assert scores.joint is None
    joint_model = evaluate_log_perplexity(model(Coins), SEQUENCES)
    assert scores.conditional.per_token == pytest.approx(joint_model.conditional.per_token)


def test_sequences_that_are_ruled_out_are_infinitely_surprising() -> None:
    class Never(Coins):
        def log_evidence(self, sequences: Sequences) -> np.ndarray:
            return np.full(sequences.n_sequences, -np.inf)

    scores = evaluate_log_perplexity(model(Never), SEQUENCES)
    assert scores.conditional.per_sequence == scores.conditional.per_token == np.inf
    assert scores.conditional.per_token_se == np.inf


@pytest.mark.statistical
def test_the_error_of_the_ratio_is_that_of_many_repetitions() -> None:
    """The spread of 2000 ratios within 15 %, five standard deviations of it and more: below 1e-6."""
    rng = np.random.default_rng(0)
    ratios, errors = [], []
    for _ in range(2000):
        lengths = rng.integers(1, 20, 300)
        losses = lengths * rng.gamma(2.0, 1.0, 300)
        scores = log_perplexity(-losses, lengths)
        ratios.append(scores.per_token)
        errors.append(scores.per_token_se)
    assert np.std(ratios) == pytest.approx(np.mean(errors), rel=0.15)


def test_one_sequence_has_no_standard_error() -> None:
    scores = log_perplexity([-3.0], np.array([3]))
    assert (scores.per_sequence, scores.per_token, scores.n_tokens) == (3.0, 1.0, 3)
    assert np.isnan(scores.per_token_se)


def test_bad_numbers_are_refused() -> None:
    for wrong in ([np.nan, -1.0], [np.inf, -1.0]):
        with pytest.raises(InvalidInputError, match="numbers or minus infinity"):
            log_perplexity(wrong, np.array([1, 1]))
    with pytest.raises(InvalidInputError, match="one log-probability per sequence"):
        log_perplexity([-1.0], np.array([1, 1]))
    with pytest.raises(InvalidInputError, match="1 of 6 tokens"):
        evaluate_log_perplexity(model(Coins), SEQUENCES.hide(np.array([2])))
