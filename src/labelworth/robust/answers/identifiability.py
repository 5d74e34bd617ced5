r"""Do labels, answers and features pin down what annotators mean? By whom, and if not, what is the smallest cure?

An annotator of unknown confusion is one more view of the class, independent of the others given it, and so is what a
generative model sees in a row. Three views of full rank tell everything but the names of the classes (Kruskal;
Allman, Matias and Rhodes), and so does one view that is known already, for all that share rows with it. Where that is
not enough, the rank of the joint information at parameters of no special kind decides, for those who were asked
together, all that they could have said summed over.
"""

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise, product
from math import comb
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from labelworth.arrays import FloatArray
from labelworth.channels.channel import Channel
from labelworth.data.answers import Answers
from labelworth.data.evidence import Evidence
from labelworth.data.samples import Samples
from labelworth.data.sequences import Sequences
from labelworth.errors import NotIdentifiableError
from labelworth.robust.support import listed

FEATURES = "the features"
_ENOUGH = 3  # views
_MOST_PARAMETERS, _MOST_CELLS = 400, 20_000  # of the rank
_MOST_TOGETHER = 4  # annotators of one row whose answers are summed over together; of more, all fours
_OPEN = 1e-7  # the share of the largest singular value below which nothing is told
_SEED = 0

Verdict = Literal["identified", "names open", "not known", "not identified"]


