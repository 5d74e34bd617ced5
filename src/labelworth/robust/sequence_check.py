"""One question about sequences, answered in plain words: do the labels pin the model down, or what is left open?"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from labelworth.criteria.policy_reading import read_policies
from labelworth.data.sequences import Sequences
from labelworth.errors import InvalidInputError, NotIdentifiableError
from labelworth.models.chain_protocol import Reference
from labelworth.policies.catalog import Everything
from labelworth.policies.policy import Policy
from labelworth.progress import SILENT, Progress
from labelworth.robust.condensed_sequences import condense
from labelworth.robust.sequence_identifiability import SequenceIdentifiability
from labelworth.robust.sequence_identifiability import check_sequences as identifiability
from labelworth.robust.sequence_support import SequenceSupport

MOST_PARAMETERS = 300
"""Up to so many the information is computed within seconds."""
NOT_ANCHORED = "not identified: labels without an anchor"
NOT_KNOWN = "not known"
_LONGEST = 100
_CHANCE = 0.01
_MOST_DRAWS = 1 << 15
"""Verdicts need shares, not figures: rough ones will do."""


@dataclass(frozen=True)
class SequenceCheckReport:
    """What the labels of sequences pin down.

    Attributes
    ----------
    verdict : str
        Of the data as it is labeled: "identified", "identified, but weakly", "not identified: .." (by labels that
        could be swapped, or by directions of which nothing is told) or "not known".
    support : SequenceSupport
        Counts of labels.
    policies : tuple of SequenceIdentifiability
        What is told by the labels as they are, then by the policies that were asked about; empty where labels
        could be swapped, or that was too much to compute.
    notes : tuple of str
        What was simplified or could not be done, and why.
    """

    verdict: str
    support: SequenceSupport
    policies: tuple[SequenceIdentifiability, ...]
    notes: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """0: answered. 1: the labels, or a policy that was asked about, leave the model unidentified."""
        verdicts = (self.verdict, *(policy.verdict for policy in self.policies))
        return int(any(verdict.startswith("not identified") for verdict in verdicts))

    def lines(self) -> list[str]:
        """The report in plain words, a line each."""
        told = [line for policy in self.policies for line in policy.information_lines()]
        return [*self.support.lines(), *told, *self.notes]

    def to_dict(self) -> dict[str, Any]:
        """As JSON knows it."""
        return {
            "verdict": self.verdict,
            "identified": not self.verdict.startswith("not identified"),
            "support": self.support.to_dict(),
            "policies": [
                {
                    "policy": policy.policy,
                    "verdict": policy.verdict,
                    "information": None if policy.point is None else policy.point.to_dict(),
                }
                for policy in self.policies
            ],
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
    the model that the data gives. Rare words are taken together, and long sequences cut, where that is too much. A
    little chance is mixed into the probabilities of a hidden Markov model: at the edge, where some are zero, the
    theory does not hold, and near it the rarest of events would decide.

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
    if support.indistinguishable:
        return SequenceCheckReport(NOT_ANCHORED, support, ())
    n_labels = sequences.evidence.n_classes
    n_features = _features_within(max_parameters, n_labels, sequences.n_features)
    if n_features is None:
        note = (
            f"Weak directions were not looked for: {n_labels} labels have more than {max_parameters} parameters even "
            "with few words."
        )
        # Complete labels tell whatever labels can tell.
        whole = support.n_whole == support.n_sequences and not support.never_labeled
        return SequenceCheckReport("identified" if whole else NOT_KNOWN, support, (), (note,))
    condensed = condense(sequences, n_features=n_features, longest=_LONGEST)
    try:
        model = _interior(fitted(condensed.sequences, progress).model)
        # Labeled whole there is nothing to draw.
        labeled = Policy.of(Everything()) if support.n_whole == support.n_sequences else None
        found = tuple(
            identifiability(
                model, condensed.sequences, policy=policy, seed=seed, max_draws=_MOST_DRAWS, progress=progress
            )
            for policy in (labeled, *asked)
        )
    except (InvalidInputError, NotIdentifiableError) as error:
        return SequenceCheckReport(NOT_KNOWN, support, (), (*condensed.notes, str(error)))
    return SequenceCheckReport(found[0].verdict, support, found, condensed.notes)


def _interior(model: Any) -> Any:
    """The model, or for one of probabilities the nearby one with a hundredth of each row spread evenly."""
    if model.reference is not Reference.NOTHING:
        return model
    tables = {name: (1 - _CHANCE) * table + _CHANCE / table.shape[1] for name, table in model.tables.items()}
    return model.with_tables(tables)


def _features_within(max_parameters: int, n_labels: int, n_features: int) -> int | None:
    """How many words or attributes a chain may have beside start and transitions; None if hardly any."""
    room = (max_parameters - n_labels * (n_labels + 1)) // n_labels
    return min(n_features, room) if room >= min(n_features, 2) else None
