"""Classifiers of scikit-learn by name, and those that users have written, on the command line."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from labelworth.cli.imported import imported
from labelworth.errors import InvalidInputError
from labelworth.report.record import validate
from support.blobs import texts, vectors
from support.command_line import labelworth
from support.files import write_jsonl

pytestmark = pytest.mark.usefixtures("few_replicates")

OWN = """
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

pipeline = make_pipeline(TfidfVectorizer(), LogisticRegression())
of_class = LogisticRegression
number = 3


def made():
    return LogisticRegression()


def with_argument(strength):
    return LogisticRegression(C=strength)


def nothing():
    return None


def failing():
    raise OSError("no weights here")
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a module of the user's; nothing of it stays imported."""
    (tmp_path / "own_models.py").write_text(OWN)
    (tmp_path / "broken_models.py").write_text("import a_module_that_nobody_has\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "own_models", raising=False)
    return tmp_path


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    words, labels = texts(120, 40)
    return write_jsonl(tmp_path / "docs.jsonl", words, [None if label == -1 else label for label in labels])


@pytest.fixture
def embeddings(tmp_path: Path) -> Path:
    X, labels = vectors(120, 40, distance=1.2)
    table = {"embedding": X.tolist(), "label": [None if label == -1 else label for label in labels]}
    pq.write_table(pa.table(table), tmp_path / "rows.parquet")
    return tmp_path / "rows.parquet"


@pytest.mark.parametrize("model", ["linear-svm", "self-training"])
def test_a_plan_of_texts_by_name(documents: Path, model: str) -> None:
    answer = labelworth("plan", documents, "--model", model, "--budget", 80, "--json")
    assert answer.code == 0
    record = answer.record
    validate(record)
    assert record["asked"]["model"] == model
    assert record["model"] == model
    assert record["source"] == "simulated"


def test_vectors_in_parquet_and_in_an_archive_are_the_same(embeddings: Path, tmp_path: Path) -> None:
    X, labels = vectors(120, 40, distance=1.2)
    np.savez(tmp_path / "rows.npz", X=X)
    (tmp_path / "labels.txt").write_text("".join(f"{'' if label == -1 else label}\n" for label in labels))
    lists = labelworth("frontier", embeddings, "--text-column", "embedding", "--model", "logistic", "--json")
    archive = labelworth(
        "frontier", tmp_path / "rows.npz", "--labels", tmp_path / "labels.txt", "--model", "logistic", "--json"
    )
    assert lists.code == archive.code == 0
    assert lists.record["points"] == archive.record["points"]


@pytest.mark.parametrize(
    ("model", "title"),
    [("boosting", "Boosted trees"), ("forest", "Random forest"), ("nearest-neighbors", "Nearest neighbors")],
)
def test_every_name_is_checked(embeddings: Path, model: str, title: str) -> None:
    answer = labelworth("check", embeddings, "--text-column", "embedding", "--model", model)
    assert answer.code == 0
    assert f"{title} can learn nothing from unlabeled rows" in answer.stdout


def test_a_check_says_what_a_classifier_does_with_unlabeled_rows(documents: Path) -> None:
    answer = labelworth("check", documents, "--model", "logistic")
    assert answer.code == 0
    assert answer.stdout.startswith("Verdict: not used.")
    assert "Logistic regression can learn nothing from unlabeled rows" in answer.stdout
    compared = labelworth("check", documents, "--model", "self-training", "--json")
    assert compared.code == 0
    assert compared.record["harm"]["n_tested"] == 40


def test_a_batch_is_drawn_after_a_plan_by_name(documents: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    assert labelworth("plan", documents, "--model", "logistic", "--budget", 60, "-o", plan).code == 0
    answer = labelworth("next", documents, "--model", "logistic", "--plan", plan)
    expected = json.loads(plan.read_text())["recommended"]["labels"]
    if expected:
        assert answer.code == 0
        assert len(answer.stdout.splitlines()) == expected
    else:
        assert answer.code == 1
    assert labelworth("plan", "--again", plan, "--json").record["model"] == "logistic"


def test_nothing_is_written_that_would_have_to_be_run(documents: Path, tmp_path: Path) -> None:
    for model in ("logistic", "own_models:pipeline"):
        answer = labelworth("fit", documents, "--model", model, "-o", tmp_path / "model.lw")
        assert answer.code == 2
        assert "fit it in Python" in answer.stderr
        assert not (tmp_path / "model.lw").exists()


def test_settings_of_other_models_and_other_data_are_refused(documents: Path, tmp_path: Path) -> None:
    answer = labelworth("plan", documents, "--model", "logistic", "--smoothing", 0.1, "--budget", 80)
    assert answer.code == 2
    assert "--smoothing is for other models" in answer.stderr
    (tmp_path / "data.conll").write_text("a X\nb Y\n\n")
    sequences = labelworth(
        "plan", tmp_path / "data.conll", "--format", "conll", "--model", "logistic", "--budget", 80
    )
    assert sequences.code == 2
    assert "logistic is for documents" in sequences.stderr
    unknown = labelworth("plan", documents, "--model", "logistics", "--budget", 80)
    assert unknown.code == 2
    assert "self-training" in unknown.stderr


def test_a_pipeline_of_the_users_own_is_given_texts(here: Path, documents: Path) -> None:
    plan = here / "plan.json"
    model = ("--model", "own_models:pipeline")
    answer = labelworth("plan", documents, *model, "--budget", 80, "-o", plan, "--json")
    assert answer.code == 0
    assert answer.record["model"] == "LogisticRegression"
    assert answer.record["asked"]["model"] == "own_models:pipeline"
    assert labelworth("check", documents, *model).stdout.startswith("Verdict: not used.")


def test_a_plan_file_runs_nothing_unless_its_model_is_typed_again(
    here: Path, documents: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, model = here / "plan.json", ("--model", "own_models:pipeline")
    first = labelworth("plan", documents, *model, "--budget", 80, "-o", plan, "--json")
    monkeypatch.delitem(sys.modules, "own_models")
    refused = labelworth("plan", "--again", plan)
    assert refused.code == 2
    assert "add --model own_models:pipeline" in refused.stderr
    other = labelworth("plan", "--again", plan, "--model", "own_models:made")
    assert other.code == 2
    assert "own_models" not in sys.modules
    again = labelworth("plan", "--again", plan, *model, "--json")
    assert again.code == 0
    assert again.record["recommended"] == first.record["recommended"]
    # A model that is not imported is still taken from the file alone.
    assert labelworth("plan", "--again", plan, "--model", "logistic").code == 2


def test_a_function_of_the_users_own_is_given_vectors(here: Path, embeddings: Path) -> None:
    answer = labelworth("frontier", embeddings, "--text-column", "embedding", "--model", "own_models:made")
    assert answer.code == 0


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("own_models:of_class", "is a class"),
        ("own_models:number", "is of type int"),
        ("own_models:with_argument", "must take no arguments"),
        ("own_models:nothing", "It returned NoneType"),
        ("own_models:failing", "OSError: no weights here"),
        ("own_models:absent", "has no 'absent'"),
        ("broken_models:model", "a_module_that_nobody_has"),
        ("no_such_module:model", "Cannot import no_such_module:model"),
        ("own_models:", "takes package.module:name"),
        (":model", "takes package.module:name"),
        ("../own_models:model", "takes package.module:name"),
    ],
)
def test_what_cannot_be_imported_is_refused_in_words(here: Path, model: str, words: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        imported(model)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([[1.0, 2.0], [1.0]], "row 2: every row must hold a vector of 2 numbers"),
        ([[1.0, 2.0], None], "Got None"),
        ([[1.0, 2.0], [1.0, None]], "vectors hold numbers. Got None"),
        ([[1.0, 2.0], [1.0, float("nan")]], "vectors hold numbers. Got nan"),
    ],
)
def test_vectors_that_are_none_are_refused(tmp_path: Path, cells: Any, words: str) -> None:
    pq.write_table(pa.table({"text": cells, "label": ["a", "b"]}), tmp_path / "rows.parquet")
    answer = labelworth("plan", tmp_path / "rows.parquet", "--model", "logistic", "--budget", 9)
    assert answer.code == 2
    assert words in " ".join(answer.stderr.split())
