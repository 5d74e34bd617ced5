"""The choice between models, and what it flatters itself by."""

import numpy as np
import pytest

from labelworth.simulation.basis import ForecastBasis, Points
from labelworth.simulation.selection import WRONG_PROBABILITY_WEIGHT, ModelChoice, Optimism, Trials, without_optimism
from support.statistical import assert_mean_is

N_UNITS, N_PILOTS = 60, 300


def trials_of(
    errors: np.ndarray,
    log_losses: np.ndarray,
    n_labels: np.ndarray | None = None,
    uses: list[bool] | None = None,
    *,
    slow: list[bool] | None = None,
    lacks_classes: bool = False,
) -> Trials:
    own = np.ones(errors.shape[1]) if n_labels is None else n_labels
    no = [False] * len(errors)
    return Trials(own, errors, log_losses, np.array(uses or no), np.array(slow or no), lacks_classes)


def drawn(truths: np.ndarray, rng: np.random.Generator) -> Trials:
    """Losses of candidates that err with these probabilities, on units some of which are hard for all."""
    hardness = rng.uniform(-0.25, 0.25, N_UNITS)
    errors = (rng.random((len(truths), N_UNITS)) < truths[:, None] + hardness).astype(float)
    return trials_of(errors, 0.5 * errors + rng.exponential(0.2, errors.shape))


def test_the_least_error_wins_and_the_probability_of_wrong_classes_breaks_ties() -> None:
    errors = np.array([[1.0, 0, 0, 0], [0, 0, 0, 1.0], [1.0, 1.0, 0, 0]])
    doubts = np.full((3, 4), 0.5)
    assert trials_of(errors, losses_of(doubts)).chosen == 0
    doubts[0] = 0.6
    assert trials_of(errors, losses_of(doubts)).order.tolist() == [1, 0, 2]
    doubts[2] = 0.5 - 0.25 / WRONG_PROBABILITY_WEIGHT - 0.01
    assert trials_of(errors, losses_of(doubts)).chosen == 2


def losses_of(doubts: np.ndarray) -> np.ndarray:
    """Log-losses of predictions that give wrong classes this probability."""
    return -np.log1p(-doubts)


def test_who_is_wary_wants_more_than_chance_of_models_that_learn_from_unlabeled_samples() -> None:
    rng = np.random.default_rng(0)
    safe = (rng.random(100) < 0.3).astype(float)
    for n_worse, expected in ((9, 0), (0, 1)):
        bold = safe.copy()
        bold[np.flatnonzero(safe)[:10]] = 0
        bold[np.flatnonzero(safe == 0)[:n_worse]] = 1
        errors = np.stack([safe, bold])
        uses = [False, True]
        assert trials_of(errors, losses_of(errors / 2), uses=uses).chosen == 1
        wary = trials_of(errors, losses_of(errors / 2), uses=uses, lacks_classes=True)
        gaps = 1.5 * (bold - safe)
        assert (gaps.mean() < -gaps.std() / 10) == bool(expected)
        assert wary.chosen == expected
        assert wary.choice(["safe", "bold"], 0).lacks_classes
        assert wary.order.tolist() == [expected, 1 - expected]


def test_of_slow_models_more_than_chance_is_wanted_always() -> None:
    rng = np.random.default_rng(1)
    quick = (rng.random(100) < 0.3).astype(float)
    worse = 1 - (1 - quick) * (rng.random(100) < 0.9)
    for n_worse, expected in ((9, 0), (0, 2)):
        slow = quick.copy()
        slow[np.flatnonzero(quick)[:10]] = 0
        slow[np.flatnonzero(quick == 0)[:n_worse]] = 1
        errors = np.stack([quick, worse, slow])
        trials = trials_of(errors, losses_of(errors / 2), slow=[False, False, True])
        assert trials_of(errors, losses_of(errors / 2)).chosen == 2
        assert trials.chosen == expected
        choice = trials.choice(["a", "b", "c"], seed=0)
        # Beside the chosen one the best of the quick is forecast, however good a slow one is.
        assert choice.rival is not None
        assert choice.rival.name == ("b" if expected == 0 else "a")
        assert trials.rivals(np.ones((1, 100)), ["a", "b", "c"]).tolist() == [1 if expected == 0 else 0]
    alone = trials_of(errors, losses_of(errors / 2), slow=[True, True, True])
    assert alone.chosen == 2


def test_units_count_by_their_labels_and_differences_are_paired() -> None:
    errors, level = np.array([[1.0, 0, 0], [0, 0.5, 0]]), np.zeros((2, 3))
    assert trials_of(errors, level).chosen == 1
    weighed = trials_of(errors, level, np.array([1.0, 8.0, 1.0]), [True, False])
    choice = weighed.choice(["left", "right"], 0)
    assert (choice.chosen.name, choice.others[0].name) == ("left", "right")
    assert choice.others[0].difference == pytest.approx(0.4 - 0.1)
    assert choice.best(uses_unlabeled=False) == choice.others[0]
    assert choice.n_labels == 10
    assert choice.n_fits == 10


def test_rivals_are_the_best_of_other_kinds_and_forecasts_are_theirs() -> None:
    names = ["naive Bayes (20 words)", "EM naive Bayes", "linear SVM", "logistic regression"]
    level = np.outer([0.1, 0.2, 0.3, 0.4], np.ones(4))
    choice = trials_of(level, level, uses=[False, True, False, False]).choice(names, 0)
    assert [rival.name for rival in choice.rivals] == names[2:]
    forecast = choice.with_forecasts(0.08, 0.09, 700)
    assert (forecast.chosen.forecast, forecast.crossing) == (0.08, 700)
    assert [other.forecast for other in forecast.others] == [None, 0.09, None]


