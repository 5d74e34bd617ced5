"""Sequences with any tagger of sklearn-crfsuite's manners, known by its fits alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy.special import log_softmax
from sklearn.base import clone

from labelworth.arrays import BoolArray, FloatArray, IntArray
from labelworth.data.sequences import Sequences
from labelworth.estimators.pools.any_rows import FAILURES, PLAIN_SMOOTHING, SMOOTHING, in_short, quietly, settled
from labelworth.estimators.pools.pool import Abilities, Pool, PoolKind
from labelworth.simulation.learner import Learner, LearnerKind, known_codes


@dataclass(frozen=True, eq=False)
class TokenLists(Sequences):
    """Sequences whose tokens are whatever a tagger takes: `features` are their indices in `tokens`."""

    tokens: Sequence[Any] = ()  # Of all sequences that were read, also of those that were left out since.

    @property
    def n_features(self) -> int:
        return len(self.tokens)

    @property
    def lists(self) -> list[list[Any]]:
        """As a tagger takes them."""
        return [[self.tokens[index] for index in part] for part in self._parts(self.words)]

    @property
    def is_whole(self) -> BoolArray:
        """Which sequences have one known label at every token."""
        return np.logical_and.reduceat(self.evidence.is_gold, self.offsets[:-1])

    def label_lists(self) -> list[list[Any]]:
        """The names of the labels, where all are known."""
        classes = self.evidence.classes
        return [[classes[code] for code in part] for part in self._parts(self.evidence.codes)]

    def _parts(self, values: IntArray) -> list[list[int]]:
        return [part.tolist() for part in np.split(values, self.offsets[1:-1])]


@dataclass(frozen=True, eq=False)
class TokenPrediction:
    """Predictions of tokens, each given all tokens of its sequence."""

    best: IntArray  # (n_tokens,): As the tagger predicts whole sequences.
    log_marginals: FloatArray  # (n_tokens, K)

    def log_posteriors(self, temperature: float) -> FloatArray:
        return np.asarray(log_softmax(self.log_marginals / temperature, axis=1))

    def draw(self, temperature: float, rng: np.random.Generator) -> IntArray:
        """Labels drawn token by token: how neighbors agree beyond that, such a tagger does not say."""
        shares = np.exp(self.log_posteriors(temperature)).cumsum(axis=1)
        uniforms = rng.random(len(shares)) * shares[:, -1]
        return np.asarray((uniforms[:, None] >= shares).sum(axis=1))


@dataclass(frozen=True, eq=False)
class FittedTagger:
    """What a fit gave: a fitted tagger, or the shares of labels where it could not be fitted."""

    tagger: Any  # None: it could not be fitted.
    classes: tuple[Any, ...]
    shares: FloatArray  # (n_classes,): Of the labels, smoothed.
    failure: str = ""  # Why it could not be fitted.

    def prediction(self, data: TokenLists) -> TokenPrediction:
        """Raises whatever the tagger raises."""
        if self.tagger is None:
            return self.share_prediction(data)
        lists = data.lists
        code_of = {name: code for code, name in enumerate(self.classes)}
        best = np.array([code_of[_plain(name)] for part in self.tagger.predict(lists) for name in part])
        marginals = np.zeros((data.n_tokens, len(self.classes)))
        if hasattr(self.tagger, "predict_marginals"):
            tokens = (token for part in self.tagger.predict_marginals(lists) for token in part)
            for row, token in enumerate(tokens):
                for name, probability in token.items():
                    marginals[row, code_of[_plain(name)]] = probability
            return TokenPrediction(best, _smoothed(marginals, SMOOTHING))
        marginals[np.arange(len(best)), best] = 1.0
        return TokenPrediction(best, _smoothed(marginals, PLAIN_SMOOTHING))

    def share_prediction(self, data: TokenLists) -> TokenPrediction:
        """The same for every token."""
        best = np.full(data.n_tokens, int(self.shares.argmax()))
        return TokenPrediction(best, np.tile(np.log(self.shares), (data.n_tokens, 1)))


def _plain(name: Any) -> Any:
    return name.item() if hasattr(name, "item") else name


def _smoothed(marginals: FloatArray, smoothing: float) -> FloatArray:
    if not np.isfinite(marginals).all():
        raise ValueError("its predictions are not numbers")
    return np.asarray(np.log((1 - smoothing) * marginals + smoothing / marginals.shape[1]))


@dataclass(frozen=True, eq=False)
class TaggerLearner(Learner[TokenLists]):
    """Clones of one tagger, each fitted to the sequences that are labeled whole."""

    tagger: Any  # Yet to be fitted.
    seed: int = 0

    in_processes: ClassVar[bool] = True

    @property
    def kind(self) -> LearnerKind:
        return "sequences"

    @property
    def has_scores(self) -> bool:
        return hasattr(self.tagger, "predict_marginals")

    @cached_property
    def prepared(self) -> Any:
        """The tagger with its chance and its threads settled."""
        return settled(self.tagger, self.seed)

    def fit_model(self, data: TokenLists, start: Any) -> FittedTagger:
        codes, classes = known_codes(data), data.evidence.classes
        counts = np.bincount(codes[codes >= 0], minlength=len(classes))
        shares = (counts + 0.5) / (counts.sum() + 0.5 * len(classes))
        whole = np.flatnonzero(data.is_whole)
        if not whole.size:
            return FittedTagger(None, classes, shares, "no sequence is labeled whole")
        learned = data.take(whole)
        with quietly():
            try:
                fitted = clone(self.prepared).fit(learned.lists, learned.label_lists())
            except FAILURES as error:
                return FittedTagger(None, classes, shares, in_short(error))
        return FittedTagger(fitted, classes, shares)

    def predict(self, model: Any, data: TokenLists) -> TokenPrediction:
        fitted: FittedTagger = model
        try:
            with quietly():
                return fitted.prediction(data)
        except FAILURES:
            return fitted.share_prediction(data)

    def failure(self, data: TokenLists, model: Any = None) -> str:
        """Why it cannot be fitted to the labels of `data`, or cannot predict all of it then; empty: it can."""
        model = self.fit(data) if model is None else model
        try:
            model.prediction(data)
        except FAILURES as error:
            return in_short(error)
        return str(model.failure)


@dataclass(frozen=True, eq=False)
class TaggerPool(Pool[TokenLists]):
    """Sequences with and without labels, and a tagger fitted to them."""

    tagger_learner: TaggerLearner

    kind: ClassVar[PoolKind] = "sequences"
    abilities: ClassVar[Abilities] = Abilities(formula_criteria=(), most_parameters=0, rules=True)

    @property
    def n_parameters(self) -> None:
        """Not known of a tagger in general."""
        return None

    @property
    def in_numbers(self) -> None:
        """Tokens are whatever the tagger takes."""
        return None

    @property
    def learner(self) -> TaggerLearner:
        return self.tagger_learner

    @property
    def is_conditional(self) -> bool:
        return True

    @property
    def model_digest(self) -> str:
        return ""

    @property
    def notes(self) -> list[str]:
        """How many labels are not learned from."""
        n_parts = int((self.is_labeled & ~self.data.is_whole).sum())
        if not n_parts:
            return []
        are = "1 sequence is" if n_parts == 1 else f"{n_parts:,} sequences are"
        return [f"{are} labeled in part: {self.model_name} learns only from sequences that are labeled whole."]

    def require_anchored(self) -> None:
        """Labels are told apart by their names alone."""
