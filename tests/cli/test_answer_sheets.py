"""Who should answer what, filled in, and back into a file of answers."""

import csv
import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labelworth.cli.batches.asking import AskedAnswers
from labelworth.data.readers.answers import read_answers
from labelworth.report.record import validate
from support.command_line import labelworth
from support.pilots import drawn_documents

N_ROWS, N_LABELED = 20, 6


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "docs.csv"
    rows = [f'd{row},"word{row}, ""x""",{"ab"[row % 2] if row < N_LABELED else ""}\n' for row in range(N_ROWS)]
    path.write_text("id,text,label\n" + "".join(rows), encoding="utf-8")
    return path


@pytest.fixture
def columns(tmp_path: Path) -> Path:
    path = tmp_path / "data.conll"
    path.write_text("the DT B\ncat NN I\n\n" + "".join(f"w{row} X _\nis Y _\ngood Z _\n\n" for row in range(6)))
    return path


def rows_of(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream, delimiter="\t" if path.suffix == ".tsv" else ","))


def fill(path: Path, answer: Callable[[dict[str, Any]], Any]) -> list[dict[str, Any]]:
    """Fill in a sheet as people do, in a spreadsheet or by a script."""
    rows = rows_of(path)
    for row in rows:
        row["answer"] = answer(row)
    with path.open("w", newline="", encoding="utf-8") as stream:
        if path.suffix == ".jsonl":
            stream.writelines(json.dumps(row) + "\n" for row in rows)
        else:
            writer = csv.DictWriter(stream, list(rows[0]), delimiter="\t" if path.suffix == ".tsv" else ",")
            writer.writeheader()
            writer.writerows(rows)
    return rows


def drawn(data: Path, name: str, *options: object) -> Path:
    sheet = data.with_name(name)
    answer = labelworth("next", data, "--sheet", sheet, *options)
    assert answer.code == 0, answer.stderr
    assert not answer.stdout
    return sheet


ASKED = ("--count", 7, "--annotators", "ann,bob,eve", "--votes", 2)


@pytest.mark.parametrize("name", ["sheet.csv", "sheet.tsv", "sheet.jsonl"])
def test_a_sheet_says_who_answers_what_and_hides_labels(table: Path, name: str) -> None:
    sheet = rows_of(drawn(table, name, *ASKED))
    assert len(sheet) == 14
    assert list(sheet[0]) == ["row", "id", "text", "annotator", "question", "answer"]
    assert all(int(row["row"]) >= N_LABELED and row["id"] == f"d{row['row']}" for row in sheet)
    assert len({(row["row"], row["annotator"]) for row in sheet}) == 14
    assert sorted(Counter(row["annotator"] for row in sheet).values()) == [4, 5, 5]
    assert all(row["question"] == "which class?" and not row["answer"] for row in sheet)
    again = rows_of(drawn(table, f"again{Path(name).suffix}", *ASKED))
    assert again == sheet
    assert rows_of(drawn(table, f"other{Path(name).suffix}", *ASKED, "--seed", 1)) != sheet


def test_the_record_says_how_many_each_answers(table: Path) -> None:
    answer = labelworth("next", table, "--sheet", table.with_name("s.csv"), *ASKED, "--json")
    validate(answer.record)
    assert answer.record["n_answers"] == 14
    assert sorted(answer.record["loads"].values()) == [4, 5, 5]
    assert "14 answers to give by 3 annotators, 4 to 5 each" in answer.stderr
    assert "labelworth merge" in answer.stderr


def test_answers_for_anybody_are_not_those_of_who_is_named() -> None:
    first, second = AskedAnswers(Path("sheet.csv"), loads={"": 20, "ann": 4, "bob": 4}).lines(Path("d.csv"), 0, None)[
        :2
    ]
    assert first.startswith("28 answers to give, 8 of them by 2 annotators, 4 each, drawn with seed 0")
    assert second.startswith("20 answers of them are for anybody")


