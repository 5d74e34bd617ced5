"""The report on answers: the answer first, and nothing that contradicts it."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import labelworth as lw
from labelworth.data.answers import Answers
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError
from labelworth.models.classes.gaussian import GaussianFamily
from labelworth.models.classes.multinomial import MultinomialFamily
from labelworth.robust.answers.check import AnswersReport, check_answers
from support.answering import LLM, another_question, answers_of, by_class, two_topics

MODEL = two_topics()


def report(
    samples: Samples, answers: Answers, n_gold: int, seed: int, kind: Any = MultinomialFamily
) -> AnswersReport:
    data = replace(samples.hide(np.arange(n_gold, samples.n_samples)), answers=answers)
    return check_answers(kind.for_samples(data), data, seed=seed)


@pytest.mark.statistical
def test_errors_that_follow_x_are_told_and_the_channel_is_left_out(seed: int) -> None:
    samples, said = another_question(np.random.default_rng(seed), 1500)
    found = report(samples, answers_of(said, ("a", "b")), 200, seed, GaussianFamily)
    llm, crowd = found.annotators
    assert llm.decision == "leave out"
    assert llm.dependence.follows_x
    assert crowd.decision != "leave out"
    assert not crowd.dependence.follows_x
    assert "eave out the answers of 'llm'" in found.headline
    words = "\n".join(found.lines())
    assert "Answers of 'llm': leave them out." in words
    assert "Wrong answers follow principal direction" in words
    assert found.copies.answer == "no sign of it"
    assert f"No sign that annotators copy each other (p = {found.copies.least_p:.2g})" in words
    json.dumps(found.to_dict())


@pytest.mark.statistical
def test_who_passes_all_tests_on_many_audits_is_used_and_who_guesses_is_named(seed: int) -> None:
    rng = np.random.default_rng(seed)
    samples = MODEL.sample(700, rng)
    codes = samples.evidence.codes
    rows = {"llm": np.arange(100, 700), "guess": np.arange(100, 700)}
    said = {"llm": by_class(rng, codes[100:], LLM), "guess": rng.integers(2, size=600)}
    found = report(samples, answers_of(said, MODEL.classes, rows), 600, seed)
    llm, guess = found.annotators
    assert llm.decision in ("use", "no difference")
    assert "Nothing speaks against them on 500 audited rows" in llm.reason or llm.decision == "no difference"
    assert guess.decision == "cannot be told"
    assert guess.reason == "They name the class no more often than guessing might on 500 audited rows."


def test_no_gold_rests_on_faith_and_names_are_open(seed: int) -> None:
    rng = np.random.default_rng(seed)
    samples = MODEL.sample(300, rng)
    answers = answers_of({"llm": by_class(rng, samples.evidence.codes, LLM)}, MODEL.classes)
    found = report(samples, answers, 0, seed)
    assert found.headline == "Whether to use the answers of 'llm' cannot be told yet."
    assert "Using them rests on faith: no row that was answered has gold." in found.lines()[0]
    assert any("Only that annotators are taken to be right more often than not" in line for line in found.lines())
    assert any("too little gold to try predictions on" in note for note in found.notes)
    assert found.identified


def test_what_is_not_pinned_down_is_refused_first(seed: int) -> None:
    """One word per document and one annotator: two views."""
    rng = np.random.default_rng(seed)
    model = two_topics(1)
    samples = model.sample(200, rng)
    answers = answers_of({"llm": by_class(rng, samples.evidence.codes, LLM)}, model.classes)
    found = report(samples, answers, 0, seed)
    assert found.headline == "The answers cannot be used as they are: what annotators mean is not pinned down."
    assert found.annotators[0].reason == "What they mean is not pinned down."
    assert any("or another annotator on rows that 'llm' answered" in line for line in found.lines())
    # As it says: gold of both classes pins them down.
    assert report(samples, answers, 20, seed).identified


@pytest.mark.statistical
def test_copies_without_gold_beside_them_are_told_by_the_model(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = two_topics(12)
    samples = model.sample(1500, rng)
    codes = samples.evidence.codes
    first = by_class(rng, codes, LLM)
    second = np.where(rng.random(1500) < 0.8, first, by_class(rng, codes, LLM))
    rows = np.arange(300, 1500)
    answers = answers_of({"w0": first[300:], "w1": second[300:]}, model.classes, {"w0": rows, "w1": rows})
    found = report(samples, answers, 300, seed)
    assert found.copies.by == "model"
    assert found.copies.answer == "err together"
    [line] = [line for line in found.lines() if "as far as the model's probabilities can be trusted" in line]
    assert f"more often than independent ones would be (p = {found.copies.least_p:.2g})" in line
    assert all(one.decision != "use" or one.harm is not None for one in found.annotators)


def test_many_annotators_are_summed_up(seed: int) -> None:
    rng = np.random.default_rng(seed)
    samples = MODEL.sample(600, rng)
    parts = np.array_split(np.arange(600), 30)
    rows = {f"w{index:02d}": part for index, part in enumerate(parts)}
    said = {name: by_class(rng, samples.evidence.codes[part], LLM) for name, part in rows.items()}
    found = report(samples, answers_of(said, MODEL.classes, rows), 600, seed)
    assert "(30 annotators)" in found.headline
    assert len(found.lines()) < 40
    words = "\n".join(found.lines())
    assert "30 of 30 annotators have audited rows: all together right on " in words
    assert " of 600 audited rows" in words
    assert "Of those with 10 or more half are right on" in words


def test_the_door_for_documents_vectors_and_sequences(seed: int) -> None:
    rng = np.random.default_rng(seed)
    samples = MODEL.sample(200, rng)
    y = np.where(np.arange(200) < 60, np.array(MODEL.classes)[samples.evidence.codes], None)
    answers = answers_of({"llm": by_class(rng, samples.evidence.codes, LLM)}, MODEL.classes)
    for model in ("multinomial", "auto"):
        found = lw.check(samples.features, y, model=model, answers=answers, specification=False)
        assert found.exit_code == 0
        assert found.headline.endswith(".")
        assert found.lines()[0].startswith("Answers of 'llm'")
        assert found.labels.verdict == found.verdict
        told = found.to_dict()
        assert told["answers"]["annotators"][0]["accuracy"]["n_audited"] == 60
        assert any("labeled and 140 unlabeled rows" in line for line in told["lines"])
    vectors = rng.normal(size=(200, 2)) + 2 * samples.evidence.codes[:, None]
    assert lw.check(vectors, y, model="gaussian", answers=answers, specification=False).exit_code == 0
    words = [[f"x{code}" for code in rng.integers(4, size=3)] for _ in range(50)]
    tags = [["a", "b", "a"] if index < 20 else None for index in range(50)]
    of_tokens = answers_of({"llm": rng.integers(2, size=150)}, MODEL.classes)
    tagged = lw.check(words, tags, model="hidden-markov", answers=of_tokens)
    assert tagged.answers.unit == "token"
    assert "audited tokens" in "\n".join(tagged.lines())


def test_without_gold_labels_are_not_judged_and_nothing_contradicts(seed: int) -> None:
    rng = np.random.default_rng(seed)
    samples = MODEL.sample(100, rng)
    answers = answers_of({"llm": by_class(rng, samples.evidence.codes, LLM)}, MODEL.classes)
    for model in ("multinomial", "auto"):
        found = lw.check(samples.features, None, model=model, answers=answers)
        assert found.verdict == "cannot be told"
        assert found.to_dict()["identified"]
        assert not any("Not identified" in line for line in found.lines())
        assert found.lines()[-1] == "Not judged: whether unlabeled rows help. That takes gold of every class."


def test_what_cannot_be_checked_is_refused(seed: int) -> None:
    rng = np.random.default_rng(seed)
    samples = MODEL.sample(50, rng)
    answers = answers_of({"llm": samples.evidence.codes}, MODEL.classes)
    with pytest.raises(InvalidInputError, match="channels= say who answers"):
        lw.check(samples.features, samples.evidence.codes, channels=[lw.Channel("llm", accuracy=0.9)])
    with pytest.raises(InvalidInputError, match="Got a family"):
        lw.check(samples, model=MultinomialFamily.for_samples(samples), answers=answers)
    with pytest.raises(InvalidInputError, match="checked with a model of"):
        lw.check(samples.features, ["a", "b"] * 25, model="logistic", answers=answers)
