"""Who is pinned down by whom: the table of three views, designs at random, and words."""

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp

from labelworth.channels.channel import Channel
from labelworth.data.answers import Answers
from labelworth.data.evidence import Evidence
from labelworth.data.samples import Samples
from labelworth.data.sequences import Sequences
from labelworth.errors import NotIdentifiableError
from labelworth.robust.answers.identifiability import (
    FEATURES,
    Designs,
    Identifiability,
    LocalRank,
    feature_views,
    identifiability,
)

CLASSES = ("a", "b", "c")


def judged(
    together: list[set[str]],
    views: int = 0,
    gold: dict[int, int] | None = None,
    classes: tuple[str, ...] = CLASSES,
    channels: tuple[Channel, ...] = (),
) -> Identifiability:
    """Rows that these sets of annotators answered; `gold` is the class of some, also of rows without answers."""
    return identifiability(*written(together, gold, classes), views, channels=channels)


def written(
    together: list[set[str]], gold: dict[int, int] | None, classes: tuple[str, ...]
) -> tuple[Answers, Evidence]:
    names = tuple(sorted(set.union(set(), *together)))
    entries = [(row, names.index(name)) for row, who in enumerate(together) for name in sorted(who)]
    rows, who = np.array(entries, dtype=np.int64).reshape(-1, 2).T
    n_rows = max([len(together), *(row + 1 for row in gold or {})])
    codes = np.full(n_rows, -1)
    for row, code in (gold or {}).items():
        codes[row] = code
    return Answers(rows, who, names, Evidence(np.zeros(len(rows), dtype=np.int64), classes)), Evidence(codes, classes)


@pytest.mark.parametrize(
    ("n_annotators", "views", "parameters", "rank"),
    [(1, 0, 3, 1), (2, 0, 5, 3), (3, 0, 7, 7), (1, 1, 5, 3), (2, 1, 7, 7), (1, 2, 5, 5)],
)
def test_ranks_are_those_of_three_views(n_annotators: int, views: int, parameters: int, rank: int) -> None:
    """Two classes; the first rows are Dawid and Skene's, whose table needs three annotators per item."""
    together = [{f"w{index}" for index in range(n_annotators)}]
    local = LocalRank.of(Designs.of(*written(together, None, ("a", "b")), views), ())
    assert local is not None
    assert (local.n_parameters, local.rank) == (parameters, rank)
    found = judged(together, views, classes=("a", "b"))
    assert found.verdict == ("names open" if rank == parameters else "not identified")


def test_scores_are_the_slopes_of_log_probabilities(seed: int) -> None:
    """By differences, in the softmax coordinates of shares and tables."""
    local = LocalRank.of(Designs.of(*written([{"w0", "w1"}], None, CLASSES), 0), ())
    assert local is not None
    rng = np.random.default_rng(seed)
    direction = rng.normal(size=local.n_parameters)

    def probabilities(step: float) -> np.ndarray:
        moved = step * direction
        logits = np.append(moved[:2], 0.0)
        shares = local.shares * np.exp(logits)
        shares /= shares.sum()
        joint = shares[:, None, None]
        for axis, view in ((1, "w0"), (2, "w1")):
            own = np.column_stack([moved[local.columns[view]].reshape(3, 2), np.zeros(3)])
            table = local.tables[view] * np.exp(own)
            table /= table.sum(axis=1, keepdims=True)
            joint = joint * np.expand_dims(table, 3 - axis)
        return joint.sum(axis=0).ravel()

    slopes = (probabilities(1e-5) - probabilities(-1e-5)) / 2e-5
    np.testing.assert_allclose(local.scores @ direction, slopes / np.sqrt(probabilities(0.0)), atol=1e-9)


