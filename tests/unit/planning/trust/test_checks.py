"""What is looked at before a plan is trusted."""

from dataclasses import replace

import numpy as np
import pytest

from labelworth.estimators.pools.documents import DocumentPool
from labelworth.models.classes.multinomial import MultinomialFamily
from labelworth.planning.answer import Design, Interval
from labelworth.planning.trust.checks import class_check, parameter_check, pilot_check, widest_interval
from labelworth.planning.trust.verdict import verdict_by_folds
from support.pilots import drawn_documents


def documents(n_documents: int, n_labeled: int) -> DocumentPool:
    samples = drawn_documents(n_documents, n_labeled, seed=0)
    family = MultinomialFamily.for_samples(samples, smoothing=1.0)
    return DocumentPool.of_family(family, samples)


DESIGN = Design((), 300.0, 400.0, 1000.0, 0.4, 300.0, 400.0, 0.1)


def test_a_narrow_interval_is_trusted() -> None:
    found = pilot_check(100, widest_interval(DESIGN, Interval(260.0, 340.0), Interval(0.09, 0.11)))
    assert found.state == "good"
    assert "within 10 % of itself" in found.words


def test_a_wide_interval_names_the_pilot_that_would_do() -> None:
    # Half of 400 is 0.5 of the labels in all, twice what is allowed: four times the pilot.
    found = pilot_check(100, widest_interval(DESIGN, Interval(100.0, 500.0), None))
    assert found.state == "warning"
    assert "About 400 labels" in found.words


def test_classes_with_few_labels_are_named() -> None:
    assert class_check(documents(200, 100).data.evidence).state == "good"
    scarce = class_check(documents(200, 12).data.evidence)
    assert scarce.state == "warning"
    assert "Fewer than 10 labels: a (" in scarce.words


def test_unlabeled_documents_drawn_from_the_model_are_not_said_to_hurt() -> None:
    verdict = verdict_by_folds(documents(600, 120), seed=0)
    assert verdict.answer != "hurts"
    assert verdict.check().state in ("good", "unknown")


def test_unlabeled_documents_of_another_kind_hurt() -> None:
    """The pool mixes up what the labels tell apart: its clusters are by the third word, not by the class."""
    rng = np.random.default_rng(0)
    plain = documents(2000, 300)
    counts = plain.data.counts.toarray()
    strange = rng.random(1700) < 0.5
    counts[300:] = np.where(strange[:, None], [4.0, 0, 0, 0, 4.0], [0, 0, 8.0, 0, 0])
    samples = replace(plain.data, features=type(plain.data.counts)(counts))
    family = MultinomialFamily.for_samples(samples, smoothing=1.0)
    verdict = verdict_by_folds(DocumentPool.of_family(family, samples), seed=0)
    assert verdict.answer == "hurts"
    assert verdict.check().state == "bad"


def test_too_few_labels_leave_it_open() -> None:
    assert verdict_by_folds(documents(50, 3), seed=0).answer == "cannot be told"
    assert verdict_by_folds(documents(50, 50), seed=0).answer == "not asked"


@pytest.mark.parametrize("interval", [None, Interval(300.0, 300.0)])
def test_without_a_width_nothing_is_said(interval: Interval | None) -> None:
    assert pilot_check(100, widest_interval(DESIGN, interval, None)).state == "unknown"


def test_formulas_want_five_labels_per_parameter() -> None:
    assert parameter_check(50, 10, "asymptotic").state == "good"
    few = parameter_check(49, 10, "asymptotic")
    assert few.state == "warning"
    assert "About 50 labels" in few.words
    assert parameter_check(49, 10, "simulated").state == "good"
