"""Standard errors of confusions: against the curvature of plain loops, and the spread over experiments."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from labelworth.channels.channel import Channel
from labelworth.data.samples import Samples
from labelworth.estimation import answered_errors
from labelworth.estimation.annotators import Annotators
from labelworth.estimation.answered import AnsweredFamily
from labelworth.estimation.answered_errors import confusion_errors
from labelworth.estimation.fit import settled
from labelworth.models.classes.multinomial import MultinomialFamily
from support.answered import (
    chains,
    documents,
    drawn_answers,
    mixed_annotators,
    objective,
    weights_of,
)
from support.small_models import CASES, multinomial


@pytest.fixture
def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def curvature(model: Any, family: Any, data: Any) -> np.ndarray:
    """Minus the Hessian of the objective by plain loops, in free coordinates."""
    coordinates = model.coordinates
    center = coordinates.flatten(model.tables)

    def at(theta: np.ndarray) -> float:
        return objective(model.with_tables(coordinates.named(theta)), family, data)

    size, step = len(center), 2e-4
    steps = step * np.eye(size)
    hessian = np.empty((size, size))
    for i in range(size):
        for j in range(i + 1):
            corners = [at(center + a * steps[i] + b * steps[j]) for a in (1, -1) for b in (1, -1)]
            hessian[i, j] = hessian[j, i] = (corners[0] - corners[1] - corners[2] + corners[3]) / (4 * step**2)
    return -hessian


@pytest.mark.parametrize("answer_weight", [1.0, 0.5])
@pytest.mark.parametrize("make", [documents(CASES[0]), documents(CASES[1]), chains], ids=["words", "bits", "chain"])
def test_errors_are_those_of_the_curvature_of_plain_loops(
    make: Any, answer_weight: float, rng: np.random.Generator
) -> None:
    data, family, _ = make(rng)
    fitted = settled(AnsweredFamily(family, mixed_annotators(data, answer_weight)), data)
    shares = np.array([0.2, 0.5, 0.3])
    found = confusion_errors(fitted.family, fitted.model, data, weights_of(data), shares)
    assert found.is_joint
    covariance = np.linalg.inv(curvature(fitted.model, fitted.family, data))
    n_inner = fitted.model.inner.coordinates.n_free
    own = covariance[n_inner:, n_inner:]
    np.testing.assert_array_equal(found.errors[0], 0.0)
    # w2 is estimated whole, its table without the last column first; then the accuracy of w1.
    whole = np.sqrt(np.diag(own)[:6]).reshape(3, 2)
    np.testing.assert_allclose(found.errors[2][:, :2], whole, rtol=2e-3)
    np.testing.assert_allclose(found.errors[1].diagonal(), np.sqrt(own[6, 6]), rtol=2e-3)
    to_last = np.array([-1.0, -1.0])
    last = [np.sqrt(to_last @ own[2 * y : 2 * y + 2, 2 * y : 2 * y + 2] @ to_last) for y in range(3)]
    np.testing.assert_allclose(found.errors[2][:, 2], last, rtol=2e-3)
    right = np.zeros(7)
    right[[0, 3]] = shares[:2]
    right[4:6] = -shares[2]
    assert found.accuracy_errors[2] == pytest.approx(np.sqrt(right @ own @ right), rel=2e-3)


@pytest.mark.parametrize("make", [documents(CASES[0]), chains], ids=["words", "chain"])
def test_what_holds_the_model_claims_to_know_more(
    make: Any, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, family, _ = make(rng)
    fitted = settled(AnsweredFamily(family, mixed_annotators(data)), data)
    arguments = (fitted.family, fitted.model, data, weights_of(data), np.full(3, 1 / 3))
    joint = confusion_errors(*arguments)
    monkeypatch.setattr(answered_errors, "MOST_PARAMETERS", 0)
    held = confusion_errors(*arguments)
    assert not held.is_joint
    assert (held.errors[1:] <= joint.errors[1:] * (1 + 1e-9)).all()
    assert (held.errors[2] > 0).all()


def test_errors_are_the_spread_of_estimates(rng: np.random.Generator) -> None:
    """Starts as fits choose them: squared errors over the squares that were claimed."""
    model = replace(multinomial(rng, n_words=6, lengths={8: 1.0}), class_probabilities=np.full(3, 1 / 3))
    # All well inside: at an edge no estimate is normal.
    tables = np.array([0.25 * np.eye(3) + 0.15 + 0.3 * rng.dirichlet(np.ones(3), size=3) for _ in range(3)])
    ratios = []
    for _ in range(100):
        drawn = model.sample(600, rng)
        answers = drawn_answers(drawn.evidence.codes, tables, model.classes, rng, asked=0.7)
        samples = Samples(drawn.features, drawn.evidence.hidden(np.arange(150, 600)), answers=answers)
        annotators = Annotators.of(
            answers.names, model.classes, channels=[Channel("w0", tables[0])], prior_strength=1e-6
        )
        family = AnsweredFamily(MultinomialFamily.for_samples(samples), annotators)
        fitted = settled(family, samples)
        found = confusion_errors(fitted.family, fitted.model, samples, np.ones(600), np.full(3, 1 / 3))
        ratios.append(np.square((fitted.model.confusions - tables)[1:] / found.errors[1:]).mean())
    # Five standard errors are below 1e-6.
    error = float(np.std(ratios) / np.sqrt(len(ratios)))
    assert error < 0.06
    assert np.mean(ratios) == pytest.approx(1.0, abs=5 * error)