def feature_views(data: Samples | Sequences, *, is_conditional: bool = False) -> int:
    """How many views of full rank the features of a row are, three at most; none of a model of p(y | x).

    A view must have as many values as there are classes, so words of few kinds count together, and what is the same
    in all rows is none. That features tell the classes at all is for gold to say.
    """
    n_classes = data.evidence.n_classes
    if is_conditional:
        return 0
    if isinstance(data, Sequences):
        return min(_ENOUGH, int(data.lengths.max()))
    if _is_constant(data.features):
        return 0
    if not isinstance(data.features, sp.csr_array):
        return _ENOUGH  # Mixtures of Gaussians are told apart.
    together = 1
    while comb(data.n_features + together - 1, together) < n_classes:
        together += 1
    return min(_ENOUGH, int(data.features.sum(axis=1).max()) // together)


def _is_constant(features: Any) -> bool:
    """Whether all rows, of several, are the same."""
    first = features[[0]]
    for row in range(1, features.shape[0]):
        own, other = (np.asarray(one.toarray() if sp.issparse(features) else one) for one in (features[[row]], first))
        if (own != other).any():
            return False
    return bool(features.shape[0] > 1)


@dataclass(frozen=True, eq=False)
class Identifiability:
    """Whether what annotators mean is pinned down, with names."""

    names: tuple[str, ...]  # Of the annotators who answered rows without gold.
    classes: tuple[Hashable, ...]
    n_feature_views: int
    open_annotators: tuple[str, ...]  # Those whose confusion is not pinned down, whatever the number of rows.
    is_rank: bool  # Whether that was decided by the rank, or only is not shown by three views or a known one.
    model_open: bool  # Whether the model of the features is not pinned down either.
    open_names: tuple[tuple[Hashable, ...], ...]  # Groups of classes whose names could be exchanged.
    without_gold: tuple[Hashable, ...]  # Classes of which no row has gold.
    # Annotators linked by rows that several answered, where no gold of all classes stands behind them all: groups
    # that never met.
    groups: tuple[tuple[str, ...], ...]
    rests_on_features: bool = False  # Whether some of it is pinned down only as far as the features tell the classes.

    @property
    def verdict(self) -> Verdict:
        if self.open_annotators or self.model_open:
            return "not identified" if self.is_rank else "not known"
        return "names open" if self.open_names else "identified"

    def require(self) -> None:
        """Refuse what is not identified.

        Raises
        ------
        NotIdentifiableError
            With the smallest cure.
        """
        if self.verdict == "not identified":
            raise NotIdentifiableError(" ".join(self.lines()))

    def lines(self) -> list[str]:
        """What is open and what would close it, a sentence or two each; the first is the answer."""
        if self.verdict == "identified":
            told = "What annotators mean is pinned down, by gold or known annotators and by who answers with whom."
            return [told, *self._feature_words()]
        lines = []
        if self.verdict in ("not identified", "not known"):
            lines.append(self._open_words())
        if self.open_names:
            lines += self._name_words()
        return lines + self._feature_words()

    def _feature_words(self) -> list[str]:
        if not self.rests_on_features or len(self.without_gold) < len(self.classes):
            return []
        return [
            "Without gold that rests on the features: if they do not tell the classes, nothing says how often "
            "annotators are right. Gold for some rows says whether they do."
        ]

    def _open_words(self) -> str:
        told = "is not pinned down" if self.is_rank else "is not shown to be pinned down"
        who = f"what {listed(self.open_annotators)} mean{'s' if len(self.open_annotators) == 1 else ''}"
        subject = who if self.open_annotators else "the model of the features"
        views = f"{self.n_feature_views} of them" if self.n_feature_views else "none of them"
        return (
            f"{subject[0].upper()}{subject[1:]} {told}: three views of a row are needed that are independent given "
            f"its class, and the features are {views}. Give gold for one row of each class"
            f"{self._third_annotator()}."
        )

    def _third_annotator(self) -> str:
        pair = next(
            (group for group in self.groups if len(group) >= 2 and set(group) & set(self.open_annotators)), ()
        )
        if pair:
            return f", or a third annotator on rows that {pair[0]!r} and {pair[1]!r} both answered"
        needed = _ENOUGH - self.n_feature_views - 1
        if needed <= 0 or not self.open_annotators:
            return ""
        count = "another annotator" if needed == 1 else f"{needed} other annotators"
        return f", or {count} on rows that {self.open_annotators[0]!r} answered"

    def _name_words(self) -> list[str]:
        lines = []
        for group in self.open_names:
            one = "one row of each but one of them" if len(group) > 2 else "one row of either"
            lines.append(
                f"Only that annotators are taken to be right more often than not says which of {listed(group)} is "
                f"which: no row of them has gold, and nobody's confusion is known. Give gold for {one}."
            )
        if len(self.groups) > 1:
            first, second = self.groups[0][0], self.groups[1][0]
            tie = (
                "the features and how frequent classes are say"
                if self.n_feature_views
                else "how frequent they are says"
            )
            others = f" ({len(self.groups)} groups that share no row)" if len(self.groups) > 2 else ""
            lines.append(
                f"Annotators {first!r} and {second!r} never met, not even through others{others}: classes can be "
                f"exchanged between them, and only {tie} that they mean the same."
            )
        return lines

    def to_dict(self) -> dict[str, Any]:
        return {
            "verdict": self.verdict,
            "n_feature_views": self.n_feature_views,
            "open_annotators": list(self.open_annotators),
            "model_open": self.model_open,
            "open_names": [list(group) for group in self.open_names],
            "groups_that_never_met": [list(group) for group in self.groups] if len(self.groups) > 1 else [],
            "lines": self.lines(),
        }


def identifiability(
    answers: Answers, gold: Evidence, n_feature_views: int, *, channels: Sequence[Channel] = ()
) -> Identifiability:
    """Judge the answers that were given.

    Parameters
    ----------
    answers : Answers
    gold : Evidence
        Of the rows or tokens that were answered, and of those that were not.
    n_feature_views : int
        See `feature_views`.
    channels : sequence of Channel
        What is known of annotators of these names.
    """
    known = {channel.name: channel for channel in channels if not channel.is_unknown}
    designs = Designs.of(answers, gold, n_feature_views)
    pinned = designs.pinned(known)
    open_annotators = tuple(name for name in designs.names if name not in pinned)
    model_open = n_feature_views > 0 and FEATURES not in pinned
    alone = Designs.of(answers, gold, 0).pinned(known)
    is_rank = False
    if open_annotators or model_open:
        ranked = designs.open_by_rank(known)
        if ranked is not None:
            is_rank = True
            open_annotators = tuple(name for name in designs.names if name in ranked)
            model_open = FEATURES in ranked
    return Identifiability(
        designs.names,
        gold.classes,
        n_feature_views,
        open_annotators,
        is_rank,
        model_open,
        _open_names(gold, list(known.values())),
        tuple(gold.classes[code] for code in np.flatnonzero(gold.label_counts() == 0)),
        designs.groups,
        n_feature_views > 0 and bool(set(designs.names) - set(open_annotators) - alone),
    )


@dataclass(frozen=True, eq=False)
class Designs:
    """What was seen of rows: who answered them together, and beside gold of which class."""

    names: tuple[str, ...]  # Annotators who answered rows without gold: beside gold an answer tells nothing new.
    n_classes: int
    n_feature_views: int
    together: frozenset[frozenset[str]]  # Sets of annotators that answered a row without gold.
    audited: frozenset[tuple[int, frozenset[str]]]  # The same with gold of a class.
    gold_classes: frozenset[int]

    @classmethod
    def of(cls, answers: Answers, gold: Evidence, n_feature_views: int) -> "Designs":
        telling = np.flatnonzero(answers.is_telling)
        of_row: dict[int, set[str]] = {}
        for row, who in zip(answers.rows[telling].tolist(), answers.annotators[telling].tolist(), strict=True):
            of_row.setdefault(row, set()).add(answers.names[who])
        together = {frozenset(who) for row, who in of_row.items() if gold.codes[row] < 0}
        audited = {(int(gold.codes[row]), frozenset(who)) for row, who in of_row.items() if gold.codes[row] >= 0}
        needed = frozenset().union(*together)
        names = tuple(name for name in answers.names if name in needed)
        return cls(
            names,
            gold.n_classes,
            n_feature_views,
            frozenset(together),
            frozenset(audited),
            frozenset(np.flatnonzero(gold.label_counts()).tolist()),
        )

    @cached_property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Annotators linked by rows that several answered, audited or not."""
        code = {name: index for index, name in enumerate(self.names)}
        sets = (sorted(code[name] for name in who if name in code) for who in self._answered_sets)
        links = [pair for own in sets for pair in pairwise(own)]
        shape = (len(self.names), len(self.names))
        rows, columns = zip(*links, strict=True) if links else ((), ())
        graph = sp.coo_array((np.ones(len(links)), (rows, columns)), shape=shape)
        n_groups, labels = sp.csgraph.connected_components(graph, directed=False)
        return tuple(
            tuple(self.names[index] for index in np.flatnonzero(labels == label)) for label in range(n_groups)
        )

    @property
    def _answered_sets(self) -> set[frozenset[str]]:
        return {*self.together, *(who for _, who in self.audited)}

    def pinned(self, known: Collection[str]) -> set[str]:
        """Annotators, and features, that three views or one known view pin down, up to the names of classes."""
        everything = len(self.gold_classes) == self.n_classes
        pinned = set(known)
        if everything or self.n_feature_views >= _ENOUGH:
            pinned.add(FEATURES)
        audits: dict[str, set[int]] = {}
        for code, who in self.audited:
            for name in who:
                audits.setdefault(name, set()).add(code)
        pinned |= {name for name, codes in audits.items() if len(codes) == self.n_classes}
        seen_with_features = {FEATURES} if self.n_feature_views or everything else set()
        while True:
            before = len(pinned)
            for who in self.together:
                views = who | seen_with_features
                if pinned & views or len(who) + self.n_feature_views >= _ENOUGH:
                    pinned |= views
            if len(pinned) == before:
                return pinned

    def open_by_rank(self, known: Collection[str]) -> set[str] | None:
        """Annotators, and features, along which the joint information is singular; None if that is too much."""
        rank = LocalRank.of(self, known)
        return None if rank is None else rank.open_views()


@dataclass(frozen=True, eq=False)
class LocalRank:
    """The joint information of class shares and tables of all views, at tables drawn at random."""

    n_classes: int
    shares: FloatArray  # (K,)
    tables: dict[str, FloatArray]  # (K, K) by view; that of the features is shared by all their views.
    columns: dict[str, slice]  # Of the unknown tables in the matrix; class shares come first.
    rows: tuple[tuple[int | None, tuple[str, ...]], ...]  # The gold class, or None, and the views of a kind of row.

    @classmethod
    def of(cls, designs: Designs, known: Collection[str]) -> "LocalRank | None":
        size = designs.n_classes
        views = [*designs.names, *([FEATURES] if designs.n_feature_views else [])]
        n_parameters = size - 1 + len(views) * size * (size - 1)
        if n_parameters > _MOST_PARAMETERS:
            return None
        extra = (FEATURES,) * min(designs.n_feature_views, _ENOUGH)
        kinds: set[tuple[int | None, tuple[str, ...]]] = {(None, extra)} if extra else set()
        kinds |= {(code, extra) for code in designs.gold_classes}
        for gold, who in (*((None, who) for who in designs.together), *designs.audited):
            kinds |= {(gold, (*part, *extra)) for part in _parts(sorted(who & set(designs.names)))}
        if sum(size ** len(part) for _, part in kinds) > _MOST_CELLS:
            return None
        rng = np.random.default_rng(_SEED)
        tables = {view: 0.5 * np.eye(size) + 0.5 * rng.dirichlet(np.ones(size), size=size) for view in views}
        columns, first = {}, size - 1
        for view in views:
            if view not in known:
                columns[view] = slice(first, first + size * (size - 1))
                first += size * (size - 1)
        shares = 0.5 / size + 0.5 * rng.dirichlet(np.full(size, 5.0))
        ordered = sorted(kinds, key=lambda kind: (-1 if kind[0] is None else kind[0], kind[1]))
        return cls(size, shares, tables, columns, tuple(ordered))

    @property
    def n_parameters(self) -> int:
        return max((own.stop for own in self.columns.values()), default=self.n_classes - 1)

    @cached_property
    def scores(self) -> FloatArray:
        """The score of everything that can be seen, times the root of its probability, (cells, parameters)."""
        return np.concatenate([self._scores_of(gold, views) for gold, views in self.rows])

    @cached_property
    def _decomposed(self) -> tuple[FloatArray, FloatArray]:
        _, values, directions = np.linalg.svd(
            np.vstack([self.scores, np.zeros((self.n_parameters,) * 2)]), full_matrices=False
        )
        return values, directions

    @property
    def rank(self) -> int:
        values, _ = self._decomposed
        return int((values > _OPEN * values[0]).sum())

    def open_views(self) -> set[str]:
        """Whose tables move along directions of which nothing is told."""
        _, directions = self._decomposed
        moved = np.square(directions[self.rank : self.n_parameters]).sum(axis=0)
        return {view for view, own in self.columns.items() if moved[own].sum() > _OPEN}

    def _scores_of(self, gold: int | None, views: tuple[str, ...]) -> FloatArray:
        size = self.n_classes
        said = np.array(list(product(range(size), repeat=len(views))), dtype=int)
        joint = np.tile(self.shares, (len(said), 1))
        for index, view in enumerate(views):
            joint *= self.tables[view][:, said[:, index]].T
        if gold is not None:
            joint *= np.arange(size) == gold
        moves = np.zeros((len(said), self.n_parameters))
        moves[:, : size - 1] = joint[:, :-1] - joint.sum(axis=1, keepdims=True) * self.shares[:-1]
        for index, view in enumerate(views):
            if view in self.columns:
                hits = said[:, index, None] == np.arange(size - 1)
                slopes = hits[:, None, :] - self.tables[view][None, :, :-1]  # (cells, K, K - 1)
                moves[:, self.columns[view]] += (joint[:, :, None] * slopes).reshape(len(said), -1)
        return np.asarray(moves / np.sqrt(joint.sum(axis=1, keepdims=True)))


def _parts(who: list[str]) -> list[tuple[str, ...]]:
    return list(combinations(who, min(len(who), _MOST_TOGETHER)))


def _open_names(gold: Evidence, known: Sequence[Channel]) -> tuple[tuple[Hashable, ...], ...]:
    """Groups of classes that no gold and no known channel tells apart by name."""
    anchors = [np.diag(gold.label_counts() > 0).astype(np.float64)]
    # A class named by an ambiguous label among fewer than all is told from those that the label leaves out.
    anchors.append(np.unique(gold.weights, axis=0).T.reshape(gold.n_classes, -1))
    anchors += [channel.table(gold.classes).probabilities for channel in known]
    groups: dict[bytes, list[Hashable]] = {}
    for name, row in zip(gold.classes, np.concatenate(anchors, axis=1), strict=True):
        groups.setdefault(np.ascontiguousarray(row).tobytes(), []).append(name)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)
