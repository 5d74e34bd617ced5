"""The class of every row."""

import csv
import io
import json
from pathlib import Path
from typing import Any

from labelworth.cli.inputs.documents import read_to_predict
from labelworth.cli.options.data import DataOptions
from labelworth.cli.predictions.outcome import Predictions
from labelworth.data.files import atomic_write
from labelworth.errors import InvalidInputError


def predict_rows(classifier: Any, data: DataOptions, output: Path | None, *, known: bool) -> Predictions:
    """Predict classes, with the probability of each; labels in the data are not looked at."""
    if known:
        raise InvalidInputError("--known is for sequences: rows of a table have no neighbors.")
    if output is not None and output.suffix not in (".jsonl", ".ndjson", ".csv"):
        raise InvalidInputError(f"Predictions are written as .jsonl or .csv. Got {output.name!r}; name another file.")
    probabilities = classifier.predict_proba(read_to_predict(data, classifier)).tolist()
    rows = [_row(classifier.classes_.tolist(), row) for row in probabilities]

    def write(path: Path) -> None:
        text = _table(rows) if path.suffix == ".csv" else "".join(_line(row) for row in rows)
        atomic_write(path, text)

    return Predictions(rows, {"n_rows": len(rows)}, f"{len(rows):,} predictions", write)


def _row(classes: list[Any], probabilities: list[float]) -> dict[str, Any]:
    best = max(range(len(classes)), key=probabilities.__getitem__)
    by_class = {str(name): value for name, value in zip(classes, probabilities, strict=True)}
    return {"label": classes[best], "probability": probabilities[best], "probabilities": by_class}


def _line(row: dict[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False) + "\n"


def _table(rows: list[dict[str, Any]]) -> str:
    stream = io.StringIO(newline="")
    table = csv.writer(stream)
    names = rows[0]["probabilities"] if rows else ()
    table.writerow(["label", "probability", *(f"probability of {name}" for name in names)])
    table.writerows([row["label"], row["probability"], *row["probabilities"].values()] for row in rows)
    return stream.getvalue()
