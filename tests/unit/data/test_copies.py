"""Rows that are the same."""

import numpy as np
import scipy.sparse as sp

from labelworth.data.copies import first_copies
from labelworth.data.evidence import Evidence
from labelworth.data.rows import Rows
from labelworth.data.samples import Samples
from support.learners import sentences

ALL = np.arange(4)
EVIDENCE = Evidence(np.array([0, 1, 0, 1]), ("a", "b"))


def test_copies_point_to_the_first_of_them() -> None:
    long, other = "we sell the best things", "they buy what they can get"
    # Blanks are nothing; four words recur by chance.
    texts = Rows(np.array([long, other, "  we sell  the best things ", other], dtype=object), EVIDENCE)
    assert first_copies(texts, ALL).tolist() == [0, 1, 0, 1]
    assert first_copies(texts, ALL[1:]).tolist() == [0, 1, 0]
    short = Rows(["sorry i call later"] * 4, EVIDENCE)
    assert first_copies(short, ALL).tolist() == [0, 1, 2, 3]


def test_counts_and_vectors() -> None:
    rich, poor = [1, 2, 1, 3, 1, 0], [4, 0, 0, 1, 0, 0]
    counts = Samples(sp.csr_array(np.array([rich, poor, rich, poor], dtype=np.float64)), EVIDENCE)
    assert first_copies(counts, ALL).tolist() == [0, 1, 0, 3]
    vectors = Samples(np.array([[0.5, 1.0], [1.0, 2.0], [0.5, 1.0], [1.0, 2.0]]), EVIDENCE)
    assert first_copies(vectors, ALL).tolist() == [0, 1, 0, 3]


def test_nothing_is_known_of_other_data() -> None:
    assert first_copies(sentences(4), ALL).tolist() == [0, 1, 2, 3]