def test_labels_and_answers_about_the_same_rows(table: Path) -> None:
    batch = table.with_name("batch.csv")
    sheet = rows_of(drawn(table, "sheet.csv", *ASKED, "-o", batch))
    assert {row["row"] for row in rows_of(batch)} == {row["row"] for row in sheet}


def test_an_audit_is_about_what_has_a_label(table: Path) -> None:
    sheet = rows_of(drawn(table, "sheet.csv", "--count", 4, "--annotators", "ann", "--audit"))
    assert all(int(row["row"]) < N_LABELED for row in sheet)
    assert "label" not in sheet[0]
    answers = table.with_name("answers.csv")
    answers.write_text("row,annotator,answer\n0,ann,a\n1,bob,a\n")
    asked = ("--annotators", "ann", "--audit", "--answers", answers)
    others = rows_of(drawn(table, "others.csv", "--count", N_LABELED - 1, *asked))
    assert {int(row["row"]) for row in others} == set(range(1, N_LABELED))
    said = labelworth("next", table, "--sheet", table.with_name("s.csv"), "--count", 1, *asked).stderr
    assert f"--answers {answers} --in-place" in said
    answer = labelworth("next", table, "--sheet", table.with_name("s.csv"), "--count", N_LABELED, *asked)
    assert answer.code == 1
    assert "Only 5 documents with a label and no answer of these annotators can be drawn" in answer.stderr


def test_who_fills_in_several_votes_on_one_row_gives_one_and_is_told(table: Path) -> None:
    sheet, answers = drawn(table, "sheet.csv", "--count", 4, "--votes", 3), table.with_name("answers.csv")
    rows = rows_of(sheet)
    with sheet.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows({**row, "annotator": "ann", "answer": "b"} for row in rows)
    merge = ("merge", table, sheet, "--answers", answers, "--in-place")
    first = labelworth(*merge)
    assert "4 answers of 1 annotator merged." in first.stdout
    assert "Given again by the same annotator: 8 answers, left out." in first.stdout
    # The file is new: nothing was in it.
    assert "already" not in first.stdout
    assert read_answers(answers, n_samples=N_ROWS).n_answers == 4
    assert "already: 12 answers" in labelworth(*merge).stdout


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".tsv"])
@pytest.mark.parametrize("name", ["sheet.csv", "sheet.jsonl"])
def test_answers_come_back_once_each(table: Path, name: str, ending: str) -> None:
    sheet, answers = drawn(table, name, *ASKED), table.with_name(f"answers{ending}")
    filled = fill(sheet, lambda row: "" if row["annotator"] == "eve" else "a|b" if row["row"] == "9" else "b")
    n_filled = sum(bool(row["answer"]) for row in filled)
    merge = ("merge", table, sheet, "--answers", answers, "--in-place")
    first = labelworth(*merge)
    assert first.code == 0, first.stderr
    assert f"{n_filled} answers of 2 annotators merged." in first.stdout
    assert f"Still empty: {14 - n_filled} rows." in first.stdout
    assert "which is new" in first.stderr
    held = read_answers(answers, n_samples=N_ROWS)
    assert held.n_answers == n_filled
    once = answers.read_bytes()
    again = labelworth(*merge, "--json")
    validate(again.record)
    assert (again.record["n_answers"], again.record["n_same"]) == (0, n_filled)
    assert answers.read_bytes() == once
    assert "Wrote" not in again.stderr
    assert "No answer is new: the file stays as it was." in labelworth(*merge).stdout
    fill(sheet, lambda row: "cannot say" if row["annotator"] == "eve" else "")
    assert labelworth(*merge).code == 0
    both = read_answers(answers, n_samples=N_ROWS)
    assert (both.n_answers, both.names) == (14, ("ann", "bob", "eve"))
    # What was there stays as it was written.
    assert answers.read_bytes().startswith(once)
    # Nothing is asked twice.
    more = rows_of(drawn(table, f"more{ending}", "--count", 7, "--annotators", "ann", "--answers", answers))
    assert not {int(row["row"]) for row in more} & set(both.rows.tolist())


