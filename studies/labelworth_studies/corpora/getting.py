"""Getting a corpus: its sources in order, verified, converted, and written where the studies look for it."""

import csv
import gzip
import hashlib
import io
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from labelworth.data.files import atomic_write, atomic_writer, make_folder
from labelworth.errors import DataUnavailableError
from labelworth.progress import SILENT, Progress
from labelworth_studies.corpora.catalogue import Corpus, Source, corpus_named
from labelworth_studies.corpora.download import WAITS, download

_DOWNLOADS = ".downloads"
_PACKED, _ARRAYS = ".gz", ".npz"
_NOT_AS_EXPECTED = (
    OSError,
    EOFError,
    ValueError,
    KeyError,
    csv.Error,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
)


def is_here(corpus: Corpus, folder: Path) -> bool:
    return all((folder / corpus.folder / name).is_file() for name in corpus.files)


def absent(names: Iterable[str], folder: Path) -> tuple[Corpus, ...]:
    """Which of some corpora are not in the folder."""
    return tuple(corpus for corpus in map(corpus_named, names) if not is_here(corpus, folder))


def cure(corpora: Sequence[Corpus]) -> str:
    """What to do where these are absent."""
    had = " ".join(corpus.name for corpus in corpora if corpus.sources)
    by_hand = [f"{corpus.name} is not got by a command. {corpus.instead}" for corpus in corpora if not corpus.sources]
    return " ".join([*([f"Get it with `labelworth data get {had}`."] if had else []), *by_hand])


def get(corpus: Corpus, folder: Path, progress: Progress = SILENT, *, waits: Sequence[float] = WAITS) -> str:
    """Make sure that a corpus is in the folder, and say in a few words how it came there.

    Raises
    ------
    DataUnavailableError
        If it is not public, or no source gave it; what was fetched in part is kept and gone on from.
    """
    if is_here(corpus, folder):
        return _told_of(corpus, {name: _held(folder / corpus.folder / name) for name in corpus.files})
    if not corpus.sources:
        raise DataUnavailableError(cure([corpus]))
    downloads = make_folder(folder / _DOWNLOADS / corpus.name)
    failures: list[str] = []
    for source in corpus.sources:
        try:
            paths = [download(remote, downloads, progress, waits=waits) for remote in source.files]
            contents = _verified(corpus, source, paths)
        except DataUnavailableError as error:
            failures.append(str(error))
            continue
        _write(corpus, source, contents, make_folder(folder / corpus.folder))
        shutil.rmtree(downloads)
        for failure in failures:
            progress.say(f"{corpus.name}: {failure} Another source had it.")
        return f"got, but {source.differs}" if source.differs else "got; its rows are those of our records"
    raise DataUnavailableError(f"No source gave {corpus.name}. " + " ".join(failures))


def _verified(corpus: Corpus, source: Source, paths: Sequence[Path]) -> dict[str, bytes]:
    """What is made of fetched files, if it is what it should be; else they are removed."""
    place = source.files[0].place
    try:
        made = source.convert(paths)
        contents = {name: made[name.removesuffix(_PACKED)] for name in corpus.files}
    except _NOT_AS_EXPECTED as error:
        _remove(paths)
        raise DataUnavailableError(
            f"What came from {place} is not laid out as expected ({error}), and was removed."
        ) from error
    if source.differs:
        n_rows = sum(content.count(b"\n") for content in contents.values())
        if n_rows != corpus.n_rows:
            _remove(paths)
            raise DataUnavailableError(f"{place} has {n_rows:,} rows instead of {corpus.n_rows:,}, and was removed.")
        return contents
    wrong = [name for name, content in contents.items() if content_digest(name, content) != corpus.files[name]]
    if wrong:
        _remove(paths)
        raise DataUnavailableError(
            f"The rows made of {place} are not those that the studies read ({', '.join(wrong)}), and were removed."
        )
    return contents


def content_digest(name: str, content: bytes) -> str:
    """The SHA-256 of rows, or of arrays as NumPy writes each; how they were compressed does not count."""
    if not name.endswith(_ARRAYS):
        return hashlib.sha256(content).hexdigest()
    digest = hashlib.sha256()
    with zipfile.ZipFile(io.BytesIO(content)) as arrays:
        for member in sorted(arrays.namelist()):
            digest.update(member.encode() + arrays.read(member))
    return digest.hexdigest()


def _told_of(corpus: Corpus, contents: Mapping[str, bytes]) -> str:
    if not all(corpus.files.values()):
        return "is here; what it should hold is not known"
    is_same = all(content_digest(name, content) == corpus.files[name] for name, content in contents.items())
    return (
        "is here; its rows are those of our records" if is_same else "is here; its rows are not those of our records"
    )


def _write(corpus: Corpus, source: Source, contents: Mapping[str, bytes], folder: Path) -> None:
    for name, content in contents.items():
        with atomic_writer(folder / name) as stream:
            if not name.endswith(_PACKED):
                stream.write(content)
                continue
            # No name and no time stamp: the same rows are the same bytes.
            with gzip.GzipFile(fileobj=stream, mode="wb", mtime=0, filename="") as packed:
                packed.write(content)
    places = "\n".join(f"- {remote.place}" for remote in source.files[:2]) + (
        "\n- ..." if len(source.files) > 2 else ""
    )
    told = f"\nNot as in our records: {source.differs}.\n" if source.differs else ""
    atomic_write(folder / "SOURCE.md", f"# {corpus.title}\n\nLicence: {corpus.licence}.\nFrom:\n{places}\n{told}")


def _held(path: Path) -> bytes:
    try:
        with gzip.open(path) if path.suffix == _PACKED else path.open("rb") as file:
            return file.read()
    except (OSError, EOFError, zlib.error) as error:
        raise DataUnavailableError(f"{str(path)!r} cannot be read ({error}). Remove it, and get it again.") from error


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)
