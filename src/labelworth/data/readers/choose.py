"""One function that reads every format, chosen by the name of the file."""

import os
from collections.abc import Hashable
from pathlib import Path

from labelworth.data.readers.cells import NOT_NAMED
from labelworth.data.readers.raw import RawFeatures, RawTexts
from labelworth.errors import InvalidInputError

_FORMAT_OF_SUFFIX = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".npz": "npz",
}
FORMATS = tuple(dict.fromkeys(_FORMAT_OF_SUFFIX.values()))
"""What `read` understands."""


def read(
    path: str | os.PathLike[str],
    *,
    text_column: str = "text",
    label_column: str | None = "label",
    labels: str | os.PathLike[str] | None = None,
    unlabeled: Hashable = NOT_NAMED,
    format: str | None = None,
    encoding: str = "utf-8",
    zero_based: bool | None = None,
    n_features: int | None = None,
) -> RawTexts | RawFeatures:
    """Read a file of samples, compressed with gzip or not.

    An empty label (an empty cell, null, NaN, or no such key in a JSON line) means that the row is unlabeled;
    a list of labels means "one of these".

    Parameters
    ----------
    path : path
        Its ending chooses the format: ``.jsonl``, ``.csv``, ``.tsv``, ``.parquet`` (texts), ``.svm`` (features),
        ``.npz`` (features); each may end in ``.gz``.
    text_column, label_column : str
        For files of texts. ``label_column=None``: the file has no labels.
    labels : path, optional
        For ``.npz``: labels in a file of their own, one per line or an ``.npy`` array.
    unlabeled : hashable
        The marker of unlabeled rows beside empty ones; None if there is none. Where nothing is named and a
        label is -1, files of arrays take it as the marker, and all others ask.
    format : str, optional
        One of `FORMATS`, where the ending does not say.
    encoding : str
        Of text files.
    zero_based, n_features
        For svmlight; see `labelworth.data.readers.svmlight.read_svmlight`.

    Raises
    ------
    DataUnavailableError
        If there is no such file.
    InvalidInputError
        If the file is not what it should be: says the line, what is wrong there, and what to do.
    """
    source = Path(path)
    chosen = _format(source) if format is None else format
    if chosen not in FORMATS:
        raise InvalidInputError(f"There is no format {chosen!r}. Choose one of {', '.join(FORMATS)}.")
    if labels is not None and chosen != "npz":
        raise InvalidInputError(f"labels= goes with .npz files. {source} holds its labels itself; use label_column=.")
    if chosen == "svmlight":
        from labelworth.data.readers.svmlight import read_svmlight

        return read_svmlight(source, unlabeled=unlabeled, zero_based=zero_based, n_features=n_features)
    if chosen == "npz":
        from labelworth.data.readers.npz import read_npz

        beside = None if labels is None else Path(labels)
        return read_npz(source, labels=beside, unlabeled=unlabeled, encoding=encoding)
    return _read_texts(source, chosen, text_column, label_column, unlabeled, encoding)


def _read_texts(
    source: Path, chosen: str, text_column: str, label_column: str | None, unlabeled: Hashable, encoding: str
) -> RawTexts:
    if chosen == "parquet":
        from labelworth.data.readers.parquet import read_parquet

        return read_parquet(source, text_column=text_column, label_column=label_column, unlabeled=unlabeled)
    if chosen == "jsonl":
        from labelworth.data.readers.jsonl import read_jsonl

        return read_jsonl(
            source, text_column=text_column, label_column=label_column, unlabeled=unlabeled, encoding=encoding
        )
    from labelworth.data.readers.delimited import read_delimited

    return read_delimited(
        source,
        delimiter="\t" if chosen == "tsv" else ",",
        text_column=text_column,
        label_column=label_column,
        unlabeled=unlabeled,
        encoding=encoding,
    )


def _format(path: Path) -> str:
    name = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    chosen = _FORMAT_OF_SUFFIX.get(name.suffix.lower())
    if chosen is None:
        endings = ", ".join(_FORMAT_OF_SUFFIX)
        raise InvalidInputError(
            f"The ending of {path.name!r} does not say what it holds. Known are {endings} (and .gz behind them); "
            f"or name it with format= (one of {', '.join(FORMATS)})."
        )
    return chosen
