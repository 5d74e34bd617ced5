"""Label Studio's JSON and JSON_MIN, literally as its guide and its converter write them."""

import json
from pathlib import Path
from typing import Any

import pytest

import labelworth as lw
from labelworth.formats.export import Item, Judgement, Prediction, Span
from support.files import written

TASK = (
    '[{"id":1,"data":{"text":"SoftBank-backed OneWeb files ..."},"annotations":[{"id":1001,"completed_by":10,'
    '"was_cancelled":false,"ground_truth":false,"lead_time":4.288,"created_at":"2021-03-09T22:16:08.728353Z","result":'
    '[{"id":"Dx_aB91ISN","from_name":"sentiment","to_name":"text","type":"choices","value":{"choices":["Neutral"]}}]}],'
    '"predictions":[]}]'
)
SPAN = (
    '{"from_name":"label","to_name":"text","type":"labels",'
    '"value":{"start":0,"end":5,"text":"Alice","labels":["PER"]}}'
)
MIN = (
    '{"text":"...","id":1,"sentiment":"Neutral","annotator":10,"annotation_id":1001,"created_at":"2021-03-09T22:16Z",'
    '"updated_at":"2021-03-09T22:16Z","lead_time":4.288}'
)
PREDICTED = (
    '{"data":{"text":".."},"predictions":[{"model_version":"lw-1","score":0.83,"result":[{"id":"r1","type":"choices",'
    '"from_name":"sentiment","to_name":"text","value":{"choices":["Positive"]}}]}]}'
)


def read(tmp_path: Path, content: str, **options: Any) -> lw.Export:
    return lw.read_export(written(tmp_path / "export.json", content), **options)


def with_result(result: str, annotation: str = "") -> str:
    annotations = f'[{{"id": 2, {annotation}"result": [{result}]}}]'
    return f'[{{"id": 7, "data": {{"text": "Alice met Bob"}}, "annotations": {annotations}}}]'


def test_a_class_with_who_when_and_how_long(tmp_path: Path) -> None:
    export = read(tmp_path, TASK)
    [item] = export.items
    [judgement] = item.judgements
    assert (export.kind, export.question, item.id, item.state) == ("classes", "sentiment", "1", "labeled")
    assert (judgement.said, judgement.annotator, judgement.seconds) == (("Neutral",), "10", 4.288)
    assert judgement.when is not None
    assert judgement.when.isoformat() == "2021-03-09T22:16:08.728353+00:00"


def test_spans(tmp_path: Path) -> None:
    export = read(tmp_path, with_result(SPAN))
    assert (export.kind, export.items[0].judgements[0].said) == ("spans", (Span(0, 5, "PER"),))


@pytest.mark.parametrize(
    ("annotations", "state"),
    [
        ("[]", "unlabeled"),
        ('[{"id": 1, "result": []}]', "nothing"),
        ('[{"id": 1, "was_cancelled": true, "result": []}]', "unlabeled"),
        (f'[{{"id": 1, "was_cancelled": true, "result": []}}, {{"id": 2, "result": [{SPAN}]}}]', "labeled"),
    ],
)
def test_three_states(tmp_path: Path, annotations: str, state: str) -> None:
    export = read(tmp_path, f'[{{"id": 1, "data": {{"text": "Alice"}}, "annotations": {annotations}}}]')
    assert export.items[0].state == state


def test_the_truth_is_marked_and_mail_addresses_are_names(tmp_path: Path) -> None:
    export = read(tmp_path, with_result(SPAN, '"ground_truth": true, "completed_by": {"id": 3, "email": "a@b.c"}, '))
    assert export.items[0].judgements == (Judgement((Span(0, 5, "PER"),), annotator="a@b.c", is_gold=True),)


def test_predictions_are_no_labels(tmp_path: Path) -> None:
    [item] = read(tmp_path, PREDICTED).items
    assert (item.state, item.predictions) == ("unlabeled", (Prediction(("Positive",), 0.83, "lw-1"),))


def test_spans_counted_in_utf_16_are_found_by_their_text(tmp_path: Path) -> None:
    emoji = '[{"id":1,"data":{"text":"💩This is an annotation."},"annotations":[{"result":[%s]}]}]'
    span = '{"type":"labels","from_name":"l","value":{"start":%d,"end":%d,"text":"annotation","labels":["A"]}}'
    old, new = (read(tmp_path, emoji % (span % at)) for at in ((13, 23), (12, 22)))
    assert old.items == new.items
    assert "UTF-16" in old.notes[1]
    assert len(new.notes) == 1


def test_several_questions_are_asked_about(tmp_path: Path) -> None:
    content = with_result(f'{SPAN}, {{"from_name":"mood","type":"choices","value":{{"choices":["good"]}}}}')
    with pytest.raises(lw.InvalidInputError, match=r"several questions: label \(1\), mood \(1\)"):
        read(tmp_path, content)
    assert read(tmp_path, content, question="mood").items[0].judgements[0].said == ("good",)


def test_a_record_per_annotation(tmp_path: Path) -> None:
    export = read(tmp_path, MIN)
    assert (export.question, export.items[0].judgements[0].said) == ("sentiment", ("Neutral",))


@pytest.mark.parametrize(("number", "state"), [("null", "unlabeled"), ("5", "nothing")])
def test_no_label_in_a_record_per_annotation(tmp_path: Path, number: str, state: str) -> None:
    content = f'[{{"text": "a", "id": 1, "annotator": 3, "annotation_id": {number}, "lead_time": 1.5}}]'
    assert read(tmp_path, content).items[0].state == state


def test_several_choices_and_spans_of_a_record_per_annotation(tmp_path: Path) -> None:
    rest = '"text": "Alice", "annotator": 3, "annotation_id": 1, "lead_time": 1'
    spans = read(tmp_path, f'[{{{rest}, "label":[{{"start":0,"end":5,"text":"Alice","labels":["PER"]}}]}}]')
    choices = read(tmp_path, f'[{{{rest}, "topic": {{"choices": ["a", "b"]}}}}]')
    assert (spans.kind, spans.items[0].judgements[0].said) == ("spans", (Span(0, 5, "PER"),))
    assert (choices.question, choices.items[0].judgements[0].said) == ("topic", ("a", "b"))


def test_ids_of_tasks_annotations_predictions_and_results_all_differ(tmp_path: Path) -> None:
    made = {"judgements": (Judgement(("x",)), Judgement(("y",))), "predictions": (Prediction(("x",)),)}
    items = tuple(Item(name, "a", **made) for name in ("3", "a", "1", "12"))
    lw.write_export(lw.Export(items), tmp_path / "tasks.json", "label-studio", accept_losses=True)
    tasks = json.loads((tmp_path / "tasks.json").read_text())
    entries = [entry for task in tasks for entry in (*task["annotations"], *task["predictions"])]
    ids = [thing["id"] for thing in (*tasks, *entries, *(result for entry in entries for result in entry["result"]))]
    assert len(set(map(str, ids))) == len(ids) == 4 + 12 + 12
