"""Two doors, for documents and for sequences, and one table of the formats behind them."""

import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labelworth.data.files import is_standard
from labelworth.data.labels import by_text
from labelworth.data.readers.cells import NOT_NAMED
from labelworth.data.readers.notes import data_notes
from labelworth.data.readers.raw import RawFeatures, RawTexts
from labelworth.data.readers.streams import open_binary
from labelworth.errors import InvalidInputError

if TYPE_CHECKING:
    from labelworth.data.readers.raw_sequences import RawAttributes, RawTokens

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LONGEST_HEADER = 1 << 16
_TEXT_OPTIONS = ("text_column", "label_column", "unlabeled")


@dataclass(frozen=True)
class _Format:
    """A format: the endings that mean it, the module and function that read it, and the options that these take."""

    endings: tuple[str, ...]
    module: str
    function: str
    options: tuple[str, ...]
    fixed: Mapping[str, Any] | None = None

    def read(self, path: Path, options: Mapping[str, Any]) -> Any:
        reader = getattr(import_module(f"labelworth.data.readers.{self.module}"), self.function)
        return reader(path, **{name: options[name] for name in self.options}, **(self.fixed or {}))


JSON_ENDINGS = (".jsonl", ".ndjson", ".json")
_DOCUMENTS = {
    "jsonl": _Format(JSON_ENDINGS, "json_files", "read_jsonl", (*_TEXT_OPTIONS, "encoding")),
    "csv": _Format((".csv",), "delimited", "read_delimited", (*_TEXT_OPTIONS, "encoding"), {"delimiter": ","}),
    "tsv": _Format(
        (".tsv", ".tab"), "delimited", "read_delimited", (*_TEXT_OPTIONS, "encoding"), {"delimiter": "\t"}
    ),
    "parquet": _Format((".parquet", ".pq"), "parquet", "read_parquet", _TEXT_OPTIONS),
    "svmlight": _Format(
        (".svm", ".svmlight", ".libsvm"), "svmlight", "read_svmlight", ("unlabeled", "zero_based", "n_features")
    ),
    "npz": _Format((".npz",), "npz", "read_npz", ("labels", "unlabeled", "encoding")),
}
_SEQUENCES = {
    "conll": _Format(
        (".conll", ".iob", ".iob2", ".bio", ".txt"),
        "conll",
        "read_conll",
        ("label_column", "word_column", "unlabeled", "encoding"),
    ),
    "crfsuite": _Format((".crfsuite", ".crf"), "crfsuite", "read_crfsuite", ("unlabeled", "encoding")),
    "tokens-jsonl": _Format(
        JSON_ENDINGS, "tokens_jsonl", "read_tokens_jsonl", ("tokens_column", "tags_column", "tag_names", "encoding")
    ),
}


_MODELS = {
    "documents": "auto, multinomial, bernoulli, logistic, linear-svm",
    "sequences": "hidden-markov, boltzmann-chain, conditional-random-field",
}
"""What to name for files of each kind; the first of many for documents."""


