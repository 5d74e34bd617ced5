from dataclasses import replace

import numpy as np
import pytest

import labelworth as lw
from labelworth.errors import InvalidInputError, MoreSamplesNeededError, NotIdentifiableError
from labelworth.fisher.criteria import CRITERIA, Weight
from labelworth.fisher.dense import DenseInformation
from labelworth.fisher.information import of_fraction, over_fractions
from labelworth.fisher.jackknife import Jackknife
from labelworth.fisher.whitened import PencilRules
from labelworth.models.chains.boltzmann_chain import BoltzmannChainModel
from labelworth.models.coordinates import Coordinates, FreeTable, SimplexRows

FRACTIONS = np.array([1.0, 0.5, 0.1, 0.01])


def coordinates(n_rows: int = 2, n_columns: int = 4) -> Coordinates:
    rows, columns = [f"row {i}" for i in range(n_rows)], [f"word {j}" for j in range(n_columns)]
    return Coordinates(
        (
            SimplexRows("class_probabilities", [""], ["ham", "spam"]),
            SimplexRows("word_probabilities", rows, columns),
        )
    )


def matrices(d: int, seed: int, mu: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Complete and missing information with known eigenvalues mu."""
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((d, d)) + 2 * np.eye(d)
    if mu is None:
        mu = rng.uniform(0.05, 0.98, size=d)
    rotation, _ = np.linalg.qr(rng.standard_normal((d, d)))
    return root @ root.T, root @ (rotation * mu) @ rotation.T @ root.T


def dense(seed: int = 0, mu: np.ndarray | None = None) -> DenseInformation:
    where = coordinates()
    complete, missing = matrices(where.n_free, seed, mu)
    return DenseInformation.of_labels(where, complete, missing, "enumeration")


def with_batches(exact: DenseInformation, missing: np.ndarray) -> DenseInformation:
    """The same, known through batches of missing information."""
    stacked = np.stack([np.broadcast_to(exact.complete, missing.shape), exact.complete - missing], axis=1)
    return replace(exact, matrices=stacked.mean(axis=0), batches=stacked, known_missing=None, n_drawn=len(missing))


TRACES = {criterion.weight: name for name, criterion in CRITERIA.items() if criterion.form == "trace"}


def trace(information: DenseInformation, weight: Weight, fractions) -> np.ndarray:
    """trace(G I(f)^-1), without the factor of the criterion."""
    name = TRACES[weight]
    return over_fractions(information, name, np.asarray(fractions)).values / CRITERIA[name].factor


def slope(information: DenseInformation, weight: Weight, fraction: float) -> float:
    """The derivative of the trace in f: one more labeled and one unlabeled sample less."""
    criterion = CRITERIA[TRACES[weight]]
    labeled, unlabeled = information.point(criterion, of_fraction(fraction)).slope
    return (labeled - unlabeled) / criterion.factor


def weight_matrix(information: DenseInformation, weight: Weight) -> np.ndarray:
    jacobian = information.coordinates.jacobian()
    return {
        Weight.NAMED: jacobian.T @ jacobian,
        Weight.COMPLETE: information.complete,
        Weight.MISSING: information.missing,
        Weight.MARGINAL: information.complete - information.missing,
    }[weight]


@pytest.mark.parametrize("weight", list(Weight))
def test_traces_equal_those_of_an_explicit_inverse(weight: Weight) -> None:
    information = dense()
    expected = [
        np.trace(weight_matrix(information, weight) @ np.linalg.inv(information.at(fraction)))
        for fraction in FRACTIONS
    ]
    np.testing.assert_allclose(trace(information, weight, FRACTIONS), expected, rtol=1e-10)
    assert over_fractions(information, TRACES[weight], FRACTIONS).standard_errors is None


@pytest.mark.parametrize("weight", list(Weight))
def test_slopes_equal_the_explicit_product(weight: Weight) -> None:
    information = dense(seed=1)
    expected = []
    for fraction in FRACTIONS:
        inverse = np.linalg.inv(information.at(fraction))
        expected.append(-np.trace(weight_matrix(information, weight) @ inverse @ information.missing @ inverse))
    slopes = [slope(information, weight, fraction) for fraction in FRACTIONS]
    np.testing.assert_allclose(slopes, expected, rtol=1e-9)


@pytest.mark.parametrize("weight", list(Weight))
def test_slopes_are_the_derivatives_of_the_traces(weight: Weight) -> None:
    information, step = dense(seed=2), 1e-5
    inside = np.array([0.3, 0.7])
    difference = trace(information, weight, inside + step) - trace(information, weight, inside - step)
    slopes = [slope(information, weight, fraction) for fraction in inside]
    np.testing.assert_allclose(slopes, difference / (2 * step), rtol=1e-6)


def test_log_volume_is_the_log_determinant_of_the_inverse() -> None:
    information = dense(seed=3)
    expected = [-np.linalg.slogdet(information.at(fraction))[1] for fraction in FRACTIONS]
    np.testing.assert_allclose(over_fractions(information, "log_volume", FRACTIONS).values, expected, rtol=1e-10)


def test_worst_direction_is_the_largest_eigenvalue_of_the_named_covariance() -> None:
    information = dense(seed=4)
    jacobian = information.coordinates.jacobian()
    expected = [
        np.linalg.eigvalsh(jacobian @ np.linalg.inv(information.at(fraction)) @ jacobian.T)[-1]
        for fraction in FRACTIONS
    ]
    np.testing.assert_allclose(over_fractions(information, "worst_direction", FRACTIONS).values, expected, rtol=1e-10)


def test_covariance_inverts_the_information_of_all_samples() -> None:
    information = dense(seed=5)
    np.testing.assert_allclose(
        information.covariance(40 * of_fraction(0.2)) @ (40 * information.at(0.2)),
        np.eye(information.n_parameters),
        atol=1e-10,
    )


def test_a_direction_unlabeled_samples_do_not_see_is_pinned_by_labels() -> None:
    mu = np.array([1.0, 1.0, 0.3, 0.5, 0.7, 0.2, 0.6])
    information = dense(mu=mu)
    assert (information.whitened.shares(of_fraction(0.0))[0] <= 1e-10).sum() == 2
    joint = trace(information, Weight.COMPLETE, [0.01, 1e-6])
    expected = [np.sum(1 / (1 - (1 - fraction) * mu)) for fraction in (0.01, 1e-6)]
    np.testing.assert_allclose(joint, expected, rtol=1e-8)


def test_without_labels_such_a_direction_leaves_no_number() -> None:
    information = dense(mu=np.array([1.0, 0.1, 0.3, 0.5, 0.7, 0.2, 0.6]))
    assert [information.figures(of_fraction(f)).is_identifiable for f in (0.0, 0.5)] == [False, True]
    assert np.isnan(trace(information, Weight.NAMED, [0.0, 0.5])).tolist() == [True, False]
    with pytest.raises(NotIdentifiableError, match="fraction 0"):
        information.covariance(10 * of_fraction(0.0))


def test_without_such_a_direction_no_labels_are_needed() -> None:
    information = dense(seed=6)
    assert information.figures(of_fraction(0.0)).is_identifiable
    expected = np.trace(
        weight_matrix(information, Weight.NAMED) @ np.linalg.inv(information.complete - information.missing)
    )
    assert trace(information, Weight.NAMED, [0.0])[0] == pytest.approx(expected, rel=1e-9)


def test_singular_complete_information_names_the_parameters() -> None:
    where = coordinates()
    complete = np.eye(where.n_free)
    complete[3, 3] = 0
    information = DenseInformation.of_labels(where, complete, 0.5 * complete, "enumeration")
    with pytest.raises(NotIdentifiableError) as caught:
        trace(information, Weight.NAMED, FRACTIONS)
    assert caught.value.directions == (where.name(3),)
    assert where.name(3) in str(caught.value)


def test_noise_that_makes_the_information_indefinite_is_refused_not_clipped() -> None:
    information = dense(mu=np.array([1.3, 0.1, 0.3, 0.5, 0.7, 0.2, 0.6]))
    with pytest.raises(MoreSamplesNeededError, match=r"fraction 0\.1"):
        trace(information, Weight.NAMED, [1.0, 0.5, 0.1])
    assert np.isfinite(trace(information, Weight.NAMED, [1.0, 0.5])).all()


def test_fractions_below_the_fitted_one_are_refused() -> None:
    where = coordinates()
    complete, missing = matrices(where.n_free, 7)
    information = DenseInformation.of_labels(where, complete, missing, "observed", lowest_fraction=0.2)
    with pytest.raises(InvalidInputError, match=r"from 0\.2 up"):
        information.at(0.1)


@pytest.mark.parametrize("fraction", [-0.1, 1.1, np.nan])
def test_a_fraction_outside_zero_and_one_is_refused(fraction: float) -> None:
    with pytest.raises(InvalidInputError, match="labeled_fraction"):
        trace(dense(), Weight.NAMED, [fraction])


def batch_noise(d: int, n_batches: int, seed: int, size: float) -> np.ndarray:
    noise = size * np.random.default_rng(seed).standard_normal((n_batches, d, d))
    return (noise + noise.transpose(0, 2, 1)) / 2


FIGURES = {
    **{name: lambda known, f, name=name: known.estimate(CRITERIA[name], of_fraction(f)) for name in CRITERIA},
    **{
        f"exchange {name}": lambda known, f, name=name: known.exchange_rate(CRITERIA[name], of_fraction(f))
        for name in TRACES.values()
    },
}


@pytest.mark.parametrize("name", FIGURES)
def test_standard_errors_are_those_of_finite_differences(name: str) -> None:
    """Each batch's share in the noise is the change of the figure when that batch moves the mean."""
    exact, n_batches, step = dense(seed=8), 5, 1.0
    noise = batch_noise(exact.n_parameters, n_batches, seed=9, size=1e-6)
    noise -= noise.mean(axis=0)
    sampled = with_batches(exact, exact.missing + noise)

    def moved(part: np.ndarray, fraction: float) -> float:
        other = DenseInformation.of_labels(exact.coordinates, exact.complete, exact.missing + part, "")
        return FIGURES[name](other, fraction)[0]

    for fraction in (0.6, 0.1):
        shifts = np.array([moved(step * part, fraction) - moved(-step * part, fraction) for part in noise]) / (
            2 * step
        )
        expected = shifts.std(ddof=1) / np.sqrt(n_batches)
        assert FIGURES[name](sampled, fraction)[1] == pytest.approx(expected, rel=1e-5)


def test_one_batch_is_refused() -> None:
    exact = dense()
    with pytest.raises(InvalidInputError, match="two batches"):
        with_batches(exact, exact.missing[None])


def test_named_figures_count_the_dropped_entry_too() -> None:
    """With one row of three entries the dropped one has the variance of the sum of the others."""
    simplex = Coordinates((SimplexRows("table", [""], ["a", "b", "c"]),))
    free = Coordinates((FreeTable("table", [""], ["a", "b"]),))
    complete = np.array([[4.0, 1.0], [1.0, 3.0]])
    covariance = np.linalg.inv(complete)
    none = np.zeros((2, 2))
    value, without = (
        trace(DenseInformation.of_labels(where, complete, none, ""), Weight.NAMED, [1.0])[0]
        for where in (simplex, free)
    )
    assert without == pytest.approx(np.trace(covariance), rel=1e-12)
    assert value == pytest.approx(np.trace(covariance) + covariance.sum(), rel=1e-12)


def noisy(d: int, n_per_batch: int, seed: int, n_batches: int = 64) -> DenseInformation:
    """Complete information 1, missing 0.6 in every direction, seen through Wishart noise."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((n_batches, n_per_batch, d)) * np.sqrt(0.6)
    batches = rows.transpose(0, 2, 1) @ rows / n_per_batch
    where = Coordinates((FreeTable("mean", [""], [str(i) for i in range(d)]),))
    exact = DenseInformation.of_labels(where, np.eye(d), batches.mean(axis=0), "sampling")
    return replace(with_batches(exact, batches), n_drawn=n_batches * n_per_batch)


@pytest.mark.statistical
def test_the_bias_of_inverting_a_noisy_matrix_is_corrected() -> None:
    """Many parameters: plugging in is off by more than five standard errors, the corrected figure by less."""
    for fraction in (0.5, 0.1):
        exact, weights = 120 / (1 - (1 - fraction) * 0.6), of_fraction(fraction)
        sampled = noisy(120, n_per_batch=90, seed=0)
        plugged = sampled.point(CRITERIA["total_variance"], weights).value
        noise = np.sqrt(Jackknife.of(plugged, sampled.left_out(CRITERIA["total_variance"], weights)).variance)
        corrected, error = sampled.estimate(CRITERIA["total_variance"], weights)
        assert (plugged - exact) / noise > 5
        assert abs(corrected - exact) <= 5 * error
        assert abs(corrected - exact) < 0.3 * abs(plugged - exact)


def test_joint_log_loss_stays_the_sum_of_its_parts() -> None:
    sampled = noisy(5, n_per_batch=40, seed=1)
    for fraction in (0.5, 0.1):
        values = sampled.figures(of_fraction(fraction)).values
        parts = values["excess_log_loss"] + values["excess_marginal_log_loss"]
        assert values["excess_joint_log_loss"] == pytest.approx(parts, rel=1e-12)


def test_more_draws_are_asked_for_in_proportion_to_the_variance() -> None:
    sampled = noisy(5, n_per_batch=40, seed=2)
    figures = [sampled.figures(of_fraction(fraction)) for fraction in (0.5, 0.1)]
    needed = sampled.draws_needed(figures, 1e-3)
    assert needed > sampled.n_drawn
    assert sampled.draws_needed(figures, 1e-4) == pytest.approx(100 * needed, rel=1e-6)
    assert sampled.draws_needed(figures, 10.0) == sampled.n_drawn


def test_what_is_amiss_with_draws_is_said_with_its_numbers() -> None:
    sampled = noisy(5, n_per_batch=40, seed=2)
    figures = [sampled.figures(of_fraction(0.1))]
    assert sampled.notes(figures, 10.0) == []
    assert dense().notes([dense().figures(of_fraction(0.1))], 1e-9) == []
    (few,) = sampled.notes(figures, 1e-3)
    needed = sampled.draws_needed(figures, 1e-3)
    assert (
        few == f"After 2560 draws some standard errors exceed 0.001 of their figure; about {needed} draws would do."
    )
    (rare,) = replace(sampled, n_hardly_met=3).notes(figures, 10.0)
    assert rare.startswith("2560 draws say too little of 3 parameter(s)")


def test_covariances_are_those_of_all_draws() -> None:
    sampled, counts = noisy(4, n_per_batch=40, seed=4), 10 * of_fraction(0.5)
    np.testing.assert_allclose(sampled.covariance(counts), np.linalg.inv(10 * sampled.at(0.5)), rtol=1e-9, atol=1e-12)


def test_weights_that_leave_nothing_to_chance_are_refused_in_words() -> None:
    weights = [[300.0, -300.0], [0.0, 500.0]]
    model = BoltzmannChainModel(("A", "B"), None, weights, [[0.0, 0.3], [0.2, 0.0]])
    with pytest.raises(NotIdentifiableError, match="rounding hides"):
        lw.information(model, policies=["everything"], lengths={3: 1.0}, n_samples=10)


def test_one_more_rule_leaves_the_figures_of_the_others_as_they_are() -> None:
    """Two rules are diagonal at once, three are not: the same figures by the fast path and by the slow one."""
    exact = dense(seed=3)
    three = exact.with_rule("again", exact.matrices[1])
    for criterion in CRITERIA.values():
        fast, slow = exact.point(criterion, np.array([3.0, 9.0])), three.point(criterion, np.array([3.0, 4.0, 5.0]))
        assert fast.value == pytest.approx(slow.value, rel=1e-10)
        np.testing.assert_allclose(fast.slope, slow.slope[:2], rtol=1e-8)
        assert slow.slope[2] == pytest.approx(slow.slope[1], rel=1e-10)


def test_one_more_rule_joins_the_batches() -> None:
    sampled = noisy(4, n_per_batch=40, seed=5)
    more = sampled.with_rule("held", sampled.matrices[0], sampled.batches[:50, 0])
    assert more.batches.shape == (50, 3, 4, 4)
    exactly = sampled.with_rule("held", sampled.matrices[0])
    assert exactly.batches.shape == (64, 3, 4, 4)
    assert (exactly.batches[:, 2] == sampled.matrices[0]).all()
    counts = np.array([2.0, 7.0, 3.0])
    together = sampled.left_out(CRITERIA["total_variance"], np.array([5.0, 7.0]))
    np.testing.assert_allclose(exactly.left_out(CRITERIA["total_variance"], counts), together, rtol=1e-10)


def test_carried_directions_do_not_depend_on_which_eigenvectors_were_found(seed: int) -> None:
    mu = np.array([0.2, 0.5, 0.5, 0.9, 0.9, 0.1, 0.3])
    rules = dense(seed, mu).whitened
    assert isinstance(rules, PencilRules)
    rng = np.random.default_rng(seed)
    # As good a basis: signs change, and the vectors of equal eigenvalues are turned.
    order = np.argsort(np.abs(rules.lost[:, None] - np.sort(mu)), axis=1)[:, 0]
    turn = np.diag(np.where(order % 2, -1.0, 1.0))
    first, second = np.flatnonzero(np.isclose(rules.lost, 0.5))
    angle = rng.uniform(0.5, 1.0)
    pair = np.ix_([first, second], [first, second])
    turn[pair] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    other = replace(rules, basis=rules.basis @ turn)
    draws, spread = rng.standard_normal((len(mu), 5)), np.sqrt(1 / rules.arms.sum(axis=0))[:, None]
    moves = [basis.vectors @ (spread * basis.carried(draws)) for basis in (rules, other)]
    np.testing.assert_allclose(moves[0], moves[1], rtol=1e-8, atol=1e-10)
    # Directions that are taken in the basis as it is do depend on it.
    assert not np.allclose(rules.vectors @ (spread * draws), other.vectors @ (spread * draws))


def test_draws_that_do_not_tell_a_channel_without_each_batch_leave_its_noise_open() -> None:
    """The mean of three batches tells a confusion, without the first it does not: the figure stands."""

    def batch(of_confusion: float) -> np.ndarray:
        return np.array([np.diag([1.0, 0.0]), np.diag([4.0, 0.0]), [[2.0, 0.1], [0.1, of_confusion]]])

    batches = np.stack([batch(1.0), batch(0.5), batch(-0.9)])
    line = Coordinates((FreeTable("start", [""], ["a"]),))
    rules, labels = ("nothing", "everything", "crowd"), np.array([0.0, 1.0, 1.0])
    information = DenseInformation(
        line, rules, batches.mean(axis=0), 1, 0, labels, "sampling", batches, 10, nuisance=("crowd: a for b",)
    )
    criterion, counts = CRITERIA["total_variance"], np.array([10.0, 5.0, 5.0])
    assert information.point(criterion, counts).value == pytest.approx(1 / (10 + 20 + 10 - 5 * 0.1**2 / 0.2))
    assert np.isinf(information.left_out(criterion, counts)).all()
    assert information.standard_error(criterion, counts) == np.inf
    sure = replace(information, matrices=batches[:2].mean(axis=0), batches=batches[:2])
    assert np.isfinite(sure.standard_error(criterion, counts))
