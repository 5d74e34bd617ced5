"""What all estimators share: parameters that are checked when used, and one way to fit, save, check and plan."""

import os
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, InvalidParameterError

from labelworth.arrays import UNLABELED, AnyArray, FloatArray, IntArray
from labelworth.data.answers import Answers, as_answers
from labelworth.data.evidence import recoded
from labelworth.data.protocol import DataT
from labelworth.data.samples import Samples
from labelworth.data.sequences import Sequences
from labelworth.data.shards.folder import Shards
from labelworth.errors import InvalidInputError
from labelworth.estimators.targets import all_classes, class_array
from labelworth.progress import SILENT, Progress

if TYPE_CHECKING:
    from labelworth.channels.channel import Channel
    from labelworth.estimation.annotators import ConfusionKind
    from labelworth.estimators.answered import FittedAnnotators
    from labelworth.estimators.pools.pool import Pool
    from labelworth.evaluation.calibration import Calibration
    from labelworth.robust.answers.check import AnsweredCheckReport

AT_LEAST_ZERO = Interval(Real, 0, None, closed="left")
"""What scikit-learn checks of a strength or a weight; infinity is outside."""
ABOVE_ZERO = Interval(Real, 0, None, closed="neither")
AT_LEAST_ONE = Interval(Integral, 1, None, closed="left")


