"""Taggers that are not ours, with sklearn-crfsuite's manners, in plans and frontiers."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import labelworth as lw
from labelworth.errors import InvalidInputError, NotIdentifiableError
from labelworth.estimators.reading import takes_sequences
from support.command_line import labelworth
from support.taggers import CountTagger, NamingTagger, sentences

pytestmark = pytest.mark.usefixtures("few_replicates")


def _data(n: int = 60, n_labeled: int = 24, **options: Any) -> Any:
    return lw.AnyTagger(CountTagger())._read_as_known(*sentences(n, n_labeled, **options), None)


def test_it_is_fitted_to_the_sequences_that_are_labeled_whole() -> None:
    X, y = sentences(60, 24, n_parts=10)
    tagger = lw.AnyTagger(CountTagger()).fit(X, y)
    alone = CountTagger().fit(X[:24], y[:24])
    assert tagger.predict(X) == alone.predict(X)
    assert tagger.classes_.tolist() == ["N", "V"]
    # Negative control: the other tokens would have changed it, and the tagger refuses them.
    with pytest.raises(ValueError, match="a label is missing"):
        CountTagger().fit(X[:34], y[:34])


def test_predictions_are_the_taggers_with_its_marginals() -> None:
    data = _data()
    learner = lw.AnyTagger(CountTagger()).learner
    prediction = learner.predict(learner.fit(data), data)
    alone = CountTagger().fit(data.lists[:24], data.label_lists()[:24])
    marginals = [[token["N"], token["V"]] for part in alone.predict_marginals(data.lists) for token in part]
    np.testing.assert_allclose(np.exp(prediction.log_posteriors(1.0)), 0.999 * np.array(marginals) + 0.0005)
    assert ["NV"[code] for code in prediction.best] == [label for part in alone.predict(data.lists) for label in part]
    drawn = prediction.draw(1.0, np.random.default_rng(0))
    assert drawn.shape == (data.n_tokens,)
    sharp = prediction.draw(1e-3, np.random.default_rng(0))
    assert (sharp == prediction.best).all()


def test_a_tagger_without_marginals_is_taken_at_its_word() -> None:
    data = _data()
    learner = lw.AnyTagger(NamingTagger()).learner
    prediction = learner.predict(learner.fit(data), data)
    assert (prediction.log_posteriors(1.0).argmax(axis=1) == prediction.best).all()
    assert not takes_sequences(NamingTagger())
    assert takes_sequences(lw.AnyTagger(NamingTagger()))
    assert takes_sequences(CountTagger())


def test_without_a_whole_sequence_labels_have_their_shares() -> None:
    data = _data(20, 0, n_parts=8)
    learner = lw.AnyTagger(CountTagger()).learner
    model = learner.fit(data)
    assert model.failure == "no sequence is labeled whole"
    counts = np.bincount(data.evidence.codes[data.evidence.codes >= 0])
    shares = (counts + 0.5) / (8 + 1)
    np.testing.assert_allclose(np.exp(learner.predict(model, data).log_posteriors(1.0))[0], shares)


def test_parts_of_the_data_keep_their_tokens() -> None:
    data = _data()
    part = data.take(np.array([5, 2]))
    assert part.lists == [data.lists[5], data.lists[2]]
    assert part.hide().lists == part.lists


def test_a_plan_and_a_frontier_are_simulated() -> None:
    X, y = sentences(80, 30)
    plan = lw.plan(X, y, model=CountTagger(), budget=200)
    assert plan.source == "simulated"
    assert plan.held.kind == "sequences"
    assert plan.model == "CountTagger"
    assert not plan.uses_unlabeled
    assert not any("labeled in part" in note for note in plan.notes)
    frontier = lw.frontier(X, y, model=CountTagger(), rules=["everything", "window:3"])
    assert set(frontier.arms) == {"everything", "window:3"}


def test_labels_that_are_not_learned_from_are_counted_in_a_note() -> None:
    plan = lw.plan(*sentences(80, 30, n_parts=7), model=CountTagger(), budget=200)
    assert (
        "7 sequences are labeled in part: CountTagger learns only from sequences that are labeled whole."
        in plan.notes
    )


def test_tokens_are_part_of_what_a_checkpoint_knows(tmp_path: Path) -> None:
    X, y = sentences(60, 24)
    first = lw.AnyTagger(CountTagger()).pool(X, y)
    same = lw.AnyTagger(CountTagger()).pool([list(part) for part in X], y)
    X[3][0]["word"] = "other"
    other = lw.AnyTagger(CountTagger()).pool(X, y)
    assert first.settings == same.settings
    assert first.settings != other.settings


def test_what_cannot_be_done_is_refused_in_words(tmp_path: Path) -> None:
    X, y = sentences(30, 12)
    with pytest.raises(InvalidInputError, match="no sequence is labeled whole"):
        lw.plan(*sentences(30, 0, n_parts=12), model=CountTagger(), budget=50)
    with pytest.raises(NotIdentifiableError, match="No token is labeled"):
        lw.plan(X, [None] * 30, classes=["N", "V"], model=CountTagger(), budget=50)
    with pytest.raises(InvalidInputError, match="no formulas for such a classifier"):
        lw.plan(X, y, model=CountTagger(), budget=50, source="asymptotic")
    with pytest.raises(InvalidInputError, match="What policies pin down is known of our own models"):
        lw.check(X, y, model=CountTagger(), policies=["every-other"])
    with pytest.raises(InvalidInputError, match="cannot be written to a file"):
        lw.AnyTagger(CountTagger()).fit(X, y).save(tmp_path / "tagger.lw")


def test_the_command_imports_a_tagger_and_gives_it_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = sentences(60, 24)
    lines = [
        "".join(
            f"{token['word']} {token['first']} {label or '_'}\n" for token, label in zip(tokens, labels, strict=True)
        )
        for tokens, labels in zip(X, y, strict=True)
    ]
    (tmp_path / "data.conll").write_text("\n".join(lines))
    monkeypatch.chdir(tmp_path)
    answer = labelworth(
        "plan", tmp_path / "data.conll", "--model", "support.taggers:CountTagger", "--budget", 150, "--json"
    )
    assert answer.code == 2
    assert "is a class" in answer.stderr
    (tmp_path / "tagger_models.py").write_text("from support.taggers import CountTagger\ntagger = CountTagger()\n")
    answer = labelworth("plan", tmp_path / "data.conll", "--model", "tagger_models:tagger", "--budget", 150, "--json")
    assert answer.code == 0, answer.stderr
    columns = [[{"0": token["word"], "1": token["first"]} for token in tokens] for tokens in X]
    plan = lw.plan(columns, y, model=CountTagger(), budget=150)
    assert answer.record["recommended"]["error"] == plan.recommended.error


def test_a_check_says_how_well_it_predicts_sequences_it_was_not_shown() -> None:
    X, y = sentences(60, 24)
    report = lw.check(X, y, model=CountTagger(), seed=3)
    assert (report.verdict, report.exit_code, report.policies) == ("not known", 0, ())
    # By hand: the same five folds of the labeled sequences.
    wrong, n_labels = 0, sum(len(labels) for labels in y[:24])
    order = np.random.default_rng([3, 0]).permutation(24)
    for fold in range(5):
        test = order[fold::5]
        train = [index for index in range(24) if index not in test]
        tagger = CountTagger().fit([X[index] for index in train], [y[index] for index in train])
        for index in test:
            predicted = tagger.predict([X[index]])[0]
            wrong += sum(own != label for own, label in zip(predicted, y[index], strict=True))
    assert f"Its error is {100 * wrong / n_labels:.1f} % (standard error " in report.lines()[-1]
    assert report.lines()[-1].endswith(f"on {n_labels} held-out labels of 24 sequences.")
    few = lw.check(*sentences(60, 8), model=CountTagger())
    assert few.lines()[-1] == "10 labeled sequences are needed to cross-validate; there are 8."


def test_a_tagger_need_not_inherit_from_scikit_learn() -> None:
    class OwnTagger:
        def get_params(self, deep: bool = True) -> dict[str, Any]:
            return {}

        def set_params(self, **parameters: Any) -> "OwnTagger":
            return self

        def fit(self, X: Any, y: Any) -> "OwnTagger":
            self.inner = CountTagger().fit(X, y)
            return self

        def predict(self, X: Any) -> Any:
            return self.inner.predict(X)

        def predict_marginals(self, X: Any) -> Any:
            return self.inner.predict_marginals(X)

    X, y = sentences(60, 24)
    assert lw.AnyTagger(OwnTagger()).fit(X, y).predict(X) == lw.AnyTagger(CountTagger()).fit(X, y).predict(X)
    assert lw.plan(X, y, model=OwnTagger(), budget=200).recommended.labels > 0