def test_answers_join_those_that_are_called_by_ids(table: Path) -> None:
    answers = table.with_name("answers.csv")
    answers.write_text("n,id,worker,label\n1,d19,ann,a\n")
    sheet = drawn(table, "sheet.csv", "--count", 2, "--annotators", "ann", "--answers", answers)
    filled = fill(sheet, lambda row: "b")
    assert labelworth("merge", table, sheet, "--answers", answers, "--in-place").code == 0
    rows = rows_of(answers)
    assert rows[0] == {"n": "1", "id": "d19", "worker": "ann", "label": "a"}
    assert [row["id"] for row in rows[1:]] == [row["id"] for row in filled]
    assert {row["label"] for row in rows[1:]} == {"b"}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"answer": "aa"}, "Is 'a' meant?"),
        ({"answer": "zebra"}, "--classes a,b,zebra"),
        ({"text": "another"}, "and 'another' in the sheet. Nothing was merged"),
        ({"row": "99"}, "not in the data (20 samples): '99'"),
        ({"row": "first"}, "no number of a sample"),
        ({"annotator": ""}, "nothing says who gave it"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_written(
    table: Path, changes: dict[str, str], words: str
) -> None:
    sheet, answers = drawn(table, "sheet.csv", *ASKED), table.with_name("answers.csv")
    rows = fill(sheet, lambda row: "a")
    rows[0].update(changes)
    with sheet.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    answer = labelworth("merge", table, sheet, "--answers", answers, "--in-place")
    assert answer.code == 2
    assert words in answer.stderr
    assert not answers.exists()


def test_answers_that_differ_are_told_and_nothing_is_written(table: Path) -> None:
    sheet, answers = drawn(table, "sheet.csv", *ASKED), table.with_name("answers.csv")
    fill(sheet, lambda row: "a")
    assert labelworth("merge", table, sheet, "--answers", answers, "--in-place").code == 0
    before = answers.read_bytes()
    fill(sheet, lambda row: "b" if row["annotator"] == "bob" else "a")
    answer = labelworth("merge", table, sheet, "--answers", answers, "--in-place")
    assert answer.code == 2
    assert "answers of the sheet differ from what is held: bob at" in answer.stderr
    # One of them.
    asked = next(row["row"] for row in rows_of(sheet) if row["annotator"] == "bob")
    fill(sheet, lambda row: "b" if (row["annotator"], row["row"]) == ("bob", asked) else "a")
    answer = labelworth("merge", table, sheet, "--answers", answers, "--in-place")
    assert "1 answer of the sheet differs from what is held: bob at" in answer.stderr
    assert answers.read_bytes() == before


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--count", 3, "--annotators", "ann"), "--annotators goes with --sheet FILE"),
        (("--count", 3, "--sheet", "s.csv"), "Say who can be asked"),
        (("--count", 3, "--sheet", "s.csv", "--votes", 3, "--annotators", "ann,bob"), "2 are named"),
        (("--count", 3, "--sheet", "s.csv", "--annotators", "ann,ann"), "Name every annotator once"),
        (("--count", 3, "--sheet", "s.csv", "--annotators", "crowd: ann"), "no kinds of labels here"),
        (
            ("--count", 3, "--sheet", "s.csv", "--annotators", "ann", "--audit", "-o", "b.csv"),
            "leave one of the two out",
        ),
        (("--count", 3, "--sheet", "s.xlsx", "--annotators", "ann"), "written as .csv, .tsv or .jsonl"),
        (("--count", 3, "--count-from", 1), "--count-from goes with --answers FILE"),
        (("--plan", "p.json", "--votes", 3), "--votes and --audit go with --count"),
    ],
)
def test_options_that_make_no_sense_are_refused(table: Path, options: tuple[object, ...], words: str) -> None:
    answer = labelworth("next", table, *options)
    assert answer.code == 2
    assert words in answer.stderr
    assert not Path("s.csv").exists()


