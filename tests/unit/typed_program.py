"""What a user's program sees of our types: read by mypy (`make check`), run by nobody.

A type that is lost on the way becomes Any, which `assert_type` refuses.
"""

from pathlib import Path
from typing import Any, assert_type

import labelworth as lw
from labelworth.campaign.values import Status
from labelworth.criteria.table import InformationTable
from labelworth.formats.export import Item
from labelworth.formats.losses import Loss
from labelworth.planning.answer import Advice, Design, Plan
from labelworth.planning.frontier import PlanFrontier


def plans(X: Any, y: Any) -> None:
    plan = lw.plan(X, y, model=lw.MultinomialNaiveBayes(alpha=0.5), budget=1000)
    assert_type(plan, Plan)
    assert_type(plan.recommended, Design)
    assert_type(plan.recommended.labels, float)
    assert_type(plan.advice, Advice)
    assert_type(lw.frontier(X, y), PlanFrontier)
    try:
        lw.plan(X, y, target="error <= 5%")
    except lw.InfeasiblePlanError as error:
        assert_type(error.nearest, float | None)


def estimators(X: Any, y: Any) -> None:
    classifier = lw.MultinomialNaiveBayes().fit(X, y)
    assert_type(classifier, lw.MultinomialNaiveBayes)
    assert_type(lw.HiddenMarkov(alpha=0.1).fit(X, y), lw.HiddenMarkov)
    assert_type(lw.information(classifier.model_, labeled_fractions=[0.1], n_samples=100), InformationTable)


def exports(path: Path) -> None:
    export = lw.read_export(path, format="label-studio", empty_means="unlabeled")
    assert_type(export, lw.Export)
    assert_type(export.items, tuple[Item, ...])
    assert_type(lw.write_export(export, path, "doccano"), tuple[Loss, ...])


def campaigns(path: Path) -> None:
    with lw.Campaign.open(path) as campaign:
        assert_type(campaign.status(), Status)


def refused(X: Any) -> None:
    lw.read_export("a.json", empty_means="gone")  # type: ignore[arg-type]
    lw.plan(X, bugdet=1000)  # type: ignore[call-arg]
