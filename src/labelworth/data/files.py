"""Files written whole or not at all."""

import gzip
import os
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from labelworth.errors import InvalidInputError, LabelworthError, OutputError

_BYTE_ORDER_MARK = "\ufeff"


def is_standard(path: str | os.PathLike[str]) -> bool:
    """Whether ``-`` is meant: standard input where a file is read, standard output where one is written."""
    return os.fspath(path) == "-"


@contextmanager
def atomic_writer(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open `path` for writing so that it appears whole or not at all.

    The bytes go to a neighbor file, which is flushed to the disk and renamed over `path` only when the block ends
    without an exception; whatever stood at `path` before stays until that moment. A symbolic link is followed, a
    device (``/dev/stdout``) is written to directly, and so is standard output (``-``).

    Raises
    ------
    OutputError
        If the folder is missing or read-only, the disk is full, or `path` is a folder.
    """
    if is_standard(path):
        sys.stdout.flush()
        # Some writers go back over what they wrote, which a pipe cannot.
        content = BytesIO()
        yield content
        try:
            sys.stdout.buffer.write(content.getbuffer())
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            # Whoever reads has seen enough, as `head` has.
            raise
        except OSError as error:
            raise OutputError(f"Cannot write to standard output: {_reason(error)}.") from error
        return
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file() and not target.is_dir():
        try:
            with target.open("wb") as device:
                yield device
        except OSError as error:
            raise _cannot_write(path, error) from error
        return
    require_writable(path)
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".partial", dir=target.parent)
    except OSError as error:
        raise _cannot_write(path, error) from error
    partial = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        partial.chmod(_mode(target))
        partial.replace(target)
    except BaseException as error:
        with suppress(OSError):
            partial.unlink()
        if isinstance(error, OSError) and not isinstance(error, LabelworthError):
            raise _cannot_write(path, error) from error
        raise
    _flush_folder(target.parent)


def require_writable(path: str | os.PathLike[str], inputs: Iterable[Path | None] = ()) -> None:
    """Refuse a place where no file can be written: asked before the work, so that it is not done in vain.

    Parameters
    ----------
    path : path
    inputs : paths
        What the work reads, and must not be lost to what it writes; None stands for a file that is not given.

    Raises
    ------
    OutputError
        If `path` is a folder, its own folder is missing or read-only, or it is one of the `inputs`, by whatever name
        or link.
    """
    if is_standard(path):
        return
    for other in inputs:
        if other is not None and _is_same_file(path, other):
            raise OutputError(
                f"Writing {str(path)!r} would overwrite {str(other)!r}, which is read. Name another file."
            )
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise OutputError(f"Cannot write {str(path)!r}: it is a folder. Name a file in it.")
    if not target.parent.is_dir():
        raise OutputError(f"Cannot write {str(path)!r}: there is no folder {str(target.parent)!r}. Make it first.")
    if not os.access(target.parent, os.W_OK):
        raise OutputError(f"Cannot write {str(path)!r}: its folder is read-only. Name another place.")


def atomic_write(path: str | os.PathLike[str], content: bytes | str) -> None:
    """Write `content` (text as UTF-8) to `path`, whole or not at all; see `atomic_writer`."""
    with atomic_writer(path) as stream:
        stream.write(content.encode() if isinstance(content, str) else content)


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
            _write_lines(stream, lines)
            return
        # No time stamp: the same content is the same bytes.
        with gzip.GzipFile(fileobj=stream, mode="wb", mtime=0, filename="") as packed:
            _write_lines(packed, lines)


def make_folder(path: str | os.PathLike[str]) -> Path:
    """Make sure a folder is there, or say why it cannot be."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"Cannot make the folder {str(path)!r}: {_reason(error)}. Name another one.") from error
    return folder


def _write_lines(stream: BinaryIO | gzip.GzipFile, lines: Iterable[str]) -> None:
    for number, line in enumerate(lines):
        # A reader takes the first mark as that of the encoding, so a text that begins with one needs another.
        text = _BYTE_ORDER_MARK + line if number == 0 and line.startswith(_BYTE_ORDER_MARK) else line
        try:
            stream.write(text.encode())
        except UnicodeEncodeError as error:
            raise InvalidInputError(
                f"Line {number + 1} holds half of a surrogate pair, which no file can hold as text: {line[:40]!r}."
            ) from error


def _is_same_file(path: str | os.PathLike[str], other: Path) -> bool:
    """By symbolic and hard links too; a device (``/dev/null``, a terminal) loses nothing when written to."""
    if not Path(path).is_file():
        return False
    # What cannot be read is refused, in its own words, by whoever reads it.
    with suppress(OSError):
        return Path(path).samefile(other)
    return False


def _mode(target: Path) -> int:
    """The mode of the file to be replaced, or the usual one: a temporary file is private."""
    try:
        return stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def _flush_folder(folder: Path) -> None:
    # The rename itself must survive a power cut; not every file system lets a folder be flushed.
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _reason(error: OSError) -> str:
    return error.strerror or str(error) or type(error).__name__


def _cannot_write(path: str | os.PathLike[str], error: OSError) -> OutputError:
    return OutputError(
        f"Cannot write {str(path)!r}: {_reason(error)}. "
        "Check the folder, its permissions and the space left; what was written before stays."
    )
