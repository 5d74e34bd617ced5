"""Writes files in the formats people have, with the libraries people write them with."""

import csv
import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.datasets import dump_svmlight_file


def write_jsonl(path: Path, texts: Sequence[Any], labels: Sequence[Any]) -> Path:
    """One object per line; gzip if the name says so."""
    rows = zip(texts, labels, strict=True)
    content = "".join(json.dumps({"text": text, "label": label}, ensure_ascii=False) + "\n" for text, label in rows)
    path.write_bytes(gzip.compress(content.encode()) if path.suffix == ".gz" else content.encode())
    return path


def write_csv(path: Path, texts: Sequence[str], labels: Sequence[str | None], *, delimiter: str = ",") -> Path:
    """Quoted where needed; None is an empty cell."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        # A lone carriage return must be quoted too, which the csv module does only when told to quote all.
        writer = csv.writer(stream, delimiter=delimiter, quoting=csv.QUOTE_ALL)
        writer.writerow(["text", "label"])
        writer.writerows([text, "" if label is None else label] for text, label in zip(texts, labels, strict=True))
    return path


def write_parquet(path: Path, texts: Sequence[str], labels: Sequence[Any]) -> Path:
    """Two columns."""
    pq.write_table(pa.table({"text": list(texts), "label": list(labels)}), path)
    return path


def write_svmlight(path: Path, features: Any, labels: Sequence[float], *, zero_based: bool = True) -> Path:
    """As scikit-learn dumps it."""
    dump_svmlight_file(features, np.asarray(labels), str(path), zero_based=zero_based)
    return path


def written(path: Path, content: str) -> Path:
    """A file with this content, byte by byte."""
    path.write_bytes(content.encode())
    return path
