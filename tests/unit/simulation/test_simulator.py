"""Learning curves with known truth."""

import numpy as np
import pytest

from labelworth.errors import InvalidInputError
from labelworth.policies.spec import parse_policy
from labelworth.progress import SilentProgress
from labelworth.simulation.learner import MODES
from labelworth.simulation.simulator import WHOLE, CurveDesign, LabelSource, held_out_units, simulate
from support.learners import document_learner, documents, sentence_learner, sentences

SIZES = np.array([5, 20, 80])


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
