"""Other parameters that the data would have allowed: the normal law of the fit, or refits."""

import numpy as np
import pytest

from labelworth.data.samples import Samples
from labelworth.estimation.fit import Fit, fit
from labelworth.estimators.pools.documents import DocumentPool
from labelworth.models.classes.multinomial import MultinomialFamily
from labelworth.planning.formulas.documents import DocumentFormulas
from labelworth.planning.formulas.nearby import nearby
from support.pilots import drawn_documents
from support.statistical import assert_covariance_is


def family(samples: Samples, smoothing: float = 1.0) -> MultinomialFamily:
    return MultinomialFamily.for_samples(samples, smoothing=smoothing, class_smoothing=smoothing)


def formulas_of(samples: Samples, fitted: Fit) -> DocumentFormulas:
    pool = DocumentPool(samples, fitted, fitted.family)
    return DocumentFormulas(pool, ("everything", "nothing"), "excess_log_loss", seed=1)


def numerical_hessian(samples: Samples, smoothing: float, center: np.ndarray) -> np.ndarray:
    """Minus the second differences of the penalized log-likelihood, written out."""
    counts, codes = np.asarray(samples.counts.todense()), samples.evidence.codes

    def objective(theta: np.ndarray) -> float:
        share = np.array([theta[0], 1 - theta[0]])
        words = np.array([[*theta[1:5], 1 - theta[1:5].sum()], [*theta[5:9], 1 - theta[5:9].sum()]])
        log_joint = np.log(share) + counts @ np.log(words).T
        known = codes >= 0
        likelihood = log_joint[known, codes[known]].sum() + np.logaddexp.reduce(log_joint[~known], axis=1).sum()
        return float(likelihood + smoothing * (np.log(share).sum() + np.log(words).sum()))

    d, step = len(center), 1e-4
    hessian = np.empty((d, d))
    for i, first in enumerate(step * np.eye(d)):
        for j, second in enumerate(step * np.eye(d)):
            corners = [objective(center + a * first + b * second) * a * b for a in (1, -1) for b in (1, -1)]
            hessian[i, j] = -sum(corners) / (4 * step**2)
    return hessian


@pytest.mark.statistical
def test_draws_have_the_covariance_of_the_fit() -> None:
    samples = drawn_documents(800, 200, seed=0)
    fitted = fit(family(samples), samples, tolerance=1e-12)
    formulas = formulas_of(samples, fitted)
    assert nearby(formulas, 20).origin == "normal draws"
    models = formulas.normal_draws(3000)
    flat = fitted.model.coordinates.flatten
    center = flat(fitted.model.tables)
    errors = np.array([flat(model.tables) for model in models]) - center
    covariance = np.linalg.inv(numerical_hessian(samples, 1.0, center))
    assert_covariance_is(errors, covariance, model_tolerance=1e-3)
    with pytest.raises(AssertionError):
        assert_covariance_is(errors, 1.3 * covariance, model_tolerance=1e-3)


def test_rows_are_resampled_where_the_normal_law_leaves_the_simplex() -> None:
    samples = drawn_documents(60, 12, seed=3)
    fitted = fit(family(samples, 0.1), samples, tolerance=1e-10)
    formulas = formulas_of(samples, fitted)
    others = nearby(formulas, 50)
    assert others.origin == "bootstrap"
    assert len(others.builds) == 50
    models = [refit() for refit in formulas.refits(7)]
    assert len({model.word_probabilities.tobytes() for model in models}) == 7


def test_refits_may_be_asked_for_in_any_order_and_again() -> None:
    samples = drawn_documents(60, 12, seed=3)
    fitted = fit(family(samples, 0.1), samples)
    forth, back = (formulas_of(samples, fitted).refits(3) for _ in range(2))
    models = [refit() for refit in forth]
    for model, again in zip(models, reversed([refit() for refit in reversed(back)]), strict=True):
        np.testing.assert_array_equal(model.word_probabilities, again.word_probabilities)


def test_no_models_are_drawn_where_none_are_asked_for() -> None:
    samples = drawn_documents(60, 12, seed=3)
    assert nearby(formulas_of(samples, fit(family(samples), samples)), 0).builds == ()
