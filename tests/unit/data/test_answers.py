"""What annotators said, as a value."""

import numpy as np
import pytest

from labelworth.data.answers import Answers
from labelworth.data.evidence import encode_labels
from labelworth.errors import InvalidInputError


def three() -> Answers:
    said = encode_labels(["a", ["a", "b"], "c"], classes=("a", "b", "c"))
    return Answers(
        np.array([0, 0, 4]), np.array([0, 2, 2]), ("ann", "bob", "eve"), said, np.array([1.0, np.nan, 2.0])
    )


def test_taking_answers_keeps_only_the_annotators_who_gave_them() -> None:
    kept = three().take(np.array([2, 1]))
    assert kept.names == ("eve",)
    assert kept.rows.tolist() == [4, 0]
    assert kept.annotators.tolist() == [0, 0]
    assert kept.evidence.dense().tolist() == [[0, 0, 1], [1, 1, 0]]
    assert kept.seconds is not None
    assert kept.seconds[0] == 2


def test_an_answer_needs_a_row_and_an_annotator_there_is() -> None:
    said = encode_labels(["a", "b"])
    with pytest.raises(InvalidInputError, match="annotator of an answer"):
        Answers(np.array([0, 1]), np.array([0, 1]), ("ann",), said)
    with pytest.raises(InvalidInputError, match="row of an answer"):
        Answers(np.array([0, -1]), np.array([0, 0]), ("ann",), said)
    with pytest.raises(InvalidInputError, match="one whole number per answer"):
        Answers(np.array([0]), np.array([0, 0]), ("ann",), said)
    with pytest.raises(InvalidInputError, match="prices"):
        Answers(np.array([0, 1]), np.array([0, 0]), ("ann",), said, prices=np.array([1.0, -1.0]))
