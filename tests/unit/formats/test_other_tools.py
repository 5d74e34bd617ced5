"""doccano, Argilla, spaCy, WebAnno, brat and Hugging Face, literally as their documents and sources write them."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import labelworth as lw
from labelworth.formats.choose import format_named
from labelworth.formats.export import Item, Judgement, Prediction, Span
from support.files import written

DOCCANO = '{"text": "Terrible customer service.", "label": ["negative"]}'
DOCCANO_SPANS = (
    '{"text": "EU rejects German call to boycott British lamb.", "label": [ [0, 2, "ORG"], [11, 17, "MISC"] ]}'
)
DOCCANO_RELATIONS = (
    '{"text":"Google was founded","entities":[{"id":0,"start_offset":0,"end_offset":6,"label":"ORG"}],'
    '"relations":[{"from_id":0,"to_id":1,"type":"foundedAt"}]}'
)
ARGILLA = (
    '[{"id":"r1","text":"..","status":"completed","_server_id":"..","label.responses":["pos"],'
    '"label.responses.users":["6d.."],"label.responses.status":["submitted"],"label.suggestion":"pos",'
    '"label.suggestion.score":0.9,"label.suggestion.agent":"m"}]'
)
ARGILLA_NESTED = (
    '[{"id":"r1","fields":{"text":".."},"metadata":{},"suggestions":{"label":{"value":"pos","score":0.9,"agent":"m"}},'
    '"responses":{"label":[{"value":"pos","user_id":"6d..."}]},"vectors":{},"status":"completed","_server_id":".."}]'
)
WEBANNO = (
    "#FORMAT=WebAnno TSV 3.3\n#T_SP=de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity|value\n\n\n"
    "#Text=Ms. Haag plays Elianti .\n1-1\t0-3\tMs.\tPER[1]|PERpart[2]\n1-2\t4-8\tHaag\tPER[1]\n"
    "1-3\t9-14\tplays\t_\n1-4\t15-22\tElianti\t*\n1-5\t23-24\t.\t_\n"
)


def read(tmp_path: Path, content: str, **options: Any) -> lw.Export:
    return lw.read_export(written(tmp_path / "export", content), **options)


def said(export: lw.Export) -> list[tuple[Any, ...]]:
    return [judgement.said for item in export.items for judgement in item.judgements]


def test_doccano_has_classes_and_spans(tmp_path: Path) -> None:
    assert said(read(tmp_path, DOCCANO, format="doccano")) == [("negative",)]
    assert said(read(tmp_path, DOCCANO_SPANS)) == [(Span(0, 2, "ORG"), Span(11, 17, "MISC"))]
    related = read(tmp_path, DOCCANO_RELATIONS)
    assert said(related) == [(Span(0, 6, "ORG"),)]
    assert related.notes[-1] == "1 relations were left out."


def test_doccano_does_not_say_who_looked(tmp_path: Path) -> None:
    content = (
        '{"id": 1, "text": "a", "label": [], "Comments": []}\n{"id": 2, "text": "b", "label": ["x"], "Comments": []}'
    )
    with pytest.raises(lw.InvalidInputError, match=r"1 item has no label \(1\).*empty_means='unlabeled'.*approved="):
        read(tmp_path, content)
    assert read(tmp_path, content, empty_means="nothing").items[0].state == "nothing"
    assert read(tmp_path, content, empty_means="unlabeled").items[0].state == "unlabeled"


def test_doccano_exported_twice_says_who_looked(tmp_path: Path) -> None:
    lines = [
        f'{{"id": {n}, "text": "{n}", "label": {label}, "Comments": []}}'
        for n, label in enumerate(["[]", "[]", '["x"]', '["x"]'])
    ]
    approved = written(tmp_path / "approved.jsonl", f"{lines[0]}\n{lines[2]}\n")
    export = read(tmp_path, "\n".join(lines), approved=approved)
    assert [item.state for item in export.items] == ["nothing", "unlabeled", "labeled", "unlabeled"]
    assert export.items[3].predictions == (Prediction(("x",), None, "not approved"),)


def test_two_files_of_doccano_are_compared_by_ids_alone(tmp_path: Path) -> None:
    with_id, without = (f'{{{more}"text": "a", "label": ["x"], "Comments": []}}' for more in ('"id": 1, ', ""))
    for full, approved in ((with_id, without), (without, with_id), (without, without)):
        with pytest.raises(lw.InvalidInputError, match=r"line 1: .* needs its 'id'.*'text', 'label'.*Export again"):
            read(tmp_path, full, approved=written(tmp_path / "approved.jsonl", approved))


def test_what_is_approved_must_be_in_the_full_export_of_doccano(tmp_path: Path) -> None:
    lines = [f'{{"id": {n}, "text": "{n}", "label": [], "Comments": []}}' for n in range(3)]
    approved = written(tmp_path / "approved.jsonl", "\n".join(lines))
    with pytest.raises(lw.InvalidInputError, match=r"approved.jsonl: 2 approved ids are not in .* \(1, 2\)"):
        read(tmp_path, lines[0], approved=approved)


def test_lists_of_classes_may_be_candidates_and_are_asked_about(tmp_path: Path) -> None:
    content = '{"text": "a", "label": ["x", "y"]}\n{"text": "b", "label": ["x"]}'
    with pytest.raises(lw.InvalidInputError, match="Say which: format='doccano' or format='jsonl'"):
        read(tmp_path, content)
    assert read(tmp_path, content, format="doccano").items[0].judgements == (Judgement(("x", "y")),)
    assert read(tmp_path, content, format="jsonl").items[0].judgements == (Judgement(("x", "y"), "one of"),)


def test_doccano_of_several_members(tmp_path: Path) -> None:
    folder = tmp_path / "export"
    folder.mkdir()
    for name, label in (("ann", "x"), ("bob", "y")):
        written(folder / f"{name}.jsonl", f'{{"id": 1, "text": "a", "label": ["{label}"]}}\n')
    [item] = lw.read_export(folder).items
    assert item.judgements == (Judgement(("x",), annotator="ann"), Judgement(("y",), annotator="bob"))


def test_members_of_doccano_approve_for_themselves_or_one_file_does_for_all(tmp_path: Path) -> None:
    example = '{"id": 1, "text": "a", "label": [], "Comments": []}\n'
    full, approved = tmp_path / "full", tmp_path / "approved"
    full.mkdir()
    approved.mkdir()
    for path in (full / "ann.jsonl", full / "bob.jsonl", approved / "bob.jsonl"):
        written(path, example)
    written(approved / "ann.jsonl", "")
    [own] = lw.read_export(full, approved=approved).items
    assert own.judgements == (Judgement((), annotator="bob"),)
    [shared] = lw.read_export(full, approved=approved / "bob.jsonl").items
    assert [judgement.annotator for judgement in shared.judgements] == ["ann", "bob"]
    written(approved / "eve.jsonl", example)
    with pytest.raises(lw.InvalidInputError, match=r"eve.jsonl: 1 approved id is not in"):
        lw.read_export(full, approved=approved)


def test_doccano_puts_members_in_the_order_of_their_files_and_says_so(tmp_path: Path) -> None:
    made = (Judgement(("x",), annotator="bob"), Judgement(("y",)), Judgement(("z",), annotator="Ann"))
    known = format_named("doccano-members")
    losses, left = known.kept(lw.Export((Item("1", "a", made),)))
    assert [loss.aspect for loss in losses] == ["order of judgements"]
    assert [judgement.annotator for judgement in left.items[0].judgements] == ["Ann", "", "bob"]
    known.put(left, tmp_path / "export")
    assert lw.read_export(tmp_path / "export").items[0].judgements == left.items[0].judgements


def test_argilla_keeps_what_was_submitted(tmp_path: Path) -> None:
    [item] = read(tmp_path, ARGILLA).items
    assert item.judgements == (Judgement(("pos",), annotator="6d.."),)
    assert item.predictions == (Prediction(("pos",), 0.9, "m"),)
    drafted = read(tmp_path, ARGILLA.replace("submitted", "draft"))
    assert drafted.items[0].state == "unlabeled"
    assert "drafts" in drafted.notes[-1]
    assert read(tmp_path, ARGILLA.replace("submitted", "discarded")).items[0].judgements[0].how == "cannot say"


def test_argilla_spans_and_nothing(tmp_path: Path) -> None:
    spans = ARGILLA.replace('["pos"]', '[[{"start":0,"end":1,"label":"PER"}]]').replace(':"pos"', ":null")
    assert said(read(tmp_path, spans)) == [(Span(0, 1, "PER"),)]
    assert read(tmp_path, ARGILLA.replace('["pos"]', "[[]]")).items[0].state == "nothing"


def test_nested_records_of_argilla_do_not_say_what_was_submitted(tmp_path: Path) -> None:
    with pytest.raises(lw.InvalidInputError, match="flatten=True"):
        read(tmp_path, ARGILLA_NESTED)


def test_webanno_joins_and_stacks(tmp_path: Path) -> None:
    [item] = read(tmp_path, WEBANNO).items
    assert item.judgements[0].said == (Span(0, 3, "PERpart"), Span(0, 8, "PER"), Span(15, 22, "*"))
    assert item.words == ["Ms.", "Haag", "plays", "Elianti", "."]


def test_webanno_counts_utf_16_units_and_escapes(tmp_path: Path) -> None:
    row = "1-1\t0-2\t😀\t_\n1-2\t3-5\tEd\tA\\_B\\|C\t\n"
    content = WEBANNO.partition("#Text")[0] + f"#Text=😀 Ed\n{row}"
    [item] = read(tmp_path, content).items
    assert item.judgements[0].said == (Span(2, 4, "A_B|C"),)


def test_a_sentence_without_spans_is_asked_about(tmp_path: Path) -> None:
    content = f"{WEBANNO}\n#Text=Yes\n2-1\t25-28\tYes\t_\n"
    with pytest.raises(lw.InvalidInputError, match="empty_means"):
        read(tmp_path, content)
    assert [item.state for item in read(tmp_path, content, empty_means="nothing").items] == ["labeled", "nothing"]


def test_brat_has_discontinuous_spans_and_notes(tmp_path: Path) -> None:
    folder = tmp_path / "brat"
    folder.mkdir()
    written(folder / "1.txt", "protein of a membrane kind")
    written(
        folder / "1.ann",
        "T1\tEntity 0 7\tprotein\n#53\tAnnotatorNotes T1\tEG:675\nT2\tORG 0 7;13 21\tprotein membrane\n",
    )
    written(folder / "2.txt", "b")
    written(folder / "2.ann", "")
    with pytest.raises(lw.InvalidInputError, match="brat does not say"):
        lw.read_export(folder)
    export = lw.read_export(folder, empty_means="unlabeled")
    assert said(export) == [(Span(0, 7, "Entity"), Span(0, 21, "ORG", ((7, 13),)))]
    assert [item.state for item in export.items] == ["labeled", "unlabeled"]
    assert export.notes[-1] == "1 notes were left out."


def test_a_link_out_of_a_folder_is_not_followed(tmp_path: Path) -> None:
    folder = tmp_path / "brat"
    folder.mkdir()
    written(tmp_path / "secret", "secret")
    (folder / "1.txt").symlink_to(tmp_path / "secret")
    written(folder / "1.ann", "")
    with pytest.raises(lw.InvalidInputError, match="link out of its folder"):
        lw.read_export(folder)


def test_spacy_knows_what_is_missing(tmp_path: Path) -> None:
    tokens = [{"id": n, "start": 2 * n, "end": 2 * n + 1} for n in range(3)]
    record = {"text": "a b c", "ents": [{"start": 0, "end": 1, "label": "X"}], "tokens": tokens, "missing": [1]}
    [item] = read(tmp_path, json.dumps(record)).items
    assert item.judgements == (Judgement((Span(0, 1, "X"),), judged=((0, 1), (4, 5))),)
    for change, state in (
        ({"ents": []}, "nothing"),
        ({"ents": None}, "unlabeled"),
        ({"missing": [0, 1, 2]}, "unlabeled"),
    ):
        changed = {**record, "missing": [], **change}
        assert read(tmp_path, json.dumps(changed)).items[0].state == state


def test_classes_of_hugging_face(tmp_path: Path) -> None:
    features = {
        "text": {"dtype": "string", "_type": "Value"},
        "label": {"names": ["neg", "pos"], "_type": "ClassLabel"},
    }
    path = parquet(tmp_path, {"text": ["a", "b", "c"], "label": [1, -1, None]}, features)
    export = lw.read_export(path)
    assert export.classes == ("neg", "pos")
    assert said(export) == [("pos",)]
    assert [item.state for item in export.items] == ["labeled", "unlabeled", "unlabeled"]


def test_tags_of_hugging_face(tmp_path: Path) -> None:
    names = {"names": ["O", "B-PER"], "_type": "ClassLabel"}
    features = {
        "tokens": {"feature": {"dtype": "string"}, "_type": "Sequence"},
        "ner_tags": {"feature": names, "_type": "Sequence"},
    }
    path = parquet(tmp_path, {"tokens": [["Ed", "sang"], ["no"]], "ner_tags": [[1, -1], [-1]]}, features)
    export = lw.read_export(path)
    assert (export.kind, said(export)) == ("tags", [("B-PER", None)])
    assert [item.state for item in export.items] == ["labeled", "unlabeled"]


def test_other_columns_of_hugging_face_are_kept_or_said_to_be_left_out(tmp_path: Path) -> None:
    a_class = {"names": ["neg", "pos"], "_type": "ClassLabel"}
    columns = {
        "text": ["a", "b"],
        "label": [1, 0],
        "mood": [0, -1],
        "n": [3, None],
        "raw": [b"x", b"y"],
        "tokens": [1, 2],
    }
    path = parquet(tmp_path, columns, {"label": a_class, "mood": a_class})
    export = lw.read_export(path, question="label", text_column="text")
    assert [item.meta for item in export.items] == [{"mood": "neg", "n": 3}, {}]
    assert export.notes[-1].endswith("were left out: raw, tokens.")
    [loss] = lw.write_export(export, tmp_path / "back.parquet", "hugging-face", accept_losses=True)
    assert loss.aspect == "types"
    assert lw.read_export(tmp_path / "back.parquet").items[0].meta == {"mood": "neg", "n": "3"}


def test_a_question_that_is_not_there_is_refused_with_those_that_are(tmp_path: Path) -> None:
    a_class = {"names": ["neg", "pos"], "_type": "ClassLabel"}
    path = parquet(tmp_path, {"text": ["a"], "mood": [1]}, {"mood": a_class})
    for question in (None, "mood", "label"):
        assert said(lw.read_export(path, question=question)) == [("pos",)]
    with pytest.raises(lw.InvalidInputError, match=r"no question 'mod'\. It has: mood"):
        lw.read_export(path, question="mod")


def test_lines_of_fasttext_are_not_taken_for_tokens(tmp_path: Path) -> None:
    (tmp_path / "data.txt").write_text("__label__negative Terrible service\n__label__positive Good service\n")
    with pytest.raises(lw.InvalidInputError, match="that is fastText, which holds no tokens"):
        lw.read_export(tmp_path / "data.txt")


def parquet(tmp_path: Path, columns: dict[str, Any], features: dict[str, Any]) -> Path:
    import pyarrow.parquet as pq

    table = pa.table(columns).replace_schema_metadata({"huggingface": json.dumps({"info": {"features": features}})})
    pq.write_table(table, tmp_path / "data.parquet")
    return tmp_path / "data.parquet"
