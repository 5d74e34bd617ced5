import gzip
from pathlib import Path

import pytest

from labelworth.data.readers.streams import read_bytes, read_lines
from labelworth.errors import DataUnavailableError, InvalidInputError


def written(tmp_path: Path, content: bytes, name: str = "a.txt") -> Path:
    path = tmp_path / name
    path.write_bytes(content)
    return path


def test_only_line_feeds_end_lines(tmp_path: Path) -> None:
    text = "a\rb\x0b\x0c\x1c\x85\u2028c\nd"
    assert list(read_lines(written(tmp_path, text.encode()), "utf-8")) == ["a\rb\x0b\x0c\x1c\x85\u2028c\n", "d"]


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    assert list(read_lines(written(tmp_path, b"\xef\xbb\xbfa\n"), "UTF_8")) == ["a\n"]


def test_a_named_encoding_is_used(tmp_path: Path) -> None:
    assert list(read_lines(written(tmp_path, "naïve\n".encode("latin-1")), "latin-1")) == ["naïve\n"]
    assert list(read_lines(written(tmp_path, "a\nn\n".encode("utf-16")), "utf-16")) == ["a\n", "n\n"]


def test_bytes_that_are_not_text_are_named_by_line_and_offset(tmp_path: Path) -> None:
    # Far behind the first buffer, where the decoder itself knows only the place within a buffer.
    content = b"plain line\n" * 20_000 + b"na\xefve\n"
    for name, packed in (("a.txt", content), ("a.txt.gz", gzip.compress(content))):
        with pytest.raises(InvalidInputError, match=r"line 20001: byte 0xef at offset 220002 is not utf-8.*iconv"):
            list(read_lines(written(tmp_path, packed, name), "utf-8"))


def test_utf_16_is_recognized(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"is UTF-16.*encoding='utf-16'"):
        list(read_lines(written(tmp_path, "ä\n".encode("utf-16")), "utf-8"))


def test_utf_16_without_its_mark_is_refused_when_asked_for(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="not utf-16"):
        list(read_lines(written(tmp_path, b"abc"), "utf-16"))


def test_an_unknown_encoding_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="no text encoding 'klingon'"):
        list(read_lines(written(tmp_path, b"a"), "klingon"))


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="is empty"):
        read_bytes(written(tmp_path, b""))


def test_a_truncated_or_damaged_archive_is_refused(tmp_path: Path) -> None:
    packed = gzip.compress(bytes(range(256)) * 100)
    for content in (packed[:-1], packed[: len(packed) // 2], packed[:5], packed[:40] + b"\x00\xff" + packed[42:]):
        with pytest.raises(InvalidInputError, match=r"damaged or cut off.*gzip -t"):
            read_bytes(written(tmp_path, content, "a.gz"))


def test_a_name_that_promises_gzip_must_keep_it(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="not gzip, although its name ends in"):
        read_bytes(written(tmp_path, b"plain", "a.csv.gz"))


def test_an_impossible_name_is_refused() -> None:
    with pytest.raises(DataUnavailableError, match="Cannot read"):
        read_bytes(Path("a\0b"))
