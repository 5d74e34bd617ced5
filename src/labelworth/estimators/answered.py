"""What a fit to answers tells of those who answered: who means what, how surely, and what the true classes are."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import clone

from labelworth.arrays import BoolArray, FloatArray, IntArray, as_floats, require_probabilities, require_shape
from labelworth.channels.channel import Channel
from labelworth.data.answers import Answers
from labelworth.errors import InvalidInputError
from labelworth.estimation.annotators import ConfusionKind
from labelworth.estimation.answered_errors import confusion_errors
from labelworth.estimation.answered_fit import fit_answered, truth_posteriors
from labelworth.estimation.fit import Fit
from labelworth.estimation.starts import counting
from labelworth.evaluation.calibration import Calibration, calibration
from labelworth.progress import SILENT

_SHOWN = 20


@dataclass(frozen=True, eq=False)
class FittedAnnotators:
    """Those who answered, as a fit found them.

    Standard errors know the prior of the tables; where `errors_are_joint` is false they hold the model and all other
    annotators, and are too small, by the more the less surely the classes of answered rows are known.
    """

    names: tuple[str, ...]
    classes: tuple[Hashable, ...]
    confusions: FloatArray  # (n, K, K): How often each class is meant (columns) where each is true (rows).
    standard_errors: FloatArray  # (n, K, K): Of these; zero where they were given, NaN where nothing pins them down.
    # (n,): How often the true class is meant, where classes are as frequent as among what was answered.
    accuracies: FloatArray
    accuracy_errors: FloatArray  # (n,): Their standard errors.
    n_answers: IntArray  # (n,): Answers that say something.
    is_known: BoolArray  # (n,): Whose confusion was given.
    errors_are_joint: bool

    def __len__(self) -> int:
        return len(self.names)

    def confusion(self, name: str) -> FloatArray:
        """The table of one annotator, (K, K)."""
        return np.asarray(self.confusions[self._index(name)])

    def channel(self, name: str, *, price: float = 0.0, unknown: bool = True) -> Channel:
        """One annotator as a channel for plans; its confusion counts as estimated unless `unknown` is false."""
        return Channel(name, self.confusion(name), price=price, unknown=unknown)

    def __str__(self) -> str:
        """The best first, each with its standard error."""
        order = np.argsort(-self.accuracies, kind="stable")
        width = max((len(name) for name in self.names), default=0)
        lines = []
        for index in order[:_SHOWN].tolist():
            told = f"{100 * self.accuracies[index]:5.1f} %"
            spread = " (given)" if self.is_known[index] else f" +- {100 * self.accuracy_errors[index]:.1f}"
            lines.append(f"{self.names[index]:<{width}}  {told}{spread}, {self.n_answers[index]} answers")
        if len(order) > _SHOWN:
            rest = self.accuracies[order[_SHOWN:]]
            lines.append(f"and {len(rest)} more, {100 * rest.max():.1f} % to {100 * rest.min():.1f} %")
        if not self.is_known.all():
            lines.append("(+- is one standard error)")
        return "\n".join(lines)

    def to_mapping(self) -> dict[str, Any]:
        """As JSON knows it; errors that are not known are null."""
        return {
            "names": list(self.names),
            "confusions": self.confusions.tolist(),
            "standard_errors": _nullable(self.standard_errors),
            "accuracies": self.accuracies.tolist(),
            "accuracy_errors": _nullable(self.accuracy_errors),
            "n_answers": self.n_answers.tolist(),
            "is_known": self.is_known.tolist(),
            "errors_are_joint": self.errors_are_joint,
        }

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any], classes: tuple[Hashable, ...]) -> Self:
        """Build it again, checking everything."""
        names = tuple(str(name) for name in mapping["names"])
        size, n_classes = len(names), len(classes)
        shapes = {
            "confusions": (size, n_classes, n_classes),
            "standard_errors": (size, n_classes, n_classes),
            "accuracies": (size,),
            "accuracy_errors": (size,),
        }
        arrays = {}
        for field, shape in shapes.items():
            arrays[field] = np.asarray(mapping[field], dtype=np.float64)
            require_shape(field, arrays[field], shape)
        if size:
            require_probabilities("confusions", as_floats("confusions", arrays["confusions"]))
        counts = np.asarray(mapping["n_answers"], dtype=np.int64)
        known = np.asarray(mapping["is_known"], dtype=bool)
        require_shape("n_answers", counts, (size,))
        require_shape("is_known", known, (size,))
        return cls(
            names,
            classes,
            arrays["confusions"],
            arrays["standard_errors"],
            arrays["accuracies"],
            arrays["accuracy_errors"],
            counts,
            known,
            bool(mapping["errors_are_joint"]),
        )

    def _index(self, name: str) -> int:
        if name not in self.names:
            raise InvalidInputError(f"Nobody called {name!r} answered. There are {', '.join(self.names[:8])}.")
        return self.names.index(name)


def _nullable(values: FloatArray) -> Any:
    """Nested lists, None for NaN."""
    plain = values.astype(object)
    plain[np.isnan(values)] = None
    return plain.tolist()


class Learned(NamedTuple):
    """What a fit to answers found."""

    fitted: Fit[Any, Any]
    annotators: FittedAnnotators
    rows: IntArray  # The samples or tokens that have answers that say something.
    posteriors: FloatArray  # (n_rows, K): p(true class | features, label, answers).


def answered_calibration(
    estimator: Any,
    X: Any,
    y: Any,
    answers: Answers,
    *,
    n_folds: int = 5,
    seed: int = 0,
    channels: Sequence[Channel] = (),
    confusion: ConfusionKind = "shared",
    answer_weight: float = 1.0,
) -> Calibration:
    """How far what a fit to answers says of true classes can be believed, on rows with gold and answers.

    The gold labels of these are held out, a fold of them at a time; answers and features stay.

    Parameters
    ----------
    estimator : GenerativeClassifier or HiddenMarkov
        Not fitted, and left as it is.
    X, y, answers, channels, confusion, answer_weight
        As in ``estimator.fit``.
    n_folds : int
        How many fits.
    seed : int
        For the folds.

    Raises
    ------
    InvalidInputError
        If there are fewer such rows than folds.
    """
    trial = clone(estimator)
    data = trial._read_answered(X, y, None, answers)
    data = replace(data, answers=answers.recoded(data.evidence.classes))
    family, search = trial._search_answered(data, SILENT)
    audited = np.flatnonzero(data.evidence.is_gold & data.answers.told(data.evidence.n_samples))
    if not 2 <= n_folds <= len(audited):
        raise InvalidInputError(
            f"{len(audited)} row(s) have both gold and an answer, which cannot be held out in {n_folds} parts. Have "
            "annotators answer rows that have gold, or take fewer folds (2 at least)."
        )
    parts = []
    order = np.random.default_rng(seed).permutation(audited)
    for fold in np.array_split(order, n_folds):
        hidden = data.hide(fold)
        fitted = fit_answered(
            family, hidden, channels=channels, confusion=confusion, answer_weight=answer_weight, **search
        )
        parts.append(truth_posteriors(fitted.model, hidden)[fold])
    return calibration(np.concatenate(parts), data.evidence.codes[order])


def learn_answers(
    family: Any,
    data: Any,
    answers: Answers,
    channels: Sequence[Channel],
    confusion: ConfusionKind,
    search: Mapping[str, Any],
    answer_weight: float = 1.0,
) -> Learned:
    """Fit model and annotators; `search` are the options of `labelworth.estimation.fit.fit`."""
    if confusion not in ("shared", "separate", "accuracy"):
        raise InvalidInputError(f"confusion must be 'shared', 'separate' or 'accuracy'. Got {confusion!r}.")
    independent = [channel.name for channel in channels if channel.is_independent]
    data = replace(data, answers=answers.recoded(data.evidence.classes).one_vote_each(independent))
    fitted = fit_answered(family, data, channels=channels, confusion=confusion, answer_weight=answer_weight, **search)
    model = fitted.model
    every = truth_posteriors(model, data)
    rows = np.flatnonzero(data.answers.told(len(every)))
    posteriors = every[rows]
    counted, weights = counting(data, search["unlabeled_weight"])
    n_classes = len(model.classes)
    shares = posteriors.mean(axis=0) if rows.size else np.full(n_classes, 1 / n_classes)
    found = confusion_errors(fitted.family, model, counted, weights, shares)
    channel_of = model.annotators.channels
    estimated = np.isin(np.arange(model.annotators.n_channels), [*model.annotators.whole, *model.annotators.coins])
    telling = data.answers.annotators[data.answers.is_telling]
    annotators = FittedAnnotators(
        model.annotators.names,
        tuple(model.classes),
        model.confusions[channel_of],
        found.errors[channel_of],
        np.einsum("ckk,k->c", model.confusions, shares)[channel_of],
        found.accuracy_errors[channel_of],
        np.bincount(telling, minlength=len(channel_of)),
        ~estimated[channel_of],
        found.is_joint,
    )
    return Learned(fitted, annotators, rows, posteriors)
