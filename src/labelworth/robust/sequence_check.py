"""One question about sequences, answered in plain words: do the labels pin the model down, or what is left open?"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from labelworth.criteria.policy_points import PolicyPoint, PolicyTable
from labelworth.criteria.policy_reading import read_policies
from labelworth.criteria.policy_table import policy_information
from labelworth.data.sequences import Sequences
from labelworth.errors import InvalidInputError, MoreSamplesNeededError, NotIdentifiableError
from labelworth.fisher.identifiability import WeakDirection
from labelworth.policies.policy import Policy
from labelworth.progress import SILENT, Progress
from labelworth.robust.labeling_pattern import AsLabeled, condense
from labelworth.robust.sequence_support import SequenceSupport

Verdict = Literal["identified", "weak", "not identified", "cannot be told"]

MOST_PARAMETERS = 300
"""Up to so many the information is computed within seconds."""
_LONGEST = 100
_RELATIVE_ERROR, _MOST_DRAWS = 0.25, 1 << 15
"""Verdicts need shares, not figures: rough ones will do."""
_MOST_DIRECTIONS = 5
_MOST_NAMES = 4


@dataclass(frozen=True)
class PolicyVerdict:
    """What one way of labeling leaves open.

    Attributes
    ----------
    policy : str
    verdict : "identified", "weak", "not identified" or "cannot be told"
    expected_labels : float
        Labels per sequence.
    smallest_share : float or None
        In the weakest direction, the share of what complete labels would tell.
    weak_directions : tuple of WeakDirection
        Directions of which less than a hundredth of that is told, weakest first.
    """

    policy: str
    verdict: Verdict
    expected_labels: float
    smallest_share: float | None
    weak_directions: tuple[WeakDirection, ...]

    @classmethod
    def of(cls, point: PolicyPoint) -> "PolicyVerdict":
        """Judge a policy by its information."""
        directions = point.weak_directions or ()
        verdict: Verdict = "weak" if directions else "identified"
        if point.smallest_share is None:
            verdict = "cannot be told"
        elif not point.is_identifiable or point.expected_labels == 0:
            verdict = "not identified"
        return cls(point.policy.spec, verdict, point.expected_labels, point.smallest_share, directions)

    def lines(self) -> list[str]:
        """In words."""
        if self.smallest_share is None:
            return [f"{self.policy}: whether it pins the model down takes more draws to tell."]
        lines = [
            f"{self.policy} ({self.expected_labels:.3g} labels per sequence): {self.verdict}; in its weakest "
            f"direction it tells {_share(self.smallest_share)} of what complete labels would."
        ]
        if self.expected_labels == 0:
            lines.append(f"{self.policy}: without a label no name is anchored; labels are found up to their order.")
        for direction in self.weak_directions[:_MOST_DIRECTIONS]:
            told = (
                "Open" if direction.relative_information == 0 else f"Weak ({_share(direction.relative_information)})"
            )
            lines.append(f"{told} under {self.policy}: {', '.join(direction.parameters[:_MOST_NAMES])}.")
        if len(self.weak_directions) > _MOST_DIRECTIONS:
            lines.append(f"{len(self.weak_directions) - _MOST_DIRECTIONS} more directions are weak or open.")
        return lines

    def to_dict(self) -> dict[str, Any]:
        """As JSON knows it."""
        return {
            "policy": self.policy,
            "verdict": self.verdict,
            "expected_labels_per_sample": self.expected_labels,
            "smallest_relative_information": self.smallest_share,
            "weak_directions": [vars(direction) for direction in self.weak_directions],
        }


@dataclass(frozen=True)
class SequenceCheckReport:
    """What the labels of sequences pin down.

    Attributes
    ----------
    verdict : "identified", "weak", "not identified" or "cannot be told"
        Of the data as it is labeled: a label that is not anchored (a global symmetry) or an open direction make it
        not identified, directions of which hardly anything is told make it weak.
    support : SequenceSupport
        Counts of labels.
    policies : tuple of PolicyVerdict
        The data as labeled first, then the policies that were asked about; empty where that was too much to compute.
    notes : tuple of str
        What was simplified or could not be done, and why.
    """

    verdict: Verdict
    support: SequenceSupport
    policies: tuple[PolicyVerdict, ...]
    notes: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """0: answered. 1: the labels, or a policy that was asked about, leave the model unidentified."""
        verdicts = {self.verdict, *(policy.verdict for policy in self.policies)}
        return 1 if "not identified" in verdicts else 0

    def lines(self) -> list[str]:
        """The report in plain words, a line each."""
        judged = [line for policy in self.policies for line in policy.lines()]
        return [*self.support.lines(), *judged, *self.notes]

    def to_dict(self) -> dict[str, Any]:
        """As JSON knows it."""
        return {
            "verdict": self.verdict,
            "identified": self.verdict != "not identified",
            "support": self.support.to_dict(),
            "policies": [policy.to_dict() for policy in self.policies],
            "notes": list(self.notes),
            "lines": self.lines(),
        }


def check_sequences(
    sequences: Sequences,
    fitted: Callable[[Sequences, Progress], Any],
    *,
    policies: Sequence[Policy | str] = (),
    max_parameters: int = MOST_PARAMETERS,
    seed: int = 0,
    progress: Progress = SILENT,
) -> SequenceCheckReport:
    """Say whether labels of sequences pin a model down.

    The information of the labels as they are, and under other policies, is held against that of complete labels, at
    the model that the data gives. Rare words are taken together, and long sequences cut, where that is too much.

    Parameters
    ----------
    sequences : Sequences
        With the labels there are.
    fitted : callable
        Fits the model to sequences: takes them and a Progress, and returns something with ``model``.
    policies : sequence of Policy or str
        To be judged too.
    max_parameters : int
        How many parameters the model that is judged may have; frequent words are kept as far as that goes.
    seed : int
        Of the sampling.
    progress : Progress

    Notes
    -----
    Paper: def:identifiable, prop:consistency2.
    """
    asked = read_policies(list(policies), None) if policies else []
    support = SequenceSupport.of(sequences)
    if not support.anchored:
        return SequenceCheckReport("not identified", support, ())
    n_features = _features_within(max_parameters, sequences.evidence.n_classes, sequences.n_features)
    if n_features is None:
        note = (
            f"Weak directions were not looked for: {sequences.evidence.n_classes} labels have more than "
            f"{max_parameters} parameters even with few words. Ask for more with max_parameters=."
        )
        return SequenceCheckReport("cannot be told", support, (), (note,))
    condensed = condense(sequences, n_features=n_features, longest=_LONGEST)
    try:
        table = _judged(condensed.sequences, fitted, asked, seed, progress)
    except (InvalidInputError, MoreSamplesNeededError, NotIdentifiableError) as error:
        return SequenceCheckReport("cannot be told", support, (), (*condensed.notes, str(error)))
    verdicts = tuple(PolicyVerdict.of(point) for point in table.points)
    return SequenceCheckReport(verdicts[0].verdict, support, verdicts, (*condensed.notes, *table.notes))


def _judged(
    sequences: Sequences,
    fitted: Callable[[Sequences, Progress], Any],
    asked: Sequence[Policy],
    seed: int,
    progress: Progress,
) -> PolicyTable:
    model = fitted(sequences, progress).model
    return policy_information(
        model,
        policies=[Policy.of(AsLabeled(sequences)), *asked],
        n_samples=sequences.n_sequences,
        inputs=sequences.hide(),
        seed=seed,
        relative_error=_RELATIVE_ERROR,
        max_draws=_MOST_DRAWS,
        progress=progress,
    )


def _features_within(max_parameters: int, n_labels: int, n_features: int) -> int | None:
    """How many words or attributes a chain may have beside start and transitions; None if hardly any."""
    room = (max_parameters - n_labels * (n_labels + 1)) // n_labels
    return min(n_features, room) if room >= min(n_features, 2) else None


def _share(value: float) -> str:
    return "nothing" if value <= 0 else f"{value:.2g}"
