"""Batches that were filled in, back into the data."""

import csv
import json
from pathlib import Path

import pytest

from labelworth.data.readers import read, read_sequences
from labelworth.report.record import validate
from support.command_line import labelworth

N_ROWS = 12


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    path = tmp_path / "docs.jsonl"
    rows = [
        {"id": f"d{place}", "text": f"word{place} ünd", "label": "ab"[place % 2] if place < 4 else None, "n": 1.50}
        for place in range(N_ROWS)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "docs.csv"
    cells = [f'd{place},"word{place}, ""x""",{"ab"[place % 2] if place < 4 else ""}\n' for place in range(N_ROWS)]
    path.write_text("id,text,label\n" + "".join(cells), encoding="utf-8")
    return path


@pytest.fixture
def columns(tmp_path: Path) -> Path:
    path = tmp_path / "data.conll"
    labeled = "-DOCSTART- -X- O\n\nthe  DT B\ncat NN I\n\n"
    path.write_text(labeled + "".join(f"w{place} X _\nis Y _\ngood Z _\n\n" for place in range(6)))
    return path


@pytest.fixture
def objects(tmp_path: Path) -> Path:
    path = tmp_path / "data.jsonl"
    rows = [{"id": 7, "tokens": ["the", "cat"], "tags": ["B", "I"]}, {"id": 8, "tokens": [], "tags": []}]
    rows += [{"id": place, "tokens": [f"w{place}", "is"], "tags": [None, None]} for place in range(5)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def drawn(data: Path, name: str, *options: object) -> Path:
    batch = data.with_name(name)
    assert labelworth("next", data, "-o", batch, *options).code == 0
    return batch


def filled_documents(data: Path, name: str, label: str = "b", **changes: object) -> Path:
    """Draw five documents and fill in all but the last."""
    batch = drawn(data, name, "--count", 5)
    if name.endswith(".csv"):
        with batch.open(newline="", encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream))
    else:
        rows = [json.loads(line) for line in batch.read_text(encoding="utf-8").splitlines()]
    for row in rows[:-1]:
        row["label"] = label
    rows[0].update(changes)
    with batch.open("w", newline="", encoding="utf-8") as stream:
        if name.endswith(".csv"):
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        else:
            stream.writelines(json.dumps(row) + "\n" for row in rows)
    return batch


@pytest.mark.parametrize("kind", ["lines", "table"])
@pytest.mark.parametrize("name", ["batch.jsonl", "batch.csv"])
def test_documents_get_their_labels(request: pytest.FixtureRequest, kind: str, name: str) -> None:
    data = request.getfixturevalue(kind)
    before, batch, new = data.read_bytes(), filled_documents(data, name), data.with_stem("new")
    answer = labelworth("merge", data, batch, "-o", new, "--json")
    assert answer.code == 0
    validate(answer.record)
    assert (answer.record["n_labels"], answer.record["n_empty"]) == (4, 1)
    assert data.read_bytes() == before
    old, merged = read(data), read(new)
    assert merged.texts == old.texts
    added = [place for place in range(N_ROWS) if merged.labels[place] != old.labels[place]]
    assert len(added) == 4
    assert all(old.labels[place] is None and merged.labels[place] == "b" for place in added)
    if kind == "lines":
        # What was not changed stays as it is written.
        pairs = zip(data.read_text("utf-8").splitlines(), new.read_text("utf-8").splitlines(), strict=True)
        assert [place for place, (was, now) in enumerate(pairs) if was != now] == added
        assert all(json.loads(line)["id"] == f"d{place}" for place, line in enumerate(new.read_text().splitlines()))


def test_what_is_still_empty_is_told_and_a_second_merge_is_harmless(lines: Path) -> None:
    batch = filled_documents(lines, "batch.jsonl")
    first = labelworth("merge", lines, batch, "--in-place")
    assert first.code == 0
    assert "4 labels of 5 documents merged." in first.stdout
    assert "Still empty: 1 label (row " in first.stdout
    once = lines.read_bytes()
    again = labelworth("merge", lines, batch, "--in-place")
    assert again.code == 0
    assert "In the data already: 4 labels." in again.stdout
    assert "No label is new: the data stay as they were." in again.stdout
    assert "Wrote" not in again.stderr
    assert lines.read_bytes() == once


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"label": "bb"}, "The label 'bb' (row "),
        ({"label": "zebra"}, "name all classes with --classes a,b,zebra"),
        ({"text": "another text"}, "the column 'text' is 'word"),
        ({"id": "d99"}, "and 'd99' in the batch. Nothing was merged"),
        ({"n": 2}, "the column 'n' is '1.5' in the data and '2' in the batch"),
        ({"row": 99}, "the data has no row 99; it has 12"),
        ({"row": "first"}, "It must be the number that `labelworth next` wrote"),
        ({"row": 0, "text": "word0 ünd", "id": "d0"}, "row 0 is 'a' in the data and 'b' in the batch"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_written(
    lines: Path, changes: dict[str, object], words: str
) -> None:
    batch, new = filled_documents(lines, "batch.jsonl", **changes), lines.with_stem("new")
    answer = labelworth("merge", lines, batch, "-o", new)
    assert answer.code == 2
    assert words in answer.stderr
    assert not answer.stdout
    assert not new.exists()


def test_classes_that_are_named_are_known(lines: Path) -> None:
    batch, new = filled_documents(lines, "batch.csv", label="c"), lines.with_stem("new")
    assert labelworth("merge", lines, batch, "-o", new).code == 2
    assert labelworth("merge", lines, batch, "-o", new, "--classes", "a,b,c").code == 0
    assert sum(label == "c" for label in read(new).labels) == 4


def test_labels_are_written_as_the_data_writes_them(tmp_path: Path) -> None:
    data = tmp_path / "docs.jsonl"
    rows = [{"text": f"w{place}", "label": place % 2 if place < 4 else None} for place in range(N_ROWS)]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    batch = filled_documents(data, "batch.csv", label="1")
    assert labelworth("merge", data, batch, "--in-place").code == 0
    assert set(read(data).labels) == {0, 1, None}


def test_data_without_labels_take_their_first(tmp_path: Path) -> None:
    data = tmp_path / "docs.csv"
    data.write_text("text\n" + "".join(f"w{place}\n" for place in range(9)))
    batch, new = tmp_path / "batch.csv", tmp_path / "new.csv"
    assert labelworth("next", data, "--count", 3, "--label-column", "none", "-o", batch).code == 0
    batch.write_text(
        "".join(f"{line}x\n" if line.endswith(",") else f"{line}\n" for line in batch.read_text().split())
    )
    assert labelworth("merge", data, batch, "--label-column", "none", "-o", new).code == 0
    assert sum(label == "x" for label in read(new).labels) == 3


def test_it_is_never_written_onto_the_data_unasked(lines: Path) -> None:
    batch = filled_documents(lines, "batch.jsonl")
    for options, words in (
        (("-o", lines), "would overwrite"),
        (("-o", batch), "would overwrite"),
        ((), "Say once where to write"),
        (("-o", lines.with_stem("new"), "--in-place"), "Say once where to write"),
        (("-o", lines.with_suffix(".csv")), "in the form they have"),
    ):
        before = lines.read_bytes(), batch.read_bytes()
        answer = labelworth("merge", lines, batch, *options)
        assert answer.code == 2
        assert words in answer.stderr
        assert (lines.read_bytes(), batch.read_bytes()) == before


def test_a_batch_without_labels_is_no_batch(lines: Path) -> None:
    batch, new = drawn(lines, "batch.jsonl", "--count", 3), lines.with_stem("new")
    answer = labelworth("merge", lines, batch, "-o", new)
    assert answer.code == 2
    assert "there is nothing to merge" in answer.stderr
    other = lines.with_name("other.jsonl")
    other.write_text('{"text": "word5", "label": "a"}\n')
    assert "has no column 'row'" in labelworth("merge", lines, other, "-o", new).stderr
    twice = filled_documents(lines, "twice.jsonl")
    twice.write_text(twice.read_text() * 2)
    assert "was there before, at" in labelworth("merge", lines, twice, "-o", new).stderr
    assert not new.exists()


@pytest.mark.parametrize("kind", ["columns", "objects"])
@pytest.mark.parametrize("name", ["batch.conll", "batch.jsonl"])
def test_tokens_get_their_labels(request: pytest.FixtureRequest, kind: str, name: str) -> None:
    data = request.getfixturevalue(kind)
    batch, new = drawn(data, name, "--count", 3, "--policy", "prefix:1"), data.with_stem("new")
    if name.endswith(".conll"):
        batch.write_text(batch.read_text().replace(" ?\n", " B\n", 2))
    else:
        rows = [json.loads(line) for line in batch.read_text().splitlines()]
        for row in rows[:2]:
            row["tags"][0] = "B"
        batch.write_text("".join(json.dumps(row) + "\n" for row in rows))
    answer = labelworth("merge", data, batch, "-o", new, "--json")
    assert answer.code == 0
    validate(answer.record)
    assert (answer.record["n_labels"], answer.record["n_empty"]) == (2, 1)
    assert answer.record["empty"][0].endswith(", token 0")
    old, merged = read_sequences(data), read_sequences(new)
    assert merged.columns == old.columns
    assert merged.offsets.tolist() == old.offsets.tolist()
    added = [token for token in range(len(old.labels)) if merged.labels[token] != old.labels[token]]
    assert len(added) == 2
    assert all(old.labels[token] is None and merged.labels[token] == "B" for token in added)
    assert all(token in old.offsets for token in added)
    pairs = list(zip(data.read_text().splitlines(), new.read_text().splitlines(), strict=True))
    assert sum(was != now for was, now in pairs) == 2


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ((" ?\n", " Q\n"), "The label 'Q' (sequence "),
        (("is Y", "was Y"), "these are not the words of sequence"),
        (("is Y", "is V"), """'["X", "Y", "Z"]' in the data and '["X", "V", "Z"]' in the batch"""),
        (("-DOCSTART- sequence", "-DOCSTART- sentence"), "the sequence is"),
        (("-DOCSTART- sequence 1\n", "-DOCSTART- sequence 40\n"), "the data has no sequence 40"),
    ],
)
def test_sequences_that_do_not_fit_are_refused(columns: Path, change: tuple[str, str], words: str) -> None:
    batch, new = drawn(columns, "batch.conll", "--count", 6), columns.with_stem("new")
    batch.write_text(batch.read_text().replace(*change, 1).replace(" ?\n", " B\n"))
    answer = labelworth("merge", columns, batch, "-o", new)
    assert answer.code == 2
    assert words in answer.stderr
    assert not new.exists()


