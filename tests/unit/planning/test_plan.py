"""Plans for documents from end to end: what they say, what they refuse, how they go on."""

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import labelworth as lw
from labelworth.data.evidence import Evidence
from labelworth.data.samples import Samples
from labelworth.errors import InfeasiblePlanError, InvalidInputError, LabelworthWarning, NotIdentifiableError
from labelworth.fisher.documents.population import enumerated_information
from labelworth.planning.answer import Plan
from labelworth.progress import SilentProgress
from labelworth.report.record import plain
from labelworth.tradeoff.asymptotic_accuracy import AsymptoticAccuracy
from support.pilots import drawn_documents

N_DOCUMENTS, N_LABELED = 600, 120
TARGET = 0.004
"""Excess log-loss, in nats: the labels held reach 0.00525, all labels 0.0023."""


@pytest.fixture(scope="module")
def documents() -> Samples:
    return drawn_documents(N_DOCUMENTS, N_LABELED, seed=0)


def planned(documents: Samples, **asked: Any) -> Plan:
    asked.setdefault("n_draws", 30)
    if "source" not in asked:
        asked.setdefault("criterion", "excess_log_loss")
    return lw.plan(documents, model="multinomial", **asked)


def test_a_target_is_met_at_the_fit_and_not_with_one_label_less(documents: Samples) -> None:
    found = planned(documents, target=TARGET, seed=1)
    labels = found.recommended.labels
    assert found.advice == "label"
    assert found.recommended.error <= TARGET
    fitted = lw.MultinomialNaiveBayes().fit(documents.counts, documents.evidence.codes).model_
    accuracy = AsymptoticAccuracy.of(
        enumerated_information(fitted), "excess_log_loss", held={"everything": float(N_LABELED)}
    )
    free = N_DOCUMENTS - N_LABELED
    assert accuracy.error(np.array([labels, free - labels])) <= TARGET * (1 + 1e-3)
    assert accuracy.error(np.array([labels - 2, free - labels + 2])) > TARGET * (1 - 1e-3)


def test_intervals_surround_the_recommendation(documents: Samples) -> None:
    found = planned(documents, target=TARGET)
    assert found.labels_interval is not None
    assert found.error_interval is not None
    assert found.labels_interval.low < found.recommended.labels < found.labels_interval.high
    assert found.error_interval.low < found.recommended.error < found.error_interval.high
    assert found.labels_interval.method == "normal draws"


def test_the_first_lines_are_seven_plain_ones(documents: Samples) -> None:
    lines = planned(documents, budget=300).lines()
    assert lines[0] == "Label 180 more documents: 300 labels in all."
    assert [line.split()[0] for line in lines[1:7]] == ["Excess", "That", "After", "All", "Use", "Figures"]


def test_a_plan_is_plain_json(documents: Samples) -> None:
    text = json.dumps(plain(planned(documents, alpha=1e5).to_dict()), allow_nan=False)
    again = json.loads(text)
    assert again["question"] == {"problem": "alpha", "value": 1e5, "criterion": "excess_log_loss"}
    assert again["pilot"]["size"] == N_LABELED
    assert again["checks"][0]["name"] == "unlabeled data"


def test_the_same_seed_gives_the_same_plan(documents: Samples) -> None:
    first, second = (planned(documents, target=TARGET, seed=4).to_dict() for _ in range(2))
    assert first == second
    assert planned(documents, target=TARGET, seed=5).to_dict() != first


def test_labels_bought_count_in_the_next_plan(documents: Samples) -> None:
    first = planned(documents, target=TARGET, use_unlabeled="yes")
    bought = int(first.recommended.labels)
    more = drawn_documents(N_DOCUMENTS, N_LABELED + bought, seed=0)
    second = planned(more, target=TARGET, use_unlabeled="yes")
    assert second.held.n_labels == N_LABELED + bought
    # What was planned is bought: what is still to do, if anything, is chance.
    assert second.recommended.labels < 0.6 * bought


def test_a_target_that_is_met_says_stop(documents: Samples) -> None:
    found = planned(documents, target=0.5)
    assert found.advice == "stop"
    assert found.recommended.labels == 0
    assert found.lines()[0].startswith("Stop labeling: the target of 0.5 is met")


def test_labels_only_where_unlabeled_data_is_not_to_be_used(documents: Samples) -> None:
    without = planned(documents, target=TARGET, use_unlabeled="no")
    with_them = planned(documents, target=TARGET, use_unlabeled="yes")
    assert without.arms == ("everything",)
    assert not without.uses_unlabeled
    assert without.lines()[5].startswith("Do not use the unlabeled data")
    assert without.recommended.labels > with_them.recommended.labels
    assert without.surface is None