def read(
    path: str | os.PathLike[str],
    *,
    text_column: str = "text",
    label_column: str | None = "label",
    labels: str | os.PathLike[str] | None = None,
    unlabeled: Hashable = NOT_NAMED,
    rename: str | Mapping[str, str] | None = None,
    format: str | None = None,
    encoding: str = "utf-8",
    zero_based: bool | None = None,
    n_features: int | None = None,
) -> RawTexts | RawFeatures:
    """Read a file of samples, compressed with gzip or not.

    An empty label (an empty cell, null, NaN, or no such key in a JSON object) means that the row is unlabeled;
    a list of labels means "one of these". Blanks around a label do not count.

    Parameters
    ----------
    path : path
        Its ending chooses the format: ``.jsonl`` or ``.json`` (objects, one per line or in an array), ``.csv``,
        ``.tsv``, ``.parquet`` (texts, or features as lists), ``.svm`` (features), ``.npz`` (features); each
        may end in ``.gz``.
    text_column, label_column : str
        For files of texts. ``label_column=None``: the file has no labels.
    labels : path, optional
        For ``.npz``: labels in a file of their own, one per line or an ``.npy`` array.
    unlabeled : hashable
        The marker of unlabeled rows beside empty ones; None if there is none. Where nothing is named and a
        label is -1, files of arrays take it as the marker, and all others ask.
    rename : mapping or str, optional
        Labels that mean another one: ``{"hamm": "ham"}``, or ``"hamm=ham"`` with commas between several.
    format : str, optional
        Its name, such as "csv", where the ending does not say.
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
    name = _format_name(source, format, _DOCUMENTS, "format")
    if labels is not None and name != "npz":
        raise InvalidInputError(f"labels= goes with .npz files. {source} holds its labels itself; use label_column=.")
    options = {
        "text_column": text_column,
        "label_column": label_column,
        "labels": None if labels is None else Path(labels),
        "unlabeled": unlabeled,
        "encoding": encoding,
        "zero_based": zero_based,
        "n_features": n_features,
    }
    raw: RawTexts | RawFeatures = renamed(_DOCUMENTS[name].read(source, options), rename)
    return replace(raw, notes=(*data_notes(raw), *raw.notes))


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
    rename: str | Mapping[str, str] | None = None,
    encoding: str = "utf-8",
) -> "RawTokens | RawAttributes":
    """Read a file of sequences, compressed with gzip or not.

    Parameters
    ----------
    path : path
        Its ending chooses the format: ``.conll``, ``.iob``, ``.txt`` (columns), ``.crfsuite`` (attributes),
        ``.jsonl`` (objects with tokens and tags); each may end in ``.gz``.
    format : str, optional
        Its name, such as "conll", where the ending does not say.
    label_column, word_column
        For columns; see `labelworth.data.readers.conll.read_conll`.
    tokens_column, tags_column, tag_names
        For JSON lines; see `labelworth.data.readers.tokens_jsonl.read_tokens_jsonl`.
    unlabeled : str, optional
        The label that means "not seen", for columns (``?`` and ``_`` when absent) and attributes (``?``).
    rename : mapping or str, optional
        Labels that mean another one, as in `read`.
    encoding : str

    Raises
    ------
    DataUnavailableError
        If there is no such file.
    InvalidInputError
        If the file is not what it should be: says the line, what is wrong there, and what to do.
    """
    source = Path(path)
    options = {
        "label_column": label_column,
        "word_column": word_column,
        "tokens_column": tokens_column,
        "tags_column": tags_column,
        "tag_names": tag_names,
        "unlabeled": unlabeled,
        "encoding": encoding,
    }
    name = _format_name(source, format, _SEQUENCES, "format of sequences")
    raw: RawTokens | RawAttributes = renamed(_SEQUENCES[name].read(source, options), rename)
    return replace(raw, notes=(*data_notes(raw), *raw.notes))


def holds_sequences(path: Path, format: str | None = None) -> bool:
    """Whether a file is one of sequences: by the format that was named, its ending, or its first object.

    What is wrong with a file its reader says: here it is taken for documents.
    """
    from labelworth.data.readers.json_files import read_records
    from labelworth.errors import LabelworthError

    if format is not None:
        return format in _SEQUENCES
    if ending(path) not in JSON_ENDINGS:
        return _by_ending(path, _SEQUENCES) is not None
    try:
        _, record = next(read_records(path), ("", {}))
    except LabelworthError:
        return False
    return isinstance(record.get("tokens"), list)


def _format_name(path: Path, format: str | None, formats: Mapping[str, _Format], what: str) -> str:
    if format is not None:
        if format not in formats:
            raise InvalidInputError(f"There is no {what} {format!r}. Choose one of {', '.join(formats)}.")
        return format
    name = _by_ending(path, formats)
    if name is None:
        others = _SEQUENCES if formats is _DOCUMENTS else _DOCUMENTS
        if _by_ending(path, others) is not None:
            holds, other = ("sequences", "documents") if formats is _DOCUMENTS else ("documents", "sequences")
            raise InvalidInputError(
                f"{path.name!r} holds {holds}, not {other}: take a model of {holds} (model={_MODELS[holds]}), or "
                "leave model= out."
            )
        if is_standard(path):
            raise InvalidInputError(
                "Standard input does not say what it holds: it is no JSON, and its first line has neither commas nor "
                f"tabs. Name it with format= (one of {', '.join(formats)})."
            )
        endings = ", ".join(suffix for known in formats.values() for suffix in known.endings)
        raise InvalidInputError(
            f"The ending of {path.name!r} does not say what it holds. Known are {endings} (and .gz behind them); "
            f"or name it with format= (one of {', '.join(formats)})."
        )
    return name


def _by_ending(path: Path, formats: Mapping[str, _Format]) -> str | None:
    return next((name for name, known in formats.items() if ending(path) in known.endings), None)


def document_format(path: Path) -> str | None:
    """The format of documents that the ending of a file means."""
    return _by_ending(path, _DOCUMENTS)


def ending(path: Path) -> str:
    """The ending that says what a file holds, without that of gzip."""
    if is_standard(path):
        return _ending_of_content(path)
    return (path.with_suffix("") if path.suffix.lower() == ".gz" else path).suffix.lower()


def written_ending(path: Path) -> str:
    """The ending that says how a file is written: what goes to standard output is JSON lines."""
    return ".jsonl" if is_standard(path) else ending(path)


def _ending_of_content(path: Path) -> str:
    """What the first bytes of a table are the beginning of; nothing where they do not say."""
    with open_binary(path) as stream:
        first = stream.readline(_LONGEST_HEADER).removeprefix(_BYTE_ORDER_MARK).lstrip()
    marks = {b"{": ".jsonl", b"[": ".jsonl", b"PAR1": ".parquet", b"PK": ".npz"}
    known = next((name for mark, name in marks.items() if first.startswith(mark)), None)
    return known or (".tsv" if b"\t" in first else ".csv" if b"," in first else "")


def renamed(raw: Any, rename: str | Mapping[str, str] | None) -> Any:
    """The same with other names for some labels; what is a number in the file is one under its new name too."""
    if not rename:
        return raw
    pairs = _pairs(rename) if isinstance(rename, str) else rename
    as_written = by_text(raw.labels)
    missing = [name for name in pairs if name not in as_written]
    if missing:
        raise InvalidInputError(f"There is no label {missing[0]!r} to rename. Leave it out of rename=.")
    new = {as_written[old]: as_written.get(name, name) for old, name in pairs.items()}

    def named(entry: Any) -> Any:
        if isinstance(entry, list):
            return [new.get(label, label) for label in entry]
        return new.get(entry, entry)

    return replace(raw, labels=tuple(named(entry) for entry in raw.labels))


def _pairs(text: str) -> dict[str, str]:
    parts = [part.partition("=") for part in text.split(",")]
    if not all(old.strip() and new.strip() for old, _, new in parts):
        raise InvalidInputError(f"rename= takes old=new, with commas between several. Got {text!r} instead.")
    return {old.strip(): new.strip() for old, _, new in parts}