def test_an_object_of_another_sequence_is_refused(objects: Path) -> None:
    batch, new = drawn(objects, "batch.jsonl", "--count", 3), objects.with_stem("new")
    rows = [json.loads(line) for line in batch.read_text().splitlines()]
    for row in rows:
        row["tags"] = ["B", "I"]
    rows[1]["id"] = 70
    batch.write_text("".join(json.dumps(row) + "\n" for row in rows))
    answer = labelworth("merge", objects, batch, "-o", new)
    assert answer.code == 2
    assert f"line 2: this is not sequence {rows[1]['sequence']} of the data: the column 'id' is" in answer.stderr
    assert "and '70' in the batch" in answer.stderr
    assert not new.exists()


@pytest.mark.parametrize(
    ("held", "given"), [("1.50", "1.5"), ("007", "7"), ("true", "TRUE"), ("", ""), ("a\nb ", "a\r\nb")]
)
def test_what_spreadsheets_make_of_a_cell_is_the_same_cell(tmp_path: Path, held: str, given: str) -> None:
    data, batch, new = tmp_path / "data.csv", tmp_path / "batch.csv", tmp_path / "new.csv"
    data.write_text(f'id,text,label\n"{held}",one,a\n"{held}",two,\n')
    batch.write_text(f'row,id,text,label,remark\n1,"{given}",two,a,mine\n')
    assert labelworth("merge", data, batch, "-o", new).code == 0
    batch.write_text(f'row,id,text,label\n1,"{given}8",two,a\n')
    new.unlink()
    assert labelworth("merge", data, batch, "-o", new).code == 2
    assert not new.exists()


