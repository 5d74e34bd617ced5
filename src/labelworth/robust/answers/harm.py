"""Do somebody's answers make predictions better or worse? Asked of the rows with gold, with them and without."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.channels.channel import Channel
from labelworth.data.answers import Answers
from labelworth.data.folds import Fold, labeled_folds
from labelworth.data.samples import Samples
from labelworth.data.sequences import Sequences
from labelworth.estimation.answered import posteriors, require_answers
from labelworth.estimation.answered_fit import fit_answered
from labelworth.estimation.fit import fit
from labelworth.progress import SILENT, Progress, tracking
from labelworth.robust.harm import ERROR, FEWEST_TESTED, Answer, PairedDifference, combined, paired
from labelworth.robust.held_out import TOLERANCE, HeldOutPredictions, honest_temperature, predictions_of
from labelworth.wording import percent

EVERYBODY = "all answers"
WITHOUT = "no answers"
LEAST_SHARE = 0.1
"""Of all answers, from which on those of one annotator are tried alone: fewer move little."""


@dataclass(frozen=True)
class ChannelHarm:
    """Predictions with the answers of one annotator, or of all, against those without any answers."""

    name: str
    answer: Answer
    n_tested: int  # Rows or tokens with gold, each predicted by cross-validation.
    # Of wrong predictions, and of log-loss with honest log-odds: `labels_only` is without these answers,
    # `with_unlabeled` with them.
    error: PairedDifference
    log_loss: PairedDifference

    def words(self, unit: str = "row") -> str:
        """What the predictions say, in percent and points."""
        without, others = percent(self.error.labels_only, 1), percent(self.error.with_unlabeled, 1)
        points, chance = 100 * self.error.difference, 100 * self.error.standard_error
        # Where the log-loss decided alone, the points are within chance.
        by = f"{abs(points):.1f} points of error" if self.error.answer == self.answer else "their log-loss"
        opening = {
            "helps": f"make predictions better by {by}",
            "hurts": f"make predictions worse by {by}",
            "cannot be told": "move predictions by no more than chance",
        }[self.answer]
        loss = f"log-loss {self.log_loss.difference:+.3f}, standard error {self.log_loss.standard_error:.3f}"
        whose = "All answers together" if self.name == EVERYBODY else f"The answers of {self.name!r}"
        return (
            f"{whose} {opening}: error {without} without, {others} with them ({points:+.1f} points, standard error "
            f"{chance:.1f}; {loss}; {self.n_tested} {unit}s with gold)"
        )

    def to_dict(self) -> dict[str, Any]:
        def figures(difference: PairedDifference) -> dict[str, Any]:
            told = asdict(difference)
            return {
                "measure": told["measure"],
                "without": told["labels_only"],
                "with": told["with_unlabeled"],
                "difference": told["difference"],
                "standard_error": told["standard_error"],
            }

        return {
            "name": self.name,
            "answer": self.answer,
            "n_tested": self.n_tested,
            "error": figures(self.error),
            "log_loss": figures(self.log_loss),
        }


@dataclass(frozen=True, eq=False)
class AnsweredPredictions:
    """Predictions of what has gold by models that learned from nobody's answers, from one's, or from all."""

    positions: IntArray  # (n_tested,): The rows, or tokens.
    owners: IntArray  # (n_tested,): What was drawn together: the row itself, or the sequence.
    predictions: HeldOutPredictions[str]

    @property
    def temperature(self) -> float:
        """What makes the log-odds of the model without answers honest."""
        return float(self.predictions.temperatures[self.predictions.ways.index(WITHOUT)])

    def log_posteriors(self, n_positions: int) -> FloatArray:
        """log p(y | x) without any answer and without own labels, (n_positions, K); NaN where not tested."""
        found = np.full((n_positions, self.predictions.log_posteriors.shape[2]), np.nan)
        found[self.positions] = self.predictions.log_posteriors[self.predictions.ways.index(WITHOUT)]
        return found

    def verdicts(self) -> tuple[ChannelHarm, ...]:
        """A verdict for everything tried; the rate of false ones is that of all of them together."""
        tried = [way for way in self.predictions.ways if way != WITHOUT]
        return tuple(self._verdict(name, len(tried)) for name in tried)

    def _verdict(self, name: str, n_tried: int) -> ChannelHarm:
        told = self.predictions
        error = paired(ERROR, self._by_owner(told.errors(WITHOUT)), self._by_owner(told.errors(name)))
        losses = (self._by_owner(told.tempered_losses(way)) for way in (WITHOUT, name))
        log_loss = paired("log-loss", *losses)
        n_owners = len(np.unique(self.owners))
        answer = combined(error, log_loss, n_tried) if n_owners >= FEWEST_TESTED else "cannot be told"
        return ChannelHarm(name, answer, told.n_tested, error, log_loss)

    def _by_owner(self, values: FloatArray) -> FloatArray:
        """Sums over what was drawn together, in units of which the mean is that of single ones."""
        owner = np.unique(self.owners, return_inverse=True)[1].ravel()
        sums = np.bincount(owner, values)
        return np.asarray(sums * len(sums) / len(values))


def answered_predictions(
    family: Any,
    data: Samples | Sequences,
    *,
    channels: Sequence[Channel] = (),
    unlabeled_weight: float = 1.0,
    n_folds: int = 5,
    rng: np.random.Generator,
    fitting: Mapping[str, Any] | None = None,
    progress: Progress = SILENT,
) -> AnsweredPredictions:
    """Deal what has gold into folds; predict each by x alone, after fits to the others with and without answers.

    Sequences are dealt whole, and all their gold tokens are predicted.

    Parameters
    ----------
    family : EMFamily
    data : Samples or Sequences
        With answers.
    channels : sequence of Channel
        What is known of annotators of these names.
    fitting : mapping, optional
        Further arguments of `labelworth.estimation.fit.fit`.
    """
    answers = require_answers(data)
    options = {"tolerance": TOLERANCE, "unlabeled_weight": unlabeled_weight, **(fitting or {})}

    def without(train: Any) -> Any:
        return fit(family, replace(train, answers=None), **options).model

    def with_answers_of(names: Sequence[str], train: Any) -> Any:
        own = _of(require_answers(train), names)
        if not own.n_answers:
            return without(train)
        known = [channel for channel in channels if channel.name in own.names]
        return fit_answered(family, replace(train, answers=own), channels=known, **options).model.inner

    fits: dict[str, Callable[[Any], Any]] = {WITHOUT: without}
    for name, names in tried_answers(answers).items():
        fits[name] = partial(with_answers_of, names)
    if isinstance(data, Sequences):
        return _of_sequences(data, fits, n_folds, rng, progress)
    folds = labeled_folds(data.evidence, n_folds, rng)
    rows = np.concatenate([fold.test for fold in folds])
    return AnsweredPredictions(rows, rows, predictions_of(data, folds, fits, progress))


def _of_sequences(
    data: Sequences,
    fits: Mapping[str, Callable[[Any], Any]],
    n_folds: int,
    rng: np.random.Generator,
    progress: Progress,
) -> AnsweredPredictions:
    owner = np.repeat(np.arange(data.n_sequences), data.lengths)
    with_gold = rng.permutation(np.unique(owner[data.evidence.is_gold]))
    folds = [
        Fold(np.setdiff1d(np.arange(data.n_sequences), test), test)
        for test in (np.sort(with_gold[first::n_folds]) for first in range(n_folds))
    ]
    tokens = np.concatenate([data.positions_of(fold.test) for fold in folds])
    gold = data.evidence.is_gold[tokens]
    log_posteriors = np.empty((len(fits), len(tokens), data.evidence.n_classes))
    with tracking(progress, "cross-validation", len(folds) * len(fits)) as task:
        first = 0
        for fold in folds:
            train, test = data.take(fold.train), replace(data.take(fold.test).hide(), answers=None)
            for index, fitted in enumerate(fits.values()):
                # What is less probable than a double can tell counts as just that.
                told = np.maximum(posteriors(fitted(train), test), np.finfo(np.float64).tiny)
                log_posteriors[index, first : first + test.n_tokens] = np.log(told)
                task.advance()
            first += test.n_tokens
    codes, log_posteriors = data.evidence.codes[tokens[gold]], log_posteriors[:, gold]
    temperatures = np.array([honest_temperature(block, codes) for block in log_posteriors])
    predictions = HeldOutPredictions(tuple(fits), codes, log_posteriors, temperatures)
    return AnsweredPredictions(tokens[gold], owner[tokens[gold]], predictions)


def tried_answers(answers: Answers) -> dict[str, tuple[str, ...]]:
    """Whose answers are tried: those of every annotator with many, alone, and all together."""
    counts = np.bincount(answers.annotators[answers.is_telling], minlength=len(answers.names))
    alone = [
        name
        for name, count in zip(answers.names, counts, strict=True)
        if count and count >= LEAST_SHARE * counts.sum()
    ]
    tried: dict[str, tuple[str, ...]] = {name: (name,) for name in alone}
    if int((counts > 0).sum()) > 1:
        tried[EVERYBODY] = answers.names
    return tried


def _of(answers: Answers, names: Sequence[str]) -> Answers:
    """The answers of these annotators that say something."""
    codes = [code for code, name in enumerate(answers.names) if name in names]
    return answers.take(np.isin(answers.annotators, codes) & answers.is_telling)
