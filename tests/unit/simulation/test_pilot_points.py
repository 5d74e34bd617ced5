"""Cross-validated sub-samples of the pilot."""

import numpy as np
import pytest

from labelworth.data.evidence import Evidence
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError
from labelworth.simulation.learner import MODES, keep_labels
from labelworth.simulation.pilot_points import PilotPoints, _SubSampling, labeled_units, pilot_points, point_sizes
from support.learners import document_learner, documents, relabeled, sentences

ONCE = {"labels-only": 1, "semi-supervised": 1}


def test_sizes_are_shares_of_the_pilot() -> None:
    assert point_sizes(400).tolist() == [50, 100, 200, 320]
    assert point_sizes(101).tolist() == [13, 25, 50, 80]


def test_units_with_any_label_are_the_pilot() -> None:
    data = sentences(30)
    shown = keep_labels(data, np.arange(12))
    first_only = shown.hide(np.setdiff1d(np.arange(data.n_tokens), data.offsets[:-1]))
    assert labeled_units(first_only).tolist() == list(range(12))
    with pytest.raises(InvalidInputError, match=r"at least 10 .*`labelworth next --count 1`"):
        labeled_units(keep_labels(data, np.arange(9)))


def test_every_pilot_unit_is_tested_without_its_own_label() -> None:
    """A learner that only remembers what it was shown is never right, so nothing tested was learned from."""
    samples = documents(80)
    learner = document_learner(samples)

    class Remembers:
        modes, mode, in_processes = ("labels-only",), "labels-only", False

        def in_mode(self, mode: str) -> "Remembers":
            return self

        def work(self, n_labeled: int, n_samples: int) -> int:
            return n_labeled

        def failure(self, data: object, model: object) -> str:
            return ""

        def fit(self, data: object) -> set[bytes]:
            gold = data.labeled_only()
            seen.append(gold.n_samples)
            return {row.tobytes() for row in gold.counts.toarray()}

        def predict(self, model: set[bytes], data: object) -> object:
            known = np.array([row.tobytes() in model for row in data.counts.toarray()])
            assert not known.any()
            return learner.predict(learner.fit(samples), data)

    seen: list[int] = []
    distinct = samples.counts.toarray() + np.random.default_rng(0).random((80, 4)) * 1e-3
    marked = relabeled(type(samples)(type(samples.counts)(distinct), samples.evidence), samples.evidence.codes)
    shown = keep_labels(marked, np.arange(40))
    points = pilot_points(Remembers(), shown, ("labels-only",), seed=0, n_repeats=ONCE)["labels-only"]
    assert points.errors.shape == (4, 40)
    assert np.isfinite(points.errors).all()
    assert sorted(set(seen)) == [5, 10, 20, 32]


def test_copies_are_tested_together_and_all_others_are_dealt_one_by_one() -> None:
    rng = np.random.default_rng(5)
    pilot, pool = rng.random((40, 3)), rng.random((20, 3))
    codes = np.arange(60) % 2

    def folds(vectors: np.ndarray) -> list[np.ndarray]:
        shown = keep_labels(Samples(np.vstack([vectors, pool]), Evidence(codes, ("a", "b"))), np.arange(40))
        sampling = _SubSampling(document_learner(documents(20)), shown, 7)
        dealt = [sampling.fold(2, fold) for fold in range(5)]
        for train, test in dealt:
            assert sorted([*train, *test]) == list(range(40))
        return [test for _, test in dealt]

    order = np.random.default_rng([7, 2]).permutation(np.arange(40))
    for fold, test in enumerate(folds(pilot)):
        np.testing.assert_array_equal(test, np.sort(order[fold::5]))
    # Every vector twice: both are in one fold, and folds are as large as before.
    twice = folds(np.repeat(pilot[:20], 2, axis=0))
    assert [len(test) for test in twice] == [8] * 5
    for test in twice:
        assert set(test ^ 1) == set(test)
    # The control: folds that look at nothing part some of them.
    assert any(set(test ^ 1) != set(test) for test in folds(pilot))
    # Copies of fewer than ten are taken for what recurs.
    for fold, test in enumerate(folds(np.repeat(pilot[:8], 5, axis=0))):
        np.testing.assert_array_equal(test, np.sort(order[fold::5]))


def test_more_labels_help_and_modes_share_their_folds() -> None:
    samples = documents(300)
    learner = document_learner(samples)
    shown = keep_labels(samples, np.arange(120))
    points = pilot_points(learner, shown, MODES, seed=1, n_repeats={"labels-only": 2, "semi-supervised": 1})
    alone = points["labels-only"]
    means = alone.means(alone.log_losses)
    assert means[-1] < means[0]
    assert points["semi-supervised"].n_units == alone.n_units == 120
    again = pilot_points(learner, shown, MODES, seed=1, n_repeats={"labels-only": 2, "semi-supervised": 1}, workers=2)
    np.testing.assert_array_equal(again["semi-supervised"].log_losses, points["semi-supervised"].log_losses)


def test_means_and_covariance_count_labels() -> None:
    errors = np.array([[0.0, 0.5, 1.0], [0.0, 0.0, 1.0]])
    points = PilotPoints(np.array([1, 2]), 3, np.array([1.0, 2.0, 3.0]), errors, errors)
    np.testing.assert_allclose(points.means(errors), [4 / 6, 3 / 6])
    gaps = [np.array([1, 2, 3]) * (row - mean) / 6 for row, mean in zip(errors, (4 / 6, 3 / 6), strict=True)]
    expected = [[sum(one * two) * 3 / 2 for two in gaps] for one in gaps]
    np.testing.assert_allclose(points.covariance(errors), expected)
