import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from labelworth.data.digest import file_digest
from labelworth.data.files import atomic_write, atomic_writer, make_folder, require_writable
from labelworth.errors import DataUnavailableError, OutputError


def test_what_is_written_can_be_read(tmp_path: Path) -> None:
    atomic_write(tmp_path / "file", "Grüße")
    assert (tmp_path / "file").read_bytes() == "Grüße".encode()


def test_an_interrupted_write_leaves_the_old_file_and_no_litter(tmp_path: Path) -> None:
    path = tmp_path / "file"
    atomic_write(path, "old")

    def write_half() -> None:
        with atomic_writer(path) as stream:
            stream.write(b"half of the ne")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_mode_of_a_replaced_file_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "file"
    atomic_write(path, "old")
    path.chmod(0o640)
    atomic_write(path, "new")
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_new_file_is_as_readable_as_any_other(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    atomic_write(tmp_path / "file", "")
    assert (tmp_path / "file").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_symbolic_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    atomic_write(tmp_path / "link", "through")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "through"


@pytest.mark.parametrize("place", ["missing/file", "."])
def test_a_bad_place_is_told(tmp_path: Path, place: str) -> None:
    with pytest.raises(OutputError, match="Cannot write"):
        atomic_write(tmp_path / place, "x")
    with pytest.raises(OutputError, match="Cannot write"):
        require_writable(tmp_path / place)


def test_a_place_is_found_good_without_leaving_anything(tmp_path: Path) -> None:
    require_writable(tmp_path / "file")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("link", [Path.symlink_to, Path.hardlink_to, None])
def test_what_is_read_is_not_written_by_whatever_name(
    tmp_path: Path, link: Callable[[Path, Path], None] | None
) -> None:
    data, output = tmp_path / "data", tmp_path / "output"
    data.write_text("rows")
    if link is None:
        output = tmp_path / "folder" / ".." / "data"
        (tmp_path / "folder").mkdir()
    else:
        link(output, data)
    with pytest.raises(OutputError, match=r"would overwrite .*data.*, which is read"):
        require_writable(output, [None, data])
    assert data.read_text() == "rows"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "folder" if link is None else "output"]


def test_other_files_and_devices_may_be_written_beside_what_is_read(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.write_text("rows")
    (tmp_path / "old").write_text("older rows")
    require_writable(tmp_path / "old", [data, tmp_path / "missing"])
    require_writable(os.devnull, [Path(os.devnull)])
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"data": "rows", "old": "older rows"}


def test_a_device_that_fails_is_told() -> None:
    with pytest.raises(OutputError, match="No space left"), atomic_writer(os.devnull):
        raise OSError(28, "No space left on device")


def test_a_full_disk_is_told_and_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    atomic_write(path, "old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError, match=r"No space left on device.*what was written before stays"):
        atomic_write(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="Cannot make the folder"):
        make_folder(tmp_path / "file" / "folder")


def test_a_digest_is_that_of_the_bytes(tmp_path: Path) -> None:
    content = os.urandom(3_000_000)
    (tmp_path / "file").write_bytes(content)
    assert file_digest(tmp_path / "file") == "sha256:" + hashlib.sha256(content).hexdigest()


def test_a_digest_of_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataUnavailableError, match="Cannot read"):
        file_digest(tmp_path / "missing")
