"""Sequences on the command line: fit, predict and check, and what is said of bad input."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import labelworth as lw
from labelworth.data.readers import read_sequences
from labelworth.report.record import validate
from labelworth_studies.corpora.folder import corpora_folder
from support.command_line import labelworth
from support.sentences import LABELS, SENTENCES, draw_sentences, write_columns

PARTIAL: list[list[str | None]] = [["D", "N", "V"], ["D", None, None], [None, None, "V"], [None] * 3]
MODELS = ["hidden-markov", "boltzmann-chain", "conditional-random-field"]
TEMPLATE = "# words and first letters\nU00:%x[0,0]\nU01:%x[0,1]\n\nB\n"
SMALL = ("--smoothing", "0.1", "--label-smoothing", "0.1", "--c2", "0.1")


def write_jsonl(path: Path, labels: Any = PARTIAL) -> Path:
    rows = [{"tokens": words, "tags": tags} for words, tags in zip(SENTENCES, labels, strict=True)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def write_attributes(path: Path) -> Path:
    lines = []
    for words, tags in zip(SENTENCES, PARTIAL, strict=True):
        lines += [f"{tag or '?'}\tw={word}\tfirst={word[0]}" for word, tag in zip(words, tags, strict=True)]
        lines.append("")
    path.write_text("\n".join(lines) + "\n")
    return path


def fitted(folder: Path, *options: object, data: Path | None = None) -> tuple[Path, Path]:
    data = write_columns(folder / "train.conll", SENTENCES, PARTIAL) if data is None else data
    model = folder / "model.lw"
    answer = labelworth("fit", data, "-o", model, *SMALL, *options)
    assert answer.code == 0, answer.stderr
    return data, model


def predicted(model: Path, data: Path, *options: object) -> list[dict[str, Any]]:
    answer = labelworth("predict", model, data, *options)
    assert answer.code == 0, answer.stderr
    return [json.loads(line) for line in answer.stdout.splitlines()]


@pytest.mark.parametrize("kind", MODELS)
def test_what_is_fitted_to_columns_predicts(tmp_path: Path, kind: str) -> None:
    data, model = fitted(tmp_path, "--model", kind)
    rows = predicted(model, data)
    assert [row["tags"] for row in rows] == LABELS
    assert [row["tokens"] for row in rows] == SENTENCES
    loaded = lw.load(model)
    assert loaded.model_.kind == kind
    code_of = {name: code for code, name in enumerate(loaded.classes_.tolist())}
    for row, table in zip(rows, loaded.predict_proba(SENTENCES), strict=True):
        codes = [code_of[tag] for tag in row["tags"]]
        np.testing.assert_allclose(row["probabilities"], table[np.arange(len(codes)), codes])


def test_the_model_is_chosen_by_the_file(tmp_path: Path) -> None:
    for data, kind in (
        (write_jsonl(tmp_path / "data.jsonl"), "hidden-markov"),
        (write_columns(tmp_path / "data.txt", SENTENCES, PARTIAL), "hidden-markov"),
        (write_attributes(tmp_path / "data.crfsuite"), "conditional-random-field"),
    ):
        _, model = fitted(tmp_path, data=data)
        assert lw.load(model).model_.kind == kind
        assert [row["tags"] for row in predicted(model, data)] == LABELS


def test_rows_of_texts_in_json_lines_are_still_rows(tmp_path: Path) -> None:
    (tmp_path / "data.jsonl").write_text('{"text": "goal match", "label": "a"}\n{"text": "law", "label": "b"}\n')
    assert labelworth("fit", tmp_path / "data.jsonl", "-o", tmp_path / "model.lw").code == 0
    assert lw.load(tmp_path / "model.lw").model_.kind == "multinomial"


@pytest.mark.parametrize("kind", MODELS)
def test_the_command_line_and_python_agree(tmp_path: Path, kind: str) -> None:
    _, model = fitted(
        tmp_path, "--model", kind, "--min-count", "2", *(["--rare-words", "shapes"] * (kind != MODELS[2]))
    )
    classes = {
        "hidden-markov": lw.HiddenMarkov(alpha=0.1, label_smoothing=0.1, min_count=2, rare_words="shapes"),
        "boltzmann-chain": lw.BoltzmannChain(c2=0.1, min_count=2, rare_words="shapes"),
        "conditional-random-field": lw.ConditionalRandomField(c2=0.1, min_count=2),
    }
    here = classes[kind].fit(SENTENCES, PARTIAL)
    for one, two in zip(lw.load(model).predict_proba(SENTENCES), here.predict_proba(SENTENCES), strict=True):
        np.testing.assert_array_equal(one, two)


def test_a_template_file_makes_attributes_of_columns(tmp_path: Path) -> None:
    (tmp_path / "template").write_text(TEMPLATE)
    data, model = fitted(tmp_path, "--model", MODELS[2], "--template", tmp_path / "template")
    assert {"U00:cat", "U01:c"} <= set(lw.load(model).model_.feature_names)
    assert [row["tags"] for row in predicted(model, data)] == LABELS
    # A file without labels has a column less, and needs no telling.
    bare = write_columns(tmp_path / "bare.conll", SENTENCES, None)
    assert [row["tags"] for row in predicted(model, bare)] == LABELS


def test_predictions_go_to_columns_as_conlleval_reads_them(tmp_path: Path) -> None:
    words, labels = draw_sentences(30)
    train = write_columns(tmp_path / "train.conll", words, labels)
    _, model = fitted(tmp_path, data=train)
    test = write_columns(tmp_path / "test.conll", *draw_sentences(20, seed=1))
    answer = labelworth("predict", model, test, "-o", tmp_path / "found.conll")
    assert answer.code == 0
    assert answer.stdout == ""
    lines = [line.split(" ") for line in (tmp_path / "found.conll").read_text().splitlines()]
    given = [line.split(" ") for line in test.read_text().splitlines()]
    assert [line[:3] for line in lines if line[0]] == [line for line in given if line[0]]
    right = np.mean([line[2] == line[3] for line in lines if line[0]])
    assert f"Accuracy {right:.4f}" in answer.stderr
    back = read_sequences(tmp_path / "found.conll")
    assert list(back.labels) == [line[3] for line in lines if line[0]]


def test_chunks_are_scored_and_labels_the_model_lacks_are_missed(tmp_path: Path) -> None:
    tags = {"D": "B-NP", "N": "I-NP", "V": "B-VP"}
    labels = [[tags[label] for label in sentence] for sentence in LABELS]
    _, model = fitted(tmp_path, data=write_columns(tmp_path / "train.conll", SENTENCES, labels))
    labels[0] = ["B-NP", "I-NP", "B-XP"]
    test = write_columns(tmp_path / "test.conll", SENTENCES, labels)
    answer = labelworth("predict", model, test, "--json")
    assert answer.code == 0, answer.stderr
    validate(answer.record)
    scores = answer.record["evaluation"]
    assert scores["accuracy"] == pytest.approx(11 / 12)
    overall = scores["chunks"][0]
    assert (overall["n_true"], overall["n_found"], overall["n_correct"]) == (8, 8, 7)
    assert overall["f1"] == pytest.approx(7 / 8)
    assert "FB1:  87.50" in answer.stderr


def test_known_labels_are_kept_when_asked(tmp_path: Path) -> None:
    _, model = fitted(tmp_path)
    held = write_columns(tmp_path / "held.conll", [["the", "dog", "sleeps"]], [["V", None, None]])
    assert predicted(model, held)[0]["tags"] == ["D", "N", "V"]
    assert predicted(model, held, "--known")[0]["tags"][0] == "V"
    strange = write_columns(tmp_path / "strange.conll", [["the", "dog", "sleeps"]], [["X", None, None]])
    refused = labelworth("predict", model, strange, "--known")
    assert refused.code == 2
    assert "'X'" in refused.stderr


@pytest.mark.parametrize("kind", MODELS)
def test_json_is_one_valid_record(tmp_path: Path, kind: str) -> None:
    data, model = write_columns(tmp_path / "data.conll", SENTENCES, PARTIAL), tmp_path / "model.lw"
    answer = labelworth("fit", data, "-o", model, "--model", kind, "--seed", 7, "--json")
    assert answer.code == 0, answer.stderr
    record = answer.record
    validate(record)
    assert (record["command"], record["model"], record["seed"]) == ("fit", kind, 7)
    assert (record["n_sequences"], record["n_tokens"], record["n_labeled"], record["n_unlabeled"]) == (4, 12, 5, 7)
    assert record["data_digest"].startswith("sha256:")
    assert record["n_parameters"] == lw.load(model).model_.coordinates.n_free
    prediction = labelworth("predict", model, data, "--json").record
    validate(prediction)
    assert [row["tags"] for row in prediction["predictions"]] == LABELS
    assert prediction["evaluation"]["n_tokens"] == 5
    assert prediction["n_unknown"] == 0


def test_unknown_words_are_counted(tmp_path: Path) -> None:
    _, model = fitted(tmp_path)
    new = write_columns(tmp_path / "new.conll", [["the", "zebra", "sleeps"]], None)
    answer = labelworth("predict", model, new, "--json")
    assert answer.record["n_unknown"] == 1
    assert answer.record["evaluation"] is None
    assert "1 of 3 tokens (33.3 %)" in answer.stderr


BAD = {
    "ragged": ("the D\ncat\n", [], "line 2 has 1 column"),
    "empty": ("", [], "is empty"),
    "blank": ("\n\n", [], "no tokens"),
    "unlabeled": ("the _\ncat ?\n", [], "--classes"),
    "column": ("the D\ncat N\n", ["--label-column", "7"], "--label-column 7"),
    "named": ("the D\ncat N\n", ["--label-column", "tag"], "name a number"),
    "same": ("the D\ncat N\n", ["--label-column", "0"], "both words and labels"),
    "template": ("the D\ncat N\n", ["--template", "chunking"], "conditional-random-field"),
    "no template": ("the D\n", ["--model", MODELS[2], "--template", "none-such"], "Cannot read the template"),
    "columns of template": ("the D\ncat N\n", ["--model", MODELS[2], "--template", "chunking"], "column 1"),
    "format": ("the D\n", ["--format", "tokens-jsonl"], "line 1"),
    "classes": ("the D\ncat N\n", ["--classes", "D,V"], "'N'"),
    "unlabeled crf": ("the _\ncat ?\n", ["--model", MODELS[2], "--classes", "D,N"], "learns nothing"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_exits_with_two_and_says_the_cure(tmp_path: Path, name: str) -> None:
    content, options, message = BAD[name]
    (tmp_path / "data.conll").write_text(content)
    answer = labelworth("fit", tmp_path / "data.conll", "-o", tmp_path / "model.lw", *options)
    assert answer.code == 2
    assert answer.stdout == ""
    assert message in answer.stderr
    assert "Traceback" not in answer.stderr
    assert not (tmp_path / "model.lw").exists()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"tokens": ["a", "b"], "tags": ["x"]}', "2 token(s) and 1 tag(s)"),
        ('{"tokens": ["a"], "tags": ["x"], "ner_tags": ["y"]}', "--label-column"),
        ('{"tokens": "a b", "tags": ["x"]}', "list of texts"),
        ('{"tokens": ["a"], "tags": [[]]}', "candidate tags"),
    ],
)
def test_bad_json_lines_exit_with_two(tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "data.jsonl").write_text('{"tokens": ["a"], "tags": ["x"]}\n' + line + "\n")
    answer = labelworth("fit", tmp_path / "data.jsonl", "-o", tmp_path / "model.lw")
    assert answer.code == 2
    assert message in answer.stderr


def test_tags_that_contradict_themselves_are_said(tmp_path: Path) -> None:
    (tmp_path / "data.conll").write_text("a B-X\nb I-Y\nc O\n\nd B-Y\ne I-Y\nf O\n")
    answer = labelworth("fit", tmp_path / "data.conll", "-o", tmp_path / "model.lw", "--json")
    assert answer.code == 0
    assert "contradict themselves" in answer.stderr
    assert "line 2" in " ".join(answer.record["notes"])


def test_one_token_sequences_and_lone_lines_work(tmp_path: Path) -> None:
    data = write_columns(tmp_path / "data.conll", [["the"], ["cat"], ["the"]], [["D"], ["N"], [None]])
    _, model = fitted(tmp_path, data=data)
    assert [row["tags"] for row in predicted(model, data)] == [["D"], ["N"], ["D"]]


def test_a_million_tokens_in_one_sequence_are_no_burden(tmp_path: Path) -> None:
    words, labels = draw_sentences(200)
    flat = [
        f"{word} {label}"
        for one, two in zip(words, labels, strict=True)
        for word, label in zip(one, two, strict=True)
    ]
    copies = -(-1_000_000 // len(flat))
    (tmp_path / "long.conll").write_text("\n".join(flat * copies) + "\n")
    data, model = fitted(tmp_path, data=tmp_path / "long.conll")
    answer = labelworth("predict", model, data, "-o", tmp_path / "found.conll", "--json")
    assert answer.code == 0, answer.stderr
    assert answer.record["n_sequences"] == 1
    assert answer.record["n_tokens"] >= 1_000_000
    assert answer.record["evaluation"]["accuracy"] > 0.95


@pytest.mark.parametrize("ending", ["txt", "csv", "crfsuite"])
def test_predictions_of_tokens_are_refused_in_other_files(tmp_path: Path, ending: str) -> None:
    data, model = fitted(tmp_path)
    answer = labelworth("predict", model, data, "-o", tmp_path / f"found.{ending}")
    assert answer.code == 2
    assert ".conll" in answer.stderr


def test_attributes_come_back_with_predicted_labels(tmp_path: Path) -> None:
    data = write_attributes(tmp_path / "data.crfsuite")
    _, model = fitted(tmp_path, data=data)
    assert labelworth("predict", model, data, "-o", tmp_path / "found.crfsuite").code == 0
    back = read_sequences(tmp_path / "found.crfsuite")
    assert list(back.labels) == [label for labels in LABELS for label in labels]


def test_a_model_of_words_refuses_attributes(tmp_path: Path) -> None:
    _, model = fitted(tmp_path)
    answer = labelworth("predict", model, write_attributes(tmp_path / "data.crfsuite"))
    assert answer.code == 2
    assert "one word per token" in answer.stderr


@pytest.mark.corpus("conll2000")
def test_conll2000_is_read_as_it_comes(tmp_path: Path) -> None:
    folder = corpora_folder() / "conll2000"
    options = ("--rare-words", "shapes", "--min-count", "2", "--smoothing", "0.1")
    answer = labelworth("fit", folder / "train.txt.gz", "-o", tmp_path / "m.lw", *options, "--json")
    assert (answer.record["n_sequences"], answer.record["n_tokens"]) == (8936, 211_727)
    assert "The tags follow IOB2" in answer.stderr
    found = labelworth("predict", tmp_path / "m.lw", folder / "test.txt.gz", "-o", tmp_path / "f.conll", "--json")
    overall = found.record["evaluation"]["chunks"][0]
    assert overall["n_true"] == 23_852
    assert overall["f1"] > 0.82


def first_only(labels: list[list[str]]) -> list[list[str | None]]:
    return [[label if token == 0 else None for token, label in enumerate(sentence)] for sentence in labels]


def check_sentences(folder: Path, *options: object, labels: Any = None) -> Any:
    words, whole = draw_sentences(40)
    data = write_columns(folder / "data.conll", words, whole if labels is None else labels(whole))
    return labelworth("check", data, *options)


def test_a_check_says_what_the_labels_leave_open(tmp_path: Path) -> None:
    answer = check_sentences(tmp_path, "--policy", "every-other", labels=first_only)
    assert answer.stdout.startswith("Verdict: ")
    for part in ("40 of", "No two neighboring tokens", "every-other carries"):
        assert part in " ".join(answer.stdout.split())


def test_a_check_gives_a_valid_record_and_an_exit_code(tmp_path: Path) -> None:
    answer = check_sentences(tmp_path, "--policy", "nothing", "--seed", 5, "--json")
    assert answer.code == 1
    record = answer.record
    validate(record)
    assert (record["command"], record["seed"], record["verdict"]) == ("check", 5, "identified")
    assert [policy["policy"] for policy in record["policies"]] == ["everything", "nothing"]
    assert record["policies"][1]["verdict"] == "not identified: labels without an anchor"


def test_labels_nobody_used_exit_with_one(tmp_path: Path) -> None:
    answer = check_sentences(tmp_path, "--classes", "D,N,V,X,Y", "--json")
    assert answer.code == 1
    validate(answer.record)
    assert answer.record["support"]["never_labeled"] == ["X", "Y"]


@pytest.mark.parametrize(
    ("options", "message"),
    [(["--policy", "somewhere"], "no rule 'somewhere'"), (["--classes", "D,N"], "'V'"), (["--policy", ""], "policy")],
)
def test_a_check_refuses_what_makes_no_sense(tmp_path: Path, options: list[str], message: str) -> None:
    answer = check_sentences(tmp_path, *options)
    assert answer.code == 2
    assert message in answer.stderr
