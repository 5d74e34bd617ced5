"""Learning curves with known truth."""

from typing import Any

import numpy as np
import pytest
from scipy.special import log_softmax

from labelworth.data.lengths import LengthDistribution
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError, NotIdentifiableError
from labelworth.estimators.pools.documents import ClassLearner
from labelworth.models.classes.multinomial import MultinomialFamily, MultinomialModel
from labelworth.policies.choosing import Choosing
from labelworth.policies.spec import parse_policy
from labelworth.progress import SilentProgress
from labelworth.simulation import simulator
from labelworth.simulation.learner import MODES, keep_labels
from labelworth.simulation.simulator import (
    WHOLE,
    CurveDesign,
    LabelSource,
    LearningCurve,
    Replicate,
    chosen_units,
    held_out_units,
)
from support.learners import document_learner, documents, sentence_learner, sentences

SIZES = np.array([5, 20, 80])


def simulate(learner: Any, data: Any, source: LabelSource, *arguments: Any, **options: Any) -> list[LearningCurve]:
    """With labels from one source."""
    return simulator.simulate(learner, data, {"own": source}, *arguments, **options)["own"]


def document_source(samples: object, learner: object) -> LabelSource:
    return LabelSource(learner.predict(learner.fit(samples), samples), 1.0)


def test_curves_fall_to_the_error_of_the_source() -> None:
    samples = documents(2000)
    learner = document_learner(samples)
    source = document_source(samples, learner)
    (curve,) = simulate(
        learner, samples, source, [CurveDesign("labels-only")], np.array([5, 40, 1500]), n_replicates=6, seed=0
    )
    floor = float(1 - source.probabilities.max(axis=1).mean())
    error = curve.errors.mean(axis=0)
    assert error[0] > error[1] > error[2]
    assert abs(error[2] - floor) < 0.02
    assert error[0] > floor + 0.05
    assert (curve.errors.std(axis=0) > 0).all()
    assert (curve.log_losses.std(axis=0) > 0).all()


def test_the_labels_of_the_data_play_no_part() -> None:
    samples = documents(200)
    learner = document_learner(samples)
    source = document_source(samples, learner)
    curves = [
        simulate(learner, data, source, [CurveDesign(mode) for mode in MODES], SIZES, n_replicates=2, seed=3)
        for data in (samples, samples.hide())
    ]
    np.testing.assert_array_equal(curves[0][1].errors, curves[1][1].errors)


def test_the_same_bits_whatever_the_workers_and_designs() -> None:
    data = sentences(60)
    learner = sentence_learner(data)
    source = LabelSource(learner.predict(learner.fit(data), data), 1.0)
    both = [CurveDesign("labels-only"), CurveDesign("labels-only", parse_policy("every-other"))]
    sizes = np.array([5, 30])
    one = simulate(learner, data, source, both, sizes, n_replicates=3, seed=0, workers=1)
    two = simulate(learner, data, source, both, sizes, n_replicates=3, seed=0, workers=2)
    alone = simulate(learner, data, source, both[1:], sizes, n_replicates=3, seed=0)
    np.testing.assert_array_equal(one[1].errors, two[1].errors)
    np.testing.assert_array_equal(one[1].log_losses, alone[0].log_losses)
    assert [curve.design.name for curve in one] == [WHOLE, "every-other"]
    assert (one[0].log_losses != one[1].log_losses).all()


def test_sources_together_give_what_each_gives_alone() -> None:
    samples = documents(200)
    learner = document_learner(samples)
    drawn = document_source(samples, learner)
    sources = {"drawn": drawn, "sharp": LabelSource(drawn.prediction, 0.05)}
    designs = [CurveDesign(mode) for mode in MODES]
    together = simulator.simulate(learner, samples, sources, designs, SIZES, n_replicates=2, seed=3, workers=2)
    assert list(together) == ["drawn", "sharp"]
    for name, source in sources.items():
        alone = simulate(learner, samples, source, designs, SIZES, n_replicates=2, seed=3)
        for one, other in zip(together[name], alone, strict=True):
            np.testing.assert_array_equal(one.errors, other.errors)
            np.testing.assert_array_equal(one.log_losses, other.log_losses)
    assert (together["drawn"][0].log_losses != together["sharp"][0].log_losses).all()


def test_common_draws_make_differences_less_noisy() -> None:
    """Curves of two policies on the same draws differ by less than curves on other draws do."""
    data = sentences(100)
    learner = sentence_learner(data)
    source = LabelSource(learner.predict(learner.fit(data), data), 1.0)
    designs = [CurveDesign("labels-only"), CurveDesign("labels-only", parse_policy("random:0.9"))]
    one, two = simulate(learner, data, source, designs, np.array([10]), n_replicates=20, seed=0)
    gaps = one.errors - two.errors
    assert gaps.std() < 0.7 * (one.errors - np.roll(two.errors, 1, axis=0)).std()


def test_units_kept_out() -> None:
    assert held_out_units(1000, 500) == 200
    assert held_out_units(1000, 900) == 100
    assert held_out_units(1000, 950) == 50
    with pytest.raises(InvalidInputError, match="950 labels at most"):
        held_out_units(1000, 951)


def test_one_replicate_has_no_standard_error_and_progress_is_told() -> None:
    class Counting(SilentProgress):
        total = 0

        def start(self, title: str, total: int | None) -> object:
            Counting.total = total or 0
            return super().start(title, total)

    samples = documents(100)
    learner = document_learner(samples)
    (curve,) = simulate(
        learner,
        samples,
        document_source(samples, learner),
        [CurveDesign("labels-only")],
        SIZES,
        n_replicates=1,
        seed=0,
        progress=Counting(),
    )
    assert curve.errors.shape == (1, 3)
    assert Counting.total == SIZES.sum()  # Samples that are learned from.


