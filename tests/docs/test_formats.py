"""The tables of docs/formats.md say what the formats say of themselves."""

from pathlib import Path

import pytest

from labelworth.formats.choose import FORMATS, format_named
from labelworth.formats.losses import ASPECTS
from labelworth.formats.tokens import TOKENIZERS

PAGE = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")


def row(name: str) -> str:
    known = format_named(name)
    not_held = ", ".join(aspect for aspect in ASPECTS if aspect not in known.holds)
    return f"| `{name}` | {known.title} | {', '.join(known.kinds)} | {known.states} | {not_held} |"


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_its_row(name: str) -> None:
    assert row(name) in PAGE


@pytest.mark.parametrize("aspect", ASPECTS)
def test_every_loss_is_explained(aspect: str) -> None:
    assert f"| {aspect} | {ASPECTS[aspect].words} |" in PAGE


def test_every_tokenizer_is_named() -> None:
    assert [name for name in TOKENIZERS if f"`{name}`" not in PAGE] == []
