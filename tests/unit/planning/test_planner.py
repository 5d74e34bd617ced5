"""One planner: what it loads, and what hangs on what a pool can do."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import labelworth as lw
from labelworth.data.evidence import Evidence
from labelworth.errors import InfeasiblePlanError, InvalidInputError
from labelworth.estimators.automatic import AutomaticModel
from labelworth.planning import planner
from labelworth.planning.plan import planner_of
from labelworth.planning.source import PlanSettings
from labelworth.planning.trust.verdict import CONDITIONAL, NOT_TESTED, THERE_IS_NONE
from labelworth.progress import SilentProgress, Whole
from support.pilots import drawn_documents, drawn_sequences

DOCUMENTS, SEQUENCES = drawn_documents(200, 80, seed=0), drawn_sequences(120, 40, seed=0)

_PLAN = """
import sys
import numpy as np
import labelworth as lw
rng = np.random.default_rng(0)
classes = rng.integers(2, size=200)
X = rng.poisson(1 + 2 * np.eye(2)[classes])
y = np.where(np.arange(200) < 80, classes, -1)
for source in ("asymptotic", "simulated"):
    lw.plan(X, y, budget=100, source=source, n_draws=20)
words = ("chains", "sequence", "tagger", "hidden_markov", "boltzmann", "random_field", "tokens", "tags")
print(*(name for name in sys.modules if name.startswith("labelworth.") and any(word in name for word in words)))
"""


def test_planning_documents_loads_nothing_that_only_sequences_need() -> None:
    loaded = subprocess.run([sys.executable, "-c", _PLAN], check=True, capture_output=True, text=True).stdout
    assert set(loaded.split()) <= {"labelworth.data.sequences"}


def test_unlabeled_data_is_judged_as_far_as_the_pool_allows() -> None:
    asymptotic = PlanSettings(source="asymptotic")
    assert planner_of(DOCUMENTS, None, asymptotic).verdict.error_with_unlabeled is not None
    assert planner_of(DOCUMENTS.labeled_only(), None, asymptotic).verdict == THERE_IS_NONE
    assert planner_of(SEQUENCES, None, asymptotic, model="hidden-markov").verdict == NOT_TESTED
    assert planner_of(SEQUENCES, None, asymptotic, model="conditional-random-field").verdict == CONDITIONAL
    for choice, used in (("yes", True), ("no", False)):
        settings = PlanSettings(source="asymptotic", use_unlabeled=choice)
        assert planner_of(DOCUMENTS, None, settings).uses_unlabeled is used
        assert planner_of(SEQUENCES, None, settings, model="hidden-markov").uses_unlabeled is used


def test_unlabeled_data_that_is_left_out_as_asked_is_no_sign_of_a_wrong_model() -> None:
    found = lw.plan(DOCUMENTS, budget=100, use_unlabeled="no", n_draws=0)
    assert found.reason == "unlabeled data is left out, as asked"
    assert "Do not use the unlabeled data: as asked." in found.lines()
    assert next(check.state for check in found.checks if check.name == "unlabeled data") == "unknown"


def test_classes_that_a_pilot_of_sequences_lacks_are_said_next_to_what_to_do() -> None:
    codes = SEQUENCES.evidence.codes.copy()
    codes[[0, SEQUENCES.offsets[1]]] = 2, 3
    codes[SEQUENCES.offsets[10] :] = -1
    pilot = SEQUENCES.with_evidence(Evidence(codes, ("A", "B", "C", "D")))
    found = lw.plan(pilot, model="hidden-markov", budget=200, criterion="excess_log_loss", n_draws=0)
    assert found.advice == "larger pilot"
    assert found.lines()[1].startswith("The pilot lacks classes: about")
    assert "are of classes that no other sequence has" in found.lines()[1]
    assert not found.uses_unlabeled


def test_rules_are_refused_before_documents_are_fitted() -> None:
    settings = PlanSettings(rules="everything")
    for model in ("multinomial", lw.GaussianClasses()):
        with pytest.raises(InvalidInputError, match="rules= is for sequences"):
            planner_of(object(), None, settings, model=model)


def test_estimators_and_names_plan_alike() -> None:
    asked = {"budget": 120, "criterion": "excess_log_loss", "n_draws": 0}
    by_name = lw.plan(DOCUMENTS.counts, DOCUMENTS.evidence.codes, model="multinomial", **asked)
    fitted = lw.MultinomialNaiveBayes().fit(DOCUMENTS.counts, DOCUMENTS.evidence.codes)
    for model in (lw.MultinomialNaiveBayes(), fitted):
        assert (
            lw.plan(DOCUMENTS.counts, DOCUMENTS.evidence.codes, model=model, **asked).to_dict() == by_name.to_dict()
        )
    frontier = lw.frontier(SEQUENCES, model=lw.HiddenMarkov(), criterion="excess_log_loss")
    assert frontier.to_dict() == lw.frontier(SEQUENCES, model="hidden-markov", criterion="excess_log_loss").to_dict()


def test_words_per_document_have_a_price_and_vectors_have_none() -> None:
    prices = {"per_label": 1.0, "per_token": 0.1}
    plan = lw.plan(DOCUMENTS, budget=300, prices=prices, criterion="excess_log_loss", n_draws=0)
    words = DOCUMENTS.counts.sum() / DOCUMENTS.n_samples
    assert plan.prices["per_sample"]["everything"] == pytest.approx(1 + 0.1 * words)
    assert plan.held.cost == pytest.approx(80 * (1 + 0.1 * words))
    vectors, y = np.random.default_rng(0).standard_normal((60, 2)), [0, 1] * 15 + [None] * 30
    with pytest.raises(InvalidInputError, match="per_token"):
        lw.plan(vectors, y, model="gaussian", budget=300, prices=prices, criterion="excess_log_loss")


class Percent(SilentProgress):
    """How far the bars came."""

    def __init__(self) -> None:
        self.bars: list[str] = []
        self.shown = 0

    def start(self, title: str, total: int | None) -> Any:
        self.bars.append(title)
        return self

    def advance(self, steps: int = 1, note: str = "", seconds: float | None = None) -> None:
        self.shown += steps


@pytest.mark.parametrize("source", ["simulated", "asymptotic"])
@pytest.mark.parametrize(("data", "model"), [(DOCUMENTS, "multinomial"), (SEQUENCES, "hidden-markov")])
def test_one_bar_runs_over_a_whole_plan(data: Any, model: str, source: Any) -> None:
    percent, criterion = Percent(), "log_loss" if source == "simulated" else "excess_log_loss"
    asked: dict[str, Any] = {"budget": 200, "source": source, "criterion": criterion, "n_draws": 20}
    lw.plan(data, model=model, progress=percent, **asked)
    assert (percent.bars, percent.shown) == (["planning"], 100)


def test_refits_that_do_not_fit_into_the_time_are_left_out_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, Any] = {"budget": 100, "source": "simulated", "n_draws": 0}
    whole = lw.plan(DOCUMENTS, **asked)
    roomy = lw.plan(DOCUMENTS, **asked, max_time=1000)
    assert roomy.to_dict() == whole.to_dict()
    with monkeypatch.context() as patch:
        patch.setattr(Whole, "has_time", lambda self, steps: False)
        short = lw.plan(DOCUMENTS, **asked, max_time=7, checkpoint=tmp_path)
    cut = "curves were simulated once, not 16 times, so figures are noisier and the error over parts of the pool was"
    assert f"With max_time=7 minutes, {cut} not simulated." in short.notes
    assert short.surface is None
    assert short.recommended.error != whole.recommended.error
    # With time it goes on from there, to the same figures as without a limit.
    assert lw.plan(DOCUMENTS, **asked, checkpoint=tmp_path).to_dict() == whole.to_dict()


@pytest.mark.parametrize("model", ["auto", "multinomial"])
def test_a_budget_below_what_is_held_is_refused_before_anything_is_compared_or_simulated(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(AutomaticModel, "compare", lambda *_: pytest.fail("models were compared"))
    monkeypatch.setattr(planner, "forecast_basis", lambda *_, **__: pytest.fail("labels were simulated"))
    with pytest.raises(InfeasiblePlanError, match="The 80 labels held have cost 160 already") as caught:
        lw.plan(DOCUMENTS, model=model, budget=159, prices={"per_label": 2.0}, source="simulated")
    assert caught.value.nearest == 160


def test_a_model_that_needs_unlabeled_samples_is_not_planned_without() -> None:
    from sklearn.semi_supervised import LabelSpreading

    vectors, y = np.random.default_rng(0).standard_normal((60, 2)), [0, 1] * 15 + [None] * 30
    with pytest.raises(InvalidInputError, match=r"LabelSpreading is not fitted without .* use_unlabeled='no'"):
        lw.plan(vectors, y, model=LabelSpreading(), budget=40, use_unlabeled="no")


@pytest.mark.parametrize("max_time", [0, -1.0, float("nan")])
def test_no_time_is_no_limit(max_time: float) -> None:
    with pytest.raises(InvalidInputError, match="max_time must be a positive number of minutes"):
        lw.plan(DOCUMENTS, budget=100, max_time=max_time)


def test_a_plan_that_takes_longer_than_allowed_is_refused() -> None:
    with pytest.raises(InfeasiblePlanError, match="at least, longer than max_time=1e-06 minutes"):
        lw.plan(DOCUMENTS, budget=100, source="simulated", max_time=1e-6)
