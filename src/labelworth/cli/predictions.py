"""Predictions on their way out: the class of every row, or the labels of every sequence."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from labelworth.cli.inputs.documents import read_to_predict
from labelworth.cli.inputs.sequences import TokenSequences
from labelworth.cli.options.data import DataOptions
from labelworth.cli.options.engine import EngineOptions
from labelworth.data.files import write_lines
from labelworth.data.readers.choose import ending
from labelworth.data.readers.conll import UNSEEN_TAGS
from labelworth.data.readers.raw_sequences import RawAttributes, RawTokens
from labelworth.data.readers.written import COLUMNS, LINES, json_line
from labelworth.data.shards.folder import Shards
from labelworth.data.shards.manifest import refuse_shards
from labelworth.data.writers import write_conll, write_crfsuite, write_tokens_jsonl
from labelworth.errors import InvalidInputError
from labelworth.estimators.tagger import SequenceTagger
from labelworth.evaluation.sequences import SequenceEvaluation, evaluate_labels
from labelworth.progress import Progress

_ATTRIBUTES = (".crfsuite", ".crf")


@dataclass(frozen=True, eq=False)
class Predictions:
    """What a prediction gives, of rows and of tokens alike."""

    # An object per row or sequence; empty where they go to a file that holds labels alone.
    rows: list[dict[str, Any]]
    figures: dict[str, Any]  # What records say beside them.
    words: str  # How many there are.
    write: Callable[[Path], None]
    scores: str = ""  # How good they are, where the data says the truth.


def require_ending(output: Path) -> None:
    """Refuse a file that no predictions are written to, before any work."""
    if not {*LINES, ".csv", *COLUMNS, *_ATTRIBUTES} & set(output.suffixes[-2:]):
        raise InvalidInputError(
            "Predictions are written as .jsonl or .csv, those of sequences as .conll, .jsonl or .crfsuite. "
            f"Got {output.name!r}; name another file."
        )


def predict_rows(
    classifier: Any, data: DataOptions, output: Path | None, walkers: EngineOptions, *, known: bool
) -> Predictions:
    """Predict classes, with the probability of each; labels in the data are not looked at."""
    if known:
        raise InvalidInputError("--known is for sequences: rows of a table have no neighbors.")
    if output is not None and output.suffix not in (*LINES, ".csv"):
        raise InvalidInputError(f"Predictions are written as .jsonl or .csv. Got {output.name!r}; name another file.")
    data.refuse_of_shards()
    parts = _parts(walkers.opened(data.path), classifier) if data.is_sharded else [read_to_predict(data, classifier)]
    n_rows = sum(part.n_samples if data.is_sharded else part.shape[0] for part in parts)
    names = classifier.classes_.tolist()

    def rows() -> Iterator[dict[str, Any]]:
        for part in parts:
            yield from (_row(names, row) for row in classifier.predict_proba(part).tolist())

    def write(path: Path) -> None:
        write_lines(path, _table(rows(), names) if path.suffix == ".csv" else map(json_line, rows()))

    listed = list(rows()) if output is None else []
    return Predictions(listed, {"n_rows": n_rows}, f"{n_rows:,} predictions", write)


_AT_ONCE = 8
"""Shards whose probabilities are held at once."""


def _parts(shards: Shards, classifier: Any) -> list[Any]:
    """Some shards at a time, if they are of what the classifier knows."""
    known, given = classifier.reading_.vocabulary, shards.vocabulary
    if shards.manifest.n_features != classifier.model_.n_features or (known and given and known != given):
        raise InvalidInputError(
            f"{shards.folder} has other words or columns than what the model was fitted to. Predict the rows of its "
            "file, or make the shards and the model of the same data."
        )
    data = shards.data
    ends = accumulate(entry.n_samples for entry in shards.manifest.shards)
    bounds = [*[0, *ends][::_AT_ONCE], data.n_samples]
    return [data.take(np.arange(first, end)) for first, end in pairwise(bounds) if end > first]


def _row(classes: list[Any], probabilities: list[float]) -> dict[str, Any]:
    best = max(range(len(classes)), key=probabilities.__getitem__)
    by_class = {str(name): value for name, value in zip(classes, probabilities, strict=True)}
    return {"label": classes[best], "probability": probabilities[best], "probabilities": by_class}


def _table(rows: Iterable[dict[str, Any]], names: list[Any]) -> Iterator[str]:
    stream = io.StringIO(newline="")
    table = csv.writer(stream)
    table.writerow(["label", "probability", *(f"probability of {name}" for name in names)])
    for row in rows:
        table.writerow([row["label"], row["probability"], *row["probabilities"].values()])
        yield stream.getvalue()
        stream.seek(0)
        stream.truncate()
    yield stream.getvalue()


def predict_tokens(
    tagger: SequenceTagger, data: DataOptions, output: Path | None, *, known: bool, progress: Progress
) -> Predictions:
    """Predict labels; with `known` those of the data are kept and help their neighbors, else they are the truth."""
    refuse_shards(data.path)
    samples = TokenSequences.read_to_predict(data, tagger.reading_.n_columns)
    raw = samples.raw
    if output is not None:
        _require_form(output, raw)
    progress.say(f"Predicting {samples.n_samples:,} sequences of {data.path}")
    labels = [list(raw.labels[first:end]) for first, end in pairwise(raw.offsets.tolist())] if known else None
    predicted = tagger.predict(raw, labels)
    # Files hold labels alone.
    rows = [] if output is not None else _token_rows(tagger, raw, predicted, tagger.predict_proba(raw, labels))
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


def _token_rows(
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
    if ending(output) not in ((*LINES, *COLUMNS) if has_words else _ATTRIBUTES):
        allowed = ".conll or .jsonl" if has_words else ".crfsuite"
        raise InvalidInputError(
            f"Labels of these sequences are written as {allowed}. Got {output.name!r}; name another file."
        )


def _write(path: Path, raw: RawTokens | RawAttributes, labels: list[Any]) -> None:
    if isinstance(raw, RawAttributes):
        write_crfsuite(path, raw.with_labels(labels))
    elif ending(path) in LINES:
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
