"""Matrix-free information against dense matrices written out here, probe by probe and within its standard errors."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg
from scipy import stats

from labelworth.data.evidence import encode_labels
from labelworth.data.lengths import LengthDistribution
from labelworth.data.samples import Samples
from labelworth.errors import DidNotConvergeWarning, InvalidInputError, NotIdentifiableError
from labelworth.estimation.fit import fit
from labelworth.fisher.criteria import Weight
from labelworth.fisher.documents.observed_counts import ObservedCounts
from labelworth.fisher.documents.probed import ProbedInformation
from labelworth.fisher.documents.probing import matrix_free_information
from labelworth.models.classes.multinomial import MultinomialFamily, MultinomialModel

N_CLASSES, N_WORDS, N_SAMPLES = 3, 12, 500
FALSE_ALARM_RATE = 1e-6
PROBES = {"n_probes": 40, "n_named_probes": 40}


@pytest.fixture(scope="module")
def samples() -> Samples:
    rng = np.random.default_rng(5)
    words = rng.dirichlet(np.full(N_WORDS, 0.7), N_CLASSES) + 1e-2
    words /= words.sum(axis=1, keepdims=True)
    lengths = LengthDistribution.from_mapping({4: 0.5, 9: 0.5})
    model = MultinomialModel(("a", "b", "c"), np.array([0.2, 0.3, 0.5]), words, lengths)
    drawn = model.sample(N_SAMPLES, rng)
    return drawn.hide(rng.random(N_SAMPLES) > 0.2).weighted(rng.uniform(0.5, 2.0, N_SAMPLES))


@pytest.fixture(scope="module")
def fitted(samples: Samples) -> tuple[MultinomialModel, MultinomialFamily]:
    found = fit(MultinomialFamily.for_samples(samples, smoothing=0.5), samples, tolerance=1e-15)
    assert found.converged
    return found.model, found.family


@pytest.fixture(scope="module")
def dense(samples: Samples, fitted: tuple[MultinomialModel, MultinomialFamily]) -> tuple[np.ndarray, np.ndarray]:
    """Complete and missing information per sample in free coordinates, from the formulas, row by row."""
    model, family = fitted
    counts, weights = samples.counts.toarray(), samples.sample_weights
    log_joint = counts @ np.log(model.word_probabilities).T + np.log(model.class_probabilities)
    posterior = np.exp(log_joint - log_joint.max(axis=1, keepdims=True))
    posterior /= posterior.sum(axis=1, keepdims=True)
    codes = samples.evidence.codes
    posterior[codes >= 0] = np.eye(N_CLASSES)[codes[codes >= 0]]
    class_counts = weights @ posterior + family.class_smoothing
    word_counts = (weights[:, None] * posterior).T @ counts + family.smoothing

    def curvature(numbers: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
        entries = numbers / probabilities**2
        return np.diag(entries[:-1]) + entries[-1]

    blocks = [curvature(class_counts, model.class_probabilities)]
    blocks += [curvature(*pair) for pair in zip(word_counts, model.word_probabilities, strict=True)]
    complete = scipy.linalg.block_diag(*blocks)
    missing = np.zeros_like(complete)
    for row in np.flatnonzero(codes < 0):
        scores = np.zeros((N_CLASSES, len(complete)))
        for code in range(N_CLASSES):
            start = N_CLASSES - 1 + code * (N_WORDS - 1)
            ratio = counts[row] / model.word_probabilities[code]
            scores[code, start : start + N_WORDS - 1] = ratio[:-1] - ratio[-1]
            unit = np.eye(N_CLASSES)[code] / model.class_probabilities
            scores[code, : N_CLASSES - 1] = unit[:-1] - unit[-1]
        spread = scores - posterior[row] @ scores
        missing += weights[row] * (posterior[row][:, None] * spread).T @ spread
    return complete / weights.sum(), missing / weights[codes < 0].sum()


@pytest.fixture(scope="module")
def curve(samples: Samples, fitted: tuple[MultinomialModel, MultinomialFamily]) -> ProbedInformation:
    return matrix_free_information(*fitted, samples, np.random.default_rng(0), **PROBES, quadrature_tolerance=1e-12)


def jacobian() -> np.ndarray:
    def row(size: int) -> np.ndarray:
        return np.vstack([np.eye(size - 1), -np.ones((1, size - 1))])

    return scipy.linalg.block_diag(row(N_CLASSES), *[row(N_WORDS)] * N_CLASSES)


def weight_matrices(complete: np.ndarray, missing: np.ndarray) -> dict[Weight, np.ndarray]:
    named = jacobian()
    return {
        Weight.NAMED: named.T @ named,
        Weight.COMPLETE: complete,
        Weight.MISSING: missing,
        Weight.MARGINAL: complete - missing,
    }


def fractions_from(curve: ProbedInformation) -> np.ndarray:
    return np.array([curve.lowest_fraction, 0.4, 0.8, 1.0])


def exact_figures(
    dense: tuple[np.ndarray, np.ndarray], fractions: np.ndarray
) -> tuple[dict[Weight, np.ndarray], dict[Weight, np.ndarray], np.ndarray]:
    """Traces, slopes and log-volumes by inversion."""
    complete, missing = dense
    inverses = [np.linalg.inv(complete - (1 - fraction) * missing) for fraction in fractions]
    matrices = weight_matrices(complete, missing)
    traces = {weight: np.array([np.sum(g * inverse) for inverse in inverses]) for weight, g in matrices.items()}
    slopes = {
        weight: np.array([-np.sum(g * (inverse @ missing @ inverse)) for inverse in inverses])
        for weight, g in matrices.items()
    }
    return traces, slopes, np.array([np.linalg.slogdet(inverse)[1] for inverse in inverses])


def assert_within_errors(values: np.ndarray, errors: np.ndarray, exact: np.ndarray, n_probes: int) -> None:
    quantile = stats.t.isf(FALSE_ALARM_RATE / (2 * len(exact)), n_probes - 1)
    assert (np.abs(values - exact) <= quantile * errors + 1e-6 * np.abs(exact)).all()


@pytest.mark.statistical
@pytest.mark.parametrize("weight", Weight)
def test_traces_and_slopes_are_those_of_the_dense_matrices_within_error(
    weight: Weight, curve: ProbedInformation, dense: tuple[np.ndarray, np.ndarray]
) -> None:
    fractions = fractions_from(curve)
    traces, slopes, _ = exact_figures(dense, fractions)

    for estimate, exact in (
        (curve.trace(weight, fractions), traces[weight]),
        (curve.trace_slope(weight, fractions), slopes[weight]),
    ):
        assert estimate.standard_errors is not None
        assert_within_errors(estimate.values, estimate.standard_errors, exact, curve.n_probes)
        with pytest.raises(AssertionError):
            assert_within_errors(estimate.values, estimate.standard_errors, 1.5 * exact, curve.n_probes)


@pytest.mark.statistical
def test_log_volume_is_that_of_the_dense_matrices_within_error(
    curve: ProbedInformation, dense: tuple[np.ndarray, np.ndarray]
) -> None:
    fractions = fractions_from(curve)
    estimate = curve.log_volume(fractions)
    exact = exact_figures(dense, fractions)[2]

    assert estimate.standard_errors is not None
    assert_within_errors(estimate.values, estimate.standard_errors, exact, curve.n_probes)
    np.testing.assert_allclose(estimate.values[-1], exact[-1], rtol=1e-6)


def test_complete_labels_need_no_probes(curve: ProbedInformation, dense: tuple[np.ndarray, np.ndarray]) -> None:
    everything = np.array([1.0])
    exact = exact_figures(dense, everything)[0]
    for weight in Weight:
        estimate = curve.trace(weight, everything)
        np.testing.assert_allclose(estimate.values, exact[weight], rtol=1e-6)
        np.testing.assert_array_equal(estimate.standard_errors, [0.0])


def test_operator_is_the_whitened_missing_information(
    samples: Samples,
    fitted: tuple[MultinomialModel, MultinomialFamily],
    dense: tuple[np.ndarray, np.ndarray],
    curve: ProbedInformation,
) -> None:
    observed = ObservedCounts.at(*fitted, samples)
    block = np.eye(observed.size)
    observed.project(block)
    product = np.empty_like(block)
    observed.missing(block, product)

    complete, missing = dense
    shares = (1 - curve.lowest_fraction) * scipy.linalg.eigh(missing, complete, eigvals_only=True)
    eigenvalues = np.linalg.eigvalsh((product + product.T) / 2)
    np.testing.assert_allclose(product, product.T, atol=1e-12)
    np.testing.assert_allclose(eigenvalues[-len(shares) :], shares, atol=1e-6)
    np.testing.assert_allclose(eigenvalues[: -len(shares)], 0.0, atol=1e-12)
    np.testing.assert_allclose(curve.convergence_rate, shares.max(), rtol=1e-6)
    plain, named = observed.missing_traces
    np.testing.assert_allclose(plain, np.trace(product), rtol=1e-10)
    np.testing.assert_allclose(named, observed.named_weights @ np.diag(product), rtol=1e-10)


@pytest.mark.parametrize("weight", Weight)
def test_bounds_of_few_steps_contain_the_answer_of_many(
    weight: Weight, samples: Samples, fitted: tuple[MultinomialModel, MultinomialFamily], curve: ProbedInformation
) -> None:
    with pytest.warns(DidNotConvergeWarning, match="Lanczos"):
        short = matrix_free_information(
            *fitted, samples, np.random.default_rng(0), **PROBES, quadrature_tolerance=1e-12, max_steps=4
        )
    fractions = fractions_from(curve)
    low, high = short.trace_bounds(weight, fractions)
    answer = curve.trace(weight, fractions).values

    rounding = 1e-10 * np.abs(answer)
    assert (low <= answer + rounding).all()
    assert (answer <= high + rounding).all()
    assert low[0] < high[0] - 1e-6 * abs(high[0])


def test_steps_are_added_until_the_bounds_are_close(
    samples: Samples, fitted: tuple[MultinomialModel, MultinomialFamily]
) -> None:
    rough, fine = (
        matrix_free_information(*fitted, samples, np.random.default_rng(0), **PROBES, quadrature_tolerance=tolerance)
        for tolerance in (0.5, 1e-13)
    )

    assert rough.n_steps < fine.n_steps
    low, high = rough.trace_bounds(Weight.MISSING, np.array([rough.lowest_fraction]))
    assert high[0] - low[0] <= 0.5 * low[0]


def test_fit_that_has_not_converged_is_refused(
    samples: Samples, fitted: tuple[MultinomialModel, MultinomialFamily]
) -> None:
    model, family = fitted
    moved = model.word_probabilities * np.linspace(0.9, 1.1, N_WORDS)
    other = replace(model, word_probabilities=moved / moved.sum(axis=1, keepdims=True))

    with pytest.raises(InvalidInputError, match="has not converged"):
        matrix_free_information(other, family, samples, np.random.default_rng(0))


def test_saddle_is_refused() -> None:
    # Two classes that start alike stay alike: a fixed point of EM, but not a maximum.
    rng = np.random.default_rng(0)
    words = np.array([[0.6, 0.3, 0.1], [0.1, 0.2, 0.7]])
    model = MultinomialModel(("a", "b"), np.array([0.5, 0.5]), words, LengthDistribution.single(20))
    samples = model.sample(300, rng).hide()
    pooled = samples.counts.sum(axis=0) / 2 + 1.0
    pooled = pooled / pooled.sum()
    family = MultinomialFamily(("a", "b"), 3, lengths=model.lengths)
    alike = replace(model, word_probabilities=np.stack([pooled, pooled]))

    with pytest.raises(NotIdentifiableError, match="not a strict maximum"):
        matrix_free_information(alike, family, samples, rng)


def test_doors_refuse_what_is_not_for_them(
    samples: Samples, fitted: tuple[MultinomialModel, MultinomialFamily], curve: ProbedInformation
) -> None:
    model, family = fitted
    rng = np.random.default_rng(0)
    labeled = samples.labeled_only()
    candidates = Samples(samples.features, encode_labels([["a", "b"]] * N_SAMPLES, classes=("a", "b", "c")))
    for given, message in ((labeled, "Every sample is labeled"), (candidates, "candidate sets")):
        with pytest.raises(InvalidInputError, match=message):
            matrix_free_information(model, family, given, rng)
    with pytest.raises(InvalidInputError, match="n_probes"):
        matrix_free_information(model, family, samples, rng, n_probes=1)
    with pytest.raises(InvalidInputError, match="n_named_probes"):
        matrix_free_information(model, family, samples, rng, n_probes=4, n_named_probes=5)
    with pytest.raises(InvalidInputError, match="labeled fraction"):
        curve.trace(Weight.NAMED, np.array([curve.lowest_fraction / 2]))
    with pytest.raises(InvalidInputError, match="worst direction"):
        curve.worst_direction(np.array([1.0]))
    assert curve.method == "matrix-free"
