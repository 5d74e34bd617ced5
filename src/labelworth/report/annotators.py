"""Those who answered, in words and a table: how often they are right, how surely, and who only guesses."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.data.answers import Answers
from labelworth.data.evidence import Evidence
from labelworth.estimators.answered import FittedAnnotators
from labelworth.report.values import Measured, Table
from labelworth.robust.answers.audits import Accuracy, Audits
from labelworth.wording import count, percent

_MOST_ROWS = 20
_SURPRISING = 5.0
"""Standard deviations beyond which labels contradict a fit: one in a million."""
_WIDE = 0.1
"""A standard error above which nothing is told: two of them are twenty points, and much of it is what was assumed."""
_FEWEST = 5
"""Answers below which nothing is told either: what others say speaks for an annotator then, however sure they are."""
GUESSING, WORSE, TOO_FEW = "not told from guessing", "worse than guessing", "too few answers to tell"


@dataclass(frozen=True, eq=False)
class AnnotatorsReport:
    """What a fit to answers says of those who gave them."""

    fitted: FittedAnnotators
    audited: tuple[Accuracy, ...]  # On samples with a label, in the order of the names.
    chances: FloatArray  # (n,): How often each would be right who says the same as often, whatever the class.
    n_samples: int  # That were answered for, and those of them with a label.
    n_labeled: int
    unit: str  # What is answered for: "row" or "token".
    plain: Accuracy  # Of answers that name one class, about samples with a label.
    expected: Measured  # How many of these the fit has agree, and the standard deviation of that number.

    @classmethod
    def of(
        cls, answers: Answers, gold: Evidence, fitted: FittedAnnotators, posteriors: FloatArray, unit: str
    ) -> "AnnotatorsReport":
        """Compare answers with labels, and what was fitted with guessing.

        Parameters
        ----------
        posteriors : array (n_answered, K)
            p(true class) of what was answered for.
        """
        audits = Audits.of(answers.recoded(gold.classes), gold)
        told = np.unique(answers.rows[answers.is_telling])
        # Where no answer says anything, nobody is told from guessing, whatever the shares.
        shares = posteriors.mean(axis=0) if len(posteriors) else np.full(len(gold.classes), 1 / len(gold.classes))
        chances = np.einsum("k,akv,v->a", shares, fitted.confusions, shares)
        labeled = int(gold.is_gold[told].sum())
        return cls(fitted, audits.accuracies(), chances, len(told), labeled, unit, *_plain(audits, fitted))

    def verdict(self, index: int) -> str:
        """Whether an annotator can be told from one who guesses; empty: yes, for the better.

        Who guesses says classes as often as they do, whatever the class is, and is right by chance.
        """
        error = float(self.fitted.accuracy_errors[index])
        beyond = float(self.fitted.accuracies[index] - self.chances[index])
        if self.fitted.is_known[index]:
            return "given"
        if not np.isfinite(error) or error > _WIDE or self.fitted.n_answers[index] < _FEWEST:
            return TOO_FEW
        if abs(beyond) <= 2 * error:
            return GUESSING
        return WORSE if beyond < 0 else ""

    def lines(self) -> list[str]:
        """In words: how many answers, how they agree with labels, and who guesses."""
        n_answers = int(self.fitted.n_answers.sum())
        lines = [
            f"{count(n_answers, 'answer')} of {count(len(self.fitted), 'annotator')} about "
            f"{count(self.n_samples, self.unit)}, {self.n_labeled:,} of them with a label."
        ]
        n_compared = sum(own.n_audited for own in self.audited)
        n_right = sum(own.n_right for own in self.audited)
        if n_compared:
            lines.append(
                f"Of {count(n_compared, 'answer')} about a {self.unit} with a label, {n_right:,} "
                f"({percent(n_right / n_compared)}) {'agrees' if n_right == 1 else 'agree'} with it."
            )
        else:
            lines.append(
                f"No {self.unit} with an answer has a label: how often annotators are right is what the model and "
                "their agreement make of it, and says nothing if the features do not tell the classes and few "
                "answered the same. Ask for some that have one (labelworth next --audit)."
            )
        lines += self._contradiction()
        for verdict, advice in ((GUESSING, "leave them out, or ask others"), (WORSE, "do they mix classes up?")):
            names = [name for index, name in enumerate(self.fitted.names) if self.verdict(index) == verdict]
            if names:
                listed = ", ".join(names[:_MOST_ROWS]) + (", ..." if len(names) > _MOST_ROWS else "")
                lines.append(f"{verdict[0].upper()}{verdict[1:]}: {listed}; {advice}.")
        return lines

    def _contradiction(self) -> list[str]:
        """Where labels say something else of annotators than the fit; given their tables, answers are independent."""
        spread = self.expected.standard_error or 0.0
        if abs(self.plain.n_right - self.expected.value) <= _SURPRISING * spread or not self.plain.n_audited:
            return []
        total = self.plain.n_audited
        return [
            f"Warning: of {count(total, 'such answer')} that name one class, {self.plain.n_right:,} agree, and the "
            f"fit expects {self.expected.value:,.0f}: what it takes for your classes is something else. Believe "
            "neither its annotators nor its predictions; try less smoothing (--smoothing 0.01), shorter "
            "documents (--document-length 10) or unlabeled samples that count less (--unlabeled-weight 0.1)."
        ]

    def table(self) -> Table:
        """The worst first."""
        order = np.argsort(self.fitted.accuracies, kind="stable").tolist()
        rows = tuple(self._row(index) for index in order[:_MOST_ROWS])
        more = len(order) - len(rows)
        beside = f"{count(more, 'annotator')} with more are not shown. " if more > 0 else ""
        held = "" if self.fitted.errors_are_joint else " These hold all else fixed, and are too small."
        note = (
            f"{beside}Accuracy: how often the true class is meant, estimated together with the model, with its "
            f"standard error.{held}"
        )
        columns = ("annotator", "answers", f"right on labeled {self.unit}s", "accuracy in %", "")
        return Table("Annotators, the worst first", columns, rows, note)

    def _row(self, index: int) -> tuple[Any, ...]:
        audited = self.audited[index]
        error = self.fitted.accuracy_errors[index]
        accuracy = 100 * float(self.fitted.accuracies[index])
        return (
            self.fitted.names[index],
            int(self.fitted.n_answers[index]),
            f"{audited.n_right} of {audited.n_audited}" if audited.n_audited else None,
            Measured(accuracy, None if self.fitted.is_known[index] or np.isnan(error) else 100 * float(error)),
            self.verdict(index),
        )

    def to_dict(self) -> dict[str, Any]:
        """As JSON knows it."""
        errors = self.fitted.accuracy_errors
        return {
            "n_answers": int(self.fitted.n_answers.sum()),
            f"n_{self.unit}s": self.n_samples,
            "n_labeled": self.n_labeled,
            "n_compared": sum(own.n_audited for own in self.audited),
            "n_agreeing": sum(own.n_right for own in self.audited),
            "errors_are_joint": self.fitted.errors_are_joint,
            "plain": {**self.plain.to_dict(), "expected": self.expected.value, "sd": self.expected.standard_error},
            "contradicts_labels": bool(self._contradiction()),
            "annotators": [
                {
                    "name": name,
                    "n_answers": int(self.fitted.n_answers[index]),
                    "n_compared": self.audited[index].n_audited,
                    "n_agreeing": self.audited[index].n_right,
                    "accuracy": float(self.fitted.accuracies[index]),
                    "accuracy_se": None if np.isnan(errors[index]) else float(errors[index]),
                    "by_chance": float(self.chances[index]),
                    "verdict": self.verdict(index),
                }
                for index, name in enumerate(self.fitted.names)
            ],
        }


def _plain(audits: Audits, fitted: FittedAnnotators) -> tuple[Accuracy, Measured]:
    """Answers that name one class: how many agree with labels, and how many the fit has agree."""
    names_one = audits.shares.max(axis=1, initial=0.0) == 1.0
    agree = audits.is_right[names_one]
    classes = audits.classes[names_one]
    right = fitted.confusions[audits.annotators[names_one], classes, classes]
    spread = float(np.sqrt((right * (1 - right)).sum()))
    return Accuracy(int(agree.sum()), len(agree)), Measured(float(right.sum()), spread)
