"""What the three taggers share: scikit-learn's manners around a model of sequences and its fit."""

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from labelworth.arrays import AnyArray, FloatArray
from labelworth.data.answers import Answers
from labelworth.data.evidence import Evidence
from labelworth.data.evidence import recoded as in_classes
from labelworth.data.sequences import Sequences
from labelworth.data.tokens.lexicon import Lexicon, RareWords, shared_entries
from labelworth.errors import InvalidInputError
from labelworth.estimators.estimator import (
    ABOVE_ZERO,
    AT_LEAST_ONE,
    AT_LEAST_ZERO,
    Estimator,
    require_no_labels_beside,
)
from labelworth.estimators.targets import all_classes
from labelworth.estimators.token_input import TokenInput, non_empty, nothing_known, recoded
from labelworth.evaluation.sequences import evaluate_labels
from labelworth.models.chains.protocol import ChainModel
from labelworth.progress import Progress

if TYPE_CHECKING:
    from labelworth.criteria.table import InformationTable
    from labelworth.estimators.pools.sequences import SequencePool
    from labelworth.robust.sequences.check import SequenceCheckReport


_RELATIVE_ERROR = 0.05


@dataclass(frozen=True)
class Coverage:
    """How much of some sequences a fitted tagger has met before."""

    n_tokens: int
    n_features: int  # Occurrences of words or attributes.
    # Those that the tagger does not know: words that become the entry of rare ones, attributes that are left
    # out.
    n_unknown: int
    words: str  # The same in a sentence.


