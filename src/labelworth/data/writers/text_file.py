"""Lines of text, packed where the name says so."""

import gzip
import os
from collections.abc import Iterable
from io import BufferedWriter
from pathlib import Path
from typing import cast

from labelworth.data.files import atomic_writer
from labelworth.errors import InvalidInputError

_BYTE_ORDER_MARK = "\ufeff"


def write_lines(path: str | os.PathLike[str], lines: Iterable[str]) -> None:
    """Write lines, each with its line end, as UTF-8; with gzip if `path` ends in ``.gz``.

    Raises
    ------
    InvalidInputError
        If a line cannot be written as UTF-8.
    OutputError
        If the file cannot be written; nothing is changed then.
    """
    with atomic_writer(path) as stream:
        if Path(path).suffix.lower() != ".gz":
            _write(cast("BufferedWriter", stream), lines)
            return
        # No time stamp: the same content is the same bytes.
        with gzip.GzipFile(fileobj=stream, mode="wb", mtime=0, filename="") as packed:
            _write(packed, lines)


def _write(stream: "BufferedWriter | gzip.GzipFile", lines: Iterable[str]) -> None:
    for number, line in enumerate(lines):
        # A reader takes the first mark as that of the encoding, so a text that begins with one needs another.
        text = _BYTE_ORDER_MARK + line if number == 0 and line.startswith(_BYTE_ORDER_MARK) else line
        try:
            stream.write(text.encode())
        except UnicodeEncodeError as error:
            raise InvalidInputError(
                f"Line {number + 1} holds half of a surrogate pair, which no file can hold as text: {line[:40]!r}."
            ) from error
