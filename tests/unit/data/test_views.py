"""What rows are, and what is said of columns that are not numbers."""

import numpy as np
import pytest
import scipy.sparse as sp

import labelworth as lw
from labelworth.data.views import about_text_columns, are_documents, text_columns
from labelworth.errors import InvalidInputError, LabelworthWarning

pandas = pytest.importorskip("pandas")
RNG = np.random.default_rng(0)
CLASSES = RNG.integers(2, size=60)
TABLE = pandas.DataFrame({"a": RNG.standard_normal(60) + 3 * CLASSES, "city": RNG.choice(["rome", "oslo"], 60)})
LABELS = np.where(np.arange(60) < 40, CLASSES, -1)


def test_texts_and_counts_are_documents_and_all_else_is_rows() -> None:
    assert are_documents(["a b", "c"])
    assert are_documents(sp.csr_array(np.eye(2)))
    # Whole and not negative: all else was made by somebody, and is no count of words.
    assert not are_documents(sp.csr_array(0.5 * np.eye(2)))
    assert not are_documents(sp.csr_array(-np.eye(2)))
    assert not are_documents(np.eye(2))
    assert not are_documents(TABLE)


@pytest.mark.parametrize("model", ["gaussian", "logistic", lw.AnyClassifier("logistic")])
def test_a_column_of_texts_is_named_where_a_model_wants_numbers(model: object) -> None:
    assert (text_columns(TABLE), text_columns(TABLE[["a"]]), text_columns(np.eye(2))) == (["city"], [], [])
    assert about_text_columns(TABLE[["a"]]) == ""
    with pytest.raises(InvalidInputError, match=r"The column 'city' is not numbers: .*pandas.get_dummies"):
        lw.plan(TABLE, LABELS, budget=50, model=model)


@pytest.mark.parametrize("model", ["multinomial", "gaussian"])
def test_who_gives_texts_to_a_model_of_counts_or_vectors_is_told_how_to_count_them(model: str) -> None:
    texts = ["one text", "another", "and a third"] * 10
    for given in (texts, np.array(texts)):
        with pytest.raises(InvalidInputError, match=r"'one text'\)?\. These are texts: .*CountVectorizer, or take"):
            lw.plan(given, ["a", "b", -1] * 10, budget=50, model=model)


def test_of_columns_that_never_vary_no_option_is_named_that_models_do_not_have() -> None:
    with pytest.raises(InvalidInputError, match=r"never vary .* have no variance\. Leave them out\.$"):
        lw.plan(np.ones((50, 2)), ["a", "b"] * 15 + [-1] * 20, budget=40)


def test_a_table_that_is_read_as_words_is_told() -> None:
    from labelworth.estimators.automatic import AutomaticModel

    words = TABLE[["city"]].assign(other="x")
    with pytest.warns(LabelworthWarning, match="All 2 columns of the table are read as words of one text, as 'city'"):
        AutomaticModel().read(words, LABELS, None)


@pytest.mark.parametrize("model", ["auto", "logistic", lw.AnyClassifier("nearest-neighbors")])
def test_gaps_and_texts_beside_numbers_are_refused_by_one_rule(model: object) -> None:
    with pytest.raises(InvalidInputError, match=r"numbers and texts. The column 'city' .*ColumnTransformer"):
        lw.plan(TABLE, LABELS, budget=50, model=model)
    for gap in (np.nan, np.inf):
        rows = np.random.default_rng(0).normal(size=(60, 3))
        rows[7, 2] = gap
        with pytest.raises(InvalidInputError, match=r"1 cell holds no finite number, the first in row 7, column 2"):
            lw.plan(rows, LABELS, budget=50, model=model)
    if isinstance(model, lw.AnyClassifier):
        with pytest.raises(InvalidInputError, match="1 cell holds no finite number"):
            model.fit(rows, LABELS)


def test_vectors_are_rows_in_the_words_of_a_plan() -> None:
    plan = lw.plan(TABLE[["a"]], LABELS, budget=50, model="gaussian", criterion="excess_log_loss", n_draws=0)
    assert plan.held.samples == "rows"
    assert not any("document" in line for line in plan.lines())


def test_documents_without_a_word_are_counted() -> None:
    texts = [("good fine" if code else "bad poor") if row % 20 else " " for row, code in enumerate(CLASSES)]
    plan = lw.plan(texts, LABELS, budget=50, source="simulated", model="logistic")
    assert any(note.startswith("3 of 60 documents have no word to go by") for note in plan.notes)
