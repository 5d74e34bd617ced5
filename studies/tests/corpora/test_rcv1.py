import gzip
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from labelworth.errors import DataUnavailableError, InvalidInputError
from labelworth_studies.corpora.folder import FOLDER_VARIABLE, rcv1_lyrl2004
from labelworth_studies.corpora.rcv1 import rcv1_of_scikit_learn, read_lyrl2004

TOKENS = """.I 2286
.W
recov recov excit
bring mexic

.I 2287
.W
gold mine

.I 2290
.W

.I 2291
.W
vote
"""
TOPICS = """E11 2286 1
ECAT 2286 1
M14 2286 1
MCAT 2286 1
C15 2287 1
CCAT 2287 1
GCAT 2290 1
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    tokens, topics = tmp_path / "lyrl2004_tokens_train.dat", tmp_path / "rcv1-v2.topics.qrels"
    tokens.write_text(TOKENS)
    topics.write_text(TOPICS)
    return tokens, topics


def test_stories_have_their_words_and_their_single_top_level_topic(files: tuple[Path, Path]) -> None:
    raw = read_lyrl2004([files[0]], files[1])

    assert raw.texts == ("recov recov excit bring mexic", "gold mine", "", "vote")
    assert raw.labels == (None, "CCAT", "GCAT", None)


def test_several_files_are_one_corpus(files: tuple[Path, Path], tmp_path: Path) -> None:
    later = tmp_path / "lyrl2004_tokens_test_pt0.dat.gz"
    later.write_bytes(gzip.compress(b".I 9\n.W\noil\n\n"))

    raw = read_lyrl2004([files[0], later], files[1])

    assert raw.texts[-1] == "oil"
    assert len(raw.labels) == 5


def test_the_same_file_twice_is_refused(files: tuple[Path, Path]) -> None:
    with pytest.raises(InvalidInputError, match="2286 occurs twice"):
        read_lyrl2004([files[0], files[0]], files[1])


def test_topics_of_other_stories_are_refused(files: tuple[Path, Path]) -> None:
    files[1].write_text("CCAT 1 1\n")
    with pytest.raises(InvalidInputError, match="None of the 4 stories has a topic"):
        read_lyrl2004([files[0]], files[1])


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("gold mine\n", "line 1: a story begins with"),
        (".I one\n.W\ngold\n", "a story has a number"),
        (".I 1\ngold\n", "line 2: a story begins with"),
        ("\n\n", "holds no story"),
    ],
)
def test_what_is_no_token_file_is_told(files: tuple[Path, Path], content: str, problem: str) -> None:
    files[0].write_text(content)
    with pytest.raises(InvalidInputError, match=problem):
        read_lyrl2004([files[0]], files[1])


def test_what_is_no_topics_file_is_told(files: tuple[Path, Path]) -> None:
    files[1].write_text("CCAT 2286 1\nCCAT two 1\n")
    with pytest.raises(InvalidInputError, match="line 2: a line of topics"):
        read_lyrl2004([files[0]], files[1])


def test_the_corpus_is_found_in_the_folder_of_corpora(
    files: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "data" / "rcv1"
    folder.mkdir(parents=True)
    files[0].rename(folder / files[0].name)
    (folder / f"{files[1].name}.gz").write_bytes(gzip.compress(TOPICS.encode()))
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "data"))

    assert rcv1_lyrl2004("train").labels == (None, "CCAT", "GCAT", None)
    with pytest.raises(DataUnavailableError, match="test_pt0"):
        rcv1_lyrl2004("test")


def _fetched(target: list[list[int]]) -> dict:
    weights = sp.csr_matrix(np.array([[0.6, 0.8, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]))
    return {"data": weights, "target": sp.csr_matrix(target), "target_names": ["C15", "CCAT", "ECAT", "GCAT", "MCAT"]}


def test_weights_of_scikit_learn_keep_their_values_and_get_the_single_topic() -> None:
    raw = rcv1_of_scikit_learn(_fetched([[1, 1, 0, 0, 0], [0, 1, 0, 0, 1], [0, 0, 0, 1, 0]]))

    np.testing.assert_array_equal(raw.features.toarray()[0], [0.6, 0.8, 0.0])
    assert raw.labels == ("CCAT", None, "GCAT")
    assert raw.evidence().label_counts().tolist() == [1, 1]


def test_what_is_not_of_scikit_learn_is_told() -> None:
    with pytest.raises(InvalidInputError, match="needs data, target and target_names"):
        rcv1_of_scikit_learn({"data": np.eye(2)})
    fetched = _fetched([[1, 1, 0, 0, 0], [0, 1, 0, 0, 1]])
    with pytest.raises(InvalidInputError, match="a row per story and a column per topic"):
        rcv1_of_scikit_learn(fetched)
    with pytest.raises(InvalidInputError, match="lacks the top-level topics MCAT"):
        rcv1_of_scikit_learn({**fetched, "target_names": ["C15", "CCAT", "ECAT", "GCAT"]})
