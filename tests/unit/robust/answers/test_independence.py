"""Does the test of independence given the class have its size, and does it see errors that follow x?"""

import numpy as np
import pytest

from labelworth.data.evidence import Evidence
from labelworth.data.samples import Samples
from labelworth.data.sequences import Sequences
from labelworth.robust.answers.audits import Audits
from labelworth.robust.answers.independence import (
    LEVEL,
    Direction,
    independence_test,
    model_directions,
    rows_directions,
    token_directions,
)
from labelworth.robust.answers.permutation import LinearSums, permutation_p, strata_of
from support.answering import LLM, another_question, answers_of, by_ambiguity, by_class, posterior_of, two_topics
from support.statistical import assert_share_is

MODEL = two_topics()


def audited(said: dict[str, np.ndarray], samples: Samples) -> Audits:
    return Audits.of(answers_of(said, MODEL.classes), samples.evidence)


def directions_of(samples: Samples) -> list[Direction]:
    log_posterior = np.log(posterior_of(MODEL, samples))
    return [*model_directions(log_posterior, samples.evidence.codes), *rows_directions(samples)]


@pytest.mark.statistical
def test_it_has_its_size_and_a_test_that_forgets_the_class_has_not(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_runs, alarms, forgetful = 200, 0, 0
    for _ in range(n_runs):
        samples = MODEL.sample(100, rng)
        audits = audited({"llm": by_class(rng, samples.evidence.codes, LLM)}, samples)
        directions = directions_of(samples)
        alarms += independence_test(audits, directions, rng).answer == "follow x"
        values = directions[0].values[:, :, None]
        forgetful += permutation_p(LinearSums.of(audits.shares, values, np.zeros(100, dtype=int)), rng) <= LEVEL
    assert_share_is(alarms, n_runs, LEVEL)
    with pytest.raises(AssertionError):
        assert_share_is(forgetful, n_runs, LEVEL)


@pytest.mark.statistical
def test_it_fires_on_errors_where_x_is_ambiguous_and_names_who_makes_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    samples = MODEL.sample(400, rng)
    codes, posterior = samples.evidence.codes, posterior_of(MODEL, samples)
    said = {"llm": by_ambiguity(rng, codes, posterior, LLM), "crowd": by_class(rng, codes, LLM)}
    found = independence_test(audited(said, samples), directions_of(samples), rng)
    assert found.answer == "follow x"
    assert found.failing == ("llm",)
    by_model = model_directions(np.log(posterior), codes)
    found = independence_test(audited(said, samples), by_model, rng)
    assert found.annotators[0].words == "what the model takes a row for"
    assert found.annotators[0].correlation > 0.2


@pytest.mark.statistical
def test_many_annotators_of_few_rows_each_are_seen_together(seed: int) -> None:
    rng = np.random.default_rng(seed)
    samples = MODEL.sample(600, rng)
    codes, posterior = samples.evidence.codes, posterior_of(MODEL, samples)
    parts = np.array_split(np.arange(600), 40)
    everybody = by_ambiguity(rng, codes, posterior, LLM)
    given = answers_of(
        {f"w{index:02d}": everybody[part] for index, part in enumerate(parts)},
        MODEL.classes,
        {f"w{index:02d}": part for index, part in enumerate(parts)},
    )
    found = independence_test(Audits.of(given, samples.evidence), directions_of(samples), rng)
    assert found.together is not None
    assert found.together.follows_x
    assert found.together.n_audited == 600


@pytest.mark.statistical
def test_annotators_who_copy_do_not_look_as_if_they_followed_x(seed: int) -> None:
    """Five say the same; answers permuted for each of them alone would take that for five times the evidence."""
    rng = np.random.default_rng(seed)
    n_runs, alarms, apart = 80, 0, 0
    for _ in range(n_runs):
        samples = MODEL.sample(100, rng)
        everybody = by_class(rng, samples.evidence.codes, LLM)
        audits = audited({f"w{index}": everybody for index in range(5)}, samples)
        directions = directions_of(samples)
        found = independence_test(audits, directions, rng).together
        assert found is not None
        alarms += found.follows_x
        values = directions[0].values[audits.rows][:, :, None]
        strata = strata_of(audits.annotators, audits.classes)
        apart += 2 * permutation_p(LinearSums.of(audits.shares, values, strata), rng) <= LEVEL
    assert_share_is(alarms, n_runs, LEVEL / 2)
    with pytest.raises(AssertionError):
        assert_share_is(apart, n_runs, LEVEL / 2)


def test_annotators_of_other_skill_on_other_rows_are_no_alarm(seed: int) -> None:
    """All rows of one annotator are long, and that annotator is worse: within annotators nothing follows length."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(2, size=400)
    lengths = np.where(np.arange(400) < 200, 10.0, 20.0) + rng.random(400)
    samples = Samples(lengths[:, None], Evidence(codes, MODEL.classes))
    poor = np.array([[0.6, 0.4], [0.4, 0.6]])
    said = {"good": by_class(rng, codes[:200], LLM), "poor": by_class(rng, codes[200:], poor)}
    rows = {"good": np.arange(200), "poor": np.arange(200, 400)}
    audits = Audits.of(answers_of(said, MODEL.classes, rows), samples.evidence)
    length = [Direction("length", "how long a row is", lengths)]
    assert independence_test(audits, length, rng).answer == "no sign of it"


def test_too_few_errors_tell_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    samples = MODEL.sample(12, rng)
    right = samples.evidence.codes.copy()
    nothing = independence_test(audited({"llm": right}, samples), directions_of(samples), rng)
    assert nothing.answer == "cannot be told"
    right[0] = 1 - right[0]
    assert independence_test(audited({"llm": right}, samples), directions_of(samples), rng).answer == "cannot be told"
    assert nothing.annotators[0].to_dict()["p_value"] is None


@pytest.mark.statistical
def test_rows_that_the_model_was_not_asked_about_are_left_out(seed: int) -> None:
    rng = np.random.default_rng(seed)
    samples = MODEL.sample(200, rng)
    log_posterior = np.log(posterior_of(MODEL, samples))
    log_posterior[:50] = np.nan
    audits = audited({"llm": by_class(rng, samples.evidence.codes, LLM)}, samples)
    found = independence_test(audits, model_directions(log_posterior, samples.evidence.codes), rng)
    assert found.annotators[0].n_audited == 150


@pytest.mark.statistical
def test_who_answers_another_question_is_seen_though_right_answers_are_as_frequent_everywhere(seed: int) -> None:
    rng = np.random.default_rng(seed)
    samples, said = another_question(rng, 200)
    found = independence_test(
        Audits.of(answers_of(said, ("a", "b")), samples.evidence), rows_directions(samples), rng
    )
    assert found.failing == ("llm",)
    assert "in what is called 'a'" in found.annotators[0].words


def test_directions_of_documents_vectors_and_tokens(seed: int) -> None:
    rng = np.random.default_rng(seed)
    documents = two_topics(30).sample(300, rng)
    named = {direction.name: direction.values for direction in rows_directions(documents)}
    assert list(named) == ["length", "principal direction 1", "principal direction 2"]
    # What sets documents of many words apart most is their class.
    assert max(abs(np.corrcoef(named[name], documents.evidence.codes)[0, 1]) for name in list(named)[1:]) > 0.6
    vectors = Samples(rng.normal(size=(50, 3)) * [100, 1, 1], Evidence(np.zeros(50, dtype=int), ("a", "b")))
    assert [direction.name for direction in rows_directions(vectors)] == list(named)[1:]
    words = Sequences(
        np.array([0, 1, 0, 2, 0]), np.array([0, 2, 5]), Evidence(np.zeros(5, dtype=int), ("a",)), ("x", "y", "z")
    )
    length, rarity = token_directions(words)
    assert length.values.tolist() == [2, 2, 3, 3, 3]
    assert rarity.values.tolist() == [-3, -1, -3, -1, -3]


def test_three_classes_have_a_direction_of_ambiguity_too(seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(3, size=300)
    scores = rng.normal(size=(300, 3))
    scores[np.arange(300), codes] += 1.5
    log_posterior = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    directions = model_directions(log_posterior, codes)
    assert [direction.name for direction in directions] == ["prediction", "ambiguity"]
    own = log_posterior[np.arange(300), codes]
    # Wrong answers are any of the others alike, but where the model is least sure.
    wrong = own < np.quantile(own, 0.2)
    said = np.where(wrong, (codes + rng.integers(1, 3, size=300)) % 3, codes)
    audits = Audits.of(answers_of({"llm": said}, ("a", "b", "c")), Evidence(codes, ("a", "b", "c")))
    found = independence_test(audits, directions, rng)
    assert found.failing == ("llm",)
    assert found.annotators[0].direction == "ambiguity"