def test_a_sheet_is_no_batch(table: Path) -> None:
    sheet = drawn(table, "sheet.csv", *ASKED)
    fill(sheet, lambda row: "a")
    answer = labelworth("merge", table, sheet, "-o", table.with_name("new.csv"))
    assert answer.code == 2
    assert "Sheets of answers go with --answers FILE" in answer.stderr
    answer = labelworth("merge", table, table, "--answers", table.with_name("answers.csv"), "--in-place")
    assert "is no sheet of answers: it has no column 'row'" in answer.stderr


def test_tokens_are_answered_for_too(columns: Path) -> None:
    options = ("--count", 3, "--policy", "prefix:2", "--annotators", "ann,bob", "--votes", 2)
    sheet, answers = drawn(columns, "sheet.csv", *options), columns.with_name("answers.csv")
    rows = fill(sheet, lambda row: "B" if row["token"] == "0" else "I")
    assert len(rows) == 12
    assert rows[0]["text"].split()[int(rows[0]["token"])] == rows[0]["word"]
    assert labelworth("merge", columns, sheet, "--answers", answers, "--in-place").code == 0
    offsets = [0, 2, *range(5, 23, 3)]
    held = read_answers(answers, offsets=offsets)
    assert held.n_answers == 12
    assert all((row - 2) % 3 < 2 for row in held.rows)
    answer = labelworth("next", columns, "--sheet", sheet, "--answers", answers, "--count", 4, "--annotators", "ann")
    assert "Only 3 sequences with neither a label nor an answer can be drawn" in answer.stderr


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Texts, and a plan that buys gold, votes of a crowd, and answers to a question."""
    samples = drawn_documents(600, 120, seed=0)
    data = tmp_path_factory.mktemp("sheets") / "docs.jsonl"
    words = np.array(["ant", "bee", "cat", "dog", "elk"])
    lines = []
    for row, code in zip(samples.counts.toarray().astype(int), samples.evidence.codes, strict=True):
        label = None if code < 0 else "ab"[code]
        lines.append(json.dumps({"text": " ".join(np.repeat(words, row)), "label": label}) + "\n")
    data.write_text("".join(lines))
    plan = data.with_name("plan.json")
    kinds = ("--kind", "crowd: price 0.02, confusion 0.85 0.15 / 0.30 0.70, votes 3, unknown")
    kinds += ("--kind", "screener: question a, price 0.01, accuracy 0.9")
    asked = ("--source", "asymptotic", "--criterion", "excess_log_loss", "--price-label", 0.1, "--budget", 30)
    assert labelworth("plan", data, *asked, *kinds, "-o", plan).code == 0
    record = json.loads(plan.read_text())
    # What is bought depends on figures that are not the subject here.
    arms = {"gold": 3, "gold + crowd": 4, "crowd x 3": 10, "screener": 5}
    held = {arm["arm"]: arm for arm in record["recommended"]["arms"]}
    offers = {offer["arm"]: offer for offer in record["menu"]}
    for name in [*arms, "nothing"]:
        held.setdefault(name, {**next(iter(held.values())), "arm": name})
    assert offers["crowd x 3"]["asks"] == {"crowd": 3}
    record["recommended"]["arms"] = [
        {**arm, "count": arms.get(name, 0)} for name, arm in held.items() if name in offers
    ]
    record["advice"] = "label"
    plan.write_text(json.dumps(record))
    return data, plan


def test_a_plan_that_buys_gold_alone_writes_no_sheet_and_says_so(planned: tuple[Path, Path]) -> None:
    data, plan = planned
    record = json.loads(plan.read_text())
    arms = record["recommended"]["arms"]
    record["recommended"]["arms"] = [{**arm, "count": 3 if arm["arm"] == "gold" else 0} for arm in arms]
    alone, sheet = data.with_name("alone.json"), data.with_name("unneeded.csv")
    alone.write_text(json.dumps(record))
    answer = labelworth("next", data, "--plan", alone, "-o", data.with_name("gold.jsonl"), "--sheet", sheet)
    assert answer.code == 0, answer.stderr
    assert not sheet.exists()
    assert "nobody is asked for an answer" in answer.stderr.replace("\n", " ")


def test_a_plan_with_kinds_of_labels_says_who_answers_what(planned: tuple[Path, Path]) -> None:
    data, plan = planned
    batch, sheet = data.with_name("batch.jsonl"), data.with_name("sheet.csv")
    who = ("--annotators", "crowd: ann,bob,eve,kim")
    answer = labelworth("next", data, "--plan", plan, "-o", batch, "--sheet", sheet, *who)
    assert answer.code == 0, answer.stderr
    gold, rows = rows_of(batch), rows_of(sheet)
    assert len(gold) == 7
    of_crowd = [row for row in rows if row["kind"] == "crowd"]
    screened = [row for row in rows if row["kind"] == "screener"]
    assert (len(of_crowd), len(screened)) == (34, 5)
    audited = {str(row["row"]) for row in gold} & {row["row"] for row in of_crowd}
    assert len(audited) == 4
    assert not {str(row["row"]) for row in gold} & {row["row"] for row in screened}
    assert Counter(Counter(row["row"] for row in of_crowd).values()) == {3: 10, 1: 4}
    loads = Counter(row["annotator"] for row in of_crowd)
    assert max(loads.values()) - min(loads.values()) <= 1
    assert {(row["annotator"], row["question"], row["price"]) for row in screened} == {
        ("screener", "is it a?", "0.01")
    }
    assert {row["price"] for row in of_crowd} == {"0.02"}
    assert "7 documents to label" in answer.stderr
    answers = data.with_name("answers.csv")
    record = json.loads(plan.read_text())
    record["asked"]["answers"] = str(answers)
    later = data.with_name("later.json")
    later.write_text(json.dumps(record))
    fill(sheet, lambda row: "no" if row["kind"] == "screener" else "a")
    assert labelworth("merge", data, sheet, "--answers", answers, "--in-place").code == 0
    held = read_answers(answers, n_samples=600, classes=["a", "b"])
    assert held.n_answers == 39
    assert held.names == ("ann", "bob", "eve", "kim", "screener")
    assert held.prices is not None
    assert held.prices.sum() == pytest.approx(34 * 0.02 + 5 * 0.01)
    assert held.evidence.codes[held.annotators == 4].tolist() == [1] * 5
    # A plan that knew the file of answers does not ask about what they are about, and says that they are newer.
    os.utime(answers, (later.stat().st_mtime + 60,) * 2)
    again = labelworth("next", data, "--plan", later, "-o", batch, "--sheet", sheet, *who)
    assert again.code == 0, again.stderr
    assert "answers.csv has changed since the plan was made: plan again" in again.stderr
    assert not {int(row["row"]) for row in rows_of(sheet)} & set(held.rows.tolist())
    same = labelworth("next", data, "--plan", plan, "-o", sheet, "--sheet", sheet, *who)
    assert "cannot both be filled in" in same.stderr


def test_a_plan_asks_for_gold_where_there_are_answers_and_for_answers_where_there_is_gold(
    planned: tuple[Path, Path],
) -> None:
    """Answers to thirty rows with gold and forty without; the crowd is asked about other labels than those thirty."""
    data, _ = planned
    labels = [json.loads(line)["label"] for line in data.read_text().splitlines()]
    has_gold = [row for row, label in enumerate(labels) if label is not None]
    open_rows = [row for row, label in enumerate(labels) if label is None][:40]
    answers, plan = data.with_name("held.csv"), data.with_name("held.json")
    lines = [f"{row},w{row % 4},{labels[row] or 'a'},crowd\n" for row in (*has_gold[:30], *open_rows)]
    answers.write_text("row,worker,label,kind\n" + "".join(lines))
    asked = ("--source", "asymptotic", "--criterion", "excess_log_loss", "--price-label", 0.1, "--budget", 30)
    kind = ("--kind", "crowd: price 0.02, unknown", "--kind", "expert: price 0.05, accuracy 0.95")
    made = labelworth("plan", data, *asked, *kind, "--answers", answers, "-o", plan)
    assert made.code == 0, made.stderr
    record = json.loads(plan.read_text())
    offers = {offer["arm"]: offer for offer in record["menu"]}
    assert offers["gold for answered"]["onto"] == "answered"
    assert offers["crowd for labeled"]["onto"] == "labeled"
    assert offers["crowd for labeled"]["price"] == 0.02
    batch, sheet = data.with_name("gold.jsonl"), data.with_name("asked.csv")
    draw = ("next", data, "--plan", plan, "-o", batch, "--sheet", sheet, "--annotators", "ann,bob")

    def ask(**wanted: int) -> None:
        arms = [{**arm, "count": wanted.get(arm["arm"], 0)} for arm in record["recommended"]["arms"]]
        plan.write_text(json.dumps({**record, "recommended": {**record["recommended"], "arms": arms}}))

    ask(**{"gold for answered": 25, "crowd for labeled": 60, "gold": 5, "crowd": 10})
    told = labelworth(*draw)
    assert told.code == 0, told.stderr
    gold, asked_about = {row["row"] for row in rows_of(batch)}, {int(row["row"]) for row in rows_of(sheet)}
    assert (len(gold), len(gold & set(open_rows))) == (30, 25)
    assert (len(asked_about), len(asked_about & set(has_gold))) == (70, 60)
    assert not asked_about & {*has_gold[:30], *open_rows, *gold}
    # Whoever stops early has filled in some of either.
    is_open = [row["row"] in open_rows for row in rows_of(batch)]
    assert is_open not in (sorted(is_open), sorted(is_open, reverse=True))
    ask(**{"crowd for labeled": 91})
    refused = labelworth(*draw)
    assert refused.code == 1
    assert "Only 90 documents with a label and no answer" in refused.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "The plan buys answers of crowd, screener: say with --sheet FILE"),
        (("--sheet", "s.csv", "--annotators", "ann"), "write 'crowd: ann,bob,eve'"),
        (("--sheet", "s.csv", "--annotators", "experts: ann"), "The plan knows the kinds 'crowd', 'screener'"),
        (("--sheet", "s.csv", "--annotators", "crowd: ann,bob"), "2 are named of the kind 'crowd'"),
    ],
)
def test_kinds_of_a_plan_have_their_annotators(
    planned: tuple[Path, Path], options: tuple[object, ...], words: str
) -> None:
    data, plan = planned
    answer = labelworth("next", data, "--plan", plan, *options)
    assert answer.code == 2
    assert words in answer.stderr
    assert not Path("s.csv").exists()


def test_gold_is_asked_for_what_has_answers(table: Path) -> None:
    """An audit the other way round: rows with answers and no label."""
    answers, batch = table.with_name("answers.csv"), table.with_name("gold.csv")
    open_rows = [N_LABELED, N_LABELED + 2]
    answers.write_text("row,annotator,answer\n0,ann,a\n" + "".join(f"{row},ann,a\n" for row in open_rows))
    audit = ("next", table, "--audit", "-o", batch)
    drawn_rows = labelworth(*audit, "--answers", answers, "--count", 2)
    assert drawn_rows.code == 0, drawn_rows.stderr
    assert {int(row["row"]) for row in rows_of(batch)} == set(open_rows)
    assert "label" in rows_of(batch)[0]
    more = labelworth(*audit, "--answers", answers, "--count", 3)
    assert more.code == 1
    assert "Only 2 documents with answers and no label can be drawn" in more.stderr
    assert "name these with --answers" in labelworth(*audit, "--count", 1).stderr
    both = labelworth(*audit, "--answers", answers, "--count", 1, "--sheet", table.with_name("s.csv"))
    assert both.code == 2
    assert "leave one of the two out" in both.stderr


@pytest.mark.parametrize("has_ids", [True, False])
def test_a_file_with_a_column_per_annotator_becomes_rows_with_the_new_answers(table: Path, has_ids: bool) -> None:
    """By what `next` advises: the same answers are read from the new file, and those of the sheet."""
    wide = table.with_name("wide.csv")
    said = {row: ("a", "", "b") if row % 3 else ("cannot say", "b", "") for row in range(N_ROWS - 8)}
    cells = [said.get(row, ("", "", "")) for row in range(N_ROWS)]
    lines = [",".join([f"d{row}"] * has_ids + list(own)) for row, own in enumerate(cells)]
    wide.write_text("\n".join(["id," * has_ids + "ann,bob,eve", *lines]) + "\n")
    asked = ("--count", 4, "--annotators", "ann,bob", "--votes", 2, "--answers", wide)
    sheet = table.with_name("sheet.csv")
    told = labelworth("next", table, "--sheet", sheet, *asked).stderr
    assert f"--answers {wide} -o {table.with_name('wide-by-row.csv')}" in told
    fill(sheet, lambda row: "a")
    refused = labelworth("merge", table, sheet, "--answers", wide, "--in-place")
    assert refused.code == 2
    assert "has a column per annotator" in refused.stderr
    merged = labelworth("merge", table, sheet, "--answers", wide, "-o", table.with_name("wide-by-row.csv"))
    assert merged.code == 0, merged.stderr
    name = "id" if has_ids else "row"
    rows = [
        (row[name].removeprefix("d"), row["annotator"], row["answer"])
        for row in rows_of(Path(f"{wide.with_stem('wide-by-row')}"))
    ]
    old = [
        (str(row), who, cell)
        for row, own in said.items()
        for who, cell in zip(("ann", "bob", "eve"), own, strict=True)
    ]
    assert rows[:-8] == [entry for entry in old if entry[2]]
    assert sorted(rows[-8:]) == sorted((row["row"], row["annotator"], "a") for row in rows_of(sheet))


def test_tokens_of_a_file_with_a_column_per_annotator_become_rows(columns: Path) -> None:
    wide, sheet = columns.with_name("wide.csv"), columns.with_name("sheet.csv")
    wide.write_text("ann,bob\n" + "B,\n,I\n" + "I,I\n" * 3 + ",\n" * 15)
    asked = ("--count", 2, "--annotators", "ann", "--answers", wide, "--sheet", sheet)
    answer = labelworth("next", columns, *asked)
    assert answer.code == 0, answer.stderr
    fill(sheet, lambda row: "B")
    long = columns.with_name("long.csv")
    merged = labelworth("merge", columns, sheet, "--answers", wide, "-o", long)
    assert merged.code == 0, merged.stderr
    rows = [tuple(row[name] for name in ("sequence", "token", "annotator", "answer")) for row in rows_of(long)]
    assert rows[:4] == [
        ("0", "0", "ann", "B"),
        ("0", "1", "bob", "I"),
        ("1", "0", "ann", "I"),
        ("1", "0", "bob", "I"),
    ]
    assert len(rows) == 8 + 6


def test_an_option_that_takes_one_value_is_refused_twice(table: Path) -> None:
    answer = labelworth("next", table, "--count", 2, "--answers", "one.csv", "--answers", "other.csv")
    assert answer.code == 2
    assert "--answers takes one value" in " ".join(answer.stderr.split())
    # Options of several values are not.
    sheet = table.with_name("sheet.csv")
    assert labelworth("next", table, "--count", 2, "--annotators", "ann", "--sheet", sheet).code == 0


def test_answers_about_rows_that_are_not_there_are_told_without_options_that_merge_has_not(table: Path) -> None:
    sheet, answers = drawn(table, "sheet.csv", *ASKED), table.with_name("answers.csv")
    rows = fill(sheet, lambda row: "a")
    answers.write_text("row,annotator,answer\n0,ann,a\n999,ann,a\n")
    answer = labelworth("merge", table, sheet, "--answers", answers, "--in-place")
    assert (answer.code, "not in the data" in answer.stderr, "outside" in answer.stderr) == (2, True, False)
    sheet.write_text(sheet.read_text().replace(f"\n{rows[0]['row']},", "\n999,"))
    answer = labelworth("merge", table, sheet, "--answers", table.with_name("new.csv"), "--in-place")
    assert (answer.code, "not in the data" in answer.stderr, "outside" in answer.stderr) == (2, True, False)
    fit = labelworth("fit", table, "--answers", answers, "-o", table.with_name("m.lw"))
    assert "--outside 'drop'" in fit.stderr
