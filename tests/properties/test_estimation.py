"""Whatever small data comes: EM never lowers its objective, and only errors of ours are raised."""

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from labelworth.data.evidence import Evidence
from labelworth.data.samples import Samples
from labelworth.errors import LabelworthError, LabelworthWarning
from labelworth.estimation.fit import Fit, fit
from labelworth.models.classes.bernoulli import BernoulliFamily
from labelworth.models.classes.gaussian import GaussianFamily
from labelworth.models.classes.multinomial import MultinomialFamily
from labelworth.models.classes.responsibilities import posterior

RELATIVE_SLACK = 1e-12
quickly = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])

strengths = st.sampled_from([0.0, 1e-300, 1e-8, 0.1, 1.0, 100.0])


@st.composite
def evidence(draw: st.DrawFn, n_samples: int) -> Evidence:
    """Any mixture of gold, missing and ambiguous labels over one to four classes."""
    n_classes = draw(st.integers(1, 4))
    codes = draw(hnp.arrays(np.int64, n_samples, elements=st.integers(-2, n_classes - 1)))
    ambiguous = np.flatnonzero(codes == -2)
    weights = draw(
        hnp.arrays(np.float64, (len(ambiguous), n_classes), elements=st.sampled_from([0.0, 0.0, 0.5, 1.0, 3.0]))
    )
    weights[(weights == 0).all(axis=1)] = 1.0
    codes[ambiguous] = -2 - np.arange(len(ambiguous))
    return Evidence(codes, tuple(range(n_classes)), weights)


@st.composite
def sample_weights(draw: st.DrawFn, n_samples: int) -> np.ndarray | None:
    elements = st.sampled_from([0.0, 1e-6, 1.0, 2.5, 1e6])
    return draw(st.none() | hnp.arrays(np.float64, n_samples, elements=elements))


@st.composite
def documents(draw: st.DrawFn, values: st.SearchStrategy[float]) -> Samples:
    shape = draw(st.tuples(st.integers(1, 8), st.integers(1, 5)))
    counts = draw(hnp.arrays(np.float64, shape, elements=values))
    return Samples(sp.csr_array(counts), draw(evidence(shape[0])), draw(sample_weights(shape[0])))


@st.composite
def vectors(draw: st.DrawFn) -> Samples:
    shape = draw(st.tuples(st.integers(1, 8), st.integers(1, 3)))
    elements = st.floats(-1e3, 1e3, allow_nan=False) | st.sampled_from([0.0, 1.0, 1e150, 1e-150])
    features = draw(hnp.arrays(np.float64, shape, elements=elements))
    return Samples(features, draw(evidence(shape[0])), draw(sample_weights(shape[0])))


def fitted(family: Any, samples: Samples, **arguments: Any) -> Fit[Any, Any] | None:
    """Fit, or None if the data was refused in words."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LabelworthWarning)
        try:
            return fit(family, samples, max_iterations=60, **arguments)
        except LabelworthError:
            return None


def assert_sound(result: Fit[Any, Any] | None, samples: Samples) -> None:
    if result is None:
        return
    path = result.objective_path
    assert np.isfinite(path).all()
    # Rounding of log p is that of its terms, one per feature and word, even where they add up to nearly nothing.
    terms = 1 + samples.n_features + np.abs(samples.features).sum(axis=1)
    size = max(float(samples.sample_weights @ terms), float(np.abs(path).max()))
    assert np.diff(path).min(initial=0.0) >= -RELATIVE_SLACK * size
    np.testing.assert_allclose(result.model.tables["class_probabilities"].sum(), 1.0, rtol=1e-9)
    if samples.weights is None:
        responsibilities = posterior(result.model, samples)
        np.testing.assert_allclose(responsibilities.sum(axis=1), 1.0, rtol=1e-9)
        assert (responsibilities[samples.evidence.dense() == 0] == 0).all()


@quickly
@given(documents(st.sampled_from([0.0, 0.0, 1.0, 2.0, 0.3, 50.0, 1e9])), strengths, strengths, st.booleans())
def test_multinomial_em(samples: Samples, smoothing: float, class_smoothing: float, accelerated: bool) -> None:
    family = MultinomialFamily.for_samples(samples, smoothing=smoothing, class_smoothing=class_smoothing)
    assert_sound(fitted(family, samples, accelerated=accelerated), samples)


@quickly
@given(documents(st.sampled_from([0.0, 1.0])), strengths, strengths, st.booleans())
def test_bernoulli_em(samples: Samples, smoothing: float, class_smoothing: float, accelerated: bool) -> None:
    family = BernoulliFamily.for_samples(samples, smoothing=smoothing, class_smoothing=class_smoothing)
    assert_sound(fitted(family, samples, accelerated=accelerated), samples)


@quickly
@given(vectors(), st.sampled_from(["shared", "diagonal", "full"]), strengths, st.sampled_from([0.0, 0.01, 1.0]))
def test_gaussian_em(samples: Samples, covariance: Any, smoothing: float, mean_smoothing: float) -> None:
    family = GaussianFamily.for_samples(samples, covariance, smoothing=smoothing, mean_smoothing=mean_smoothing)
    assert_sound(fitted(family, samples), samples)


@quickly
@given(
    documents(st.sampled_from([0.0, 1.0, 4.0])), st.floats(0.0, 10.0), st.integers(1, 3), st.integers(0, 2**32 - 1)
)
def test_any_unlabeled_weight_and_number_of_starts(
    samples: Samples, unlabeled_weight: float, n_starts: int, seed: int
) -> None:
    family = MultinomialFamily.for_samples(samples)
    arguments = {"unlabeled_weight": unlabeled_weight, "n_starts": n_starts}
    first = fitted(family, samples, rng=np.random.default_rng(seed), **arguments)
    again = fitted(family, samples, rng=np.random.default_rng(seed), **arguments)
    assert_sound(first, samples)
    if first is not None and again is not None:
        np.testing.assert_array_equal(first.model.word_probabilities, again.model.word_probabilities)
