"""Items: documents and sequences, from files or lists, with the labels that came along."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from labelworth.campaign.people import file_person
from labelworth.campaign.said import from_json, to_json
from labelworth.campaign.schema import answers, guesses, items, requests, standing, unfolded
from labelworth.campaign.values import GOLD, Added, Kind, Unit
from labelworth.data.readers.raw import RawTexts
from labelworth.data.readers.raw_sequences import RawTokens
from labelworth.errors import InvalidInputError

_CHUNK = 500
_LABEL = "label"
NO_LABELS = "none"
"""Instead of a column of labels: there is none."""
HELD = "held"
"""The rule of labels that nobody was asked for: they came with a file."""


@dataclass(frozen=True)
class NewItem:
    """An item that is to be added."""

    name: str
    content: str
    n_tokens: int | None
    labels: tuple[Unit, ...]  # Of the document, or of every token; None where there is none.

    @property
    def positions(self) -> tuple[int, ...] | None:
        """Tokens with a label."""
        if self.n_tokens is None:
            return None
        return tuple(index for index, label in enumerate(self.labels) if label is not None)

    @property
    def said(self) -> tuple[Unit, ...]:
        return tuple(label for label in self.labels if label is not None)


def read_items(
    source: Any,
    kind: Kind,
    classes: Sequence[str],
    *,
    id_column: str,
    text_column: str | None,
    label_column: str | None,
    format: str | None,
    encoding: str,
) -> tuple[list[NewItem], tuple[str, ...]]:
    """From a file or a list; what was found or done while reading is told.

    Raises
    ------
    InvalidInputError
        If the file holds nothing that could be shown to annotators, or labels that are no classes.
    """
    if isinstance(source, str | Path):
        rows, notes = _from_file(Path(source), kind, id_column, text_column, label_column, format, encoding)
    else:
        rows, notes = [_from_entry(entry, kind, index) for index, entry in enumerate(source)], ()
    return list(_named(rows, set(classes))), notes


def added(connection: sa.Connection, new: Sequence[NewItem], notes: tuple[str, ...], *, now: float) -> Added:
    """Add what is not there yet.

    Raises
    ------
    InvalidInputError
        If an item of the same name has another content.
    """
    known = _known(connection, [item.name for item in new])
    for item in new:
        if item.name in known and known[item.name][1] != item.content:
            raise InvalidInputError(
                f"The campaign has an item {item.name!r:.80} with another content. Items do not change: give it "
                "another name."
            )
    fresh = [item for item in new if item.name not in known]
    for part in _chunks(fresh):
        rows = [{"name": item.name, "content": item.content, "n_tokens": item.n_tokens} for item in part]
        connection.execute(sa.insert(items), rows)
    numbers = {name: number for name, (number, _) in known.items()}
    numbers |= {name: number for name, (number, _) in _known(connection, [item.name for item in fresh]).items()}
    n_gold, n_other = _add_labels(connection, [item for item in new if item.said], numbers, now=now)
    if n_other:
        notes = (*notes, f"{n_other:,} items have another label in the file than they had before: that one stays.")
    return Added(len(fresh), len(new) - len(fresh), n_gold, notes)


def _add_labels(
    connection: sa.Connection, labeled: Sequence[NewItem], numbers: Mapping[str, int], *, now: float
) -> tuple[int, int]:
    """Labels that came with a file are answers of it: how many are new, and how many contradict earlier ones."""
    if not labeled:
        return 0, 0
    person = file_person(connection, now=now)
    before = _labels_of(connection, person.id, [numbers[item.name] for item in labeled])
    fresh = [item for item in labeled if numbers[item.name] not in before]
    n_other = sum(
        before[numbers[item.name]] != (item.positions, item.said) for item in labeled if numbers[item.name] in before
    )
    first = int(connection.execute(sa.select(sa.func.coalesce(sa.func.max(requests.c.id), 0))).scalar_one())
    for part in _chunks(fresh):
        asked = [
            {
                "item_id": numbers[item.name],
                "positions": None if item.positions is None else json.dumps(item.positions),
                "question": "[]",
                "channel": GOLD,
                "votes": 1,
                "given": 1,
                "held": 0,
                "rule": HELD,
                "drawn_by": HELD,
                "batch": 0,
                "why": "came with a file",
                "created_at": now,
            }
            for item in part
        ]
        connection.execute(sa.insert(requests), asked)
    made = sa.select(requests.c.id, requests.c.item_id).where(requests.c.id > first, requests.c.rule == HELD)
    request_of = {row.item_id: row.id for row in connection.execute(made)}
    for part in _chunks(fresh):
        said = [
            {
                "key": f"{HELD}:{request_of[numbers[item.name]]}",
                "request_id": request_of[numbers[item.name]],
                "item_id": numbers[item.name],
                "annotator_id": person.id,
                "said": to_json(item.said),
                "price": 0.0,
                "given_at": now,
            }
            for item in part
        ]
        connection.execute(sa.insert(answers), said)
    counted = sa.select(answers.c.id).where(answers.c.annotator_id == person.id, answers.c.request_id > first)
    connection.execute(sa.insert(unfolded).from_select(["answer_id"], counted))
    stands = sa.select(answers.c.id, answers.c.request_id, answers.c.item_id, answers.c.annotator_id)
    new = stands.where(answers.c.annotator_id == person.id, answers.c.request_id > first)
    connection.execute(sa.insert(standing).from_select(["answer_id", "request_id", "item_id", "annotator_id"], new))
    return sum(len(item.said) for item in fresh), n_other


def guessed(connection: sa.Connection, new: Sequence[Mapping[str, Any]]) -> None:
    """Keep what a model says of items, in place of what one said before."""
    connection.execute(sa.delete(guesses))
    rows = [{"item_id": row["item_id"], "said": json.dumps(row["said"], ensure_ascii=False)} for row in new]
    for part in _chunks(rows):
        connection.execute(sa.insert(guesses), part)


def _labels_of(
    connection: sa.Connection, person: int, numbers: Sequence[int]
) -> dict[int, tuple[tuple[int, ...] | None, tuple[Unit, ...]]]:
    known = {}
    for part in _chunks(numbers):
        query = (
            sa.select(answers.c.item_id, answers.c.said, requests.c.positions)
            .join(requests, requests.c.id == answers.c.request_id)
            .where(answers.c.annotator_id == person, answers.c.item_id.in_(part))
        )
        for row in connection.execute(query):
            positions = None if row.positions is None else tuple(json.loads(row.positions))
            known[row.item_id] = (positions, from_json(row.said))
    return known


def _known(connection: sa.Connection, names: Sequence[str]) -> dict[str, tuple[int, str]]:
    known = {}
    for part in _chunks(names):
        query = sa.select(items.c.name, items.c.id, items.c.content).where(items.c.name.in_(part))
        known.update({row.name: (row.id, row.content) for row in connection.execute(query)})
    return known


def _chunks(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    return (values[start : start + _CHUNK] for start in range(0, len(values), _CHUNK))


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
        yield NewItem(name, content, n_tokens, tuple(_label(label, classes, position) for label in labels))


def _label(label: Any, classes: set[str], position: str) -> Unit:
    if label is None:
        return None
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
    from labelworth.formats.choose import FORMATS, format_named, found_format
    from labelworth.formats.source import Reading, Source

    tool = format_named(format) if format in FORMATS else None
    if format is None:
        tool = found_format(Source(path, Reading(encoding=encoding)))
    # What plans read as it is has readers of its own.
    if tool is not None and not tool.is_data:
        return _from_export(path, kind, text_column, tool.name, encoding)
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
    path: Path, kind: Kind, text_column: str | None, format: str, encoding: str
) -> tuple[list[_Row], tuple[str, ...]]:
    """What a tool exported: one judgement each, or what it marks as the truth, are labels."""
    from labelworth.formats.as_data import ExportedData
    from labelworth.formats.choose import read_export

    data = ExportedData(read_export(path, format=format, text_column=text_column, encoding=encoding))
    if data.holds_sequences != (kind == "sequences"):
        found = "sequences" if data.holds_sequences else "documents"
        raise InvalidInputError(f"{path} holds {found}, and this is a campaign of {kind}.")
    raw, ids = data.raw, [item.id for item in data.export.items]
    notes = raw.notes
    if data.is_answered:
        notes += ("Answers of several people to one item are not taken over; what is marked as the truth is.",)
    rows = _of_texts(raw, path) if isinstance(raw, RawTexts) else _of_tokens(raw, path)
    if len(rows) != len(ids):
        # Items without a token are no sequences.
        ids = [item.id for item in data.export.items if item.text.strip()]
    return [(name, *row) for name, row in zip(ids, rows, strict=True)], notes


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
