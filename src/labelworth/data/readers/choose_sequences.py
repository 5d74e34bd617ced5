"""One function that reads every format of sequences, chosen by the name of the file."""

import os
from collections.abc import Sequence
from pathlib import Path

from labelworth.data.readers.conll import UNSEEN_TAGS, read_conll
from labelworth.data.readers.crfsuite import UNSEEN_LABEL, read_crfsuite
from labelworth.data.readers.raw_sequences import RawAttributes, RawTokens
from labelworth.data.readers.tokens_jsonl import read_tokens_jsonl
from labelworth.errors import InvalidInputError

_FORMAT_OF_SUFFIX = {
    ".conll": "conll",
    ".iob": "conll",
    ".iob2": "conll",
    ".bio": "conll",
    ".txt": "conll",
    ".crfsuite": "crfsuite",
    ".crf": "crfsuite",
    ".jsonl": "tokens-jsonl",
    ".ndjson": "tokens-jsonl",
    ".json": "tokens-jsonl",
}
SEQUENCE_FORMATS = tuple(dict.fromkeys(_FORMAT_OF_SUFFIX.values()))
"""What `read_sequences` understands."""


def read_sequences(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    label_column: int | None = -1,
    word_column: int = 0,
    tokens_column: str = "tokens",
    tags_column: str | None = None,
    tag_names: Sequence[str] | None = None,
    unlabeled: str | None = None,
    encoding: str = "utf-8",
) -> RawTokens | RawAttributes:
    """Read a file of sequences, compressed with gzip or not.

    Parameters
    ----------
    path : path
        Its ending chooses the format: ``.conll``, ``.iob``, ``.txt`` (columns), ``.crfsuite`` (attributes),
        ``.jsonl`` (objects with tokens and tags); each may end in ``.gz``.
    format : str, optional
        One of `SEQUENCE_FORMATS`, where the ending does not say.
    label_column, word_column
        For columns; see `labelworth.data.readers.conll.read_conll`.
    tokens_column, tags_column, tag_names
        For JSON lines; see `labelworth.data.readers.tokens_jsonl.read_tokens_jsonl`.
    unlabeled : str, optional
        The label that means "not seen", for columns (``?`` and ``_`` when absent) and attributes (``?``).
    encoding : str

    Raises
    ------
    DataUnavailableError
        If there is no such file.
    InvalidInputError
        If the file is not what it should be: says the line, what is wrong there, and what to do.
    """
    source = Path(path)
    chosen = _format(source) if format is None else format
    if chosen == "conll":
        markers = UNSEEN_TAGS if unlabeled is None else (unlabeled,)
        return read_conll(
            source, label_column=label_column, word_column=word_column, unlabeled=markers, encoding=encoding
        )
    if chosen == "crfsuite":
        return read_crfsuite(source, unlabeled=UNSEEN_LABEL if unlabeled is None else unlabeled, encoding=encoding)
    if chosen == "tokens-jsonl":
        return read_tokens_jsonl(
            source, tokens_column=tokens_column, tags_column=tags_column, tag_names=tag_names, encoding=encoding
        )
    raise InvalidInputError(
        f"There is no format of sequences {chosen!r}. Choose one of {', '.join(SEQUENCE_FORMATS)}."
    )


def _format(path: Path) -> str:
    name = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    chosen = _FORMAT_OF_SUFFIX.get(name.suffix.lower())
    if chosen is None:
        raise InvalidInputError(
            f"The ending of {path.name!r} does not say what it holds. Known are {', '.join(_FORMAT_OF_SUFFIX)} (and "
            f".gz behind them); or name it with format= (one of {', '.join(SEQUENCE_FORMATS)})."
        )
    return chosen