@pytest.mark.parametrize("criterion", ["error", "log_loss", "excess_error", "total_variance", "log_volume"])
def test_every_criterion_can_be_asked_for(documents: Samples, criterion: str) -> None:
    found = planned(documents, budget=200, criterion=criterion, source="asymptotic", n_draws=20)
    assert found.recommended.labels == 80
    assert found.error_interval is not None
    assert found.question.criterion == criterion
    assert (found.certificate is None) == (criterion in ("error", "excess_error"))


def test_a_simulated_plan_has_the_intervals_of_its_forecast(documents: Samples) -> None:
    found = planned(documents, target=0.2, source="simulated", seed=2)
    assert found.source == "simulated"
    assert found.surface is not None
    assert found.surface.source == "simulated"
    assert found.forecast is not None
    assert len(found.forecast.power_law) == len(found.forecast.asymptotic) == len(found.forecast.labels)
    assert found.certificate is None
    assert found.forecast.power_law
    assert found.error_interval is not None
    assert found.error_interval.method == "forecast"
    assert found.error_interval.low <= found.recommended.error <= found.error_interval.high
    assert found.recommended.error <= 0.2


def test_few_labels_are_planned_by_simulation() -> None:
    found = lw.plan(drawn_documents(300, 30, seed=1), budget=60)
    assert found.source == "simulated"
    assert "too few for formulas" in found.reason


def test_an_estimator_plans_with_its_own_settings(documents: Samples) -> None:
    classifier = lw.MultinomialNaiveBayes(alpha=0.5, unlabeled=-1).fit(documents.counts, documents.evidence.codes)
    labels = np.where(documents.evidence.codes < 0, None, documents.evidence.codes)
    found = lw.plan(
        documents.counts, list(labels), model=classifier, budget=300, criterion="excess_log_loss", n_draws=20
    )
    assert found.recommended.labels == 180


class Interrupting(SilentProgress):
    """Stops the work like Ctrl-C once so many steps are done."""

    def __init__(self, after: int) -> None:
        self.left = after

    def start(self, title: str, total: int | None) -> Any:
        return self

    def advance(self, steps: int = 1, note: str = "", seconds: float | None = None) -> None:
        self.left -= steps
        if self.left < 0:
            raise KeyboardInterrupt


def test_an_interrupted_plan_goes_on_where_it_stopped(documents: Samples, tmp_path: Path) -> None:
    asked: dict[str, Any] = {"target": TARGET, "n_draws": 60, "use_unlabeled": "yes"}
    with pytest.raises(KeyboardInterrupt):
        planned(documents, **asked, checkpoint=tmp_path / "steps", progress=Interrupting(45))
    kept = len(list((tmp_path / "steps").iterdir()))
    assert kept >= 1
    resumed = planned(documents, **asked, checkpoint=tmp_path / "steps")
    assert len(list((tmp_path / "steps").iterdir())) > kept
    assert resumed.to_dict() == planned(documents, **asked).to_dict()


def test_a_shaky_pilot_is_reported_with_how_shaky_it_is() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = planned(drawn_documents(400, 24, seed=2), target=0.01, n_draws=40, use_unlabeled="yes")
    check = next(one for one in found.checks if one.name == "pilot size")
    assert check.state == "warning"
    assert "too small to trust" in check.words
    wide = found.labels_interval
    assert wide is not None


def test_where_every_document_has_a_label_there_is_no_unlabeled_data_to_judge() -> None:
    found = planned(drawn_documents(120, 120, seed=0), budget=150, pool=50)
    assert not found.uses_unlabeled
    assert found.checks[0].words == "there is none."
    assert found.lines()[4] == "There is no unlabeled data: every document has a label."


def test_a_pilot_that_lacks_classes_says_so_gets_a_larger_one_and_leaves_unlabeled_data_alone() -> None:
    rng = np.random.default_rng(3)
    words = rng.dirichlet(np.ones(8), size=12)
    codes = rng.integers(12, size=300)
    counts = np.array([rng.multinomial(6, words[code]) for code in codes], dtype=np.float64)
    names, held = np.unique(codes[:14], return_inverse=True)
    evidence = Evidence(np.concatenate([held, np.full(286, -1)]), tuple(f"intent {name}" for name in names))
    samples = Samples(sp.csr_array(counts), evidence)
    alone = int((evidence.label_counts() == 1).sum())
    assert alone > 1
    auto, forced = (planned(samples, budget=40, n_draws=0, use_unlabeled=use) for use in ("auto", "yes"))
    for plan in (auto, forced):
        assert plan.lines()[0].startswith("Label 14 more documents drawn at random")
        assert plan.lines()[1].startswith(f"The pilot lacks classes: about {100 * alone / 14:.0f} % of the data")
        assert plan.checks[0].words == plan.lines()[1]
        # One thing to do: the rest is why.
        assert sum("plan again" in line for line in plan.lines()) == 1
    assert (auto.uses_unlabeled, forced.uses_unlabeled) == (False, True)
    assert "Do not use the unlabeled data: whether it helps cannot be told" in auto.lines()[6]


