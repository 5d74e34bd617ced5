"""Items from files and lists: texts or tokens, their labels, and what several people said of them."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from labelworth.campaign.items import Heard, NewItem
from labelworth.campaign.people import FILE
from labelworth.campaign.values import GOLD, Kind, Settings, Unit
from labelworth.data.answers import Answers
from labelworth.data.readers.raw import RawTexts
from labelworth.data.readers.raw_sequences import RawTokens
from labelworth.data.shards.manifest import refuse_shards
from labelworth.errors import InvalidInputError
from labelworth.formats.found import exported_data
from labelworth.formats.source import Reading

if TYPE_CHECKING:
    from labelworth.formats.as_data import ExportedData

_LABEL = "label"
NO_LABELS = "none"
"""Instead of a column of labels: there is none."""


def read_items(
    source: Any,
    settings: Settings,
    reading: Reading,
    *,
    id_column: str,
    label_column: str | None,
    format: str | None,
    tokenizer: str | None,
    channel: str,
) -> tuple[list[NewItem], tuple[str, ...]]:
    """From a file or a list; what was found or done while reading is told.

    `channel`: of which kind the answers are that several people gave.

    Raises
    ------
    InvalidInputError
        If the file holds nothing that could be shown to annotators, or labels that are no classes.
    """
    kind, classes = settings.kind, set(settings.classes)
    if not isinstance(source, str | Path):
        return list(_named([_from_entry(entry, kind, index) for index, entry in enumerate(source)], classes)), ()
    path = Path(source)
    refuse_shards(path)
    named = None if label_column == NO_LABELS else label_column
    data = exported_data(path, format, reading, tokenizer=tokenizer, label_column=named)
    if data is not None:
        new, notes = _from_export(data, path, kind, classes, channel)
        return [replace(item, heard=()) for item in new] if label_column == NO_LABELS else new, notes
    rows, notes = _from_file(path, kind, id_column, reading.text_field, label_column, format, reading.encoding)
    return list(_named(rows, classes)), notes


_Row = tuple[Any, str, int | None, tuple[Any, ...], str]
"""An id or None, the content, how many tokens, labels, and where it stands."""


def _named(rows: Iterable[_Row], classes: set[str]) -> Iterator[NewItem]:
    """Give items without an id a name that the same content will have again."""
    times: Counter[str] = Counter()
    seen: set[str] = set()
    for given, content, n_tokens, labels, position in rows:
        if given is None or not str(given).strip():
            digest = hashlib.sha256(content.encode(errors="surrogatepass")).hexdigest()[:16]
            times[digest] += 1
            name = digest if times[digest] == 1 else f"{digest}-{times[digest]}"
        else:
            name = str(given).strip()
        if name in seen:
            raise InvalidInputError(f"{position}: there is another item called {name!r:.80}. Every item needs an id.")
        seen.add(name)
        yield NewItem(name, content, n_tokens, _heard(labels, n_tokens is not None, classes, position))


def _heard(labels: Sequence[Any], is_tokens: bool, classes: set[str], position: str) -> tuple[Heard, ...]:
    """Labels that came with a file are what the file says."""
    known = [(token, _label(label, classes, position)) for token, label in enumerate(labels) if label is not None]
    if not known:
        return ()
    positions = tuple(token for token, _ in known) if is_tokens else None
    return (Heard(FILE, GOLD, positions, tuple(label for _, label in known)),)


def _label(label: Any, classes: set[str], position: str) -> Unit:
    named = tuple(str(name) for name in label) if isinstance(label, list | tuple) else (str(label),)
    unknown = next((name for name in named if name not in classes), None)
    if unknown is not None:
        raise InvalidInputError(
            f"{position}: the label {unknown!r:.60} is no class of this campaign. Its classes are "
            f"{', '.join(sorted(map(repr, classes)))}."
        )
    return named[0] if len(named) == 1 else named


def _from_entry(entry: Any, kind: Kind, index: int) -> _Row:
    position = f"item {index}, counted from 0"
    fields = dict(entry) if isinstance(entry, Mapping) else {"text" if kind == "documents" else "tokens": entry}
    name = fields.get("id")
    if kind == "documents":
        text = fields.get("text")
        if not isinstance(text, str):
            raise InvalidInputError(f"{position}: a document is a text, or has one under 'text'. Got {entry!r:.60}.")
        return name, text, None, (fields.get("label"),), position
    tokens = fields.get("tokens")
    if isinstance(tokens, str) or not isinstance(tokens, Sequence) or not tokens:
        raise InvalidInputError(f"{position}: a sequence is a list of tokens, or has one under 'tokens'.")
    tags = fields.get("tags") or [None] * len(tokens)
    if len(tags) != len(tokens):
        raise InvalidInputError(f"{position}: there are {len(tokens)} tokens and {len(tags)} tags.")
    return name, sequence_content({"tokens": list(map(str, tokens))}, "tokens"), len(tokens), tuple(tags), position


def sequence_content(columns: Mapping[str, Sequence[str]], words: str) -> str:
    """The one text of a sequence."""
    named = {name: list(cells) for name, cells in columns.items()}
    return json.dumps({"columns": named, "words": words}, ensure_ascii=False, separators=(",", ":"))


def _from_file(
    path: Path,
    kind: Kind,
    id_column: str,
    text_column: str | None,
    label_column: str | None,
    format: str | None,
    encoding: str,
) -> tuple[list[_Row], tuple[str, ...]]:
    from labelworth.data.readers.choose import JSON_ENDINGS, ending, holds_sequences
    from labelworth.data.readers.written import written_rows

    found: Kind = "sequences" if holds_sequences(path, format) else "documents"
    if path.exists() and found != kind:
        raise InvalidInputError(f"{path} holds {found}, and this is a campaign of {kind}.")
    is_written = kind == "documents" or ending(path) in JSON_ENDINGS
    written = written_rows(path, format or {"sequences": "tokens-jsonl"}.get(kind), encoding) if is_written else None
    if label_column is None and kind == "documents" and written is not None and _LABEL not in written.names:
        label_column = NO_LABELS
    read = _documents if kind == "documents" else _sequences
    rows, notes = read(path, text_column, label_column, format, encoding)
    ids: list[Any] = [None] * len(rows)
    if written is not None and id_column in written.names:
        records = [record for record in written.records if kind == "documents" or record.get(text_column or "tokens")]
        if len(records) == len(rows):
            ids = [record.get(id_column) for record in records]
    return [(name, *row) for name, row in zip(ids, rows, strict=True)], notes


def _from_export(
    data: "ExportedData", path: Path, kind: Kind, classes: set[str], channel: str
) -> tuple[list[NewItem], tuple[str, ...]]:
    """What a tool exported: one judgement each, or what it marks as the truth, are labels; else they are answers."""
    if data.holds_sequences != (kind == "sequences"):
        found = "sequences" if data.holds_sequences else "documents"
        raise InvalidInputError(f"{path} holds {found}, and this is a campaign of {kind}.")
    raw, ids = data.raw, [item.id for item in data.export.items]
    rows = _of_texts(raw, path) if isinstance(raw, RawTexts) else _of_tokens(raw, path)
    if len(rows) != len(ids):
        # Items without a token are no sequences.
        ids = [item.id for item in data.export.items if item.text.strip()]
    new = list(_named([(name, *row) for name, row in zip(ids, rows, strict=True)], classes))
    answers = data.answers()
    if answers is None:
        return new, raw.notes
    starts = np.arange(len(new) + 1) if isinstance(raw, RawTexts) else raw.offsets
    said = _said_of(answers.one_vote_each(), starts.tolist(), isinstance(raw, RawTokens), classes, str(path), channel)
    return [replace(item, heard=item.heard + said.get(row, ())) for row, item in enumerate(new)], raw.notes


def _said_of(
    answers: Answers, starts: Sequence[int], is_tokens: bool, classes: set[str], source: str, channel: str
) -> dict[int, tuple[Heard, ...]]:
    """By row, what every annotator said of the document, or of tokens of the sequence."""
    names, weights = [str(name) for name in answers.classes], answers.evidence.dense()
    of_row = np.searchsorted(starts, answers.rows, side="right") - 1
    by_person: dict[tuple[int, int], list[int]] = {}
    for entry in np.argsort(answers.rows, kind="stable").tolist():
        by_person.setdefault((int(of_row[entry]), int(answers.annotators[entry])), []).append(entry)
    found: dict[int, tuple[Heard, ...]] = {}
    for (row, person), entries in by_person.items():
        left = [[name for name, weight in zip(names, weights[entry], strict=True) if weight > 0] for entry in entries]
        # All classes are left to who cannot say.
        said = tuple(None if len(one) == len(names) else _label(one, classes, source) for one in left)
        seconds = None if answers.seconds is None else float(answers.seconds[entries].sum())
        heard = Heard(
            # That name stands for the labels of files.
            "(file)" if answers.names[person] == FILE else answers.names[person],
            channel,
            tuple(int(answers.rows[entry]) - starts[row] for entry in entries) if is_tokens else None,
            said,
            None if seconds is None or np.isnan(seconds) else seconds,
        )
        found[row] = (*found.get(row, ()), heard)
    return found


def _of_texts(raw: RawTexts, path: Path) -> list[tuple[str, int | None, tuple[Any, ...], str]]:
    rows = zip(raw.texts, raw.labels, strict=True)
    return [(text, None, (label,), f"{path}, row {row}") for row, (text, label) in enumerate(rows)]


def _of_tokens(raw: RawTokens, path: Path) -> list[tuple[str, int | None, tuple[Any, ...], str]]:
    rows: list[tuple[str, int | None, tuple[Any, ...], str]] = []
    for index, (start, stop) in enumerate(zip(raw.offsets[:-1].tolist(), raw.offsets[1:].tolist(), strict=True)):
        columns = {name: cells[start:stop] for name, cells in zip(raw.column_names, raw.columns, strict=True)}
        content = sequence_content(columns, raw.column_names[raw.word_column])
        rows.append((content, stop - start, raw.labels[start:stop], f"{path}, sequence {index}"))
    return rows


def _documents(
    path: Path, text_column: str | None, label_column: str | None, format: str | None, encoding: str
) -> tuple[list[tuple[str, int | None, tuple[Any, ...], str]], tuple[str, ...]]:
    from labelworth.data.readers import read

    raw = read(
        path,
        text_column=text_column or "text",
        label_column=None if label_column == NO_LABELS else label_column or _LABEL,
        format=format,
        encoding=encoding,
    )
    if not isinstance(raw, RawTexts):
        raise InvalidInputError(f"{path} holds numbers, which nobody could be asked about. Add the texts themselves.")
    return _of_texts(raw, path), raw.notes


def _sequences(
    path: Path, text_column: str | None, label_column: str | None, format: str | None, encoding: str
) -> tuple[list[tuple[str, int | None, tuple[Any, ...], str]], tuple[str, ...]]:
    from labelworth.data.readers import read_sequences

    raw = read_sequences(
        path, tokens_column=text_column or "tokens", tags_column=label_column, format=format, encoding=encoding
    )
    if not isinstance(raw, RawTokens):
        raise InvalidInputError(f"{path} holds attributes without words, which nobody could be asked about.")
    return _of_tokens(raw, path), raw.notes
