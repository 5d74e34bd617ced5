"""What goes out to an annotation tool comes back, or its loss was told first."""

import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from labelworth.errors import InvalidInputError
from labelworth.formats.choose import FORMATS, format_named
from labelworth.formats.export import Export
from labelworth.formats.format import Format
from labelworth.formats.source import Reading, Source
from labelworth.formats.tokens import with_tokens
from support.exports import exports
from support.kept_figures import keep

ASKED = os.environ.get("LABELWORTH_FORMATS_EXAMPLES")
"""How many exports are generated per format, where that is a measurement; it is kept in results/ then."""
MANY = settings(
    max_examples=int(ASKED or "60"),
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
FEW = settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))


def round_trip(known: Format, left: Export) -> Export:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"export{(known.endings or ('.json',))[0]}"
        known.put(left, path)
        return known.read(Source(path, Reading(question=left.question, empty_means="unlabeled")))


def comparable(export: Export) -> Export:
    """Where nothing is said of any item, a file cannot show what kind of thing was asked about."""
    is_said = any(entry.said for item in export.items for entry in (*item.judgements, *item.predictions))
    kind = export.kind if is_said or export.kind == "tags" else "classes"
    return replace(export, source="", notes=(), kind=kind)


@pytest.fixture
def seen(name: str) -> Iterator[Counter[str]]:
    """How many exports came back whole, with losses that were told, or were refused."""
    counts: Counter[str] = Counter()
    yield counts
    if ASKED is not None:
        figures = {"asked": int(ASKED), **counts, "failed": 2 * counts["tried"] - counts.total()}
        keep("formats", name, figures, command="make formats-test", packages=("hypothesis", "pyarrow", "openpyxl"))


@pytest.mark.parametrize("name", FORMATS)
@MANY
@given(data=st.data())
def test_what_goes_out_comes_back_or_the_loss_was_told_first(
    name: str, data: st.DataObject, seen: Counter[str]
) -> None:
    known = format_named(name)
    kinds = known.kinds if known.kinds == ("classes",) else ("spans", "tags", *known.kinds)
    export = data.draw(exports(kinds=kinds if "classes" in known.kinds else ("spans", "tags")))
    seen["tried"] += 1
    try:
        losses, left = known.kept(export)
        event("losses" if losses else "no losses")
        assert losses or left == as_needed(known, export, left)
        back = round_trip(known, left)
    except InvalidInputError as refusal:
        seen["refused"] += 1
        event(f"refused: {str(refusal)[-40:]}")
        return
    assert comparable(back) == comparable(left)
    seen["with told losses" if losses else "whole"] += 1


@pytest.mark.parametrize("name", FORMATS)
@FEW
@given(data=st.data())
def test_plain_exports_are_never_refused(name: str, data: st.DataObject) -> None:
    known = format_named(name)
    _, left = known.kept(data.draw(exports(kinds=known.kinds, is_plain=True)))
    # Where no class is known, some formats cannot say that none of them was named, and refuse with that reason.
    assume(left.kind != "classes" or left.known_classes)
    assert comparable(round_trip(known, left)) == comparable(left)


def as_needed(known: Format, export: Export, left: Export) -> Export:
    """Tokens and a list of classes are added where a format cannot do without: no loss."""
    whole = with_tokens(export, None) if export.kind in known.needs_tokens else export
    return replace(whole, classes=left.classes) if known.declares else whole