@dataclass(kw_only=True, eq=False, repr=False)
class SequenceTagger(Estimator[Sequences]):
    """An estimator of a label per token, from sequences of which some labels are known.

    X is a list of sequences and y a list of lists of labels, as in sklearn-crfsuite. scikit-learn's own
    ``check_estimator`` is for tables of numbers and does not apply; `clone`, searches and cross-validation do.

    A subclass says how tokens are read and what is fitted.
    """

    takes_sequences: ClassVar[bool] = True
    is_conditional: ClassVar[bool] = False
    """Whether the model learns nothing from what is not labeled."""

    classes: Sequence[Hashable] | None = None
    max_iter: int = 1000
    tol: float = 1e-6

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "classes": ["array-like", None],
        "max_iter": [AT_LEAST_ONE],
        "tol": [ABOVE_ZERO],
        "unlabeled": [Hashable],
    }

    model_: ChainModel = field(init=False)

    @abstractmethod
    def _read_to_learn(self, given: TokenInput) -> Sequences:
        """Sequences with the words or attributes that are to be learned about."""

    @abstractmethod
    def _read_to_predict(self, given: TokenInput) -> Sequences:
        """Sequences with the words or attributes of the fitted model."""

    @abstractmethod
    def coverage(self, X: Any) -> Coverage:
        """Count the words or attributes of X that the fitted model does not know."""

    def sequences(self, X: Any, y: Any = None) -> Sequences:
        """X as the fitted model sees it, with what is known of its labels.

        Parameters
        ----------
        X, y
            As in `fit`; a label that the model does not have is an error. Empty sequences are left out.
        """
        check_is_fitted(self)
        return self._read_to_predict(TokenInput(X, y, self.model_.classes, self.unlabeled, empty="drop"))

    def predict(self, X: Any, y: Any = None) -> list[list[Any]]:
        """The most probable labels of every sequence, all tokens of it together (Viterbi).

        Parameters
        ----------
        X : list of sequences, or what `labelworth.read_sequences` gave
        y : list of lists, optional
            What is known already, as in `fit`: labels given here come out as they are, and tell on their neighbors.

        Returns
        -------
        list of lists
            A label per token.
        """
        names = self._names
        codes = self._known(X, y, self.model_.best_labels, np.empty(0, dtype=np.int64))
        return [[names[code] for code in part.tolist()] for part in codes]

    def predict_proba(self, X: Any, y: Any = None) -> list[FloatArray]:
        """The probability of every label at every token, given all tokens of its sequence.

        Parameters
        ----------
        X, y
            As in `predict`.

        Returns
        -------
        list of arrays of shape (n_tokens, n_classes)
        """
        nothing = np.empty((0, len(self._names)))
        return self._known(X, y, self.model_.marginals, nothing)

    def score(self, X: Any, y: Any = None) -> float:
        """Token accuracy over the tokens with one known label; the others are left out.

        Labels that the model does not have count as missed.
        """
        check_is_fitted(self)
        truth = self.truth(X, y)
        return evaluate_labels(self.model_.best_labels(self.sequences(X, nothing_known(X))), truth).accuracy

    def truth(self, X: Any, y: Any = None) -> Sequences:
        """The labels to hold predictions against: codes as in the model, behind them labels that it does not have."""
        check_is_fitted(self)
        given = TokenInput(X, y, None, self.unlabeled, empty="drop")
        evidence = given.evidence()
        known = self.model_.classes
        classes = (*known, *(name for name in evidence.classes if name not in known))
        code_of = {name: code for code, name in enumerate(classes)}
        recoded = np.array([code_of[name] for name in evidence.classes], dtype=np.int64)
        gold = evidence.is_gold
        codes = np.full(evidence.n_samples, -1, dtype=np.int64)
        codes[gold] = recoded[evidence.codes[gold]]
        return Sequences(np.zeros(len(codes), dtype=np.int64), given.offsets, Evidence(codes, classes), ("",))

    def information(
        self,
        X: Any = None,
        *,
        policies: Sequence[Any],
        n_samples: float | None = None,
        **options: Any,
    ) -> "InformationTable":
        """What sequences are worth under every labeling policy, the fitted model taken for true.

        Parameters
        ----------
        X : optional
            Sequences such as those to be labeled: their lengths, and for a conditional model also their attributes.
            Without them give ``lengths``, as in ``{4: 0.5, 6: 0.5}``.
        policies : list
            Policies or their text, as in ``["everything", "0.5*window:5 + 0.5*nothing"]``.
        n_samples : float, optional
            How many sequences; as many as X has unless given.
        options
            Of `labelworth.criteria.policy_information.policy_information`: ``lengths``, ``method``, ``seed`` etc.
            ``relative_error`` is 0.05 unless given: a fitted model is not known better than that.

        Notes
        -----
        All parameters of the model count, also those of an entry for unseen words that never occurs (``min_count=1``
        with ``rare_words="entry"``): it is taken for as true as any other word, and adds to every figure. Fit with
        ``rare_words="none"`` to have figures for the words that occur alone, as `labelworth.plan` has them.
        """
        from labelworth.criteria.policy_information import policy_information

        check_is_fitted(self)
        inputs = None if X is None else self.sequences(X, nothing_known(X))
        if n_samples is None:
            if inputs is None:
                raise InvalidInputError("Without X there must be n_samples=: how many sequences there will be.")
            n_samples = inputs.n_sequences
        options = {"relative_error": _RELATIVE_ERROR, **options}
        return policy_information(self.model_, policies=policies, n_samples=n_samples, inputs=inputs, **options)

    def _checked(self, data: Sequences, **options: Any) -> "SequenceCheckReport":
        from labelworth.robust.sequences.check import check_sequences

        return check_sequences(data, self._fitted, is_conditional=self.is_conditional, **options)

    def _pool(self, data: Sequences, progress: Progress) -> "SequencePool":
        from labelworth.estimators.pools.sequences import SequencePool, require_sequences

        require_sequences(data)
        search = self._search_answered if self.learns_answers else None
        return SequencePool(
            data, self._fitted(data, progress), self._fitted, search, settings=self.get_params(deep=False)
        )

    @property
    def _names(self) -> list[Any]:
        """The labels, as they were given."""
        check_is_fitted(self)
        return list(self.model_.classes)

    def _read_as_known(self, X: Any, y: Any, classes: Sequence[Hashable] | None) -> Sequences:
        if classes is not None:
            self.set_params(classes=list(classes))
        if isinstance(X, Sequences):
            self.require_parameters()
            require_no_labels_beside(y, "Sequences")
            return X
        return self._read_to_fit(X, y, None)

    def _read_to_fit(self, X: Any, y: Any, sample_weight: Any) -> Sequences:
        if isinstance(X, Sequences):
            require_no_labels_beside(sample_weight, "Sequences")
            return self._read_as_known(X, y, None)
        self.require_parameters()
        sequences = self._read_to_learn(TokenInput(X, y, self.classes, self.unlabeled, sample_weight))
        if not sequences.evidence.classes:
            raise InvalidInputError(
                "Every token is unlabeled, so the labels have no names. Label at least one token per label, or name "
                "them with classes=."
            )
        return sequences

    def _read_answered(self, X: Any, y: Any, sample_weight: Any, answers: Answers) -> Any:
        if not self.learns_answers:
            return super()._read_answered(X, y, sample_weight, answers)
        self.require_parameters()
        given = TokenInput(X, y, self.classes, self.unlabeled, sample_weight)
        if y is None and not given.is_read and self.classes is None:
            given = replace(given, classes=answers.classes)
        sequences = self._read_to_learn(given)
        if self.classes is not None:
            return sequences
        classes = all_classes(sequences.evidence.classes, answers.classes)
        return sequences.with_evidence(in_classes(sequences.evidence, classes))

    def _known(self, X: Any, y: Any, answer: Any, nothing: AnyArray) -> list[Any]:
        """Ask the model about every sequence; `nothing` is the answer for an empty one."""
        check_is_fitted(self)
        n_given, rows = non_empty(X)
        if not rows:
            return [nothing] * n_given
        sequences = self.sequences(X, nothing_known(X) if y is None else y)
        per_token = answer(sequences)
        _require_possible(per_token, sequences)
        answers = [nothing] * n_given
        for row, part in zip(rows, np.split(per_token, sequences.offsets[1:-1]), strict=True):
            answers[row] = part
        return answers