@dataclass(kw_only=True, eq=False, repr=False)
class Estimator(BaseEstimator, ABC, Generic[DataT]):
    """An estimator of labels, some of which are known.

    A subclass says how X and y are read and what is fitted to them. Its parameters are fields: scikit-learn finds
    them in the constructor that the dataclass writes.
    """

    takes_sequences: ClassVar[bool] = False
    learns_answers: ClassVar[bool] = False  # Whether `fit` takes answers that may be wrong.
    is_ours: ClassVar[bool] = True  # Whether it is fitted by our own code.
    unlabeled: Hashable = UNLABELED

    classes_: AnyArray = field(init=False)
    model_: Any = field(init=False)
    fit_: Any = field(init=False)
    n_iter_: int = field(init=False)
    converged_: bool = field(init=False)
    # Of fits to answers:
    annotators_: "FittedAnnotators" = field(init=False)  # Who means what.
    answered_rows_: IntArray = field(init=False)  # The rows or tokens that have answers.
    answered_posteriors_: FloatArray = field(init=False)  # (n_answered, n_classes): What their true classes are.

    @abstractmethod
    def _read_to_fit(self, X: Any, y: Any, sample_weight: Any) -> DataT:
        """Read X and y as `fit` takes them."""

    @abstractmethod
    def _read_as_known(self, X: Any, y: Any, classes: Sequence[Hashable] | None) -> DataT:
        """Read X and y where labels, and names of classes, may be missing."""

    @abstractmethod
    def _fitted(self, data: DataT, progress: Progress) -> Any:
        """Fit the model: something with ``model``, ``converged`` and ``n_iterations``."""

    @abstractmethod
    def _checked(self, data: DataT, **options: Any) -> Any:
        """The report of `check`."""

    @abstractmethod
    def _pool(self, data: DataT, progress: Progress) -> "Pool[DataT]":
        """What `pool` answers with."""

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        answers: Answers | None = None,
        channels: "Sequence[Channel]" = (),
        confusion: "ConfusionKind" = "shared",
        answer_weight: float = 1.0,
        progress: Progress = SILENT,
    ) -> Self:
        """Fit to samples with labels, without and with ambiguous ones, together; and to what annotators answered.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features), or a list of sequences
            A sequence is a list of tokens; what `labelworth.read_sequences` gave is taken too. `Shards`, which carry
            their labels, need no y.
        y : array-like of shape (n,), or a list of lists
            A class per row, or a label per token; ``unlabeled``, None or NaN where it was not seen, a list or set
            where one of several is meant. None in place of a list: nothing is known of that sequence. What was read
            from a file of sequences has its own labels and needs no y.
        sample_weight : array-like of shape (n,), optional
            How much each row or sequence counts; one of weight 0 is left out.
        answers : Answers, optional
            What annotators said of rows, or of tokens counted over all sequences. y holds gold labels alone then,
            and may be left out. Who means what is estimated together with the model, and kept in ``annotators_``;
            what features, labels and answers together say of the true classes of ``answered_rows_`` (or tokens), in
            ``answered_posteriors_``. What one annotator says of a row again counts once.
        channels : sequence of Channel
            What is known of the annotators of these names: their confusion or accuracy, or that their answers to the
            same row are ``independent``.
        confusion : "shared", "separate" or "accuracy"
            What is estimated of all others: whole tables drawn to the one of all annotators together, as strongly
            as these are alike; whole tables each alone; or one number each.
        answer_weight : float
            How much an answer counts beside features and labels. Below 1 where annotators err together on a row.
        progress : Progress
            Hears how far the work is.

        Returns
        -------
        self

        Raises
        ------
        InvalidInputError
            If X or y cannot be read, or nothing is labeled: says which row, or which sequence and token. If the
            model cannot learn from answers.
        """
        if answers is None:
            if channels:
                raise InvalidInputError("channels= say who answers; there are no answers=.")
            self._forget_answers()
            self._keep(self._fitted(self._read_to_fit(data_of(X), y, sample_weight), progress))
            return self
        from labelworth.estimators.answered import learn_answers

        data = self._read_answered(X, y, sample_weight, as_answers(answers))
        family, search = self._search_answered(data, progress)
        learned = learn_answers(family, data, answers, channels, confusion, search, answer_weight)
        self._keep(learned.fitted)
        self.annotators_ = learned.annotators
        self.answered_rows_ = learned.rows
        self.answered_posteriors_ = learned.posteriors
        return self

    def answered_calibration(self, X: Any, y: Any, *, answers: Answers, **options: Any) -> "Calibration":
        """How far what a fit to answers says of true classes can be believed. Nothing is kept.

        The gold labels of rows that have answers too are held out, a fold at a time.

        Parameters
        ----------
        X, y, answers
            As for `fit`.
        options
            Those of `fit` about answers; ``n_folds`` (5) and ``seed``.
        """
        from labelworth.estimators.answered import answered_calibration

        return answered_calibration(self, X, y, as_answers(answers), **options)

    def _read_answered(self, X: Any, y: Any, sample_weight: Any, answers: Answers) -> Any:
        """Read X and y where classes may be named by answers alone; refused by what cannot learn from these."""
        raise InvalidInputError(
            f"{type(self).__name__} cannot learn from answers: there is no way to fit it together with those who "
            "answer. Use naive Bayes, Gaussian classes, a hidden Markov model, a CRF or a classifier of scikit-learn "
            "that takes sample_weight; or fit one of these to the answers and take the labels that it recovers "
            "(answered_posteriors_) for y."
        )

    def _search_answered(self, data: Any, progress: Progress) -> tuple[Any, dict[str, Any]]:
        """The family to fit, and how a fit of it is found."""
        raise NotImplementedError

    def _forget_answers(self) -> None:
        for name in ("annotators_", "answered_rows_", "answered_posteriors_"):
            if hasattr(self, name):
                delattr(self, name)

    def check(
        self,
        X: Any,
        y: Any = None,
        *,
        classes: Sequence[Hashable] | None = None,
        answers: Answers | None = None,
        channels: "Sequence[Channel]" = (),
        **options: Any,
    ) -> Any:
        """Say what the labels pin down, and of rows also whether the unlabeled ones help; and whose answers to use.

        Nothing is kept.

        Parameters
        ----------
        X, y
            As for `fit`.
        classes : sequence, optional
            All classes there are; one that no label names is then reported as missing.
        answers, channels
            As for `fit`.
        options
            Of `labelworth.check`: for rows ``n_folds``, ``specification``; for sequences ``policies``; ``seed`` and
            ``progress`` for both.

        Returns
        -------
        CheckReport or SequenceCheckReport; with answers AnsweredCheckReport
        """
        trial: Self = clone(self)
        if answers is not None:
            return trial._checked_with_answers(X, y, classes, as_answers(answers), channels, options)
        return trial._checked(trial._read_as_known(data_of(X), y, classes), **options)

    def _checked_with_answers(
        self,
        X: Any,
        y: Any,
        classes: Sequence[Hashable] | None,
        answers: Answers,
        channels: "Sequence[Channel]",
        options: dict[str, Any],
    ) -> "AnsweredCheckReport":
        from labelworth.robust.answers.check import AnsweredCheckReport, check_answers

        if classes is not None:
            answers = answers.recoded(all_classes(tuple(classes), answers.classes))
        is_read = isinstance(X, Samples | Sequences)
        data: Any = self._read_as_known(X, y, None) if is_read else self._read_answered(X, y, None, answers)
        names = all_classes(data.evidence.classes, answers.classes)
        data = replace(data, evidence=recoded(data.evidence, names))
        family, search = self._search_answered(data, options.get("progress", SILENT))
        if "start_smoothing" not in search:
            raise InvalidInputError(
                "Answers are checked with a model of p(x, y): naive Bayes, Gaussian classes, a hidden Markov model. "
                f"Got {type(self).__name__}; check with one of these, then fit."
            )
        told = check_answers(
            family,
            replace(data, answers=answers.recoded(names)),
            channels=channels,
            unlabeled_weight=search["unlabeled_weight"],
            fitting={"start_smoothing": search["start_smoothing"]},
            **{name: options[name] for name in ("n_folds", "seed", "progress") if name in options},
        )
        return AnsweredCheckReport(told, self._checked(data, **options))

    def pool(
        self, X: Any, y: Any = None, *, classes: Sequence[Hashable] | None = None, progress: Progress = SILENT
    ) -> "Pool[DataT]":
        """Fit to X and y, and answer with what `labelworth.plan` needs of data and fit. Nothing is kept.

        Parameters
        ----------
        X, y
            As for `fit`; or Samples or Sequences, which carry their labels, and no y.
        classes : sequence, optional
            All classes there are; found in the labels unless given.

        Raises
        ------
        NotIdentifiableError
            If there is no label, or only one class.
        """
        trial: Self = clone(self)
        return trial._pool(trial._read_as_known(data_of(X), y, classes), progress)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to a file that `labelworth.load` reads; nothing in it is ever run."""
        from labelworth.estimators.storage import save

        save(self, path)

    def learned(self) -> dict[str, Any]:
        """What a fit has learned beside the model, as JSON knows it: kept in files."""
        return {}

    def restore(self, learned: Mapping[str, Any], model: Any) -> None:
        """Take up again what `learned` gave beside that model.

        Raises
        ------
        InvalidInputError, KeyError
            If it does not fit.
        """

    def require_parameters(self) -> None:
        """Refuse parameters that make no sense, by the names they were given under.

        Raises
        ------
        InvalidInputError
        """
        try:
            self._validate_params()
        except InvalidParameterError as error:
            raise InvalidInputError(str(error)) from error

    def _keep(self, fitted: Any) -> None:
        self.fit_ = fitted
        # Of a fit to answers: the model without the annotators.
        self.model_ = getattr(fitted.model, "inner", fitted.model)
        self.classes_ = class_array(fitted.model.classes)
        self.n_iter_ = int(fitted.n_iterations)
        self.converged_ = bool(fitted.converged)


def data_of(X: Any) -> Any:
    """What a folder of shards holds; anything else as it is."""
    return X.data if isinstance(X, Shards) else X


def generator(random_state: Any) -> np.random.Generator:
    """Scikit-learn's three ways to name a source of chance, as a generator."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(check_random_state(random_state).randint(2**31))


def require_no_labels_beside(y: Any, kind: str) -> None:
    """Refuse y beside data that has its own labels."""
    if y is not None:
        raise InvalidInputError(f"{kind} carry their labels already; leave y out.")
