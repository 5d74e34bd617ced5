"""Plans in plain words."""

from dataclasses import replace
from typing import Any

from labelworth.cli.plan import _table
from labelworth.planning.answer import ArmCount, Certificate, Check, Interval, Plan, Worth
from labelworth.planning.landscape import ForecastCurve
from labelworth.planning.trust.checks import Width
from labelworth.planning.units import CRITERION_WORDS
from labelworth.planning.words import lines, next_samples
from labelworth.simulation.calibration import Floor
from labelworth.wording import count, number
from support.plans import document_plan


def test_seven_lines_and_then_warnings() -> None:
    plan = document_plan()
    quiet = replace(plan, checks=())
    assert len(lines(quiet)) == 7
    assert len(lines(replace(quiet, forecast=None))) == 6
    warned = replace(plan, checks=(Check("pilot size", "warning", "Too small."), Check("fit", "good", "Fine.")))
    assert lines(warned)[7:] == ["Warning: Too small."]


def test_the_first_line_says_how_many_and_how_sure() -> None:
    assert lines(document_plan())[0] == "Label 412 more documents (90 %: 350-510): 512 labels in all."
    stop = replace(document_plan(), advice="stop", why_stop="the target is met.")
    assert lines(stop)[0] == "Stop labeling: the target is met."


def test_where_nothing_is_to_be_labeled_today_is_told_once() -> None:
    plan = document_plan()
    stop = replace(plan, recommended=replace(plan.recommended, labels=0.0), advice="stop", why_stop="it is met.")
    (told,) = (line for line in lines(stop) if "to expect" in line)
    assert told.count("with the labels held") == 1
    assert "; with the labels held" in " ".join(lines(plan))


def test_a_budget_that_is_spent_leaves_no_labels_open() -> None:
    plan = document_plan()
    spent = replace(plan, labels_interval=Interval(0.0, 412.0))
    assert spent.open_labels is None
    assert lines(spent)[0] == "Label 412 more documents: 512 labels in all."
    # What is left over may be less or more.
    assert replace(plan, labels_interval=Interval(0.0, 500.0)).open_labels is not None


def test_an_interval_that_ends_at_the_pool_says_that_the_target_may_be_out_of_reach() -> None:
    plan = document_plan()
    whole = replace(plan, held=replace(plan.held, n_pool=510), question=replace(plan.question, problem="target"))
    assert lines(whole)[0] == (
        "Label 412 more documents (90 %: 350-510, or the target is out of reach): 512 labels in all."
    )
    for other in (
        replace(whole, held=replace(whole.held, n_pool=511)),
        replace(whole, question=replace(whole.question, problem="alpha")),
    ):
        assert "out of reach" not in lines(other)[0]


def test_rules_are_named_for_sequences() -> None:
    plan = document_plan()
    arms = (ArmCount("everything", 12, 240, 240), ArmCount("window:5", 1, 5, 5), ArmCount("nothing", 50, 0, 0))
    sequences = replace(
        plan,
        held=replace(plan.held, kind="sequences"),
        recommended=replace(plan.recommended, arms=arms, labels=245.0, labels_in_all=345.0),
        labels_interval=Interval(200.4, 300.2),
    )
    assert lines(sequences)[0] == (
        "Label 12 sequences whole and 1 sequence by window:5: 245 more labels (90 %: 200-300), 345 in all."
    )


def test_hurting_data_is_not_to_be_used() -> None:
    hurt = replace(document_plan(), uses_unlabeled=False, checks=(Check("unlabeled data", "bad", "it hurts."),))
    assert lines(hurt)[5] == "Do not use the unlabeled data: it hurts."
    assert len(lines(hurt)) == 7


def test_numbers_as_people_read_them() -> None:
    assert number(1234567.0) == "1,234,567"
    assert number(12345.678) == "12,346"
    assert number(float("nan")) == "-"
    assert count(1, "child", "children") == "1 child"
    assert count(3, "child", "children") == "3 children"


def test_a_pilot_too_small_is_nothing_to_stop_on() -> None:
    plan = replace(document_plan(), advice="larger pilot", why_stop="the target of 0.2 is met.", more_pilot=340)
    assert lines(plan)[:2] == [
        "Label 340 more documents drawn at random (`labelworth next --count 340`), then plan again.",
        "The forecast says to stop, as the target of 0.2 is met. "
        "But the pilot of 100 labels is too small to stop on it.",
    ]


def of_shares(error: float, gain: float, n_next: int = 10, **others: Any) -> Plan:
    """The plan by hand, of the share of wrong predictions."""
    plan = document_plan()
    return replace(
        plan,
        question=replace(plan.question, criterion="error"),
        criterion_words=CRITERION_WORDS["error"],
        recommended=replace(plan.recommended, error=error),
        error_interval=Interval(0.031, 0.056),
        held=replace(plan.held, error=0.0632),
        worth=(Worth("everything", gain, 1.0, gain, None, None, n_next, n_next * gain),),
        **others,
    )


