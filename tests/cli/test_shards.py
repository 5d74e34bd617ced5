"""`labelworth shard`, and what takes a folder of shards."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from labelworth.cli.options import EngineOptions
from support.command_line import labelworth

WORDS = {"ham": ("lunch", "meeting", "report", "hello"), "spam": ("free", "money", "offer", "hello")}


def write_mail(folder: Path, n_rows: int = 120) -> Path:
    rng = np.random.default_rng(0)
    rows: list[dict[str, Any]] = []
    for number in range(n_rows):
        label = ("ham", "spam")[number % 2]
        text = " ".join(rng.choice(WORDS[label], size=6))
        rows.append({"text": text, "label": label if number < 40 else None})
    path = folder / "mail.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    answer = labelworth("shard", write_mail(tmp_path), "-o", tmp_path / "shards", "--shard-values", 1000)
    assert answer.code == 0, answer.stderr
    assert "120 samples, 40 of them labeled" in answer.stdout
    return tmp_path / "shards"


def test_a_folder_is_fitted_and_predicted_as_its_file_is(folder: Path, tmp_path: Path) -> None:
    records = {}
    for name, data in (("file", tmp_path / "mail.jsonl"), ("shards", folder)):
        model = tmp_path / f"{name}.lw"
        records[name] = labelworth("fit", data, "-o", model, "--smoothing", 0.1, "--json").record
        answer = labelworth("predict", model, data, "-o", tmp_path / f"{name}.jsonl")
        assert answer.code == 0, answer.stderr
    assert records["shards"]["objective"] == pytest.approx(records["file"]["objective"], rel=1e-12)
    assert records["shards"]["n_labeled"] == records["file"]["n_labeled"] == 40
    predicted = [
        [json.loads(line) for line in (tmp_path / f"{name}.jsonl").read_text().splitlines()] for name in records
    ]
    assert [row["label"] for row in predicted[0]] == [row["label"] for row in predicted[1]]
    assert not list(tmp_path.glob(".*passes"))
    # What was fitted to shards of texts reads texts.
    assert labelworth("predict", tmp_path / "shards.lw", tmp_path / "mail.jsonl").stdout.count("\n") == 120


def test_a_folder_is_checked_and_planned(folder: Path) -> None:
    checked = labelworth("check", folder, "--no-specification", "--model", "multinomial", "--json")
    assert checked.code in (0, 1), checked.stderr
    planned = labelworth("plan", folder, "--model", "multinomial", "--budget", 80, "--price-label", 1, "--json")
    assert planned.code == 0, planned.stderr
    assert planned.record["held"]["n_labels"] == 40


@pytest.mark.parametrize(
    "said",
    [
        ("--max-words", 3),
        ("--min-documents", 2),
        ("--text-column", "text"),
        ("--label-column", "label"),
        ("--unlabeled", "?"),
        ("--encoding", "latin-1"),
        ("--format", "jsonl"),
        ("--rename", "a=b"),
        ("--classes", "ham,spam"),
    ],
)
def test_how_to_read_is_not_said_of_shards(said: tuple[Any, ...], folder: Path, tmp_path: Path) -> None:
    answer = labelworth("fit", folder, "-o", tmp_path / "model.lw", *said)
    assert answer.code == 2
    assert f"settled when it was made. Leave out {said[0]}" in " ".join(answer.stderr.split())
    assert not list(tmp_path.glob(".*passes"))


def test_every_command_refuses_how_shards_are_to_be_read(folder: Path, tmp_path: Path) -> None:
    assert labelworth("fit", folder, "-o", tmp_path / "model.lw").code == 0
    asked: list[tuple[Any, ...]] = [
        ("predict", tmp_path / "model.lw", folder),
        ("check", folder),
        ("plan", folder, "--target", 0.1),
        ("frontier", folder),
        ("shard", folder, "--verify"),
    ]
    for words in asked:
        answer = labelworth(*words, "--text-column", "text")
        assert answer.code == 2
        assert "Leave out --text-column" in " ".join(answer.stderr.split())


def test_what_a_plan_advises_to_type_can_be_typed(folder: Path, tmp_path: Path) -> None:
    planned = labelworth("plan", folder, "--budget", 80, "--price-label", 1)
    assert planned.code == 0, planned.stderr
    (advice,) = " ".join(planned.stdout.split()).split("To fit this model: labelworth ")[1:]
    words = advice.split("model.lw")[0].split()
    assert words[0] == "fit"
    assert labelworth(*words, tmp_path / "model.lw").code == 0


def test_what_needs_texts_says_so(folder: Path, tmp_path: Path) -> None:
    asked: list[tuple[Any, ...]] = [
        ("next", folder, "--count", 5, "-o", tmp_path / "batch.jsonl"),
        ("convert", folder, tmp_path / "out.csv"),
        ("shard", folder, "-o", tmp_path / "again"),
    ]
    for words in asked:
        answer = labelworth(*words)
        assert answer.code == 2
        assert "Give the file that they were made of" in " ".join(answer.stderr.split())


def test_hashed_words_are_fitted_and_predicted_in_shards(tmp_path: Path) -> None:
    mail = write_mail(tmp_path)
    assert labelworth("shard", mail, "-o", tmp_path / "shards", "--hash-bits", 8).code == 0
    fitted = labelworth("fit", tmp_path / "shards", "-o", tmp_path / "model.lw")
    assert fitted.code == 0, fitted.stderr
    assert labelworth("predict", tmp_path / "model.lw", tmp_path / "shards").stdout.count("\n") == 120
    refused = labelworth("predict", tmp_path / "model.lw", mail)
    assert refused.code == 2
    assert "hashed words" in " ".join(refused.stderr.split())


def test_every_byte_is_looked_at(folder: Path) -> None:
    assert labelworth("shard", folder, "--verify").code == 0
    path = next(folder.glob("0*/values.npy"))
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(bytes(content))
    answer = labelworth("shard", folder, "--verify")
    assert answer.code == 2
    assert path.parent.name in answer.stderr
    assert "was changed" in answer.stderr


def test_shards_are_written_as_parquet(folder: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    assert labelworth("shard", folder, "--to-parquet", tmp_path / "out").code == 0
    rows = [row for path in sorted((tmp_path / "out").iterdir()) for row in parquet.read_table(path).to_pylist()]
    assert len(rows) == 120
    assert rows[0]["label"] == "ham"
    assert rows[119]["label"] is None
    assert sum(rows[0]["counts"]) == 6
    assert set(rows[0]["words"]) <= set(WORDS["ham"])


def test_what_to_name_is_told(tmp_path: Path) -> None:
    answer = labelworth("shard", write_mail(tmp_path))
    assert answer.code == 2
    assert "--output" in answer.stderr


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    answer = labelworth("fit", tmp_path, "-o", tmp_path / "model.lw")
    assert answer.code == 2
    assert "no folder of shards" in answer.stderr


def test_sequences_are_sharded_and_fitted(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    lines = []
    for _ in range(60):
        lines += [f"{'abc'[tag]}{rng.integers(3)} {'XYZ'[tag]}" for tag in rng.integers(0, 3, size=5)] + [""]
    (tmp_path / "tags.conll").write_text("\n".join(lines))
    assert labelworth("shard", tmp_path / "tags.conll", "-o", tmp_path / "shards").code == 0
    answer = labelworth("fit", tmp_path / "shards", "-o", tmp_path / "model.lw", "--json")
    assert answer.code == 0, answer.stderr
    assert answer.record["model"] == "hidden-markov"
    assert answer.record["n_labeled"] == 300
    # Shards keep no rows of columns to write labels beside.
    refused = labelworth("predict", tmp_path / "model.lw", tmp_path / "shards", "-o", tmp_path / "out.conll")
    assert refused.code == 2
    assert "Give the file that they were made of" in " ".join(refused.stderr.split())


def test_a_stopped_run_goes_on_only_with_the_same_columns_of_the_same_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [f"{('lunch', 'money')[number % 2]} word{number},old,new\n" for number in range(2000)]
    data, folder = tmp_path / "mail.csv", tmp_path / "shards"

    def stopped() -> None:
        data.write_text("".join(["text,first,second\n", *rows]))
        with monkeypatch.context() as patch:
            patch.setattr("labelworth.data.shards.texts._vocabulary", None)  # Not to be called: there it ends.
            with pytest.raises(TypeError):
                labelworth("shard", data, "-o", folder, "--label-column", "first", "--shard-values", 1000)
        assert (folder / ".raw" / "000000").is_dir()

    stopped()
    other = labelworth("shard", data, "-o", folder, "--label-column", "second", "--shard-values", 1000, "--json")
    assert other.record["classes"] == ["new"]
    stopped()
    data.write_text(data.read_text().replace("old", "odd"))
    changed = labelworth("shard", data, "-o", folder, "--label-column", "first", "--shard-values", 1000, "--json")
    assert changed.record["classes"] == ["odd"]


def test_a_folder_is_made_again_in_another_way(folder: Path, tmp_path: Path) -> None:
    again = labelworth("shard", tmp_path / "mail.jsonl", "-o", folder, "--hash-bits", 8)
    assert again.code == 0, again.stderr
    assert labelworth("fit", folder, "-o", tmp_path / "model.lw").code == 0


def test_a_cluster_without_workers_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("distributed")
    client = SimpleNamespace(nthreads=dict, map=None, total=None)
    monkeypatch.setattr("labelworth.engines.cluster.connected", lambda address: client)
    EngineOptions(scheduler="tcp://here:1").opened(folder)
    assert "tcp://here:1 has no worker yet" in capsys.readouterr().err


@pytest.mark.parametrize(
    "said", [("--workers", 3), ("--engine", "processes"), ("--engine", "processes", "--workers", 3)]
)
def test_who_works_is_said_once(said: tuple[Any, ...], folder: Path, tmp_path: Path) -> None:
    for words in (("fit", folder, "-o", tmp_path / "model.lw"), ("check", folder)):
        answer = labelworth(*words, "--scheduler", "tcp://127.0.0.1:1", *said)
        assert answer.code == 2
        assert f"leave out {' and '.join(said[::2])}, or --scheduler" in " ".join(answer.stderr.split())
