"""Records: a result together with everything needed to trace it, as one JSON document."""

import dataclasses
import json
import math
import os
import platform
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from importlib import metadata, resources
from pathlib import PurePath
from typing import Any, Self

from labelworth.data.files import atomic_write
from labelworth.data.readers.json_files import read_json
from labelworth.errors import InvalidInputError

SCHEMA_VERSION = "1.0"

_PACKAGES = ("labelworth", "numpy", "scipy", "numba", "scikit-learn")
_ENVELOPE = ("command", "asked", "seed", "versions", "data_digest", "durations", "schema_version")


@cache
def versions() -> dict[str, str]:
    """Of Python and of everything the figures depend on."""
    return {"python": platform.python_version(), **{package: metadata.version(package) for package in _PACKAGES}}


class Stopwatch:
    """Seconds spent, by name of the part; `durations` adds their total since the start."""

    def __init__(self) -> None:
        self._started = time.perf_counter()
        self._parts: dict[str, float] = {}

    @contextmanager
    def timing(self, part: str) -> Iterator[None]:
        """Add the time spent in the block to `part`."""
        begun = time.perf_counter()
        try:
            yield
        finally:
            self._parts[part] = self._parts.get(part, 0.0) + time.perf_counter() - begun

    @property
    def durations(self) -> dict[str, float]:
        """Seconds by part, and ``total``."""
        return {**self._parts, "total": time.perf_counter() - self._started}


@dataclass(frozen=True)
class Record:
    """What was asked and what came out."""

    command: str  # The command that made it; also names the schema of its figures.
    asked: Mapping[str, Any]  # The arguments or the specification, as given.
    # The results by name; a sampled figure ``x`` stands beside its standard error ``x_se``.
    figures: Mapping[str, Any]
    seed: int | None = None  # None: chance played no part.
    data_digest: str | None = None  # ``sha256:...`` of the data; None: there was none.
    durations: Mapping[str, float] = field(default_factory=dict)  # Seconds by part.
    # Of this package, Python and what it computes with.
    versions: Mapping[str, str] = field(default_factory=versions)

    def __post_init__(self) -> None:
        clash = sorted(set(self.figures) & set(_ENVELOPE))
        if clash:
            raise InvalidInputError(
                f"Figures must not be called {', '.join(clash)}: the record itself uses the name."
            )

    def document(self) -> dict[str, Any]:
        """The record as plain JSON values, checked against its schema; figures stand at the top level."""
        envelope = {
            "schema_version": SCHEMA_VERSION,
            "command": self.command,
            "asked": self.asked,
            "seed": self.seed,
            "versions": self.versions,
            "data_digest": self.data_digest,
            "durations": self.durations,
        }
        document: dict[str, Any] = plain({**envelope, **self.figures})
        validate(document)
        return document

    def provenance(self) -> dict[str, Any]:
        """All but the figures, as plain JSON values."""
        document = self.document()
        return {name: document[name] for name in _ENVELOPE}

    def to_json(self) -> str:
        """The record as one JSON document, ending with a newline."""
        return json.dumps(self.document(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write it to `path`, whole or not at all."""
        atomic_write(path, self.to_json())

    @classmethod
    def from_document(cls, document: Any) -> Self:
        """Build a record again, checking it against its schema."""
        validate(document)
        figures = {name: value for name, value in document.items() if name not in _ENVELOPE}
        envelope = {name: document[name] for name in _ENVELOPE if name != "schema_version"}
        return cls(figures=figures, **envelope)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Read a record that `write` wrote."""
        return cls.from_document(read_json(path, "record"))


def plain(value: Any) -> Any:
    """Turn arrays, numpy numbers, dataclasses, enumerations and paths into JSON values; NaN and infinity are null."""
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if value is None or (isinstance(value, bool | str | int) and not isinstance(value, Enum)):
        return value
    if isinstance(value, Mapping):
        return {str(plain(name)): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    return plain(_opened(value))


def _opened(value: Any) -> Any:
    """What is inside a value that is not plain."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, PurePath):
        # A name may hold bytes that are no text.
        return os.fsencode(value).decode(errors="replace")
    if hasattr(value, "tolist"):
        return value.tolist()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {item.name: getattr(value, item.name) for item in dataclasses.fields(value)}
    raise InvalidInputError(f"A record cannot hold a {type(value).__name__}: {value!r}.")


def validate(document: Any) -> None:
    """Check a document against the schema of its command, or say where it departs from it."""
    if not isinstance(document, dict):
        kind = "list" if isinstance(document, list) else "single value"
        raise InvalidInputError(f"Not a valid record: it holds a JSON {kind}, and a record is an object with names.")
    command = document.get("command")
    name = command if isinstance(command, str) and command in _schemas() else "record"
    require_schema(document, name, "record" if command is None else f"record of {command!r}")


def require_schema(document: Any, name: str, kind: str) -> None:
    """Check a document, a `kind` of thing, against the schema called `name`, or say where it departs from it."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    problem = best_match(Draft202012Validator(_schemas()[name], registry=_registry()).iter_errors(document))
    if problem is not None:
        where = "/".join(str(step) for step in problem.absolute_path) or "the top"
        raise InvalidInputError(f"Not a valid {kind}: at {where}, {problem.message[:500]}")


@cache
def _schemas() -> dict[str, Any]:
    folder = resources.files("labelworth.report") / "schemas"
    return {
        item.name.removesuffix(".json"): json.loads(item.read_text(encoding="utf-8"))
        for item in folder.iterdir()
        if item.name.endswith(".json")
    }


@cache
def _registry() -> Any:
    from referencing import Registry, Resource

    return Registry().with_resources(
        (schema["$id"], Resource.from_contents(schema)) for schema in _schemas().values()
    )