def test_long_cells_are_shown_where_they_differ(tmp_path: Path) -> None:
    data, batch = tmp_path / "data.csv", tmp_path / "batch.csv"
    text = "word " * 100
    data.write_text(f"text,label\n{text}here,a\n{text}there,\n")
    batch.write_text(f"row,text,label\n1,{text}nowhere,a\n")
    answer = labelworth("merge", data, batch, "--in-place")
    assert answer.code == 2
    assert "word there' in the data and '..." in answer.stderr
    assert "word nowhere' in the batch" in answer.stderr
    assert len(answer.stderr) < 800


def test_a_label_that_differs_from_the_data_is_a_conflict(columns: Path) -> None:
    batch = columns.with_name("batch.conll")
    batch.write_text("-DOCSTART- sequence 0\n\nthe DT I\ncat NN _\n")
    answer = labelworth("merge", columns, batch, "--in-place")
    assert answer.code == 2
    assert "sequence 0, token 0 is 'B' in the data and 'I' in the batch" in answer.stderr


def test_columns_without_labels_get_one(tmp_path: Path) -> None:
    data, batch, new = tmp_path / "data.conll", tmp_path / "batch.conll", tmp_path / "new.conll"
    data.write_text("".join(f"w{place} X\nis Y\n\n" for place in range(4)))
    assert labelworth("next", data, "--count", 2, "--label-column", "none", "-o", batch).code == 0
    batch.write_text(batch.read_text().replace("?", "B"))
    assert labelworth("merge", data, batch, "--label-column", "none", "-o", new).code == 0
    merged = read_sequences(new)
    assert sum(label == "B" for label in merged.labels) == 4
    assert merged.columns == read_sequences(data, label_column=None).columns


def test_other_files_are_not_merged(tmp_path: Path, lines: Path) -> None:
    numbers = tmp_path / "data.svm"
    numbers.write_text("1 1:2 2:1\n0 1:1\n")
    answer = labelworth("merge", numbers, lines, "-o", tmp_path / "new.svm")
    assert answer.code == 2
    assert "cannot be merged" in answer.stderr
