"""A file or folder that is read, looked at before anything is loaded that only some formats need."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from labelworth.data.readers.json_files import read_records
from labelworth.data.readers.streams import open_binary, read_bytes, read_lines
from labelworth.formats.fields import Fields

EmptyMeans = Literal["unlabeled", "nothing"]
WEBANNO_HEADER = "#FORMAT=WebAnno TSV 3"
HUGGING_FACE_KEY = b"huggingface"
OF_TOOLS = frozenset({
    "answer", "_input_hash", "_task_hash", "_server_id", "annotation_id", "annotations", "Comments", "entities",
    "data", "predictions", "ents", "cats", "fields", "spans",
})  # fmt: skip
"""Fields that objects of tools have, and rows of people do not."""
_HEAD = 4096
_ZIP, _PARQUET, _MARK = b"PK\x03\x04", b"PAR1", b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Reading:
    """What a reader is told where the content does not say it."""

    text_field: str | None = None  # The field of texts.
    question: str | None = None  # Which of several questions.
    empty_means: EmptyMeans | None = None  # Of items without a label.
    approved: Path | None = None  # For doccano: the export of what was approved alone.
    encoding: str = "utf-8"


@dataclass(frozen=True)
class Source:
    """A file or a folder that is read."""

    path: Path
    reading: Reading = field(default_factory=Reading)

    @property
    def is_folder(self) -> bool:
        return self.path.is_dir()

    @cached_property
    def head(self) -> bytes:
        """The first bytes, unpacked; none of a folder."""
        if self.is_folder:
            return b""
        with open_binary(self.path) as stream:
            return stream.read(_HEAD)

    @property
    def is_json(self) -> bool:
        return self.head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[") and not self.is_folder

    @cached_property
    def records(self) -> list[Fields]:
        """The objects of JSON, one per line or in an array."""
        pairs = read_records(self.path, encoding=self.reading.encoding)
        return [Fields(record, location) for location, record in pairs]

    @cached_property
    def first(self) -> Mapping[str, Any]:
        """The first of them; empty where it is no JSON."""
        if not self.is_json:
            return {}
        _, record = next(read_records(self.path, encoding=self.reading.encoding), ("", {}))
        return record

    def lines(self) -> Iterable[str]:
        return read_lines(self.path, self.reading.encoding)

    @property
    def is_plain(self) -> bool:
        """Whether it is data of which no format of tools has to be thought: rows, columns, arrays."""
        if self.is_folder:
            return False
        if self.is_json:
            first, tokens = self.first, self.first.get("tokens")
            is_listed = isinstance(first.get("label"), list) or (
                isinstance(tokens, list) and isinstance((tokens or [""])[0], dict)
            )
            return (
                not is_listed
                and not OF_TOOLS & first.keys()
                and not any(name.endswith(".responses") for name in first)
            )
        if self.head.startswith(_PARQUET):
            return HUGGING_FACE_KEY not in read_bytes(self.path)
        if self.head.startswith(_ZIP):
            return b".npy" in self.head
        return not self.head.removeprefix(_MARK).startswith(WEBANNO_HEADER.encode())
