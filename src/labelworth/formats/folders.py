"""Exports that are folders: listed without leaving them, written whole or not at all."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from labelworth.data.files import is_standard
from labelworth.errors import DataUnavailableError, InvalidInputError, OutputError

_LONGEST_NAME = 120
_RESERVED = {"CON", "PRN", "AUX", "NUL", *(f"{port}{number}" for port in ("COM", "LPT") for number in range(10))}


def files_in(folder: Path, *endings: str) -> list[Path]:
    """The files of a folder, in order; links that lead out of it are refused."""
    try:
        found = sorted(path for path in folder.iterdir() if path.suffix in endings and path.is_file())
    except OSError as error:
        raise DataUnavailableError(f"Cannot read the folder {str(folder)!r}: {error.strerror or error}.") from error
    inside = folder.resolve()
    for path in found:
        if not path.resolve().is_relative_to(inside):
            raise InvalidInputError(f"{path} is a link out of its folder, and is not followed. Copy the file there.")
    return found


def folders_in(folder: Path) -> list[Path]:
    """The folders of a folder, in order; those that are hidden, and links, are passed over."""
    try:
        return sorted(
            path for path in folder.iterdir() if path.is_dir() and not path.is_symlink() and path.name[:1] != "."
        )
    except OSError as error:
        raise DataUnavailableError(f"Cannot read the folder {str(folder)!r}: {error.strerror or error}.") from error


def file_name(name: str) -> str:
    """A name as files can have it on every system: the same where that is possible.

    >>> file_name("report 7"), file_name("../x")
    ('report 7', '%2E%2E%2Fx')
    """
    plain = "".join(
        character if character.isalnum() or character in " -_,@+=()" else _quoted(character) for character in name
    )
    # A point is part of a name, and not at its ends.
    plain = plain.replace("%2E", ".") if not name.startswith(".") and not name.endswith(".") else plain
    if plain.upper().partition(".")[0] in _RESERVED or plain != plain.strip():
        plain = f"%{ord(plain[0]):02X}{plain[1:]}".rstrip()
    return plain if len(plain.encode()) <= _LONGEST_NAME else ""


def _quoted(character: str) -> str:
    return "%2E" if character == "." else quote(character, safe="") if character != "~" else "%7E"


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """A folder that appears at `path` when the block ends without an exception, and not before."""
    target = Path(os.path.realpath(path))
    if is_standard(path):
        raise OutputError("This format is a folder, which cannot go to standard output: name one.")
    if target.exists():
        raise OutputError(f"Cannot write {str(path)!r}: it is there already. Name a folder that is not.")
    try:
        partial = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".partial", dir=target.parent))
    except OSError as error:
        raise OutputError(f"Cannot write {str(path)!r}: {error.strerror or error}. Name another place.") from error
    try:
        yield partial
        partial.chmod(0o755)
        partial.rename(target)
    except BaseException as error:
        shutil.rmtree(partial, ignore_errors=True)
        if isinstance(error, OSError) and not isinstance(error, OutputError):
            raise OutputError(
                f"Cannot write {str(path)!r}: {error.strerror or error}. Nothing was written."
            ) from error
        raise
