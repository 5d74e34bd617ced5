"""Opening files: compressed or not, in a named encoding, with errors that say where and what to do."""

import difflib
import gzip
import os
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from io import TextIOWrapper
from pathlib import Path
from typing import IO, cast

from labelworth.data.files import is_standard
from labelworth.data.guard import most_unpacked, unpacks_to_too_much
from labelworth.errors import DataUnavailableError, InvalidInputError

_GZIP_MAGIC = b"\x1f\x8b"
_UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")


@contextmanager
def open_binary(path: Path) -> Iterator[IO[bytes]]:
    """Open a file, or standard input (``-``), for reading, unpacking gzip on the way whatever the file is called.

    Raises
    ------
    DataUnavailableError
        If there is no such file or it cannot be opened.
    InvalidInputError
        If it is empty, or its compression is damaged.
    """
    try:
        raw = on_disk(path).open("rb")
    except (OSError, ValueError) as error:
        raise DataUnavailableError(_why_not_opened(path, error)) from error
    with raw:
        magic = raw.peek(2)[:2]
        if not magic:
            raise InvalidInputError(f"{path} is empty. Was it written completely?")
        if magic != _GZIP_MAGIC and path.suffix == ".gz":
            raise InvalidInputError(f"{path} is not gzip, although its name ends in .gz. Rename or compress it.")
        try:
            yield cast("IO[bytes]", _Unpacked(raw, path)) if magic == _GZIP_MAGIC else raw
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise InvalidInputError(
                f"{path} is damaged or cut off ({error}). Copy or download it again; `gzip -t` tests a file."
            ) from error


def on_disk(path: Path) -> Path:
    """The file itself; of standard input (``-``) a copy, since data are read more than once."""
    return Path(_copy_of(sys.stdin.buffer).name) if is_standard(path) else path


@cache
def _copy_of(stream: IO[bytes]) -> "tempfile._TemporaryFileWrapper[bytes]":
    # Deleted when the program ends. On the disk, so that memory does not bound it.
    copied = tempfile.NamedTemporaryFile(prefix="labelworth-", suffix=".stdin")  # noqa: SIM115
    shutil.copyfileobj(stream, copied)
    copied.flush()
    return copied


class _Unpacked(gzip.GzipFile):
    """What a packed file holds, unless that is out of proportion to its size."""

    def __init__(self, packed: IO[bytes], path: Path) -> None:
        super().__init__(fileobj=packed)
        self._path, self._n_packed = path, os.fstat(packed.fileno()).st_size

    def _checked(self, content: bytes) -> bytes:
        if self.tell() > most_unpacked(self._n_packed):
            raise unpacks_to_too_much(self._path, self._n_packed)
        return content

    def read(self, size: int | None = -1) -> bytes:
        limit = most_unpacked(self._n_packed) + 1
        return self._checked(super().read(limit if size is None or size < 0 else min(size, limit)))

    def read1(self, size: int = -1) -> bytes:
        return self._checked(super().read1(size))


def read_bytes(path: Path) -> bytes:
    """Everything in a file, unpacked; see `open_binary`."""
    with open_binary(path) as stream:
        return stream.read()


def read_lines(path: Path, encoding: str) -> Iterator[str]:
    r"""Give the lines of a text file one by one, each with its line end; only ``\n`` ends a line.

    Raises
    ------
    InvalidInputError
        If the bytes are not in `encoding`, saying at which line and byte; and as `open_binary`.
    """
    codec = "utf-8-sig" if encoding.lower().replace("_", "-") in {"utf-8", "utf8"} else encoding
    with open_binary(path) as stream:
        try:
            lines = TextIOWrapper(stream, encoding=codec, newline="\n")
        except LookupError as error:
            raise InvalidInputError(f"There is no text encoding {encoding!r}; try 'utf-8' or 'latin-1'.") from error
        try:
            yield from lines
        except UnicodeError as error:
            raise InvalidInputError(_wrong_byte(path, encoding, codec, error)) from error


def _wrong_byte(path: Path, encoding: str, codec: str, error: UnicodeError) -> str:
    """Find the first byte that is not text; the stream that met it knows only its place within a buffer."""
    content = read_bytes(path)
    if content.startswith(_UTF_16_MARKS):
        return f"{path} is UTF-16, not {encoding}. Read it with encoding='utf-16'."
    try:
        content.decode(codec)
    except UnicodeDecodeError as wrong:
        line = content.count(b"\n", 0, wrong.start) + 1
        return (
            f"{path}, line {line}: byte 0x{content[wrong.start]:02x} at offset {wrong.start} is not {encoding}. "
            f"Name the file's encoding, for example encoding='latin-1', or convert it: "
            f"iconv -f latin1 -t utf-8 {path.name}"
        )
    except UnicodeError:
        pass
    return f"{path} is not {encoding} ({error}). Name the file's encoding, for example encoding='latin-1'."


def _why_not_opened(path: Path, error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        near = difflib.get_close_matches(path.name, _neighbors(path), n=1)
        cure = f"Did you mean {str(path.with_name(near[0]))!r}?" if near else "Check the name and the folder."
        return f"There is no file or folder {str(path)!r}. {cure}"
    if isinstance(error, IsADirectoryError):
        return f"{str(path)!r} is a folder. Name a file in it."
    reason = getattr(error, "strerror", None) or str(error)
    return f"Cannot read {str(path)!r}: {reason}."


def _neighbors(path: Path) -> list[str]:
    try:
        return [neighbor.name for neighbor in path.parent.iterdir()]
    except OSError:
        return []
