"""`labelworth predict MODEL DATA`: classes and probabilities for new rows, labels for new sequences."""

import json
from pathlib import Path
from typing import Annotated

import typer

from labelworth.cli.console import answer, tell, working, write_json
from labelworth.cli.options import DataOptions, Json, Only


def predict(
    *,
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model that `labelworth fit` wrote.")],
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
            "--known", help="For sequences: labels in the data are known; they are kept and help their neighbors."
        ),
    ] = False,
    data: Annotated[DataOptions, Only("path", "text_column", "label_column", "format", "encoding")],
    as_json: Json = False,
) -> None:
    """Predict the class of every row, or the labels of every sequence, with probabilities."""
    from labelworth.data.files import require_writable
    from labelworth.estimators.kinds import kind_named
    from labelworth.estimators.storage import load
    from labelworth.report.record import Record, Stopwatch

    if output is not None:
        _require_ending(output)
        require_writable(output)
    watch = Stopwatch()
    estimator = load(model)
    with working() as progress, watch.timing("predict"):
        if kind_named(estimator.model_.kind).takes_sequences:
            from labelworth.cli.predictions.tokens import predict_tokens

            predictions = predict_tokens(estimator, data, output, known=known, progress=progress)
        else:
            from labelworth.cli.predictions.rows import predict_rows

            predictions = predict_rows(estimator, data, output, known=known)
    if output is not None:
        predictions.write(output)
        tell(f"Wrote {predictions.words} to {output}")
    figures = {
        "model": model,
        "classes": list(estimator.model_.classes),
        "output": output,
        **predictions.figures,
        "predictions": predictions.rows if output is None else None,
    }
    asked = {"model": model, **data.asked(), "known": known}
    record = Record("predict", asked, figures, None, data.digest(), watch.durations)
    if as_json or output is None:
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in predictions.rows)
        answer(record, lambda console: write_json("".join(lines)), as_json=as_json)
    if predictions.scores:
        tell(predictions.scores)


def _require_ending(output: Path) -> None:
    """Refuse a file that no predictions are written to, before any work."""
    from labelworth.errors import InvalidInputError

    endings = {".jsonl", ".ndjson", ".csv", ".conll", ".iob", ".iob2", ".bio", ".crfsuite", ".crf"}
    if not endings & set(output.suffixes[-2:]):
        raise InvalidInputError(
            "Predictions are written as .jsonl or .csv, those of sequences as .conll, .jsonl or .crfsuite. "
            f"Got {output.name!r}; name another file."
        )
