"""Labels that a fit to answers recovers: the most probable class of everything that was answered for."""

from pathlib import Path
from typing import Any

import numpy as np

from labelworth.cli.inputs.documents import Documents
from labelworth.cli.inputs.sequences import TokenSequences
from labelworth.data.answers import Answers
from labelworth.data.readers.written import own_column, rows_text

_DIGITS = 6


def recovered_labels(path: Path, estimator: Any, answers: Answers, samples: Documents | TokenSequences) -> str:
    """A row per answered row or token, called and shown as in sheets of answers, with label and probability.

    Where there is gold, that is the label, and certain.
    """
    batches = samples.batches(None)
    classes, rows = estimator.annotators_.classes, estimator.answered_rows_
    posteriors = estimator.answered_posteriors_
    said = answers.one_vote_each()
    n_answers = np.bincount(said.rows[said.is_telling], minlength=int(rows.max(initial=-1)) + 1)
    names = {name: own_column(name, batches.context_names) for name in ("probability", "answers")}
    label = samples.options.label_name if samples.offsets is None else "label"
    records = []
    for row, shares in zip(rows.tolist(), posteriors, strict=True):
        best = int(np.argmax(shares))
        records.append(
            {
                **batches.context(_position(row, samples)),
                label: classes[best],
                names["probability"]: round(float(shares[best]), _DIGITS),
                names["answers"]: int(n_answers[row]),
            }
        )
    return rows_text(path, records)


def _position(row: int, samples: Documents | TokenSequences) -> tuple[int, int]:
    if samples.offsets is None:
        return row, 0
    index = int(np.searchsorted(samples.offsets, row, side="right")) - 1
    return index, row - int(samples.offsets[index])