def test_up_to_the_start_chosen_units_are_the_random_ones() -> None:
    samples = documents(300)
    learner = document_learner(samples)
    source = document_source(samples, learner)
    designs = [
        CurveDesign("semi-supervised"),
        CurveDesign("semi-supervised", choosing=Choosing("worth"), start=20),
        CurveDesign("semi-supervised", choosing=Choosing("uncertainty"), start=20),
    ]
    random, worth, uncertainty = simulate(learner, samples, source, designs, SIZES, n_replicates=3, seed=0)
    for chosen in (worth, uncertainty):
        np.testing.assert_array_equal(chosen.log_losses[:, :2], random.log_losses[:, :2])
        assert (chosen.log_losses[:, 2] != random.log_losses[:, 2]).all()
    alone = simulate(learner, samples, source, designs[1:2], SIZES, n_replicates=3, seed=0, workers=2)
    np.testing.assert_array_equal(alone[0].log_losses, worth.log_losses)


def test_units_are_chosen_in_rounds_that_double_the_labels() -> None:
    samples = documents(300)
    learner = document_learner(samples)
    start = np.arange(10)
    path = chosen_units(learner, samples, start, 70, Choosing("uncertainty", 0.0, 0.02), seed=1)
    assert len(set(path.tolist())) == 70
    np.testing.assert_array_equal(path[:10], start)
    # The labels of rows that were not chosen play no part: the first two rounds are those of a shorter path.
    hidden = keep_labels(samples, path[:40])
    np.testing.assert_array_equal(
        chosen_units(learner, hidden, start, 40, Choosing("uncertainty", 0.0, 0.02), seed=1), path[:40]
    )
    posterior = np.exp(learner.predict(learner.fit(keep_labels(samples, start)), samples).log_posteriors(1.0))
    unsure = 1 - posterior.max(axis=1)
    assert unsure[path[10:20]].mean() > 1.3 * unsure[10:].mean()


class _NeverAtAMaximum(ClassLearner):
    def worths(self, model, data):
        raise NotIdentifiableError("This is no maximum.")


def test_where_rows_have_no_worth_a_round_goes_by_uncertainty() -> None:
    samples = documents(300)
    learner = document_learner(samples)
    lost = _NeverAtAMaximum(learner.family, tolerance=learner.tolerance, max_iterations=learner.max_iterations)
    paths = [
        chosen_units(own, samples, np.arange(10), 40, Choosing(by), seed=1)
        for own, by in ((lost, "worth"), (learner, "uncertainty"), (learner, "worth"))
    ]
    np.testing.assert_array_equal(paths[0], paths[1])
    assert (paths[0] != paths[2]).any()


def excess(model: object, truth: object, tested: object) -> float:
    """Log-loss beyond that of the truth, in nats per row, expected over labels."""
    true, own = (log_softmax(each.log_joint(tested), axis=1) for each in (truth, model))
    return float((np.exp(true) * (true - own)).sum(axis=1).mean())


class _LeastFirst(ClassLearner):
    """Turns the order round: what is worth most comes last."""

    def worths(self, model, data):
        return 1 / np.maximum(super().worths(model, data), 1e-12)


def test_rows_of_the_highest_worth_beat_rows_at_random_where_the_model_is_right() -> None:
    # A rare class: formulas promise 1.7 times the error at random for as many labels.
    words = np.array([[0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]])
    truth = MultinomialModel(("a", "b"), np.array([0.95, 0.05]), words, LengthDistribution.from_mapping({6: 1.0}))
    tested = truth.sample(1000, np.random.default_rng(99)).hide()
    gains = {ClassLearner: [], _LeastFirst: []}
    for run in range(240):
        pool = truth.sample(800, np.random.default_rng([7, run]))
        family = MultinomialFamily.for_samples(pool, smoothing=0.5, class_smoothing=1.0)
        for kind, differences in gains.items():
            if kind is _LeastFirst and run >= 40:
                continue
            learner = kind(family, tolerance=1e-6, max_iterations=500)
            losses = [
                excess(learner.fit(keep_labels(pool, kept)), truth, tested)
                for kept in (
                    np.arange(240),
                    chosen_units(learner, pool, np.arange(80), 240, Choosing("worth", 0.1), run),
                )
            ]
            differences.append(losses[0] - losses[1])
    better, worse = (np.mean(own) / (np.std(own, ddof=1) / np.sqrt(len(own))) for own in gains.values())
    # One-sided: labels at random would pass 4.9 standard errors once in a million times.
    assert better > 4.9
    assert worse < 0


def test_replicates_share_the_features_and_take_the_units_they_mean() -> None:
    samples = documents(200)
    source = document_source(samples, document_learner(samples))
    one, other = (Replicate(samples, source, 40, 3, number) for number in range(2))
    for replicate in (one, other):
        held = [value for value in vars(replicate).values() if isinstance(value, Samples)]
        assert [value.features is samples.features for value in held] == [True]
        together = np.sort(np.concatenate([row_keys(replicate.pool), row_keys(replicate.tested)]))
        np.testing.assert_array_equal(together, np.sort(row_keys(samples)))
        assert replicate.pool.evidence.is_gold.all()
        assert replicate.tested.n_samples == len(replicate.codes) == len(replicate.probabilities) == 40
    assert not np.array_equal(row_keys(one.tested), row_keys(other.tested))


def row_keys(samples: Samples) -> np.ndarray:
    """A number for every row, that others are as good as never given."""
    return np.asarray(samples.counts @ np.random.default_rng(0).random(samples.n_features))
