"""Fit on a file, predict another one."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

import labelworth as lw
from labelworth.report.record import validate
from support.command_line import Answer, labelworth

TEXTS = ["goal match team", "team goal goal", "match team", "vote law state", "law law vote", "state vote"]
TOPICS = ["sport", "", "", "politics", "", ""]
TRUTH = ["sport"] * 3 + ["politics"] * 3


def write_jsonl(path: Path) -> Path:
    rows = [{"text": text, "label": topic or None} for text, topic in zip(TEXTS, TOPICS, strict=True)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def write_csv(path: Path) -> Path:
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["text", "label"])
        writer.writerows(zip(TEXTS, TOPICS, strict=True))
    return path


def counts() -> tuple[sp.csr_array, np.ndarray]:
    vocabulary = sorted({word for text in TEXTS for word in text.split()})
    table = [[text.split().count(word) for word in vocabulary] for text in TEXTS]
    return sp.csr_array(np.array(table, dtype=float)), np.array([0, -1, -1, 1, -1, -1])


def write_svmlight(path: Path) -> Path:
    features, labels = counts()
    dump_svmlight_file(features, labels, str(path), zero_based=False)
    return path


def write_npz(path: Path) -> Path:
    features, labels = counts()
    np.savez(path, X=features.toarray(), y=labels)
    return path


FILES = {
    "data.jsonl": (write_jsonl, [], TRUTH),
    "data.csv": (write_csv, [], TRUTH),
    "data.svm": (write_svmlight, ["--unlabeled", "-1"], [0] * 3 + [1] * 3),
    "data.npz": (write_npz, [], [0] * 3 + [1] * 3),
}


def fitted(folder: Path, name: str = "data.jsonl", *options: object) -> tuple[Path, Path]:
    write, needed, _ = FILES[name]
    data, model = write(folder / name), folder / "model.lw"
    answer = labelworth("fit", data, "-o", model, *needed, *options)
    assert answer.code == 0, answer.stderr
    return data, model


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("kind", ["multinomial", "bernoulli"])
def test_what_is_fitted_predicts(tmp_path: Path, name: str, kind: str) -> None:
    data, model = fitted(tmp_path, name, "--model", kind)
    answer = labelworth("predict", model, data)
    rows = [json.loads(line) for line in answer.stdout.splitlines()]
    assert [row["label"] for row in rows] == FILES[name][2]
    for row in rows:
        assert sum(row["probabilities"].values()) == pytest.approx(1.0)
        assert row["probability"] == max(row["probabilities"].values())


def test_a_gaussian_is_fitted_to_dense_vectors(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 30)
    X = rng.standard_normal((60, 3)) + 4 * y[:, None]
    np.savez(tmp_path / "data.npz", X=X, y=np.where(np.arange(60) % 5, -1, y))
    for shape in ("shared", "diagonal", "full"):
        answer = labelworth(
            "fit",
            tmp_path / "data.npz",
            "-o",
            tmp_path / "m.lw",
            "--model",
            "gaussian",
            "--covariance",
            shape,
            "--unlabeled",
            "-1",
        )
        assert answer.code == 0, answer.stderr
        lines = labelworth("predict", tmp_path / "m.lw", tmp_path / "data.npz").stdout.splitlines()
        assert [json.loads(line)["label"] for line in lines] == y.tolist()


def test_the_command_line_and_python_agree(tmp_path: Path) -> None:
    data, model = fitted(
        tmp_path, "data.npz", "--smoothing", "0.5", "--document-length", "9", "--unlabeled-weight", "0.3"
    )
    features, labels = counts()
    here = lw.MultinomialNaiveBayes(alpha=0.5, document_length=9, unlabeled_weight=0.3).fit(features, labels)
    loaded = lw.load(model)
    np.testing.assert_array_equal(loaded.predict_proba(features), here.predict_proba(features))
    assert (loaded.alpha, loaded.document_length, loaded.unlabeled_weight) == (0.5, 9.0, 0.3)
    rows = [json.loads(line) for line in labelworth("predict", model, data).stdout.splitlines()]
    np.testing.assert_array_equal([list(row["probabilities"].values()) for row in rows], here.predict_proba(features))


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_predictions_go_to_a_file(tmp_path: Path, ending: str) -> None:
    data, model = fitted(tmp_path)
    output = tmp_path / f"predictions.{ending}"
    answer = labelworth("predict", model, data, "--output", output)
    assert answer.stdout == ""
    assert "6 predictions" in answer.stderr
    with output.open(newline="") as stream:
        rows = list(csv.DictReader(stream)) if ending == "csv" else [json.loads(line) for line in stream]
    assert [row["label"] for row in rows] == TRUTH


def test_other_endings_are_refused_before_any_work(tmp_path: Path) -> None:
    answer = labelworth("predict", tmp_path / "none.lw", tmp_path / "none.csv", "-o", "predictions.txt")
    assert answer.code == 2
    assert ".jsonl or .csv" in answer.stderr


def test_svmlight_columns_are_counted_as_they_were_for_the_fit(tmp_path: Path) -> None:
    _, model = fitted(tmp_path, "data.svm")
    (tmp_path / "next.svm").write_text("0 2:3\n")  # alone, it would not tell from where it counts
    [line] = labelworth("predict", model, tmp_path / "next.svm").stdout.splitlines()
    expected = lw.load(model).predict_proba(sp.csr_array(([3.0], ([0], [1])), shape=(1, 6)))
    np.testing.assert_allclose(list(json.loads(line)["probabilities"].values()), expected[0])


def check_record(answer: Answer, command: str) -> None:
    assert answer.code == 0, answer.stderr
    validate(answer.record)
    assert answer.record["command"] == command


def test_json_is_one_valid_record(tmp_path: Path) -> None:
    data, model = write_jsonl(tmp_path / "data.jsonl"), tmp_path / "model.lw"
    answer = labelworth("fit", data, "-o", model, "--seed", 7, "--json")
    check_record(answer, "fit")
    record = answer.record
    assert record["seed"] == 7
    assert record["asked"]["path"] == str(data)
    assert record["data_digest"].startswith("sha256:")
    assert (record["n_rows"], record["n_labeled"], record["n_unlabeled"]) == (6, 2, 4)
    prediction = labelworth("predict", model, data, "--json")
    check_record(prediction, "predict")
    assert [row["label"] for row in prediction.record["predictions"]] == TRUTH


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ('{"text": "aa bb", "topic": "x"}\n', [], "--label-column"),
        ('{"text": "aa bb"}\n{"text": "c"}\n', [], "no label"),
        ('{"text": "aa bb", "label": "x"', [], "line 1"),
        ("", [], "is empty"),
        ('{"text": "aa bb", "label": -1}\n{"text": "bb cc", "label": 1}\n', [], "--unlabeled -1"),
        ('{"text": "aa bb", "label": "x"}\n', ["--model", "gaussian"], "gaussian"),
    ],
)
def test_bad_input_exits_with_two_and_says_the_cure(
    tmp_path: Path, content: str, options: list[str], message: str
) -> None:
    (tmp_path / "data.jsonl").write_text(content)
    answer = labelworth("fit", tmp_path / "data.jsonl", "-o", tmp_path / "model.lw", *options)
    assert answer.code == 2
    assert answer.stdout == ""
    assert message in answer.stderr
    assert "Traceback" not in answer.stderr
    assert not (tmp_path / "model.lw").exists()


def test_a_missing_file_exits_with_two(tmp_path: Path) -> None:
    answer = labelworth("fit", tmp_path / "none.csv", "-o", tmp_path / "model.lw")
    assert answer.code == 2
    assert "none.csv" in answer.stderr


def test_a_place_that_cannot_be_written_exits_with_two_before_any_work(tmp_path: Path) -> None:
    data = write_jsonl(tmp_path / "data.jsonl")
    answer = labelworth("fit", data, "-o", tmp_path / "nowhere" / "model.lw")
    assert answer.code == 2
    assert "Cannot write" in answer.stderr
    assert "Fitting" not in answer.stderr


def test_numbers_to_regress_on_exit_with_two(tmp_path: Path) -> None:
    (tmp_path / "data.jsonl").write_text('{"text": "goal", "label": 0.5}\n{"text": "law", "label": 1.7}\n')
    answer = labelworth("fit", tmp_path / "data.jsonl", "-o", tmp_path / "model.lw")
    assert answer.code == 2
    assert "texts or whole numbers" in answer.stderr


def test_an_encoding_can_be_named(tmp_path: Path) -> None:
    data, model = tmp_path / "data.csv", tmp_path / "model.lw"
    data.write_bytes("text,label\nfußball tor,spört\ngesetz wahl,politik\n".encode("latin-1"))
    refused = labelworth("fit", data, "-o", model)
    assert refused.code == 2
    assert "--encoding 'latin-1'" in refused.stderr
    assert labelworth("fit", data, "-o", model, "--encoding", "latin-1").code == 0
    predicted = labelworth("predict", model, data, "--encoding", "latin-1", "--json").record
    assert [row["label"] for row in predicted["predictions"]] == ["spört", "politik"]


@pytest.mark.parametrize("damage", ["truncated", "foreign", "empty"])
def test_a_damaged_model_exits_with_two(tmp_path: Path, damage: str) -> None:
    data, model = fitted(tmp_path)
    content = model.read_bytes()
    model.write_bytes({"truncated": content[: len(content) // 2], "foreign": b"PK not a model", "empty": b""}[damage])
    answer = labelworth("predict", model, data)
    assert answer.code == 2
    assert "cannot be used as a model" in answer.stderr


def test_a_matrix_for_a_model_of_texts_is_refused(tmp_path: Path) -> None:
    _, model = fitted(tmp_path)
    answer = labelworth("predict", model, write_npz(tmp_path / "data.npz"))
    assert answer.code == 2
    assert "fitted to texts" in answer.stderr


def test_more_columns_than_the_model_knows_are_refused(tmp_path: Path) -> None:
    _, model = fitted(tmp_path, "data.npz")
    np.savez(tmp_path / "wide.npz", X=np.ones((2, 9)))
    answer = labelworth("predict", model, tmp_path / "wide.npz")
    assert answer.code == 2
    assert "9" in answer.stderr


def test_labels_that_are_probably_one_class_are_said_first_and_read_as_one_when_asked(tmp_path: Path) -> None:
    data, model = tmp_path / "a.csv", tmp_path / "model.lw"
    rows = [("win cash now", "spam"), ("lunch at home", "ham"), ("see you", "ham "), ("free prize", "SPAM")]
    data.write_text("text;label\n" + "".join(f"{text};{label}\n" for text, label in rows))
    answer = labelworth("fit", data, "--output", model, "--json")
    assert answer.stderr.startswith("'SPAM' (1 label) and 'spam' (1 label) differ in capitals or blanks only")
    assert "use --rename 'SPAM=spam'." in answer.stderr
    assert [row["class"] for row in answer.record["classes"]] == ["SPAM", "ham", "spam"]
    mended = labelworth("fit", data, "--output", model, "--rename", "SPAM=spam", "--json")
    assert [row["class"] for row in mended.record["classes"]] == ["ham", "spam"]
    assert mended.record["notes"] == [f"The cells of {data} end at ';', and were read so."]
    assert "There is no label 'X' to rename" in labelworth("fit", data, "--output", model, "--rename", "X=y").stderr
