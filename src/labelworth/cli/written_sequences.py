"""Sequences in JSON lines as they are written, with everything that is said of them."""

from dataclasses import replace
from pathlib import Path

from labelworth.cli.reading import NO_MARKER
from labelworth.cli.written_rows import WrittenRows, suffix_of, written_rows

_USUAL_TOKENS, _USUAL_TAGS = "tokens", "tags"


def written_sequences(path: Path, text_column: str, format: str | None, encoding: str) -> WrittenRows | None:
    """The objects of JSON lines that have tokens, counted as the reader counts them; None for columns."""
    if format not in (None, "tokens-jsonl") or suffix_of(path) not in (".jsonl", ".ndjson", ".json"):
        return None
    found = written_rows(path, "tokens-jsonl", encoding)
    if found is None:
        return None
    kept = [row for row, record in enumerate(found.records) if record.get(tokens_column(text_column))]
    return replace(
        found,
        records=tuple(found.records[row] for row in kept),
        places=tuple(found.places[row] for row in kept),
        lines=tuple(found.lines[row] for row in kept),
    )


def tokens_column(text_column: str) -> str:
    """Where tokens stand: "tokens" unless another column than that of documents was named."""
    return _USUAL_TOKENS if text_column == "text" else text_column


def tags_column(written: WrittenRows | None, label_column: str) -> str:
    """Where tags stand: as named, as the objects have them, or "tags"."""
    from labelworth.data.readers.tokens_jsonl import TAG_COLUMNS

    if written is None or label_column not in ("label", NO_MARKER):
        return _USUAL_TAGS if label_column == NO_MARKER or written is None else label_column
    return next((name for name in TAG_COLUMNS if name in written.names), _USUAL_TAGS)
