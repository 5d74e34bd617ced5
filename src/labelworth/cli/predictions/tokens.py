"""The labels of every sequence, scored where the data says the truth."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from labelworth.cli.inputs.sequences import TokenSequences
from labelworth.cli.inputs.written import ending
from labelworth.cli.options.data import DataOptions
from labelworth.cli.predictions.outcome import Predictions
from labelworth.data.readers.conll import UNSEEN_TAGS
from labelworth.data.readers.raw_sequences import RawAttributes, RawTokens
from labelworth.data.writers import write_conll, write_crfsuite, write_tokens_jsonl
from labelworth.errors import InvalidInputError
from labelworth.estimators.tagger import SequenceTagger
from labelworth.evaluation.sequences import SequenceEvaluation, evaluate_labels
from labelworth.progress import Progress

_LINES, _COLUMNS, _ATTRIBUTES = (".jsonl", ".ndjson"), (".conll", ".iob", ".iob2", ".bio"), (".crfsuite", ".crf")


def predict_tokens(
    tagger: SequenceTagger, data: DataOptions, output: Path | None, *, known: bool, progress: Progress
) -> Predictions:
    """Predict labels; with `known` those of the data are kept and help their neighbors, else they are the truth."""
    samples = TokenSequences.read_to_predict(data, tagger.reading_.n_columns)
    raw = samples.raw
    if output is not None:
        _require_form(output, raw)
    progress.say(f"Predicting {samples.n_samples:,} sequences of {data.path}")
    labels = [list(raw.labels[first:end]) for first, end in pairwise(raw.offsets.tolist())] if known else None
    predicted = tagger.predict(raw, labels)
    # Files hold labels alone.
    rows = [] if output is not None else _rows(tagger, raw, predicted, tagger.predict_proba(raw, labels))
    coverage = tagger.coverage(raw)
    progress.say(coverage.words)
    flat = [label for sequence in predicted for label in sequence]
    scores = None if known else _scores(tagger, raw, flat)
    figures = {
        **samples.sizes,
        "n_unknown": coverage.n_unknown,
        "evaluation": None if scores is None else _evaluation(scores),
    }
    return Predictions(
        rows,
        figures,
        f"the labels of {len(flat):,} tokens",
        lambda path: _write(path, raw, flat),
        "" if scores is None else _words(scores),
    )


def _rows(
    tagger: SequenceTagger, raw: RawTokens | RawAttributes, predicted: list[list[Any]], probabilities: list[Any]
) -> list[dict[str, Any]]:
    code_of = {name: code for code, name in enumerate(tagger.model_.classes)}
    rows = []
    for (first, end), labels, table in zip(pairwise(raw.offsets.tolist()), predicted, probabilities, strict=True):
        tokens = {"tokens": list(raw.words[first:end])} if isinstance(raw, RawTokens) else {}
        chosen = [float(row[code_of[label]]) for row, label in zip(table, labels, strict=True)]
        rows.append({**tokens, "tags": labels, "probabilities": chosen})
    return rows


def _scores(tagger: SequenceTagger, raw: RawTokens | RawAttributes, flat: list[Any]) -> SequenceEvaluation | None:
    truth = tagger.truth(raw)
    if not truth.evidence.is_gold.any():
        return None
    code_of = {name: code for code, name in enumerate(truth.evidence.classes)}
    return evaluate_labels(np.array([code_of[label] for label in flat]), truth)


def _evaluation(scores: SequenceEvaluation) -> dict[str, Any]:
    chunks = scores.chunks
    types = () if chunks is None else (chunks.overall, *chunks.types)
    counted = ("n_true", "n_found", "n_correct", "precision", "recall", "f1")
    rows = [{"type": kind.name or None, **{name: getattr(kind, name) for name in counted}} for kind in types]
    return {
        "n_tokens": scores.n_tokens,
        "accuracy": scores.accuracy,
        "accuracy_se": scores.accuracy_se,
        "chunks": None if chunks is None else rows,
        "notes": list(scores.notes),
    }


def _words(scores: SequenceEvaluation) -> str:
    lines = [
        f"Accuracy {scores.accuracy:.4f} (standard error {scores.accuracy_se:.4f}) on {scores.n_tokens:,} tokens "
        "whose labels are known."
    ]
    if scores.chunks is not None:
        lines += ["Chunks as conlleval counts them:", scores.chunks.report()]
    return "\n".join([*lines, *scores.notes])


def _require_form(output: Path, raw: RawTokens | RawAttributes) -> None:
    has_words = isinstance(raw, RawTokens)
    if ending(output) not in ((*_LINES, *_COLUMNS) if has_words else _ATTRIBUTES):
        allowed = ".conll or .jsonl" if has_words else ".crfsuite"
        raise InvalidInputError(
            f"Labels of these sequences are written as {allowed}. Got {output.name!r}; name another file."
        )


def _write(path: Path, raw: RawTokens | RawAttributes, labels: list[Any]) -> None:
    if isinstance(raw, RawAttributes):
        write_crfsuite(path, raw.with_labels(labels))
    elif ending(path) in _LINES:
        write_tokens_jsonl(path, raw.with_labels(labels))
    else:
        _write_columns(path, raw, labels)


def _write_columns(path: Path, raw: RawTokens, labels: list[Any]) -> None:
    """The columns, true labels where there are some, and predicted labels last, as conlleval reads them."""
    if any(label is not None for label in raw.labels):
        truth = tuple(label if isinstance(label, str) else UNSEEN_TAGS[-1] for label in raw.labels)
        raw = replace(raw, columns=(*raw.columns, truth), column_names=(*raw.column_names, "truth"))
    blanks = any(" " in cell for column in raw.columns for cell in column)
    write_conll(path, raw.with_labels(labels), delimiter="\t" if blanks else " ")
