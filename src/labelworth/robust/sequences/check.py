"""One question about sequences, answered in plain words: do the labels pin the model down, or what is left open?"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelworth.data.sequences import NO_WORD, Sequences
from labelworth.errors import InvalidInputError, LabelworthWarning, NotIdentifiableError
from labelworth.fisher.sequences.population import MAX_PARAMETERS
from labelworth.models.chains.protocol import Reference
from labelworth.models.probability_rows import EVEN_SHARE, spread_evenly
from labelworth.policies.catalog import Everything
from labelworth.policies.policy import Policy
from labelworth.policies.spec import read_policies
from labelworth.progress import SILENT, Progress
from labelworth.robust.sequences.identifiability import (
    NOT_ANCHORED,
    NOT_KNOWN,
    SequenceIdentifiability,
    judge_policy,
)
from labelworth.robust.support import SequenceSupport
from labelworth.wording import percent

MOST_PARAMETERS = 300
"""Words are kept as far as this goes."""
OTHER_WORDS = "<other words>"
_FEWEST_FEATURES, _SOME_FEATURES = 2, 5
_LONGEST = 100
_MOST_DRAWS, _DRAWS_PER_PARAMETER = 1 << 15, 64
"""Verdicts need shares, not figures: rough ones will do."""


@dataclass(frozen=True)
class SequenceCheckReport:
    """What the labels of sequences pin down."""

    # Of the data as it is labeled: "identified", "identified, but weakly", "not identified: .." (by labels that
    # could be swapped, or by directions of which nothing is told) or "not known".
    verdict: str
    support: SequenceSupport  # Counts of labels.
    # What is told by the labels as they are, then by the policies that were asked about. Empty where labels
    # could be swapped and no policy was asked about, and where no model could be fitted.
    policies: tuple[SequenceIdentifiability, ...]
    notes: tuple[str, ...] = ()  # What was simplified or could not be done, and why.

    @property
    def headline(self) -> str:
        return f"Verdict: {self.verdict}."

    @property
    def exit_code(self) -> int:
        """0: answered. 1: the labels, or a policy that was asked about, leave the model unidentified."""
        verdicts = (self.verdict, *(policy.verdict for policy in self.policies))
        return int(any(verdict.startswith("not identified") for verdict in verdicts))

    def lines(self) -> list[str]:
        """The report in plain words, a line each."""
        of_policies = [line for policy in self.policies for line in policy.lines()]
        return [*self.support.lines(), *of_policies, *self.notes]

    def to_dict(self) -> dict[str, Any]:
        return {
            "verdict": self.verdict,
            "identified": not self.verdict.startswith("not identified"),
            "support": self.support.to_dict(),
            "policies": [policy.to_dict() for policy in self.policies],
            "notes": list(self.notes),
            "lines": self.lines(),
        }


def check_sequences(
    sequences: Sequences,
    fitted: Callable[[Sequences, Progress], Any],
    *,
    is_conditional: bool = False,
    policies: Sequence[Policy | str] = (),
    max_parameters: int = MOST_PARAMETERS,
    seed: int = 0,
    progress: Progress = SILENT,
) -> SequenceCheckReport:
    """Say whether labels of sequences pin a model down.

    The information of the labels as they are, and under other policies, is held against that of complete labels, at
    the model that the data gives. Rare words are taken together, and long sequences cut, where that is too much. A
    little chance is mixed into the probabilities of a hidden Markov model: at the edge, where some are zero, the
    theory does not hold, and near it the rarest of events would decide. Where labels could be swapped, the model is
    one of those that the data allows: policies that buy labels are judged at it all the same.

    Parameters
    ----------
    sequences : Sequences
        With the labels there are.
    fitted : callable
        Fits the model to sequences: takes them and a Progress, and returns something with ``model``.
    is_conditional : bool
        Whether the model learns nothing from what is not labeled.
    policies : sequence of Policy or str
        To be judged too, each by itself: as if its labels were all there are.
    max_parameters : int
        How many parameters the model that is judged may have; frequent words are kept as far as that goes. With many
        labels it has more, and few words; then what is labeled is counted first, which answers most questions.
    seed : int
        Of the sampling.

    Notes
    -----
    Paper: def:identifiable, prop:consistency2.
    """
    asked = read_policies(list(policies), None) if policies else []
    support = SequenceSupport.of(sequences, is_conditional=is_conditional)
    if not support.is_anchored and not asked:
        return SequenceCheckReport(NOT_ANCHORED, support, ())
    n_features = _features_within(max_parameters, sequences.evidence.n_classes)
    judged_on, left_out = condense(sequences, n_features=n_features, longest=_LONGEST)
    try:
        model, notes = _judged_model(judged_on, fitted, progress)
    except (InvalidInputError, NotIdentifiableError) as error:
        verdict = NOT_KNOWN if support.is_anchored else NOT_ANCHORED
        return SequenceCheckReport(verdict, support, (), (*left_out, str(error)))
    # Labeled whole there is nothing to draw.
    whole = support.is_anchored and support.n_whole == sequences.n_sequences
    labeled = Policy.of(Everything()) if whole else None
    judged = tuple(
        judge_policy(
            model,
            judged_on,
            policy=policy,
            quick_parameters=max_parameters,
            seed=seed,
            max_draws=max(_MOST_DRAWS, _DRAWS_PER_PARAMETER * model.coordinates.n_free),
            progress=progress,
        )
        for policy in (labeled, *asked)
    )
    return SequenceCheckReport(judged[0].verdict, support, judged, (*left_out, *notes))


def _judged_model(
    sequences: Sequences, fitted: Callable[[Sequences, Progress], Any], progress: Progress
) -> tuple[Any, tuple[str, ...]]:
    """The model that is judged, and what is to be known of it."""
    with warnings.catch_warnings():
        # That labels could be swapped is what the report is about.
        warnings.simplefilter("ignore", LabelworthWarning)
        model = fitted(sequences, progress).model
    if model.reference is not Reference.NOTHING:
        return model, ()
    note = (
        f"Judged at the fitted probabilities with {percent(EVEN_SHARE)} of each row spread evenly: where some are "
        "zero the theory does not hold."
    )
    return spread_evenly(model), (note,)


def _features_within(max_parameters: int, n_labels: int) -> int:
    """How many words or attributes a chain may have beside start and transitions; a few in any case."""
    room, last_room = ((limit - n_labels * (n_labels + 1)) // n_labels for limit in (max_parameters, MAX_PARAMETERS))
    return max(_FEWEST_FEATURES, room, min(last_room, _SOME_FEATURES))


def condense(sequences: Sequences, *, n_features: int, longest: int) -> tuple[Sequences, tuple[str, ...]]:
    """Keep the most frequent words or attributes, and cut long sequences into pieces; with notes on what was done.

    Parameters
    ----------
    n_features : int
        Other words share one entry; other attributes are left out.
    longest : int
        Longer sequences are cut into pieces of at most so many tokens.
    """
    notes = []
    if sequences.n_features > n_features:
        sequences, note = _fewer_features(sequences, n_features)
        notes.append(note)
    if int(sequences.lengths.max()) > longest:
        notes.append(f"Sequences of more than {longest} tokens are judged in pieces of that length.")
        sequences = _pieces(sequences, longest)
    return sequences, tuple(notes)


def _fewer_features(sequences: Sequences, n_features: int) -> tuple[Sequences, str]:
    names = sequences.feature_names
    if isinstance(sequences.features, sp.csr_array):
        counts = np.bincount(sequences.features.indices, minlength=len(names))
        kept = np.sort(np.argsort(-counts, kind="stable")[:n_features])
        rows = sp.csr_array(sequences.features[:, kept])
        chosen = tuple(names[column] for column in kept.tolist())
        note = f"Judged by the {n_features} most frequent of {len(names):,} attributes."
        return replace(sequences, features=rows, feature_names=chosen), note
    seen = sequences.words[sequences.words != NO_WORD]
    counts = np.bincount(seen, minlength=len(names))
    kept = np.sort(np.argsort(-counts, kind="stable")[: n_features - 1])
    code_of = np.full(len(names) + 1, len(kept), dtype=np.int64)
    code_of[kept] = np.arange(len(kept))
    code_of[NO_WORD] = NO_WORD
    chosen = (*(names[code] for code in kept.tolist()), OTHER_WORDS)
    share = counts[kept].sum() / max(1, counts.sum())
    note = (
        f"Judged by the {len(kept)} most frequent of {len(names):,} words ({percent(share)} of the tokens), the "
        "others taken together: what words tell is rather understated."
    )
    return replace(sequences, features=code_of[sequences.words], feature_names=chosen), note


def _pieces(sequences: Sequences, longest: int) -> Sequences:
    starts = [np.arange(first, last, longest) for first, last in pairwise(sequences.offsets.tolist())]
    owners = np.repeat(np.arange(sequences.n_sequences), [len(part) for part in starts])
    weights = None if sequences.weights is None else sequences.weights[owners]
    return replace(sequences, offsets=np.append(np.concatenate(starts), sequences.n_tokens), weights=weights)