def test_the_worth_of_labels_is_told_in_points_of_error() -> None:
    larger = of_shares(0.041, 3e-5, 100)
    larger = replace(larger, held=replace(larger.held, n_labeled=1000))
    assert lines(larger)[3] == (
        "After that the next 100 labels lower the error from 4.1 % to 3.8 % (0.3 points), for 100."
    )
    sure, unsure = (lines(replace(larger, worth=(replace(larger.worth[0], gain_se=se),)))[3] for se in (1e-5, 4e-5))
    assert "(0.3 points; 90 %: 0.14-0.46 points), for 100." in sure
    assert unsure == (
        "After that the next 100 labels would lower the error by 0.3 points (90 %: at most 0.96 points), which the "
        "forecast cannot tell from nothing."
    )


def test_shares_are_percent_and_other_figures_stay_in_their_units() -> None:
    assert lines(of_shares(0.041, 3e-5))[1] == (
        "Share of wrong predictions to expect then: 4.1 % (90 %: 3.1-5.6 %); with the labels held, 6.3 %."
    )
    assert lines(document_plan())[1] == (
        "Excess log-loss (nats per sample) to expect then: 0.00782 (90 %: 0.006-0.0095); with the labels held, 0.032."
    )
    assert lines(document_plan())[3] == (
        "After that the next 10 labels lower it from 0.0078 to 0.0077 (0.0001), for 10; 270 more unlabeled ones "
        "would do as much."
    )
    target = of_shares(0.041, 3e-5)
    asked = replace(target, question=replace(target.question, problem="target", value=0.0425))
    assert lines(asked)[2].endswith("the least for a target of 4.25 %.")


def falling(last: float = 0.016, floor: Floor | None = None, **others: Any) -> Plan:
    """A plan by hand whose forecast ends at an error with all 5,100 labels."""
    curve = ForecastCurve(
        (100.0, 512.0, 5100.0), (0.0632, 0.041, last), (0.05, 0.03, 0.75 * last), (0.08, 0.06, 0.023)
    )
    return of_shares(0.041, 3e-5, forecast=replace(curve, floor=floor), **others)


def test_how_far_this_model_can_ever_go_is_one_sentence() -> None:
    assert lines(falling())[4] == (
        "All 5,100 labels would bring the error to 1.6 % (90 %: 1.2-2.3 %); of today's 6.3 %, about 4.7 points can "
        "still be bought with this model."
    )
    floors = [lines(falling(floor=floor))[4] for floor in (Floor(0.004, 0.0, 0.02), Floor(0.012, 0.01, 0.02))]
    assert floors[0] == lines(falling())[4]
    assert floors[1].endswith(
        "with this model. About 1.2 % (90 %: 1-2 %) stays with this model, however many labels there are."
    )
    assert "however many labels" not in lines(falling(floor=Floor(0.012, 0.005, 0.02)))[4]
    # A floor above the forecast would contradict it.
    assert "however many labels" not in lines(falling(floor=Floor(0.03, 0.01, 0.04)))[4]
    warned = (Check("simulated labels", "warning", "About 1.2 % of the labels do not follow."),)
    assert "however many labels" not in lines(falling(floor=Floor(0.012, 0.01, 0.02), checks=warned))[4]
    flat = falling(last=0.0632)
    # Who is told to label some is not told that labels buy nothing.
    assert lines(flat)[4].endswith("no less than today's 6.3 %.")
    assert lines(replace(flat, advice="stop", why_stop="."))[4].endswith(
        "no less than today's 6.3 %: more labels buy nothing with this model."
    )


def test_where_all_are_to_be_labeled_the_end_is_not_told_twice() -> None:
    plan = falling()
    arms = (ArmCount("everything", 5000, 5000, 5000),)
    every = replace(plan.recommended, arms=arms, labels=5000.0, labels_in_all=5100.0, error=0.016)
    said = lines(replace(plan, recommended=every))
    assert said[3].startswith("That is all there is; 10 labels more of the same kind lower the error from 1.60 %")
    assert (
        said[4]
        == "That labels everything there is: of today's 6.3 %, about 4.7 points can still be bought with this model."
    )


def test_where_nothing_is_left_to_label_nothing_is_said_of_the_end() -> None:
    plan = falling()
    done = replace(plan, held=replace(plan.held, n_pool=0))
    assert done.limit is None
    assert not [line for line in lines(done) if "with this model" in line]


def test_before_a_larger_pilot_the_next_labels_are_those_of_that_pilot() -> None:
    plan = replace(falling(), advice="larger pilot", more_pilot=100)
    assert next_samples(plan) == 10
    assert lines(plan)[4].startswith("The next 10 labels lower the error from 6.32 % to 6.29 %")


def test_a_forecast_that_falls_only_farther_on_is_not_called_flat() -> None:
    flat = replace(falling(), worth=(Worth("everything", 0.0, 1.0, 0.0, n_next=10),))
    assert lines(flat)[3].endswith("are forecast to buy nothing: the forecast does not fall over so few.")
    end = replace(flat, forecast=replace(flat.forecast, error=(0.0632, 0.041, 0.041)))
    assert lines(end)[3].endswith("are forecast to buy nothing: the forecast does not fall any further.")


