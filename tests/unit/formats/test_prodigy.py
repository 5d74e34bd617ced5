"""Prodigy's JSON lines, literally as its recipes write them."""

from pathlib import Path

import pytest

import labelworth as lw
from labelworth.formats.export import Judgement, Span
from support.files import written

REJECTED = (
    '{"text":"Transition plan for node-github","priority":0.49117392,"meta":{"source":"GitHub","score":0.58},'
    '"label":"DOCUMENTATION","_input_hash":1707452978,"_task_hash":1849331881,"answer":"reject"}'
)
CHOICE = (
    '{"text":"..","options":[{"id":"POS","text":"POS"}],"accept":["POS"],"answer":"accept","_view_id":"choice",'
    '"_annotator_id":"..","_session_id":".."}'
)
SPANS = (
    '{"text":"I\'m seeing Ed Sheeran ..","tokens":[{"text":"Ed","start":11,"end":13,"id":3,"ws":true}],"spans":'
    '[{"token_start":3,"token_end":4,"start":11,"end":21,"label":"PERSON"}],"_is_binary":false,'
    '"_view_id":"ner_manual","answer":"accept","_timestamp":1633999979}'
)


def read(tmp_path: Path, *lines: str) -> lw.Export:
    return lw.read_export(written(tmp_path / "set.jsonl", "\n".join(lines)))


def test_a_rejected_class_is_not_this(tmp_path: Path) -> None:
    export = read(tmp_path, REJECTED)
    assert export.items[0].judgements == (Judgement(("DOCUMENTATION",), "is not"),)
    assert (export.items[0].id, export.items[0].meta["priority"]) == ("1707452978", 0.49117392)


def test_a_choice(tmp_path: Path) -> None:
    export = read(tmp_path, CHOICE)
    assert export.classes == ("POS",)
    assert export.items[0].judgements == (Judgement(("POS",), annotator=".."),)


def test_spans_set_by_hand(tmp_path: Path) -> None:
    [item] = read(tmp_path, SPANS).items
    [judgement] = item.judgements
    assert (judgement.said, judgement.judged, item.tokens) == ((Span(11, 21, "PERSON"),), None, ((11, 13),))
    assert judgement.when is not None
    assert judgement.when.isoformat() == "2021-10-12T00:52:59+00:00"


@pytest.mark.parametrize(
    ("rest", "state"),
    [
        ("", "unlabeled"),
        ('"answer": "ignore", ', "unlabeled"),
        ('"answer": "accept", "_is_binary": false, ', "nothing"),
    ],
)
def test_three_states(tmp_path: Path, rest: str, state: str) -> None:
    assert read(tmp_path, f'{{{rest}"text": "a b", "spans": [], "_input_hash": 1}}').items[0].state == state


def test_of_binary_spans_only_what_is_shown_was_judged(tmp_path: Path) -> None:
    line = '{"text": "a b", "spans": [{"start": 0, "end": 1, "label": "X"}], "_is_binary": true, "answer": "accept"}'
    [judgement] = read(tmp_path, line).items[0].judgements
    assert (judgement.said, judgement.judged) == ((Span(0, 1, "X"),), ((0, 1),))


def test_the_same_input_of_two_annotators_is_one_item(tmp_path: Path) -> None:
    lines = [
        f'{{"text": "a", "label": "X", "answer": "accept", "_input_hash": 4, "_annotator_id": "{n}"}}' for n in "ab"
    ]
    [item] = read(tmp_path, *lines).items
    assert [judgement.annotator for judgement in item.judgements] == ["a", "b"]
