"""What others wrote, at the doors of the command line: answered with a code and a sentence, never a traceback."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labelworth.cli.fit import _notes
from labelworth.cli.inquiry import Inquiry
from labelworth.cli.options import DataOptions
from labelworth.data.evidence import Evidence
from labelworth.errors import InvalidInputError
from support.command_line import labelworth


def _documents(path: Path) -> Path:
    rows = [{"text": f"ant bee cat{row % 3}", "label": "ab"[row % 2] if row < 12 else None} for row in range(30)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def _objects(path: Path, tokens: str = "tokens") -> Path:
    rows = [{tokens: ["the", f"cat{row}"], "tags": ["D", "N"] if row < 4 else [None, None]} for row in range(8)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def plan_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plans")
    data = _documents(folder / "docs.jsonl")
    answer = labelworth(
        "plan",
        data,
        "--budget",
        20,
        "--criterion",
        "excess_log_loss",
        "--use-unlabeled",
        "yes",
        "-o",
        folder / "p.json",
    )
    assert answer.code == 0, answer.stderr
    return folder / "p.json"


@pytest.mark.parametrize(
    "arguments",
    [
        ("next", "DATA", "--plan", "PLAN", "-o", "DATA"),
        ("next", "DATA", "--plan", "PLAN", "-o", "PLAN"),
        ("next", "DATA", "--count", 5, "-o", "DATA"),
        ("fit", "DATA", "-o", "DATA"),
        ("fit", "DATA", "-o", "LINK"),
        ("fit", "DATA", "--template", "PLAN", "-o", "PLAN"),
        ("plan", "DATA", "--budget", 20, "-o", "DATA"),
        ("plan", "DATA", "--budget", 20, "--report", "DATA"),
        ("plan", "DATA", "--budget", 20, "-o", "NEW", "--report", "NEW"),
        ("plan", "--again", "PLAN", "-o", "DATA"),
        ("predict", "MODEL", "DATA", "-o", "DATA"),
        ("predict", "MODEL", "DATA", "-o", "MODEL"),
        ("merge", "DATA", "BATCH", "-o", "LINK"),
        ("merge", "DATA", "DATA", "--in-place"),
    ],
)
def test_no_command_writes_onto_what_it_reads(plan_file: Path, tmp_path: Path, arguments: tuple[Any, ...]) -> None:
    data = _documents(tmp_path / "docs.jsonl")
    paths = {"DATA": data, "NEW": tmp_path / "new.html"}
    for name in ("PLAN", "MODEL", "BATCH"):
        paths[name] = tmp_path / f"{name}.jsonl"
        paths[name].write_bytes(plan_file.read_bytes())
    record = json.loads(plan_file.read_text())
    record["asked"]["path"] = str(data)
    paths["PLAN"].write_text(json.dumps(record))
    paths["LINK"] = tmp_path / "link.jsonl"
    paths["LINK"].hardlink_to(data)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    answer = labelworth(*(paths.get(argument, argument) for argument in arguments))
    assert answer.code == 2
    assert "would overwrite" in answer.stderr or "cannot both be" in answer.stderr
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def _changed(plan_file: Path, tmp_path: Path, **asked: Any) -> Path:
    document = json.loads(plan_file.read_text())
    document["asked"].update(asked)
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(document))
    return path


@pytest.mark.parametrize("value", [3, True, [], ["a"], {}, 1.5])
@pytest.mark.parametrize(
    "name", ["text_column", "label_column", "encoding", "format", "classes", "seconds_column", "template", "model"]
)
def test_texts_of_a_plan_file_must_be_texts(plan_file: Path, tmp_path: Path, name: str, value: object) -> None:
    answer = labelworth("plan", "--again", _changed(plan_file, tmp_path, **{name: value}))
    assert answer.code == 2
    assert f"{name} must be a text" in answer.stderr


@pytest.mark.parametrize("value", ["3", True, [], {}])
@pytest.mark.parametrize(
    "name", ["price_hour", "price_label", "min_documents", "max_words", "smoothing", "pool", "budget", "binarize"]
)
def test_numbers_of_a_plan_file_must_be_numbers(plan_file: Path, tmp_path: Path, name: str, value: object) -> None:
    answer = labelworth("plan", "--again", _changed(plan_file, tmp_path, **{name: value}))
    assert answer.code == 2
    assert f"{name} must be a " in answer.stderr


@pytest.mark.parametrize("option", ["--budget", "--price-label", "--smoothing", "--pool", "--seed"])
def test_options_beside_a_plan_file_are_refused(plan_file: Path, option: str) -> None:
    answer = labelworth("plan", "--again", plan_file, option, 3)
    assert answer.code == 2
    assert "--again takes everything from the plan file" in answer.stderr


def test_a_plan_file_of_another_model_is_refused(plan_file: Path, tmp_path: Path) -> None:
    answer = labelworth("plan", "--again", _changed(plan_file, tmp_path, model="luck"))
    assert answer.code == 2
    assert "--model must be one of" in answer.stderr


def test_plan_files_that_name_the_usual_columns_named_none(plan_file: Path, tmp_path: Path) -> None:
    data = _objects(tmp_path / "tags.jsonl")
    changed = _changed(plan_file, tmp_path, path=str(data), text_column="text", label_column="label")
    inquiry, question = Inquiry.read_again(changed)
    assert (inquiry.data.text_column, inquiry.data.label_column) == (None, None)
    assert question.budget == 20
    assert inquiry.data.read().n_samples == 8


@pytest.mark.parametrize("labels", ["many", None, []])
def test_a_plan_file_that_counts_no_labels_is_refused(plan_file: Path, tmp_path: Path, labels: object) -> None:
    document = json.loads(plan_file.read_text())
    document["recommended"]["labels"] = labels
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(document))
    answer = labelworth("next", document["asked"]["path"], "--plan", path)
    assert answer.code == 2
    assert "recommended/labels" in answer.stderr


def test_a_column_that_is_named_is_heard(tmp_path: Path) -> None:
    data = _objects(tmp_path / "tags.jsonl", "text")
    asked = ("next", data, "--count", 2, "--format", "tokens-jsonl")
    assert labelworth(*asked, "--text-column", "text").code == 0
    refused = labelworth(*asked)
    assert refused.code == 2
    assert "no column 'tokens'" in refused.stderr
    columns = tmp_path / "tags.conll"
    columns.write_text("the D\ncat N\n\na ?\ndog ?\n")
    named = labelworth("next", columns, "--count", 1, "--text-column", "text")
    assert named.code == 2
    assert "Got --text-column 'text'; name a number" in named.stderr


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("docs.jsonl", ("--format", "jsonl", "--model", "hidden-markov"), "hidden-markov is a model of sequences"),
        ("tags.jsonl", ("--format", "tokens-jsonl", "--model", "bernoulli"), "bernoulli is a model of documents"),
        ("docs.jsonl", ("--template", "chunking"), "--template is for sequences"),
        ("docs.jsonl", ("--classes", "a,c"), "not one of the classes"),
    ],
)
def test_what_does_not_go_together_is_refused(
    tmp_path: Path, name: str, options: tuple[object, ...], words: str
) -> None:
    _documents(tmp_path / "docs.jsonl")
    _objects(tmp_path / "tags.jsonl")
    answer = labelworth("fit", tmp_path / name, "-o", tmp_path / "model.lw", *options)
    assert answer.code == 2
    assert words in answer.stderr


def test_a_class_without_labels_is_told(tmp_path: Path) -> None:
    answer = labelworth("fit", _documents(tmp_path / "docs.jsonl"), "-o", tmp_path / "model.lw", "--classes", "a,b,c")
    assert answer.code == 0
    assert "No label is 'c': what is fitted knows little of it." in answer.stderr


def test_all_classes_without_labels_are_told_and_that_answers_tell_of_them() -> None:
    nothing = Evidence(np.full(3, -1), ("a", "b"))
    assert _notes(nothing, has_answers=True) == [
        "No label is 'a' or 'b': what is fitted knows what answers say of them."
    ]
    (many,) = _notes(Evidence(np.full(3, -1), tuple("abcdefg")), has_answers=False)
    assert many.startswith("No label is 'a' or 'b' or 'c' or 'd' or 'e' or one of 2 others: ")
    assert _notes(Evidence(np.array([0, 1]), ("a", "b")), has_answers=False) == []


def test_a_plan_that_is_an_empty_object_is_refused_as_no_record(tmp_path: Path) -> None:
    empty = tmp_path / "plan.json"
    empty.write_text("{}")
    answer = labelworth("next", _documents(tmp_path / "docs.jsonl"), "--plan", empty, "-o", tmp_path / "batch.jsonl")
    assert "Not a valid record: at the top" in answer.stderr


def test_options_of_sequences_are_refused_for_documents(tmp_path: Path) -> None:
    data, model = _documents(tmp_path / "docs.jsonl"), tmp_path / "model.lw"
    assert labelworth("fit", data, "-o", model).code == 0
    for arguments, option in (
        (("check", data, "--policy", "nothing"), "--policy"),
        (("predict", model, data, "--known"), "--known"),
    ):
        answer = labelworth(*arguments)
        assert answer.code == 2
        assert f"{option} is for sequences" in answer.stderr


@pytest.mark.parametrize("asked", [[[0]], [{}], 3, "all", [True], {"0": 1}])
def test_positions_that_are_none_are_told(tmp_path: Path, asked: object) -> None:
    data, batch = _objects(tmp_path / "tags.jsonl"), tmp_path / "batch.jsonl"
    assert labelworth("next", data, "--count", 1, "-o", batch).code == 0
    row = {**json.loads(batch.read_text()), "ask": asked, "tags": ["D", None]}
    batch.write_text(json.dumps(row) + "\n")
    answer = labelworth("merge", data, batch, "-o", tmp_path / "new.jsonl")
    assert answer.code == 2
    assert "must be the list of positions" in answer.stderr


def test_a_column_without_a_name_is_one_that_is_not_named(tmp_path: Path) -> None:
    data = _objects(tmp_path / "tags.jsonl")
    answer = labelworth("next", data, "--count", 2, "--text-column", "")
    assert answer.code == 0
    assert all("cat" in json.loads(line)["tokens"][1] for line in answer.stdout.splitlines())


def test_lines_of_odd_blanks_are_counted_as_the_reader_counts_them(tmp_path: Path) -> None:
    data, batch = tmp_path / "tags.conll", tmp_path / "batch.conll"
    data.write_text("the D\ncat N\n\na ?\ndog ?\n\n\v ?\nx ?\n")
    assert labelworth("next", data, "--count", 2, "-o", batch).code == 0
    batch.write_text(batch.read_text().replace("?", "N"))
    answer = labelworth("merge", data, batch, "-o", tmp_path / "new.conll")
    assert answer.code == 0
    assert "4 labels of 2 sequences merged." in answer.stdout


def test_half_a_character_is_written_as_json_writes_it(tmp_path: Path) -> None:
    data = tmp_path / "docs.jsonl"
    data.write_text('{"text": "ant", "label": null, "id": "\\ud800"}\n')
    done = subprocess.run(
        [sys.executable, "-c", "from labelworth.cli.main import run; run()", "next", str(data), "--count", "1"],
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.decode())["id"] == "\ud800"


def test_parquet_that_cannot_be_shown_is_told(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    texts = [arrow.array(["ant", "bee"]), arrow.array(["a", None])]
    far = arrow.array([2**60, 1], type=arrow.timestamp("us"))
    for name, table in {
        "twice.parquet": arrow.Table.from_arrays([*texts, texts[0]], names=["text", "label", "more"]).rename_columns(
            ["text", "label", "text"]
        ),
        "far.parquet": arrow.Table.from_arrays([*texts, far], names=["text", "label", "when"]),
    }.items():
        parquet.write_table(table, tmp_path / name)
        answer = labelworth("next", tmp_path / name, "--count", 1)
        assert answer.code == 2
        assert name in answer.stderr


def test_documents_are_read_without_what_sequences_need(tmp_path: Path) -> None:
    data = _documents(tmp_path / "docs.jsonl")
    code = (
        "import sys\nfrom labelworth.cli.main import app\n"
        f"try:\n    app(['fit', {str(data)!r}, '-o', {str(tmp_path / 'model.lw')!r}])\nexcept SystemExit: pass\n"
        "words = ('sequence', 'chain', 'conll', 'tokens', 'markov', 'conditional', 'tag', 'lexicon', 'template')\n"
        # The one fit knows both kinds of data.
        "sys.modules.pop('labelworth.data.sequences', None)\n"
        "print([name for name in sys.modules if name.startswith('labelworth.') and any(w in name for w in words)])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_read_only_what_is_named() -> None:
    with pytest.raises(InvalidInputError, match="There is no format"):
        DataOptions(Path("nothing.jsonl"), format="luck").read()


def _damaged(plan_file: Path, tmp_path: Path, keys: tuple[Any, ...], value: Any) -> Path:
    document = json.loads(plan_file.read_text())
    part = document
    for key in keys[:-1]:
        part = part[key]
    part[keys[-1]] = value
    path = tmp_path / "damaged.json"
    path.write_text(json.dumps(document))
    return path


@pytest.mark.parametrize(
    ("keys", "value", "words"),
    [
        (("held", "n_labeled"), "x", "held/n_labeled"),
        (("held", "classes"), "ab", "held/classes"),
        (("recommended", "error"), [], "recommended/error"),
        (("recommended", "arms", 0, "count"), 2.5, "recommended/arms/0/count"),
        (("asked", "rename"), {"a": 1}, "rename must be a text"),
        (("asked", "budget"), "20", "budget must be a number"),
        (("recommended", "arms", 0, "arm"), "sideways", "an arm that is no labeling rule"),
        (("advice",), "stop", "contradicts itself"),
    ],
)
def test_a_plan_file_that_was_changed_by_hand_is_refused(
    plan_file: Path, tmp_path: Path, keys: tuple[Any, ...], value: Any, words: str
) -> None:
    data = plan_file.with_name("docs.jsonl")
    assert labelworth("next", data, "--plan", plan_file).code == 0
    answer = labelworth("next", data, "--plan", _damaged(plan_file, tmp_path, keys, value))
    assert answer.code == 2
    assert words in answer.stderr


def test_a_list_is_no_record(plan_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    path.write_text("[1, 2]")
    answer = labelworth("next", plan_file.with_name("docs.jsonl"), "--plan", path)
    assert answer.code == 2
    assert "Not a valid record: it holds a JSON list" in answer.stderr


def test_data_are_looked_for_beside_the_plan_file_too(
    plan_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    again = _changed(plan_file, tmp_path, path="docs.jsonl")
    (tmp_path / "docs.jsonl").write_bytes(plan_file.with_name("docs.jsonl").read_bytes())
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    inquiry, _ = Inquiry.read_again(again)
    assert inquiry.data.path == tmp_path / "docs.jsonl"
