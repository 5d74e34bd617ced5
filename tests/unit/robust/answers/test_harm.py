"""Predictions with somebody's answers and without: verdicts where the truth is known."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from labelworth.data.answers import Answers
from labelworth.data.lengths import LengthDistribution
from labelworth.data.samples import Samples
from labelworth.models.chains.hidden_markov import HiddenMarkovFamily
from labelworth.models.classes.gaussian import GaussianFamily
from labelworth.models.classes.multinomial import MultinomialFamily, MultinomialModel
from labelworth.robust.answers.harm import (
    EVERYBODY,
    WITHOUT,
    AnsweredPredictions,
    ChannelHarm,
    answered_predictions,
    tried_answers,
)
from labelworth.robust.harm import ERROR, PairedDifference
from support.answering import LLM, another_question, answers_of, by_class, two_topics
from support.small_chains import hidden_markov, unseen


def predicted(
    samples: Samples, said: dict[str, np.ndarray], n_gold: int, seed: int, kind: Any = MultinomialFamily
) -> AnsweredPredictions:
    data = samples.hide(np.arange(n_gold, samples.n_samples))
    data = replace(data, answers=answers_of(said, samples.evidence.classes))
    rng = np.random.default_rng(seed)
    return answered_predictions(kind.for_samples(data), data, rng=rng)


def many_rare_words(rng: np.random.Generator) -> Samples:
    """Six classes of documents of rare words: a few labels meet most words never, and clusters are hard to find."""
    words = rng.dirichlet(np.full(300, 2.0), size=6)
    model = MultinomialModel(tuple("abcdef"), np.full(6, 1 / 6), words, LengthDistribution.single(8))
    return model.sample(1500, rng)


@pytest.mark.statistical
def test_answers_that_know_the_class_help(seed: int) -> None:
    rng = np.random.default_rng(seed)
    samples = many_rare_words(rng)
    good = by_class(rng, samples.evidence.codes, 0.7 * np.eye(6) + 0.05)
    verdicts = predicted(samples, {"llm": good}, 150, seed).verdicts()
    assert [verdict.answer for verdict in verdicts] == ["helps"]
    assert verdicts[0].error.difference < -0.1
    assert "The answers of 'llm' make predictions better by" in verdicts[0].words()


@pytest.mark.statistical
def test_answers_whose_errors_follow_x_hurt_and_are_named(seed: int) -> None:
    samples, said = another_question(np.random.default_rng(seed), 1500)
    verdicts = predicted(samples, said, 200, seed, GaussianFamily).verdicts()
    told = {verdict.name: verdict.answer for verdict in verdicts}
    assert told["llm"] == "hurts"
    assert told["crowd"] != "hurts"
    assert set(told) == {"llm", "crowd", EVERYBODY}
    named = next(verdict for verdict in verdicts if verdict.name == "llm")
    assert named.words().startswith("The answers of 'llm' make predictions worse by")
    assert set(named.to_dict()["error"]) == {"measure", "without", "with", "difference", "standard_error"}


def test_answers_that_say_nothing_change_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    samples = two_topics().sample(300, rng)
    data = samples.hide(np.arange(100, 300))
    nothing = answers_of({"idle": np.full(300, -1), "llm": by_class(rng, samples.evidence.codes, LLM)}, ("a", "b"))
    assert tried_answers(nothing) == {"llm": ("llm",)}
    data = replace(data, answers=nothing.at_entries(nothing.annotators == 0))
    found = answered_predictions(MultinomialFamily.for_samples(data), data, rng=rng)
    assert found.predictions.ways == (WITHOUT,)
    assert found.verdicts() == ()
    told = found.log_posteriors(300)
    assert np.isfinite(told[:100]).all()
    assert np.isnan(told[100:]).all()


def test_who_answered_much_is_tried_alone_and_all_together() -> None:
    said = {f"w{index}": np.zeros(count, dtype=int) for index, count in enumerate([50, 4, 30, 9, 7])}
    tried = tried_answers(answers_of(said, ("a", "b")))
    assert list(tried) == ["w0", "w2", EVERYBODY]
    assert tried[EVERYBODY] == tuple(said)


@pytest.mark.statistical
def test_sequences_are_dealt_whole_and_their_tokens_predicted(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = hidden_markov(rng)
    sequences = model.sample(unseen([3, 4, 5, 6] * 60), rng)
    owners = np.repeat(np.arange(240), sequences.lengths)
    data = sequences.hide(owners >= 40)
    codes = sequences.evidence.codes
    n_classes = len(model.classes)
    said = by_class(rng, codes, 0.8 * np.eye(n_classes) + 0.2 / n_classes)
    answers = Answers(
        np.arange(len(codes)),
        np.zeros(len(codes), dtype=int),
        ("llm",),
        replace(sequences.evidence, codes=said),
    )
    family = HiddenMarkovFamily.for_sequences(data)
    found = answered_predictions(family, replace(data, answers=answers), rng=rng)
    gold = np.flatnonzero(owners < 40)
    assert sorted(found.positions) == gold.tolist()
    np.testing.assert_array_equal(found.owners, owners[found.positions])
    np.testing.assert_array_equal(found.predictions.codes, codes[found.positions])
    (verdict,) = found.verdicts()
    assert verdict.n_tested == len(gold)
    # Means are those over tokens, whatever is summed by sequence.
    assert verdict.error.labels_only == pytest.approx(found.predictions.errors(WITHOUT).mean())
    assert verdict.answer != "hurts"


def test_points_within_chance_are_not_told_as_what_answers_do() -> None:
    """The log-loss decided: -1.2 points with a standard error of 1.2 are no finding. Those with one of 0.2 are."""
    log_loss = PairedDifference("log-loss", 0.4, 0.387, -0.013, 0.004)
    for spread, words in ((0.012, "better by their log-loss:"), (0.002, "better by 1.2 points of error:")):
        error = PairedDifference(ERROR, 0.2, 0.188, -0.012, spread)
        assert words in ChannelHarm("ann", "helps", 80, error, log_loss).words()
