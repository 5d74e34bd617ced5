"""What is looked at before a plan is trusted."""

import re
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from labelworth.data.class_counts import ClassCounts
from labelworth.data.evidence import Evidence
from labelworth.data.rows import Rows
from labelworth.data.samples import Samples
from labelworth.data.sequences import Sequences
from labelworth.estimators.pools.documents import DocumentPool
from labelworth.models.classes.multinomial import MultinomialFamily
from labelworth.planning.answer import ArmCount, Check, Design, Held, Interval
from labelworth.planning.plan import plan
from labelworth.planning.trust.checks import (
    Width,
    class_check,
    copies_check,
    example_checks,
    few_labels_check,
    guessing_check,
    parameter_check,
    pilot_check,
    pilot_needed,
)
from labelworth.planning.trust.verdict import verdict_by_folds, verdict_without_classes
from labelworth.simulation.basis import ForecastBasis, Points
from labelworth.simulation.selection import ComparedModel, ModelChoice, Optimism
from support.pilots import drawn_documents


def documents(n_documents: int, n_labeled: int) -> DocumentPool:
    samples = drawn_documents(n_documents, n_labeled, seed=0)
    family = MultinomialFamily.for_samples(samples, smoothing=1.0)
    return DocumentPool.of_family(family, samples)


HELD = Held("documents", 1000, 100, 100, 900, 9, ("a", "b"), 100.0, None)
DESIGN = Design((ArmCount("everything", 300.0, 300.0, 300.0),), 300.0, 400.0, 1000.0, 0.4, 300.0, 400.0, 0.1)


def width(labels: Interval | None, error: Interval | None, criterion: str = "error") -> Width:
    return Width.of(DESIGN, labels, error, criterion)


def test_a_narrow_interval_is_trusted() -> None:
    narrow = width(Interval(260.0, 340.0), Interval(0.09, 0.11))
    check = pilot_check(HELD, narrow, "label", DESIGN)
    assert check.state == "good"
    assert "known to within 1 point (10 % of itself)" in check.words


def test_where_no_number_of_labels_may_do_nothing_is_said_of_between_how_many_they_lie() -> None:
    wide = width(Interval(100.0, 500.0), Interval(0.09, 0.11))
    assert "the labels to buy are" in pilot_check(HELD, wide, "larger pilot", DESIGN).words
    check = pilot_check(HELD, wide, "larger pilot", DESIGN, is_open=True)
    assert check.words == "The error to expect is known to within 1 point (10 % of itself): well enough."


def test_what_is_known_is_named_as_what_was_asked_for() -> None:
    words = width(None, Interval(0.09, 0.11), "log_loss").words()
    assert words == "log-loss of predictions (nats) to expect is known to within 10 % of itself"


def test_a_wide_interval_says_how_sure_the_plan_is_and_what_makes_it_surer() -> None:
    # Half of 400 is 0.5 of the labels in all, twice what is allowed: four times the pilot.
    wide = width(Interval(100.0, 500.0), None)
    assert pilot_needed(100, wide) == 400
    check = pilot_check(HELD, wide, "label", DESIGN)
    assert check.state == "warning"
    assert "the labels to buy are between 100 and 500." in check.words
    assert check.words.endswith("plan again after the first 100 documents of this plan.")
    few = replace(DESIGN, arms=(ArmCount("everything", 90.0, 90.0, 90.0),))
    assert pilot_check(HELD, wide, "label", few).words.endswith("plan again when this one is carried out.")


def test_a_warning_beside_a_larger_pilot_or_a_stop_names_no_number_of_labels() -> None:
    wide = width(None, Interval(0.05, 0.15))
    for advice in ("larger pilot", "stop"):
        words = pilot_check(HELD, wide, advice, DESIGN).words
        assert re.findall(r"[\d,]+", words.replace("The pilot of 100 labels", "")) == ["5", "50"]
        assert "plan again" not in words


@pytest.mark.parametrize(("half", "is_too_wide"), [(0.019, False), (0.021, True)])
def test_a_share_known_to_within_two_points_is_known_well_enough(half: float, is_too_wide: bool) -> None:
    small = replace(DESIGN, error=0.025)
    interval = Interval(0.025 - half, 0.025 + half)
    assert Width.of(small, None, interval, "error").is_too_wide == is_too_wide
    assert Width.of(small, None, interval, "log_loss").is_too_wide
    # A quarter of itself is enough too, however many points that is.
    assert not Width.of(replace(DESIGN, error=0.4), None, Interval(0.31, 0.49), "error").is_too_wide


def test_a_metric_is_known_by_the_smaller_of_what_is_reached_and_what_is_missing() -> None:
    little = replace(DESIGN, error=0.9)
    wide = Width.of(little, None, Interval(0.7, 0.99), "recall of a at precision 0.9")
    assert wide.is_too_wide
    assert "recall of a at precision 90 % to expect is known to within 15 points" in wide.words()
    assert not Width.of(little, None, Interval(0.7, 0.99), "error").is_too_wide


