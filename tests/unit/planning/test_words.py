"""Plans in plain words."""

from dataclasses import replace

from labelworth.planning.answer import ArmCount, Certificate, Check, Interval
from labelworth.planning.words import count, lines, number
from support.plans import document_plan


def test_six_lines_and_then_warnings() -> None:
    plan = document_plan()
    quiet = replace(plan, checks=())
    assert len(lines(quiet)) == 6
    warned = replace(plan, checks=(Check("pilot size", "warning", "Too small."), Check("fit", "good", "Fine.")))
    assert lines(warned)[6:] == ["Warning: Too small."]


def test_the_first_line_says_how_many_and_how_sure() -> None:
    assert lines(document_plan())[0] == "Label 412 more documents (90 %: 350-510): 512 labels in all."
    stop = replace(document_plan(), advice="stop", why_stop="the target is met.")
    assert lines(stop)[0] == "Stop labeling: the target is met."


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
    assert lines(hurt)[4] == "Do not use the unlabeled data: it hurts."
    assert len(lines(hurt)) == 6


def test_numbers_as_people_read_them() -> None:
    assert number(1234567.0) == "1,234,567"
    assert number(12345.678) == "12,346"
    assert number(float("nan")) == "-"
    assert count(1, "child", "children") == "1 child"
    assert count(3, "child", "children") == "3 children"


def test_a_pilot_too_small_is_nothing_to_stop_on() -> None:
    plan = replace(document_plan(), advice="larger pilot", why_stop="the target of 0.2 is met.", more_pilot=340)
    assert lines(plan)[0] == (
        "By this forecast no more labels are needed: the target of 0.2 is met. But the pilot of 100 labels is too "
        "small to stop on it: label about 340 more documents drawn at random (`labelworth next --count 340`), then "
        "plan again."
    )


def test_without_unlabeled_data_nothing_is_said_of_its_use() -> None:
    plan = replace(document_plan(), uses_unlabeled=False)
    labeled = replace(plan, held=replace(plan.held, n_pool=0))
    assert lines(labeled)[4] == "There is no unlabeled data: every document has a label."
    assert lines(plan)[4].startswith("Do not use the unlabeled data: ")


def test_a_gap_that_is_no_proof_is_told_as_such() -> None:
    plan = replace(document_plan(), certificate=Certificate(1.7e-9, if_convex=True))
    assert lines(plan)[5].endswith(
        "; found along the slope, no certificate: sampling may have bent the curve; were it convex, no other design "
        "would be better by more than 1.7e-09."
    )
    assert lines(document_plan())[5].endswith("; no other design is better by more than 1e-12.")
    assert lines(replace(plan, certificate=None))[5].endswith("; found by search, no certificate.")
