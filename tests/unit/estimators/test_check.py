"""The check ties it together: a verdict, its evidence in words, and what to do when labels do not suffice."""

import json

import numpy as np
import pytest

import labelworth as lw
from labelworth.data.evidence import Evidence
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError
from labelworth.estimators.check import check
from labelworth.estimators.kinds import KINDS
from labelworth.models.classes.multinomial import MultinomialFamily
from labelworth.robust.support import LabelSupport
from support.wrong_populations import bursty_documents, crossing_topics, with_labels


@pytest.mark.statistical
def test_harmful_rows_get_the_whole_story(seed: int) -> None:
    samples = with_labels(crossing_topics(np.random.default_rng(seed), 500), 100)
    report = check(samples, n_bootstrap=19, seed=seed)
    assert report.verdict == "hurts"
    assert report.exit_code == 0
    assert report.specification is not None
    assert report.specification.rejects()
    assert report.weight is not None
    assert report.weight.best <= 0.03
    text = "\n".join(report.lines())
    for phrase in ("100 labeled and 400 unlabeled rows", "hurts prediction", "model is wrong", "unlabeled_weight"):
        assert phrase in text
    assert json.loads(json.dumps(report.to_dict()))["verdict"] == "hurts"


def test_arrays_and_samples_give_the_same_report(seed: int) -> None:
    samples = with_labels(bursty_documents(np.random.default_rng(seed), 80), 30)
    names = np.array(["ham", "spam"], dtype=object)
    y = [names[code] if code >= 0 else None for code in samples.evidence.codes]
    first = check(samples, specification=False)
    second = check(samples.counts, y, specification=False)
    assert first.to_dict() == second.to_dict()


def test_a_class_never_labeled_is_named_and_ends_with_1(seed: int) -> None:
    samples = bursty_documents(np.random.default_rng(seed), 40)
    y = ["ham" if row < 10 else -1 for row in range(40)]
    report = check(samples.counts, y, classes=["ham", "spam"])
    assert report.verdict == "not identified"
    assert report.exit_code == 1
    assert report.harm is None
    assert report.support.never_labeled == ("spam",)
    assert any("no row is labeled 'spam'" in line and "Label at least one" in line for line in report.lines())
    assert json.loads(json.dumps(report.to_dict()))["identified"] is False


def test_classes_that_nothing_tells_apart_are_not_identified(seed: int) -> None:
    samples = bursty_documents(np.random.default_rng(seed), 40)
    codes = np.full(40, -1)
    codes[:5] = 0
    weights = np.repeat([[0.0, 1.0, 1.0]], 5, axis=0)
    codes[5:10] = -2 - np.arange(5)
    told = Samples(samples.features, Evidence(codes, ("a", "b", "c"), weights))
    support = LabelSupport.of(MultinomialFamily.for_samples(told), told)
    assert support.indistinguishable == (("b", "c"),)
    assert not support.identified
    assert any("could be swapped" in line for line in support.lines())


def test_a_candidate_set_anchors_a_class(seed: int) -> None:
    samples = bursty_documents(np.random.default_rng(seed), 40)
    codes = np.full(40, -1)
    codes[:5], codes[5:10] = 0, 1
    codes[10] = -2
    told = Samples(samples.features, Evidence(codes, ("a", "b", "c"), np.array([[0.0, 0.5, 1.0]])))
    support = LabelSupport.of(MultinomialFamily.for_samples(told), told)
    assert support.identified
    assert support.n_ambiguous == 1


def test_too_few_labels_are_told_and_nothing_is_claimed(seed: int) -> None:
    samples = with_labels(bursty_documents(np.random.default_rng(seed), 40), 0)
    codes = samples.evidence.codes.copy()
    codes[:2] = [0, 1]
    report = check(Samples(samples.features, Evidence(codes, samples.evidence.classes)), n_bootstrap=5)
    assert report.verdict == "cannot be told"
    assert report.exit_code == 0
    assert any("too few labels" in line for line in report.lines())
    assert any("Fewer than 10 labels" in line for line in report.lines())


def test_no_unlabeled_rows_leave_nothing_to_ask(seed: int) -> None:
    report = check(bursty_documents(np.random.default_rng(seed), 30))
    assert report.verdict == "not identified"
    assert any("no unlabeled rows" in line for line in report.lines())


