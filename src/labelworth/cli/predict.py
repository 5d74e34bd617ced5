"""`labelworth predict MODEL DATA`: classes and probabilities for new rows, labels for new sequences."""

from pathlib import Path
from typing import Annotated

import typer

from labelworth.cli.console import STANDARD, answer, tell, working, write_json
from labelworth.cli.options import OF_EXPORTS, DataOptions, EngineOptions, Json, Only


def predict(
    *,
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model that `labelworth fit` wrote.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The file to write: .jsonl or .csv, of sequences .conll, .jsonl or .crfsuite. Without it, or with "
            "-, JSON lines on standard output.",
        ),
    ] = None,
    known: Annotated[
        bool,
        typer.Option(
            "--known", help="For sequences: labels in the data are known; they are kept and help their neighbors."
        ),
    ] = False,
    data: Annotated[DataOptions, Only("path", "text_column", "label_column", "format", "encoding", *OF_EXPORTS)],
    walkers: EngineOptions,
    as_json: Json = False,
) -> None:
    """Predict the class of every row, or the labels of every sequence, with probabilities.

    Examples
    --------
    labelworth predict model.lw new.csv -o predicted.csv
    labelworth predict model.lw - < new.csv
    """
    from labelworth.cli.predictions import predict_rows, predict_tokens, require_ending
    from labelworth.data.files import require_writable
    from labelworth.data.readers.written import json_lines
    from labelworth.estimators.kinds import kind_named
    from labelworth.estimators.storage import load
    from labelworth.report.record import Record, Stopwatch

    output = None if output == STANDARD else output
    if output is not None:
        require_ending(output)
        require_writable(output, (model, *data.files))
    watch = Stopwatch()
    estimator = load(model)
    with working() as progress, watch.timing("predict"):
        if kind_named(estimator.model_.kind).takes_sequences:
            predictions = predict_tokens(estimator, data, output, known=known, progress=progress)
        else:
            predictions = predict_rows(estimator, data, output, walkers, known=known)
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
        answer(record, lambda console: write_json(json_lines(predictions.rows)), as_json=as_json)
    if predictions.scores:
        tell(predictions.scores)
