"""Fields of objects of unknown origin, read with an error that says where and what."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from labelworth.data.readers.cells import require_unicode, short, whole
from labelworth.errors import InvalidInputError
from labelworth.formats.export import Span

_LAST_SECOND = 253_402_300_799  # Of the year 9999.


@dataclass(frozen=True)
class Fields:
    """An object of a file, and where it stands."""

    record: Mapping[str, Any]
    location: str

    def error(self, problem: str) -> InvalidInputError:
        return InvalidInputError(f"{self.location}: {problem}.")

    def text(self, name: str) -> str:
        """A text that must be there."""
        value = self.record.get(name)
        if not isinstance(value, str):
            raise self.error(f"{name!r} must be a text. Got {short(value)}")
        require_unicode(value, self.location)
        return value

    def name(self, name: str) -> str:
        """Who or what is named, numbers as text; empty where nothing is."""
        return self.named(self.record.get(name), name)

    def named(self, value: Any, what: str) -> str:
        if value is None or (isinstance(value, float) and not math.isfinite(value)):
            return ""
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise self.error(f"{what!r} must be a text or a number. Got {short(value)}")
        if isinstance(value, int) and abs(value) >= 10**300:
            raise self.error(f"{what!r} is a number of too many digits")
        text = str(whole(value))
        require_unicode(text, self.location)
        return text

    def label(self, value: Any) -> str:
        """A class, or the label of a span."""
        text = self.named(value, "label").strip()
        if not text:
            raise self.error(f"a label must be a text that is not empty. Got {short(value)}")
        return text

    def objects(self, name: str) -> list["Fields"]:
        """A list of objects; empty where there is none."""
        return [self.inside(entry, name) for entry in self.list(name)]

    def inside(self, value: Any, name: str) -> "Fields":
        if not isinstance(value, Mapping):
            raise self.error(f"{name!r} must hold objects. Got {short(value)}")
        return Fields(value, self.location)

    def list(self, name: str) -> list[Any]:
        value = self.record.get(name)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.error(f"{name!r} must be a list. Got {short(value)}")
        return value

    def span(self, label: Any, text: str, start: str = "start", end: str = "end") -> Span:
        """The span of this object in a text."""
        return self.stretch(self.record.get(start), self.record.get(end), label, text)

    def stretch(self, start: Any, end: Any, label: Any, text: str) -> Span:
        for number in (start, end):
            if not isinstance(number, int) or isinstance(number, bool):
                raise self.error(f"a span begins and ends at whole numbers. Got {short(number)}")
        if not 0 <= start < end <= len(text):
            raise self.error(
                f"a span from {start!r:.20} to {end!r:.20} is not one of a text of {len(text):,} characters"
            )
        return Span(start, end, self.label(label))

    def seconds(self, name: str) -> float | None:
        """A duration; None where there is none, or one that is no number of seconds."""
        number = self.number(name)
        return None if number is None or number < 0 else number

    def number(self, name: str) -> float | None:
        value = self.record.get(name)
        if value is None:
            return None
        try:
            number = (
                float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else math.nan
            )
        except (ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number):
            raise self.error(f"{name!r} must be a number. Got {short(value)}")
        return number

    def when(self, name: str) -> datetime | None:
        """A moment: a date of ISO 8601, or seconds since 1970; None where there is none."""
        value = self.record.get(name)
        if value is None or value == "":
            return None
        try:
            if isinstance(value, int | float) and not isinstance(value, bool):
                return datetime.fromtimestamp(min(max(value, -_LAST_SECOND), _LAST_SECOND), UTC)
            moment = datetime.fromisoformat(str(value))
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
        except (ValueError, OverflowError, OSError):
            raise self.error(
                f"{name!r} must say when: a date such as 2026-01-31T12:00:00Z. Got {short(value)}"
            ) from None

    def beside(self, *known: str) -> dict[str, Any]:
        """The other fields."""
        return {name: value for name, value in self.record.items() if name not in known and value is not None}