def test_too_little_recall_is_said_to_be_unknown() -> None:
    (check,) = example_checks("recall of a at precision 0.9", 0.8, 30)
    assert check.state == "warning"
    assert check.words.startswith("Recall of a at precision 90 % is forecast below 25 %, and the pilot cannot tell")
    (check,) = example_checks("recall of a at precision 0.9", 0.7, 20)
    assert check.state == "good"
    for other in ("error", "log_loss"):
        assert example_checks(other, 0.8, 30) == []


def test_of_the_class_that_a_metric_hangs_on_ten_examples_are_wanted() -> None:
    for metric, rare in (("macro_f1", "the rarest class"), ("precision of a at recall 0.9", "the class")):
        (good,), (bad,) = (example_checks(metric, 0.2, n_examples) for n_examples in (10, 9))
        assert (good.state, bad.state) == ("good", "warning")
        assert bad.words.endswith(f"rests on 9 labeled examples of {rare}; 10 of the class would be enough.")


@pytest.mark.parametrize(
    ("level", "n_examples", "state"),
    [(0.9, 19, "warning"), (0.9, 21, "good"), (0.5, 10, "good"), (0.99, 150, "warning"), (1.0, 10**6, "warning")],
)
def test_a_precision_that_allows_fewer_than_two_false_alarms_hangs_on_one(
    level: float, n_examples: int, state: str
) -> None:
    (check,) = example_checks(f"recall of a at precision {level}", 0.3, n_examples)
    assert check.state == state
    assert f"rests on {n_examples:,} labeled examples of the class" in check.words
    if level == 0.9 and state == "warning":
        assert check.words.endswith("and in every other one on another; 20 of the class would be enough.")


def test_classes_with_few_labels_are_named() -> None:
    assert class_check(documents(200, 100).data).state == "good"
    scarce = class_check(documents(200, 12).data)
    assert scarce.state == "warning"
    assert "Fewer than 10 labels: a (" in scarce.words
    # One piece of advice: how many labels to buy is not for this check to say.
    assert "in all" not in scarce.words


def labeled(counts: list[int], n_unlabeled: int = 500) -> Samples:
    codes = np.repeat(np.arange(len(counts)), counts)
    names = tuple(f"intent {code}" for code in range(len(counts)))
    evidence = Evidence(np.concatenate([codes, np.full(n_unlabeled, -1)]), names)
    return Samples(np.zeros((evidence.n_samples, 1)), evidence)


def test_classes_that_a_pilot_lacks_are_estimated_from_labels_that_are_alone() -> None:
    rng = np.random.default_rng(0)
    drawn = np.bincount(rng.integers(150, size=100), minlength=150)
    unseen = float((drawn == 0).mean())
    samples = labeled(drawn[drawn > 0].tolist())
    check, pilot = class_check(samples), ClassCounts.of(samples)
    assert check.state == "bad"
    assert pilot.unseen_share == pytest.approx(unseen, abs=0.1)
    assert f"about {100 * pilot.unseen_share:.0f} % of the data belong to classes that no label names" in check.words


def test_a_class_that_is_named_without_a_label_is_bad() -> None:
    check = class_check(labeled([30, 20, 0]))
    assert check.state == "bad"
    assert check.words.startswith("No label names intent 2: no figure below knows of 1 class of 3.")


@pytest.mark.parametrize("counts", [[30, 20], [39, 1], [98, 30, 1, 1]])
def test_rare_classes_are_not_missing_ones(counts: list[int]) -> None:
    assert not ClassCounts.of(labeled(counts)).lacks_classes
    assert verdict_without_classes(labeled(counts)) is None


def test_of_sequences_a_class_counts_as_often_as_sequences_have_it() -> None:
    names = ("A", "B", "C", "D")
    # A and C are twice in one sequence alone, D once: what a sequence that is left out would take along.
    codes, offsets = np.array([0, 1, 0, 2, 2, 1, 3, -1]), np.array([0, 3, 5, 7, 8])
    sequences = Sequences(np.zeros(8, dtype=np.int64), offsets, Evidence(codes, names), ("x",))
    pilot = ClassCounts.of(sequences)
    assert (pilot.labels.tolist(), pilot.samples.tolist()) == ([2, 2, 2, 1], [1, 2, 1, 1])
    assert pilot.alone == 5
    assert pilot.unseen_share == pytest.approx(5 / 7)
    assert "5 of 7 labels are of classes that no other sequence has" in class_check(sequences).words


def test_where_classes_are_missing_unlabeled_data_is_not_used() -> None:
    verdict = verdict_without_classes(labeled([1] * 30 + [2] * 20))
    assert verdict is not None
    assert (verdict.answer, verdict.allows_use) == ("cannot be told", False)
    assert "30 of 70 labels are the only ones of their class" in verdict.words


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
    blind = verdict_by_folds(documents(50, 3), seed=0)
    assert (blind.answer, blind.allows_use) == ("cannot be told", False)
    assert verdict_by_folds(documents(50, 50), seed=0).answer == "not asked"