def test_classes_that_the_pilot_lacks_are_said_next_to_what_to_do() -> None:
    checks = (
        Check("unlabeled data", "unknown", "cannot be told."),
        Check("labels per class", "bad", "It lacks some."),
    )
    said = lines(replace(document_plan(), checks=checks))
    assert said[0].startswith("Label 412 more documents")
    assert said[1] == "It lacks some."
    assert not [line for line in said if line.startswith("Warning: ")]


def test_without_unlabeled_data_nothing_is_said_of_its_use() -> None:
    plan = replace(document_plan(), uses_unlabeled=False)
    labeled = replace(plan, held=replace(plan.held, n_pool=0))
    assert lines(labeled)[4] == "There is no unlabeled data: every document has a label."
    assert lines(plan)[5].startswith("Do not use the unlabeled data: ")


def test_a_gap_that_is_no_proof_is_told_as_such() -> None:
    plan = replace(document_plan(), certificate=Certificate(1.7e-9, if_convex=True))
    assert lines(plan)[6].endswith(
        "; found along the slope, no certificate: sampling may have bent the curve; were it convex, no other design "
        "would be better by more than 1.7e-09."
    )
    assert lines(document_plan())[6].endswith("; no other design is better by more than 1e-12.")
    # Where nothing is proved there is nothing to say of it.
    assert lines(replace(plan, certificate=None))[6] == "Figures are asymptotic (130 samples per parameter)."


def test_labels_that_a_budget_fixes_but_for_whole_samples_have_no_interval() -> None:
    plan = document_plan()
    arms = (ArmCount("window:5", 5344, 23_682, 23_682),)
    sequences = replace(
        plan,
        held=replace(plan.held, kind="sequences"),
        recommended=replace(plan.recommended, arms=arms, labels=23_682.0, labels_in_all=30_000.0),
        labels_interval=Interval(23_682.0, 23_686.0),
    )
    assert lines(sequences)[0] == "Label 5,344 sequences by window:5: 23,682 more labels, 30,000 in all."
    target = replace(sequences, question=replace(plan.question, problem="target"))
    assert "(90 %: 23,682-23,686)" in lines(target)[0]


def test_what_several_samples_cost_is_not_told_of_a_cost_function() -> None:
    plan = replace(document_plan(), prices={"function": "batches"})
    assert ", for " in lines(document_plan())[3]
    assert ", for " not in lines(plan)[3]


def test_a_fall_that_nobody_can_see_is_called_that() -> None:
    plan = document_plan()
    worths = tuple(replace(worth, next_gain=1e-8 * plan.recommended.error) for worth in plan.worth)
    assert lines(replace(plan, worth=worths))[3] == (
        "After that the next 10 labels would lower it by less than a thousandth of itself: nobody can tell that from "
        "nothing."
    )


def test_what_is_expected_and_costs_is_that_of_the_larger_pilot() -> None:
    plan = document_plan()
    design = replace(
        plan.recommended, arms=(), labels=0.0, labels_in_all=100.0, cost=0.0, cost_in_all=100.0, error=0.032
    )
    larger = replace(
        plan,
        advice="larger pilot",
        why_stop="more labels would not lower the error.",
        more_pilot=40,
        recommended=design,
        prices={"per_sample": {"everything": 1.5, "nothing": 0.0}, "held": 100.0},
    )
    expected, paid = lines(larger)[2:4]
    assert (
        expected
        == "Excess log-loss (nats per sample) to expect with the 100 labels held: 0.032 (90 %: 0.006-0.0095)."
    )
    assert paid == "That costs 60, 160 with what is held, of a budget of 512 (352 left over)."
    unpriced = replace(larger, prices={"function": "costs", "held": 100.0})
    assert lines(unpriced)[3].startswith("What is held has cost 100")


def test_labels_to_buy_are_whole_in_the_table() -> None:
    plan = document_plan()
    design = replace(plan.recommended, labels=93.82)
    assert {row[1] for row in _table(replace(plan, recommended=design)).rows if row[3]} == {94}
    pilot = _table(replace(plan, advice="larger pilot", more_pilot=40))
    assert [row[3] for row in pilot.rows if row[3]] == ["best forecast"]


def test_labels_to_buy_are_told_between_what_they_lie() -> None:
    design = replace(document_plan().recommended, labels=255.0, labels_in_all=300.0)
    width = Width.of(design, Interval(0.0, 510.4), None, "error")
    assert width.words() == "the labels to buy are between 0 and 510"


def test_samples_are_called_what_they_are() -> None:
    plan = document_plan()
    rows = replace(plan, held=replace(plan.held, named="rows"))
    assert lines(plan)[0].startswith("Label 412 more documents")
    assert lines(rows)[0] == lines(plan)[0].replace("documents", "rows")
    assert rows.to_dict()["held"]["named"] == "rows"
    assert "named" not in plan.to_dict()["held"]