@pytest.mark.statistical
@pytest.mark.parametrize("spread", [0.0, 0.1])
def test_the_level_of_the_chosen_model_is_unbiased_once_corrected(spread: float, seed: int) -> None:
    """Against the true errors; as it is (the negative control) it is too low by many standard errors."""
    truths = 0.3 + spread * np.linspace(0, 1, 12) ** 2
    plain, corrected = [], []
    for pilot in range(N_PILOTS):
        trials = drawn(truths, np.random.default_rng([seed, pilot]))
        level = trials.errors[trials.chosen].mean()
        optimism = trials.optimism(trials.errors, np.random.default_rng([seed, pilot, 1]))
        plain.append(level - truths[trials.chosen])
        corrected.append(level + optimism.shift - truths[trials.chosen])
    with pytest.raises(AssertionError):
        assert_mean_is(np.array(plain), 0.0)
    assert_mean_is(np.array(corrected), 0.0, model_tolerance=0.1 * abs(np.mean(plain)))


def test_a_model_that_is_best_by_far_is_not_corrected() -> None:
    rng = np.random.default_rng(0)
    errors = np.stack([rng.random(80) < 0.05, rng.random(80) < 0.6]).astype(float)
    optimism = trials_of(errors, errors).optimism(errors, np.random.default_rng(1))
    assert optimism.shift == 0
    assert optimism.variance == pytest.approx(0, abs=1e-20)


@pytest.mark.statistical
@pytest.mark.parametrize("spread", [0.0, 0.1])
def test_a_rival_is_flattered_by_its_own_choice_and_not_as_the_winner_is(spread: float, seed: int) -> None:
    """Against the true errors of the best of other kinds; as it is, or with the winner's shift, it is far off."""
    truths = 0.3 + spread * np.linspace(0, 1, 8)
    # The kind of the first four, and two of other kinds with two settings each.
    names = [f"left ({index})" for index in range(4)] + ["right (0)", "right (1)", "above (0)", "above (1)"]
    plain, as_winner, corrected = [], [], []
    for pilot in range(N_PILOTS):
        trials = drawn(truths, np.random.default_rng([seed, pilot]))
        choice = trials.choice(names, pilot)
        rival = choice.rivals[0]
        own = trials.choice(names, pilot, names.index(rival.name))
        assert own.chosen.name == rival.name
        level = rival.error - truths[names.index(rival.name)]
        plain.append(level)
        as_winner.append(level + choice.optimism["error"].shift)
        corrected.append(level + own.optimism["error"].shift)
    tolerance = 0.1 * abs(np.mean(plain))
    for wrong in (plain, as_winner):
        with pytest.raises(AssertionError):
            assert_mean_is(np.array(wrong), 0.0, model_tolerance=tolerance)
    assert_mean_is(np.array(corrected), 0.0, model_tolerance=tolerance)


def test_a_rival_that_nobody_else_comes_near_is_not_corrected() -> None:
    rng = np.random.default_rng(0)
    errors = np.stack([rng.random(80) < 0.05, rng.random(80) < 0.06, rng.random(80) < 0.5]).astype(float)
    names = ["left", "left (0)", "right"]
    own = trials_of(errors, errors).choice(names, 0, 2)
    assert own.optimism["error"].shift == 0
    assert own.optimism["error"].variance == pytest.approx(0, abs=1e-20)


def test_points_share_the_optimism_by_their_covariance() -> None:
    covariance = np.array([[4.0, 1.0], [1.0, 2.0]]) * 1e-4
    points = {
        ("labels-only", measure): Points(np.array([20, 80]), np.array([0.4, 0.3]), covariance)
        for measure in ("error", "log_loss")
    }
    basis = ForecastBasis("linear", 100, 1000, points, {}, {}, {}, {}, np.array([50, 50]))
    errors = np.array([[0.0, 1.0, 0.0], [1.0, 1.0, 0.0]])
    plain = trials_of(errors, errors).choice(["left", "right"], 0)
    choice = ModelChoice(
        plain.chosen, plain.others, 3, 10, {"error": Optimism(0.02, 1e-4), "log_loss": Optimism(0.0, 0.0)}
    )
    moved = without_optimism(basis, "labels-only", choice).points
    np.testing.assert_allclose(moved["labels-only", "error"].means, [0.41, 0.32])
    np.testing.assert_allclose(
        moved["labels-only", "error"].covariance, covariance + 1e-4 * np.array([[0.25, 0.5], [0.5, 1.0]])
    )
    np.testing.assert_allclose(moved["labels-only", "log_loss"].means, [0.4, 0.3])


def test_no_point_lies_beyond_errors_on_everything() -> None:
    # Of twelve labels nearly all were missed, and the luck of the largest part weighs double at half of it.
    covariance = np.array([[4.0, 2.0], [2.0, 1.0]]) * 1e-4
    points = {
        ("labels-only", measure): Points(np.array([6, 9]), np.array([0.94, 0.97]), covariance)
        for measure in ("error", "log_loss")
    }
    basis = ForecastBasis("linear", 12, 400, points, {}, {}, {}, {}, np.array([6, 6]))
    errors = np.array([[0.0, 1.0, 0.0], [1.0, 1.0, 0.0]])
    plain = trials_of(errors, errors).choice(["left", "right"], 0)
    flattered = {"error": Optimism(0.09, 1e-4), "log_loss": Optimism(0.09, 1e-4)}
    moved = without_optimism(basis, "labels-only", ModelChoice(plain.chosen, plain.others, 3, 10, flattered)).points
    np.testing.assert_allclose(moved["labels-only", "error"].means, [1.0, 1.0])
    np.testing.assert_allclose(moved["labels-only", "log_loss"].means, [1.12, 1.06])