def _require_possible(answers: AnyArray, sequences: Sequences) -> None:
    """Refuse to answer for sequences that the model rules out: their codes are -1, their probabilities zero."""
    ruled_out = answers < 0 if answers.ndim == 1 else answers.sum(axis=1) == 0
    if ruled_out.any():
        first = int(np.searchsorted(sequences.offsets, int(np.argmax(ruled_out)), side="right")) - 1
        raise InvalidInputError(
            f"Sequence {first} (counted from 0, without empty ones) has probability zero under the model, with what "
            "is known of its labels. Fit with smoothing above 0, or look at those labels."
        )


@dataclass(kw_only=True, eq=False, repr=False)
class WordTagger(SequenceTagger):
    """A tagger of words, which learns from sequences without labels too."""

    min_count: int = 1
    rare_words: RareWords = "entry"
    unlabeled_weight: float = 1.0
    n_init: int = 1
    random_state: Any = None

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SequenceTagger._parameter_constraints,
        "min_count": [AT_LEAST_ONE],
        "rare_words": [StrOptions({"entry", "shapes", "none"})],
        "unlabeled_weight": [AT_LEAST_ZERO],
        "n_init": [AT_LEAST_ONE],
        "random_state": ["random_state", np.random.Generator],
    }

    @property
    def lexicon_(self) -> Lexicon:
        """The words of the fitted model, and what others become."""
        check_is_fitted(self)
        names = self.model_.feature_names
        return Lexicon(names[: len(names) - len(shared_entries(self.rare_words))], self.rare_words, self.min_count)

    def coverage(self, X: Any) -> Coverage:
        """Count the words of X that have no entry of their own."""
        lexicon, sequences = self.lexicon_, self.sequences(X, nothing_known(X))
        n_rare = int(lexicon.is_rare(sequences.words).sum())
        return Coverage(sequences.n_tokens, sequences.n_tokens, n_rare, lexicon.describe(sequences.words))

    def _read_to_learn(self, given: TokenInput) -> Sequences:
        sequences = given.words()
        names = sequences.feature_names
        occurring = (names[code] for code in sequences.words.tolist())
        lexicon = Lexicon.from_words(occurring, min_count=int(self.min_count), rare=self.rare_words)
        return recoded(sequences, lexicon)

    def _read_to_predict(self, given: TokenInput) -> Sequences:
        return recoded(given.words(), self.lexicon_)