@pytest.mark.parametrize("interval", [None, Interval(300.0, 300.0)])
def test_without_a_width_nothing_is_said(interval: Interval | None) -> None:
    assert pilot_check(HELD, width(interval, None), "label", DESIGN).state == "unknown"


def test_formulas_want_five_labels_per_parameter() -> None:
    assert parameter_check(50, 10, "asymptotic").state == "good"
    few = parameter_check(49, 10, "asymptotic")
    assert few.state == "warning"
    assert "tell levels from 5 on" in few.words
    assert parameter_check(49, 10, "simulated").state == "good"


def test_fewer_labels_than_forecasts_were_tried_from_are_told() -> None:
    assert few_labels_check(50) == ()
    (check,) = few_labels_check(20)
    assert check.state == "warning"
    assert "never tried from fewer than 50 labeled samples, and here are 20" in check.words


def test_a_model_that_is_no_better_than_guessing_is_told() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(400, 4))
    told = []
    for labels in (rng.integers(0, 2, size=400), features[:, 0] > 0):
        y = np.where(np.arange(400) < 80, labels, -1)
        found = plan(features, y, model=LogisticRegression(), budget=200)
        told.append([check.words for check in found.checks if check.name == "better than guessing"])
    ((words,), nothing) = told
    assert "neither is clearly better than guessing" in words
    assert nothing == []


def chosen_with(error: float, shift: float) -> ModelChoice:
    model = ComparedModel("naive Bayes", False, error, error, 0.3, 0.0, 0.0)
    optimism = {"error": Optimism(shift, 0.0), "log_loss": Optimism(shift, 0.0)}
    return ModelChoice(model, (), 100, 5, optimism)


def rare_basis(covariance: float = 1e-4) -> ForecastBasis:
    """Of a pilot of 100 whose second class has four labels; points lie far from what was compared."""
    points = {
        ("labels-only", measure): Points(np.array([80]), np.array([0.5]), np.array([[covariance]]))
        for measure in ("error", "log_loss", "macro_f1")
    }
    return ForecastBasis("generative", 100, 500, points, {}, {}, {}, {}, np.array([96, 4]))


def test_guessing_is_held_against_the_error_that_the_plan_tells_of_its_model() -> None:
    (check,) = guessing_check(rare_basis(), "labels-only", "error", chosen_with(0.02, 0.01))
    assert check.words.startswith(
        "Cross-validated on the labels held this model errs on 2 %, and 1 point more for having been chosen by them "
        "(standard error 1 point), where naming the most frequent class always errs on 4.5 %; it has a log-loss of"
    )
    # What was chosen without flattery is clearly better: 1.645 standard errors.
    assert guessing_check(rare_basis(), "labels-only", "error", chosen_with(0.02, 0.0)) == ()
    # Without a choice the points are all there is.
    (check,) = guessing_check(rare_basis(), "labels-only", "error")
    assert "this model errs on 50 % (standard error 1 point)" in check.words


def test_a_model_whose_log_loss_is_clearly_better_does_not_guess_though_a_rare_class_leaves_few_errors_to_save() -> (
    None
):
    choice = chosen_with(0.045, 0.0)
    assert guessing_check(rare_basis(), "labels-only", "error", choice)
    knowing = replace(choice, chosen=replace(choice.chosen, log_loss=0.12))
    for measure in ("error", "log_loss"):
        assert guessing_check(rare_basis(), "labels-only", measure, knowing) == ()


def test_a_model_is_held_against_guesses_of_what_is_asked_for() -> None:
    # With half a label more of each class, -.955 log .955 - .045 log .045.
    (check,) = guessing_check(rare_basis(), "labels-only", "log_loss", chosen_with(0.9, 0.0))
    assert "has a log-loss of 0.3 (standard error 0.01), where naming the shares of the classes always has" in (
        check.words
    )
    assert "one of 0.1822" in check.words
    assert check.words.index("log-loss") < check.words.index("errs on")
    for metric in ("macro_f1", "recall of b at precision 0.9"):
        assert guessing_check(rare_basis(), "labels-only", metric, chosen_with(0.9, 0.0)) == ()


def test_copies_that_disagree_are_named_with_what_they_cost() -> None:
    texts = [f"this is text number {index}" for index in range(40)]
    codes = np.arange(40) % 2

    def said(**others: int) -> tuple[Check, ...]:
        changed = codes.copy()
        changed[[int(name[1:]) for name in others]] = list(others.values())
        return copies_check(Rows(np.array(texts, dtype=object), Evidence(changed, ("ham", "spam"))))

    assert said() == ()
    # A copy of row 3 that agrees, then one that does not; one without a label says nothing.
    texts[7] = texts[3]
    assert said() == ()
    assert said(r7=-1) == ()
    (check,) = said(r7=0)
    assert check.state == "warning"
    assert check.words.startswith(
        "2 of 40 labeled rows have a copy, word for word as models read them, with another label (rows 3 and 7, "
        "counted from 0: 'spam' and 'ham'), so any model gets at least 2.5 % of all labeled rows wrong"
    )
