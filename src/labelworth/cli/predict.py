"""`labelworth predict MODEL DATA`: classes and probabilities for new rows, labels for new sequences."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelworth.cli import options
from labelworth.cli.console import answer, tell, write_json
from labelworth.cli.reading import Source, features_to_predict
from labelworth.cli.sequence_reading import SequenceSource

if TYPE_CHECKING:
    from labelworth.arrays import FloatArray


def predict(
    model: Annotated[Path, typer.Argument(help="A model that `labelworth fit` wrote.")],
    data: options.Data,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="A .jsonl or .csv file, of sequences .conll, .jsonl or .crfsuite; JSON lines on stdout if absent.",
        ),
    ] = None,
    known: Annotated[
        bool,
        typer.Option(
            "--known", help="Sequences: labels in the data are known; they are kept and help their neighbors."
        ),
    ] = False,
    text_column: options.TextColumn = "text",
    label_column: options.LabelColumn = "label",
    format: options.Format = None,
    encoding: options.Encoding = "utf-8",
    as_json: options.Json = False,
) -> None:
    """Predict the class of every row, or the labels of every sequence, with probabilities."""
    from labelworth.data.files import atomic_write, require_writable
    from labelworth.estimators.storage import load
    from labelworth.report.record import Record, Stopwatch

    _require_ending(output)
    if output is not None:
        require_writable(output)
    watch = Stopwatch()
    classifier = load(model)
    if not hasattr(classifier, "n_features_in_"):
        from labelworth.cli.sequences import predict_sequences

        tokens = SequenceSource.of(data, text_column, label_column, format=format, encoding=encoding)
        predict_sequences(classifier, model, tokens, output, known=known, as_json=as_json)
        return
    writer = _writer(output)
    # Labels in the data, if any, are not looked at.
    source = Source(data, text_column, label_column=None, unlabeled="none", format=format, encoding=encoding)
    reading = classifier.reading_
    raw = source.read(zero_based=reading.zero_based, n_features=classifier.n_features_in_)
    features = features_to_predict(raw, reading)
    with watch.timing("predict"):
        probabilities = classifier.predict_proba(features)
    classes = classifier.classes_.tolist()
    rows = list(_rows(classes, probabilities))
    if output is not None:
        atomic_write(output, writer(classes, rows))
        tell(f"Wrote {len(rows):,} predictions to {output}")
    figures = {
        "model": model,
        "classes": classes,
        "n_rows": len(rows),
        "output": output,
        "predictions": rows if output is None else None,
    }
    record = Record("predict", {"model": model, "source": source}, figures, None, source.digest(), watch.durations)
    if as_json or output is None:
        answer(record, lambda console: write_json(_as_lines(classes, rows)), as_json=as_json)


def _rows(classes: list[Any], probabilities: "FloatArray") -> Iterator[dict[str, Any]]:
    for row in probabilities.tolist():
        best = max(range(len(classes)), key=row.__getitem__)
        yield {
            "label": classes[best],
            "probability": row[best],
            "probabilities": {str(name): value for name, value in zip(classes, row, strict=True)},
        }


def _require_ending(output: Path | None) -> None:
    """Refuse a file that no predictions are written to, before any work."""
    from labelworth.cli.sequence_writing import ENDINGS
    from labelworth.errors import InvalidInputError

    if output is not None and not {".jsonl", ".ndjson", ".csv", *ENDINGS} & set(output.suffixes[-2:]):
        raise InvalidInputError(
            "Predictions are written as .jsonl or .csv, those of sequences as .conll, .jsonl or .crfsuite. "
            f"Got {output.name!r}; name another file."
        )


def _writer(output: Path | None) -> Any:
    if output is None or output.suffix in {".jsonl", ".ndjson"}:
        return _as_lines
    if output.suffix == ".csv":
        return _as_csv
    from labelworth.errors import InvalidInputError

    raise InvalidInputError(f"Predictions are written as .jsonl or .csv. Got {output.name!r}; name another file.")


def _as_lines(classes: list[Any], rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _as_csv(classes: list[Any], rows: list[dict[str, Any]]) -> str:
    stream = io.StringIO(newline="")
    writer = csv.writer(stream)
    writer.writerow(["label", "probability", *(f"probability of {name}" for name in classes)])
    writer.writerows([row["label"], row["probability"], *row["probabilities"].values()] for row in rows)
    return stream.getvalue()