def test_many_parameters_skip_the_specification_test_and_say_so(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("labelworth.robust.check.MOST_PARAMETERS", 5)
    samples = with_labels(bursty_documents(np.random.default_rng(seed), 60), 30)
    report = check(samples)
    assert report.specification is None
    assert any("specification test was not run" in line for line in report.lines())


@pytest.mark.parametrize("model", ["bernoulli", "gaussian"])
def test_other_models_are_checked_too(model: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(2, size=120)
    X = (rng.standard_normal((120, 4)) + 2 * codes[:, None] > 1).astype(float)
    X = X if model == "bernoulli" else X + 0.5 * rng.standard_normal(X.shape)
    y = np.where(np.arange(120) < 40, codes, -1)
    report = check(X, y, model=model, n_bootstrap=9)
    assert report.verdict in ("helps", "hurts", "cannot be told")
    assert report.specification is not None


def test_rescaling_changes_what_is_fitted(seed: int) -> None:
    samples = with_labels(bursty_documents(np.random.default_rng(seed), 60), 30)
    plain, rescaled = (
        check(samples, model=lw.MultinomialNaiveBayes(document_length=length), specification=False)
        for length in (None, 3.0)
    )
    assert plain.harm is not None
    assert rescaled.harm is not None
    assert plain.harm.raw_log_loss != rescaled.harm.raw_log_loss


def test_senseless_arguments_are_refused(seed: int) -> None:
    samples = with_labels(bursty_documents(np.random.default_rng(seed), 30), 10)
    with pytest.raises(InvalidInputError, match="leave y out"):
        check(samples, [0] * 30)
    with pytest.raises(InvalidInputError, match="Give y"):
        check(samples.counts)
    with pytest.raises(InvalidInputError, match="model must be"):
        check(samples, model="woods")


SENTENCES = [["the", "cat", "sleeps"], ["the", "dog", "sleeps"], ["a", "cat", "runs"], ["a", "dog", "runs"]] * 5
TAGS = [["D", "N", "V"], ["D", "N", None], None, ["D", "N", "V"]] * 5


@pytest.mark.parametrize("fitted", [False, True])
def test_an_estimator_is_checked_with_its_settings(fitted: bool, seed: int) -> None:
    samples = with_labels(bursty_documents(np.random.default_rng(seed), 60), 30)
    estimator = lw.MultinomialNaiveBayes(alpha=0.5)
    if fitted:
        estimator.fit(samples.counts, samples.evidence.codes)
    report = check(samples.counts, samples.evidence.codes, model=estimator, specification=False)
    named = check(samples.counts, samples.evidence.codes, model="multinomial", specification=False)
    assert report.to_dict() != named.to_dict()
    usual = lw.MultinomialNaiveBayes().check(samples.counts, samples.evidence.codes, specification=False)
    assert usual.to_dict() == named.to_dict()
    assert report.to_dict() == estimator.check(samples.counts, samples.evidence.codes, specification=False).to_dict()


@pytest.mark.parametrize("name", ["hidden-markov", "boltzmann-chain", "conditional-random-field"])
def test_sequences_are_checked_by_the_name_of_their_model_and_by_estimators(name: str) -> None:
    report = lw.check(SENTENCES, TAGS, model=name, policies=["every-other"])
    assert [policy.policy for policy in report.policies[1:]] == ["every-other"]
    again = lw.check(SENTENCES, TAGS, model=KINDS[name].estimator(), policies=["every-other"])
    assert report.to_dict() == again.to_dict()
    sequences = KINDS[name].estimator().pool(SENTENCES, TAGS).data
    assert lw.check(sequences, model=name, policies=["every-other"]).to_dict() == report.to_dict()


def test_settings_of_a_model_are_given_to_its_estimator() -> None:
    with pytest.raises(TypeError, match="document_length"):
        lw.check(SENTENCES, TAGS, model="hidden-markov", document_length=3.0)
    with pytest.raises(TypeError, match="smoothing"):
        lw.check(np.eye(2), [0, 1], model=lw.MultinomialNaiveBayes(), smoothing=0.5)


def test_labels_are_given_once() -> None:
    with pytest.raises(InvalidInputError, match="leave y out"):
        lw.check(lw.HiddenMarkov().pool(SENTENCES, TAGS).data, TAGS, model="hidden-markov")
