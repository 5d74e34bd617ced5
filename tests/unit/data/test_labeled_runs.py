import numpy as np

from labelworth.data.evidence import Evidence
from labelworth.data.labeled_runs import labeled_runs
from labelworth.data.sequences import Sequences


def make(codes: list[int], offsets: list[int]) -> Sequences:
    weights = np.array([[1.0, 1.0, 0.0]]) if min(codes) < -1 else np.empty((0, 3))
    evidence = Evidence(np.array(codes), ("a", "b", "c"), weights)
    return Sequences(np.arange(len(codes)) % 4, np.array(offsets), evidence, ("w", "x", "y", "z"))


def test_runs_end_where_labels_or_sequences_do() -> None:
    sequences = make([0, -1, 1, -2, 2, -1, -1, 0, -1], [0, 4, 6, 7, 9])
    runs = labeled_runs(sequences)
    assert runs is not None
    assert runs.sequences.offsets.tolist() == [0, 1, 3, 4, 5]
    assert runs.owners.tolist() == [0, 0, 1, 3]
    assert runs.is_first.tolist() == [True, False, True, True]
    assert runs.sequences.words.tolist() == [0, 2, 3, 0, 3]
    assert runs.sequences.evidence.is_ambiguous.tolist() == [False, False, True, False, False]
    assert sequences.is_labeled.tolist() == [True, True, False, True]
    kept = runs.weighted(np.array([0.0, 2.0, 1.0, 3.0]))
    assert kept.owners.tolist() == [1, 3]
    assert kept.sequences.sequence_weights.tolist() == [2.0, 3.0]


def test_nothing_known_gives_no_runs() -> None:
    assert labeled_runs(make([-1, -1], [0, 2])) is None