def test_what_three_views_pin_down_has_full_rank_and_the_converse_is_told_by_the_rank(seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = ["w0", "w1", "w2", "w3", "w4"]
    n_open = n_pinned = 0
    for _ in range(150):
        classes = CLASSES[: rng.integers(2, 4)]
        together = [set(rng.choice(names, size=rng.integers(1, 4), replace=False)) for _ in range(rng.integers(1, 5))]
        gold = {row: int(rng.integers(len(classes))) for row in range(len(together) + 3) if rng.random() < 0.2}
        designs = Designs.of(*written(together, gold, classes), int(rng.integers(3)))
        open_views = designs.open_by_rank(())
        assert open_views is not None
        pinned = designs.pinned(())
        assert not pinned & open_views, (together, gold, designs.n_feature_views)
        n_open += bool(open_views)
        n_pinned += bool(pinned)
    assert n_open > 20
    assert n_pinned > 20


def test_the_rank_sees_what_rules_do_not() -> None:
    """Gold of one class of two tells the other by what is left; pairs alone leave the shares of classes open."""
    together = [{"w0", "w1"}, {"w0"}]
    assert Designs.of(*written(together, {1: 0}, ("a", "b")), 0).pinned(()) == set()
    assert judged(together, 0, {1: 0}, classes=("a", "b")).verdict == "identified"
    pairs = [set(pair) for pair in combinations(("w0", "w1", "w2", "w3"), 2)]
    found = judged(pairs, classes=("a", "b"))
    assert found.verdict == "not identified"
    assert found.open_annotators == ("w0", "w1", "w2", "w3")


def test_gold_of_every_class_names_all_who_share_rows_with_it() -> None:
    gold = {2: 0, 3: 1, 4: 2}
    assert judged([{"w0"}, {"w1"}], 1, gold).verdict == "identified"
    # A model of p(y | x) learns from gold what the rows are that others answered.
    assert judged([{"w0"}, {"w1"}], 0, gold).verdict == "identified"
    assert judged([{"w0"}, {"w1"}], 3, {2: 0}).open_names == (("b", "c"),)
    # All but one: the last is told by elimination.
    assert judged([{"w0"}, {"w1"}], 3, {2: 0, 3: 1}).verdict == "identified"


def test_known_annotators_pin_down_others_and_names() -> None:
    expert = Channel("expert", 0.8 * np.eye(3) + 0.2 / 3)
    assert judged([{"expert", "w0"}], channels=(expert,)).verdict == "identified"
    blind = Channel("expert", [[0.8, 0.1, 0.1], [0.1, 0.45, 0.45], [0.1, 0.45, 0.45]])
    assert judged([{"expert", "w0"}], 3, channels=(blind,)).open_names == (("b", "c"),)


def test_annotators_who_answered_only_beside_gold_do_not_matter() -> None:
    found = judged([{"w0"}, {"w1"}], 3, {1: 0, 2: 1, 3: 2})
    assert found.names == ("w0",)
    assert found.verdict == "identified"
    assert judged([{"w0", "w1"}, {"w1", "w2"}], 0, {1: 0}).names == ("w0", "w1")


def test_the_smallest_cure_is_told() -> None:
    alone = judged([{"w0"}], 0, classes=("a", "b"))
    words = alone.lines()[0]
    assert words.startswith("What 'w0' means is not pinned down: three views of a row are needed")
    assert words.endswith("Give gold for one row of each class, or 2 other annotators on rows that 'w0' answered.")
    two = judged([{"w0", "w1"}], 0).lines()[0]
    assert "or a third annotator on rows that 'w0' and 'w1' both answered" in two
    with pytest.raises(NotIdentifiableError, match="What 'w0', 'w1' mean is not pinned down"):
        judged([{"w0", "w1"}], 0).require()
    # What is told cures it.
    assert judged([{"w0", "w1", "w2"}], 0).verdict == "names open"
    assert judged([{"w0"}], 0, {1: 0, 2: 1, 3: 2}).verdict == "identified"
    judged([{"w0"}], 3).require()


def test_annotators_who_never_met_are_named() -> None:
    found = judged([{"w012", "w013"}, {"w031"}], 3)
    assert found.verdict == "names open"
    assert found.groups == (("w012", "w013"), ("w031",))
    assert "Annotators 'w012' and 'w031' never met" in found.lines()[1]
    assert "classes can be exchanged" in found.lines()[1]
    assert found.to_dict()["groups_that_never_met"] == [["w012", "w013"], ["w031"]]
    linked = judged([{"w012", "w013"}, {"w031", "w013"}], 3)
    assert not any("never met" in line for line in linked.lines())
    gold = judged([{"w012", "w013"}, {"w031"}], 3, {5: 0, 6: 1, 7: 2})
    assert gold.lines() == [
        "What annotators mean is pinned down, by gold or known annotators and by who answers with whom."
    ]


def test_too_many_annotators_for_a_rank_are_not_called_open() -> None:
    pairs = [{f"w{index:03d}", f"w{index + 1:03d}"} for index in range(200)]
    found = judged(pairs, 0)
    assert found.verdict == "not known"
    assert "is not shown to be pinned down" in found.lines()[0]
    found.require()


def test_what_rests_on_features_alone_says_so() -> None:
    """One annotator beside the features, and no gold; three annotators need none."""
    alone, three = judged([{"w1"}], 3), judged([{"w1", "w2", "w3"}], 3)
    assert alone.rests_on_features
    assert alone.lines()[-1].startswith("Without gold that rests on the features: if they do not tell the classes")
    assert not three.rests_on_features
    assert not any("rests on the features" in line for line in three.lines())
    assert judged([{"w1"}], 0).verdict == "not identified"


def test_features_that_are_the_same_in_all_rows_are_no_view() -> None:
    evidence = Evidence(np.full(4, -1), ("a", "b"))
    for one in (np.array([3.0, 2.0, 1.0]), sp.csr_array(np.array([[3.0, 2.0, 1.0]]))):
        rows = [one.reshape(1, 3)] * 4
        same = sp.csr_array(sp.vstack(rows)) if sp.issparse(one) else np.vstack(rows)
        other = same.copy()
        other[3, 2] = 2.0
        assert feature_views(Samples(same, evidence)) == 0
        assert feature_views(Samples(other, evidence)) == 3


def test_views_of_features() -> None:
    def documents(counts: list[list[int]], n_classes: int) -> Samples:
        evidence = Evidence(np.full(len(counts), -1), tuple("abcdefgh"[:n_classes]))
        return Samples(sp.csr_array(np.array(counts, dtype=float)), evidence)

    assert feature_views(documents([[1, 0, 0], [0, 1, 1]], 3)) == 2
    assert feature_views(documents([[5, 0, 0], [0, 1, 1]], 3)) == 3
    # Two kinds of words and four classes: three words together have four values.
    assert feature_views(documents([[5, 0], [1, 3]], 4)) == 1
    assert feature_views(documents([[5, 0]], 2), is_conditional=True) == 0
    vectors = Samples(np.arange(3.0)[:, None], Evidence(np.full(3, -1), ("a", "b")))
    assert feature_views(vectors) == 3
    tokens = Sequences(np.array([0, 1, 0]), np.array([0, 1, 3]), Evidence(np.full(3, -1), ("a", "b")), ("x", "y"))
    assert feature_views(tokens) == 2
    assert FEATURES == "the features"
