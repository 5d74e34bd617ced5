"""Data that an annotation tool exported, with the options that other files are read with."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from labelworth.cli.options.data import NONE
from labelworth.data.readers.choose import renamed
from labelworth.errors import InvalidInputError

if TYPE_CHECKING:
    from labelworth.cli.options.data import DataOptions

Raw = TypeVar("Raw")


def exported_raw(options: "DataOptions", kind: type[Raw]) -> Raw:
    """Texts or tokens of an export, with other names for labels, or without any."""
    exported = options.exported
    raw: Any = None if exported is None else exported.raw
    if not isinstance(raw, kind):
        held = "sequences of tokens" if exported is not None and exported.holds_sequences else "documents"
        raise InvalidInputError(f"{options.path} was exported with labels of {held}; name a model of those.")
    if exported is not None and exported.is_answered and options.rename:
        raise InvalidInputError(
            "rename= is for labels. The export holds answers of several people: rename them there."
        )
    relabeled: Raw = _relabeled(raw, options)
    return relabeled


def _relabeled(raw: Any, options: "DataOptions") -> Any:
    if options.label_column == NONE:
        return replace(raw, labels=(None,) * len(raw.labels))
    if options.unlabeled not in (None, NONE):
        raw = replace(raw, labels=tuple(None if label == options.unlabeled else label for label in raw.labels))
    return renamed(raw, options.rename)
