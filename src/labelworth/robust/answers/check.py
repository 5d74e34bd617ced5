"""One question about every annotator, answered in plain words: use the answers, leave them out, or cannot be told?"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy.special import log_softmax

from labelworth.arrays import FloatArray
from labelworth.channels.channel import Channel
from labelworth.data.samples import Samples
from labelworth.data.sequences import Sequences
from labelworth.errors import LabelworthWarning
from labelworth.estimation.answered import posteriors, require_answers
from labelworth.estimation.fit import fit
from labelworth.progress import SILENT, Progress
from labelworth.robust.answers.audits import Accuracy, Audits
from labelworth.robust.answers.copies import CopiesTest, copies_by_model, copies_test
from labelworth.robust.answers.harm import (
    EVERYBODY,
    AnsweredPredictions,
    ChannelHarm,
    answered_predictions,
    tried_answers,
)
from labelworth.robust.answers.identifiability import Identifiability, feature_views, identifiability
from labelworth.robust.answers.independence import (
    LEVEL,
    Dependence,
    IndependenceTest,
    independence_test,
    model_directions,
    rows_directions,
    token_directions,
)
from labelworth.robust.held_out import TOLERANCE
from labelworth.robust.support import listed
from labelworth.wording import percent

Decision = Literal["use", "leave out", "no difference", "cannot be told"]
_MOST_TOLD = 12  # annotators that get a paragraph each
_ENOUGH_TO_RANK = 10  # audited rows of one of many
_ENOUGH_TO_USE = 400  # audited rows: on fewer, errors that follow x are often not seen (docs/studies/guards.md)
_NO_ERROR, _NO_LOSS = 0.01, 0.02  # differences of error and log-loss that are none, with two standard errors


@dataclass(frozen=True)
class AnnotatorReport:
    """What is known of one annotator."""

    name: str
    n_answers: int  # Answers that say something.
    decision: Decision
    reason: str  # Why, a sentence.
    accuracy: Accuracy
    dependence: Dependence | None  # Whether answers follow x; None where no row is audited.
    harm: ChannelHarm | None  # None where the answers were not tried alone.
    is_known: bool  # Whether the confusion was given.

    def lines(self, unit: str) -> list[str]:
        opening = {
            "use": "use them",
            "leave out": "leave them out",
            "no difference": "no difference so far",
            "cannot be told": "cannot be told yet",
        }
        lines = [f"Answers of {self.name!r}: {opening[self.decision]}. {self.reason}"]
        if self.harm is not None:
            lines.append(f"  {self.harm.words(unit)}.")
        lines.append(f"  {_sentence(self.accuracy.words(unit))} Answers: {self.n_answers:,}.")
        if self.dependence is not None:
            lines.append(f"  {dependence_words(self.dependence)}")
        return lines

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "n_answers": self.n_answers,
            "decision": self.decision,
            "reason": self.reason,
            "accuracy": self.accuracy.to_dict(),
            "independence": None if self.dependence is None else self.dependence.to_dict(),
            "harm": None if self.harm is None else self.harm.to_dict(),
            "is_known": self.is_known,
        }


@dataclass(frozen=True)
class AnswersReport:
    """Whose answers to use, with the evidence."""

    unit: str  # What is answered: "row" or "token".
    annotators: tuple[AnnotatorReport, ...]
    together: ChannelHarm | None  # All answers, where there are several annotators and enough gold.
    identifiability: Identifiability
    independence: IndependenceTest
    copies: CopiesTest
    notes: tuple[str, ...] = ()  # What could not be done, and why.

    @property
    def identified(self) -> bool:
        return self.identifiability.verdict != "not identified"

    @property
    def headline(self) -> str:
        """Whose answers to use, in one sentence."""
        if not self.identified:
            return "The answers cannot be used as they are: what annotators mean is not pinned down."
        if len(self.annotators) > _MOST_TOLD:
            return self._headline_of_many()
        parts = []
        for decision, words in (
            ("use", "use the answers of {}"),
            ("leave out", "leave out the answers of {}"),
            ("no difference", "the answers of {} make no difference so far"),
            ("cannot be told", "whether to use the answers of {} cannot be told yet"),
        ):
            named = tuple(one.name for one in self.annotators if one.decision == decision)
            if named:
                parts.append(words.format(listed(named)))
        sentence = "; ".join(parts) or "there are no answers"
        return f"{sentence[0].upper()}{sentence[1:]}."

    def _headline_of_many(self) -> str:
        worst = tuple(one.name for one in self.annotators if one.decision == "leave out")
        opening = {
            None: "Whether the answers help cannot be told yet",
            "helps": "Use the answers",
            "hurts": "Leave the answers out",
            "cannot be told": "Whether the answers help cannot be told yet",
        }[None if self.together is None else self.together.answer]
        others = f"; leave out those of {listed(worst)}" if worst and opening != "Leave the answers out" else ""
        return f"{opening} ({len(self.annotators)} annotators){others}."

    def lines(self) -> list[str]:
        """The report in plain words, the answer first."""
        lines = []
        told = self.annotators
        if len(told) > _MOST_TOLD:
            lines += self._lines_of_many()
            told = tuple(one for one in told if one.harm is not None or one.decision == "leave out")
        for one in told:
            lines += one.lines(self.unit)
        if self.together is not None and len(self.annotators) <= _MOST_TOLD:
            lines.append(f"{self.together.words(self.unit)}.")
        if self.independence.together is not None and not self.independence.failing:
            words = dependence_words(self.independence.together)
            lines.append(f"All answers together: {words[0].lower()}{words[1:]}")
        lines += self._lines_of_copies()
        return [*lines, *self.identifiability.lines(), *self.notes]

    def _lines_of_many(self) -> list[str]:
        lines = [] if self.together is None else [f"{self.together.words(self.unit)}."]
        audited = [one.accuracy for one in self.annotators if one.accuracy.n_audited]
        often = sorted(one.share for one in audited if one.n_audited >= _ENOUGH_TO_RANK)
        total = Accuracy(sum(one.n_right for one in audited), sum(one.n_audited for one in audited))
        words = f"{len(audited)} of {len(self.annotators)} annotators have audited {self.unit}s"
        words += f": all together {total.words(self.unit)}." if audited else "."
        if often:
            words += (
                f" Of those with {_ENOUGH_TO_RANK} or more half are right on {percent(float(np.median(often)))} of "
                f"theirs or more, the worst on {percent(often[0])}."
            )
        lines.append(words)
        follow = self.independence.failing
        if follow:
            lines.append(f"Wrong answers of {listed(follow)} follow x given the class.")
        return lines

    def _lines_of_copies(self) -> list[str]:
        copies = self.copies
        how = (
            "" if copies.by == "gold" else " as far as the model's probabilities can be trusted (no gold beside them)"
        )
        if copies.answer == "err together":
            pairs = copies.failing
            who = "; ".join(f"{a!r} and {b!r}" for a, b in pairs[:4]) + (" and others" if len(pairs) > 4 else "")
            return [
                f"Annotators are wrong on the same {self.unit}s{f' ({who})' if pairs else ''} more often than "
                f"independent ones would be (p = {copies.least_p:.2g}){how}: some copy each other, or some "
                f"{self.unit}s are hard for everybody. "
                "Their agreement counts for too much; ask one of them, or others."
            ]
        if copies.answer == "no sign of it":
            return [f"No sign that annotators copy each other (p = {copies.least_p:.2g}){how}."]
        return []

    def to_dict(self) -> dict[str, Any]:
        return {
            "headline": self.headline,
            "unit": self.unit,
            "annotators": [one.to_dict() for one in self.annotators],
            "together": None if self.together is None else self.together.to_dict(),
            "identifiability": self.identifiability.to_dict(),
            "independence": self.independence.to_dict(),
            "copies": self.copies.to_dict(),
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class AnsweredCheckReport:
    """Whose answers to use; then what `check` says of the labels without them.

    Attributes
    ----------
    answers : AnswersReport
    labels : CheckReport or SequenceCheckReport
        Of the same data without any answers.
    """

    answers: AnswersReport
    labels: Any

    @property
    def verdict(self) -> str:
        """Of the labels, as `check` gives it without answers; not judged where answers have to name classes."""
        if not self._is_judged and self.answers.identified:
            return "cannot be told" if self.answers.unit == "row" else "not known"
        return str(self.labels.verdict)

    @property
    def headline(self) -> str:
        return self.answers.headline

    @property
    def exit_code(self) -> int:
        """0: answered. 1: neither labels nor answers pin down what annotators mean."""
        return 0 if self.answers.identified else 1

    @property
    def _is_judged(self) -> bool:
        return not self.labels.verdict.startswith("not identified")

    def lines(self) -> list[str]:
        """The report in plain words, the answer first."""
        if self._is_judged:
            return [*self.answers.lines(), *self.labels.lines()]
        asked = "whether unlabeled rows help" if self.answers.unit == "row" else "what labels alone pin down"
        return [*self.answers.lines(), f"Not judged: {asked}. That takes gold of every class."]

    def to_dict(self) -> dict[str, Any]:
        return {
            **self.labels.to_dict(),
            "verdict": self.verdict,
            "identified": self.answers.identified,
            "answers": self.answers.to_dict(),
            "lines": self.lines(),
        }


def dependence_words(dependence: Dependence) -> str:
    """What the test of independence says, with its p-value."""
    if dependence.adjusted is None:
        return "Audited answers to a class differ too little to see whether they follow x."
    if dependence.follows_x:
        return (
            f"Wrong answers follow {dependence.words} (p = {dependence.adjusted:.2g}, correlation "
            f"{abs(dependence.correlation or 0.0):.2f}): more of them would not average out."
        )
    return f"No sign that wrong answers follow x (p = {dependence.adjusted:.2g})."


def check_answers(
    family: Any,
    data: Samples | Sequences,
    *,
    channels: Sequence[Channel] = (),
    is_conditional: bool = False,
    unlabeled_weight: float = 1.0,
    n_folds: int = 5,
    seed: int = 0,
    fitting: Mapping[str, Any] | None = None,
    progress: Progress = SILENT,
) -> AnswersReport:
    """Say whose answers to use.

    Parameters
    ----------
    family : EMFamily
        The kind of model and its prior.
    data : Samples or Sequences
        With answers.
    channels : sequence of Channel
        What is known of annotators of these names.
    is_conditional : bool
        Whether the model is one of p(y | x).
    n_folds : int
        Of the cross-validation; fewer are used where there is little gold.
    seed : int
        Deals the folds and drives the permutations.
    fitting : mapping, optional
        Further arguments of `labelworth.estimation.fit.fit`.
    """
    answers, gold = require_answers(data), data.evidence
    rng = np.random.default_rng(seed)
    unit = "token" if isinstance(data, Sequences) else "row"
    audits = Audits.of(answers, gold)
    views = feature_views(data, is_conditional=is_conditional)
    structure = identifiability(answers, gold, views, channels=channels)
    options: dict[str, Any] = {"unlabeled_weight": unlabeled_weight, **(fitting or {})}
    notes: list[str] = []
    predictions = _noted(
        notes,
        lambda: _predictions(
            family, data, n_folds, notes, channels=channels, rng=rng, progress=progress, fitting=options
        ),
    )
    directions = rows_directions(data) if isinstance(data, Samples) else token_directions(data)
    if predictions is not None:
        directions = [*model_directions(predictions.log_posteriors(gold.n_samples), gold.codes), *directions]
    independence = independence_test(audits, directions, rng)
    copies = copies_test(audits, rng)
    if copies.answer == "cannot be told" and predictions is not None and len(tried_answers(answers)) > 1:
        copies = copies_by_model(
            answers.one_vote_each(), _honest_posteriors(family, data, predictions.temperature, options)
        )
    harms = {} if predictions is None else {harm.name: harm for harm in predictions.verdicts()}
    dependences = {one.name: one for one in independence.annotators}
    known = {channel.name for channel in channels if not channel.is_unknown}
    counts = np.bincount(answers.annotators[answers.is_telling], minlength=len(answers.names))
    reports = []
    for name, accuracy, count in zip(answers.names, audits.accuracies(), counts.tolist(), strict=True):
        if not count:
            notes.append(f"{name!r} gave no answer that says something.")
            continue
        told = _Told(
            name,
            count,
            accuracy,
            audits.guessing_p(answers.names.index(name), rng),
            dependences.get(name),
            harms.get(name),
            name in known,
        )
        reports.append(told.judged(structure, harms.get(EVERYBODY), unit))
    return AnswersReport(
        unit, tuple(reports), harms.get(EVERYBODY), structure, independence, copies, tuple(dict.fromkeys(notes))
    )


@dataclass(frozen=True)
class _Told:
    """The evidence on one annotator."""

    name: str
    n_answers: int
    accuracy: Accuracy
    guessing_p: float | None
    dependence: Dependence | None
    harm: ChannelHarm | None
    is_known: bool

    def judged(self, structure: Identifiability, everybody: ChannelHarm | None, unit: str) -> AnnotatorReport:
        is_open = self.name in structure.open_annotators and structure.verdict == "not identified"
        decision, reason = self._decided(everybody, unit)
        if is_open:
            decision, reason = "cannot be told", "What they mean is not pinned down."
        return AnnotatorReport(
            self.name, self.n_answers, decision, reason, self.accuracy, self.dependence, self.harm, self.is_known
        )

    def _decided(self, everybody: ChannelHarm | None, unit: str) -> tuple[Decision, str]:
        """The first of these rules that applies."""
        n_audited, harm = self.accuracy.n_audited, self.harm
        answer = None if harm is None else harm.answer
        follows = self.dependence is not None and self.dependence.follows_x
        is_tested = self.dependence is not None and self.dependence.p_value is not None
        guesses = n_audited >= _ENOUGH_TO_RANK and self.guessing_p is not None and self.guessing_p > LEVEL
        passes = is_tested and n_audited >= _ENOUGH_TO_USE and (harm is None or _is_no_worse(harm))
        but = " But wrong ones follow x, so the more of them there are, the less gold they can replace."
        rules: list[tuple[bool, Decision, str]] = [
            (answer == "hurts", "leave out", "They make predictions worse."),
            (answer == "helps", "use", f"They make predictions better.{but if follows else ''}"),
            (
                follows,
                "cannot be told",
                "Wrong ones follow x, which misleads a model however many answers there are; predictions do not show "
                f"it yet. More {unit}s with gold would tell.",
            ),
            (
                not n_audited and not self.is_known,
                "cannot be told",
                f"Using them rests on faith: no {unit} that was answered has gold.",
            ),
            (
                guesses,
                "cannot be told",
                f"They name the class no more often than guessing might on {n_audited} audited {unit}s.",
            ),
            (
                harm is not None and _is_none(harm),
                "no difference",
                "Predictions of what has gold are as good without them, to a point of error.",
            ),
            (
                passes,
                "use",
                f"Nothing speaks against them on {n_audited} audited {unit}s: they know the class, wrong ones do not "
                "follow x, and predictions are not worse with them.",
            ),
            (
                harm is None and everybody is not None and everybody.answer == "helps",
                "use",
                "All answers together make predictions better, and nothing speaks against these.",
            ),
            (harm is None and everybody is not None, "cannot be told", "They were not tried alone."),
            (harm is None, "cannot be told", "There is too little gold to try predictions on."),
            (
                True,
                "cannot be told",
                f"Predictions of what has gold move by no more than chance; more {unit}s with gold would tell.",
            ),
        ]
        return next((decision, reason) for applies, decision, reason in rules if applies)


def _is_none(harm: ChannelHarm) -> bool:
    """Whether the difference is none, and known well enough to say so."""
    pairs = ((harm.error, _NO_ERROR), (harm.log_loss, _NO_LOSS))
    return all(abs(told.difference) + 2 * told.standard_error < most for told, most in pairs)


def _is_no_worse(harm: ChannelHarm) -> bool:
    return all(told.difference <= 2 * told.standard_error for told in (harm.error, harm.log_loss))


def _predictions(
    family: Any, data: Samples | Sequences, n_folds: int, notes: list[str], **options: Any
) -> AnsweredPredictions | None:
    """Cross-validation, if there is gold enough of every class."""
    counts = data.evidence.label_counts()
    testable = int(counts[counts > 1].sum())
    if isinstance(data, Sequences):
        owners = np.repeat(np.arange(data.n_sequences), data.lengths)[data.evidence.is_gold]
        testable = min(testable, len(np.unique(owners)))
    if not (counts > 0).all() or testable < 2 * data.evidence.n_classes:
        unit = "tokens" if isinstance(data, Sequences) else "rows"
        notes.append(
            f"There is too little gold to try predictions on, with answers and without: {int(counts.sum())} {unit}, "
            f"the fewest of a class {int(counts.min(initial=0))}. Give gold for at least two {unit} of each class."
        )
        return None
    fitting = dict(options.pop("fitting"))
    weight = fitting.pop("unlabeled_weight")
    return answered_predictions(
        family, data, n_folds=min(n_folds, testable), unlabeled_weight=weight, fitting=fitting, **options
    )


def _honest_posteriors(
    family: Any, data: Samples | Sequences, temperature: float, options: Mapping[str, Any]
) -> FloatArray:
    """p(y | x) of a model without answers, no surer than it was right on what it had not seen, (n_positions, K)."""
    bare = replace(data, answers=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LabelworthWarning)
        model = fit(family, bare, tolerance=TOLERANCE, **options).model
    tiny = np.finfo(np.float64).tiny
    told = np.log(np.maximum(posteriors(model, bare.hide()), tiny))
    return np.asarray(np.exp(log_softmax(told / temperature, axis=1)))


def _noted(notes: list[str], work: Callable[[], Any]) -> Any:
    """Do it, and keep what it warns of as notes."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", LabelworthWarning)
        result = work()
    notes += sorted({str(warning.message) for warning in caught if issubclass(warning.category, LabelworthWarning)})
    return result


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."