class TestBadInput:
    """Every bad question has a clear answer."""

    def test_two_questions_at_once(self, documents: Samples) -> None:
        with pytest.raises(InvalidInputError, match="exactly one of budget, target and alpha"):
            planned(documents, budget=100, target=0.1)

    def test_no_question(self, documents: Samples) -> None:
        with pytest.raises(InvalidInputError, match="exactly one of budget, target and alpha"):
            planned(documents)

    def test_a_budget_below_the_pilot(self, documents: Samples) -> None:
        with pytest.raises(InfeasiblePlanError, match="have cost 120 already"):
            planned(documents, budget=100)

    def test_a_target_out_of_reach_names_the_nearest(self, documents: Samples) -> None:
        with pytest.raises(InfeasiblePlanError) as caught:
            planned(documents, target=1e-6)
        assert caught.value.nearest is not None
        found = planned(documents, target=caught.value.nearest * 1.001)
        assert found.recommended.labels > 0.9 * (N_DOCUMENTS - N_LABELED)

    def test_an_error_below_that_of_the_best_model(self, documents: Samples) -> None:
        with pytest.raises(InfeasiblePlanError, match="nearest"):
            planned(documents, target=0.01, criterion="error", source="asymptotic")

    @pytest.mark.parametrize("prices", [{"per_label": 0.0}, {"per_label": float("nan")}, {"per_word": 1.0}])
    def test_prices_that_are_none(self, documents: Samples, prices: dict[str, float]) -> None:
        with pytest.raises(InvalidInputError):
            planned(documents, budget=300, prices=prices)

    def test_a_pool_smaller_than_the_plan(self, documents: Samples) -> None:
        found = planned(documents, budget=300, pool=50)
        assert found.recommended.labels == 50
        assert "more than the pool holds" in found.notes[0]
        with pytest.raises(InfeasiblePlanError, match="nearest"):
            planned(documents, target=TARGET, pool=3)

    def test_no_label_at_all(self) -> None:
        with pytest.raises(NotIdentifiableError, match="no pilot"):
            lw.plan(drawn_documents(50, 0, seed=0), budget=10)
        # Without a label there is not even the name of a class.
        with pytest.raises(NotIdentifiableError, match="no pilot"):
            lw.plan(np.ones((4, 2)), [None] * 4, budget=10)

    @pytest.mark.parametrize("seed", [-1, 1.5, None])
    def test_a_seed_is_a_whole_number(self, documents: Samples, seed: Any) -> None:
        with pytest.raises(InvalidInputError, match="seed must be a whole number"):
            planned(documents, budget=300, seed=seed)

    def test_a_class_that_no_label_names(self) -> None:
        X = drawn_documents(50, 20, seed=0)
        labels = [None if code < 0 else "ab"[code] for code in X.evidence.codes]
        with pytest.warns(LabelworthWarning), pytest.raises(NotIdentifiableError, match="No label tells"):
            lw.plan(X.counts, labels, classes=["a", "b", "c", "d"], budget=40)

    @pytest.mark.parametrize(
        "asked",
        [
            {"source": "guess"},
            {"criterion": "accuracy"},
            {"use_unlabeled": "maybe"},
            {"rules": ["everything"]},
            {"model": "luck"},
            {"source": "simulated", "criterion": "log_volume"},
        ],
    )
    def test_words_that_mean_nothing(self, documents: Samples, asked: dict[str, Any]) -> None:
        with pytest.raises(InvalidInputError):
            lw.plan(documents, **{"model": "multinomial", "budget": 300, **asked})


def test_the_frontier_rises_in_cost_and_falls_in_error(documents: Samples) -> None:
    found = lw.frontier(documents, model="multinomial", criterion="excess_log_loss")
    costs, errors = ([getattr(point, name) for point in found.boundary] for name in ("cost", "error"))
    assert costs == sorted(costs)
    assert errors == sorted(errors, reverse=True)
    assert costs[-1] == N_DOCUMENTS - N_LABELED
    assert found.to_dict()["boundary"] == [
        place for place, point in enumerate(found.points) if point.dominated_by is None
    ]


def test_tokens_and_tags_without_a_model_of_them_name_the_cure() -> None:
    with pytest.raises(InvalidInputError, match="model='hidden-markov'"):
        lw.plan([["the", "cat"], ["a", "dog"]], [["D", "N"], [None, None]], budget=4)
