"""The curve of the formulas, to stand beside a forecast by simulation."""

from dataclasses import replace

import numpy as np
import pytest

from labelworth.estimators.pools.documents import DocumentPool
from labelworth.planning.formulas.documents import formula_excess, why_no_excess
from labelworth.simulation.scales import Measure
from support.learners import document_learner, documents


@pytest.fixture(scope="module")
def given() -> DocumentPool:
    samples = documents(300, seed=4).hide(np.arange(300) >= 80)
    family = document_learner(samples).family
    return DocumentPool.of_family(family, samples)


def test_the_excess_log_loss_of_labels_alone_falls_with_their_number(given: DocumentPool) -> None:
    excess = formula_excess(given, "labels-only", "log_loss", 300.0, 0)
    assert excess is not None
    labels = np.array([10.0, 37.0, 80.0, 300.0])
    assert excess(labels) * labels == pytest.approx(np.full(4, excess(np.array([1.0]))[0]), rel=1e-9)


@pytest.mark.parametrize("measure", ["error", "log_loss"])
def test_other_documents_take_some_of_it_off_until_all_are_labeled(given: DocumentPool, measure: Measure) -> None:
    alone = formula_excess(given, "labels-only", measure, 300.0, 0)
    together = formula_excess(given, "semi-supervised", measure, 300.0, 0)
    assert alone is not None
    assert together is not None
    labels = np.array([20.0, 80.0, 200.0])
    assert (together(labels) < alone(labels)).all()
    assert together(np.array([300.0])) == pytest.approx(alone(np.array([300.0])), rel=1e-6)


def test_large_models_have_none_and_it_is_told(given: DocumentPool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DocumentPool, "abilities", replace(DocumentPool.abilities, most_parameters=3))
    assert formula_excess(given, "labels-only", "error", 300.0, 0) is None
    assert f"this model has {given.n_parameters}" in why_no_excess(given)
