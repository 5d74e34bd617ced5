"""WebAnno TSV 3, as WebAnno and INCEpTION write it: a line per token, stacked spans, positions in UTF-16 units."""

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from labelworth.data.files import write_lines
from labelworth.errors import InvalidInputError
from labelworth.formats.export import Export, Item, Judgement, Span, Stretch
from labelworth.formats.fields import Fields
from labelworth.formats.folders import files_in
from labelworth.formats.format import Format, Gathered, chosen_question, empty_judged, require_meaning
from labelworth.formats.source import WEBANNO_HEADER as _HEADER
from labelworth.formats.source import Source
from labelworth.formats.utf16 import characters_at, units_before

_USUAL = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity|value"
_LAYERS = ("#T_SP=", "#T_CH=", "#T_RL=")
_TEXT, _SENTENCE = "#Text=", "#Sentence.id="
_NONE, _NO_VALUE = "_", "*"
_CURATED = "CURATION_USER"
_ROW = re.compile(r"(\d{1,9})-(\d{1,9})(\.\d{1,9})?")
_STRETCH = re.compile(r"(\d{1,12})-(\d{1,12})")
_NAMED = {"t": "\t", "n": "\n", "f": "\f", "r": "\r", "b": "\b"}
_VALUE_ESCAPES = {"\t": "\\t", "\n": "\\n", **{mark: f"\\{mark}" for mark in "\\[]|_;*"}}
_TEXT_ESCAPES = {"\\": "\\\\", **{mark: f"\\{name}" for name, mark in _NAMED.items()}}


def _knows(source: Source) -> bool:
    if source.is_folder:
        files = files_in(source.path, ".tsv")
        return bool(files) and Source(files[0]).head.startswith(_HEADER.encode())
    return source.head.removeprefix(b"\xef\xbb\xbf").startswith(_HEADER.encode())


@dataclass
class _Sentence:
    """A sentence as it is read, line by line."""

    location: str
    id: str = ""
    lines: list[str] = field(default_factory=list)
    rows: list[tuple[str, int, int, str, list[str]]] = field(default_factory=list)  # Unit, begin, end, form, cells.

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def _read(source: Source) -> Export:
    is_folder = source.is_folder
    files = files_in(source.path, ".tsv") if is_folder else [source.path]
    gathered, empty = Gathered(str(source.path)), list[str]()
    notes: dict[str, None] = {}
    for path in files:
        columns, sentences = _parsed(Source(path, source.reading))
        wanted, told = _column(columns, sentences, source.reading.question, str(path))
        notes.update(dict.fromkeys(told))
        who = path.stem if is_folder else ""
        end = -1
        for number, sentence in enumerate(sentences, start=1):
            begin = _begin(sentence, end)
            end = begin + units_before(sentence.text)[-1]
            tokens, spans = _spans(sentence, begin, wanted)
            judgement = Judgement(spans, annotator="" if who == _CURATED else who, is_gold=who == _CURATED)
            name = sentence.id or str(number)
            judgements = empty_judged(judgement, source.reading, empty, name)
            gathered.add(Item(name, sentence.text, judgements, (), tokens), Fields({}, sentence.location))
    require_meaning(source, list(dict.fromkeys(empty)), "WebAnno TSV")
    return Export(gathered.items(), "spans", (), "label", str(source.path), tuple(notes))


def _parsed(source: Source) -> tuple[list[str], list[_Sentence]]:
    """The columns behind the tokens, by name, empty where they are no spans; and the sentences."""
    columns: list[str] = []
    sentences: list[_Sentence] = []
    is_open = False
    for number, line in enumerate(source.lines(), start=1):
        text = line.rstrip("\r\n") if line.endswith("\r\n") else line.rstrip("\n")
        location = f"{source.path}, line {number}"
        if number == 1:
            if not text.startswith(_HEADER):
                raise InvalidInputError(f"{location} must begin with {_HEADER!r}.")
        elif text.startswith(_LAYERS) and not sentences:
            name, *features = text.partition("=")[2].split("|")
            is_span = text.startswith(_LAYERS[0])
            columns += [
                f"{name}|{feature}" if is_span and not feature.startswith("ROLE_") else ""
                for feature in features or [""]
            ]
        elif text.startswith((_TEXT, _SENTENCE)):
            if not is_open or (sentences and sentences[-1].rows):
                sentences.append(_Sentence(location))
            is_open = True
            if text.startswith(_SENTENCE):
                sentences[-1].id = _unescaped(text.removeprefix(_SENTENCE))
            else:
                sentences[-1].lines.append(_unescaped(text.removeprefix(_TEXT)))
        elif not text:
            is_open = False
        elif not text.startswith("#"):
            if not sentences:
                raise InvalidInputError(f"{location}: tokens come behind a line {_TEXT}.")
            sentences[-1].rows.append(_row(text, len(columns), location))
    return columns, sentences


def _row(text: str, n_columns: int, location: str) -> tuple[str, int, int, str, list[str]]:
    unit, *rest = text.split("\t")
    stretch = _STRETCH.fullmatch(rest[0]) if len(rest) >= 2 else None
    if not _ROW.fullmatch(unit) or stretch is None:
        raise InvalidInputError(
            f"{location}: a token is written 1-1, 0-3 and its text, with tabs. Got {text[:40]!r}."
        )
    cells = rest[2:]
    cells = [*cells[:n_columns], *[_NONE] * (n_columns - len(cells))]
    return unit, int(stretch[1]), int(stretch[2]), rest[1], cells


def _column(
    columns: list[str], sentences: list[_Sentence], question: str | None, source: str
) -> tuple[int | None, list[str]]:
    """The column of the one question, and what is to be told of others."""
    filled: Counter[int] = Counter()
    for sentence in sentences:
        for *_, cells in sentence.rows:
            filled.update(number for number, cell in enumerate(cells) if cell not in (_NONE, ""))
    spans = {columns[number]: count for number, count in sorted(filled.items()) if columns[number]}
    named = next((name for name in columns if name and question in (name, name.rpartition(".")[2])), None)
    chosen = chosen_question(spans, named, source)
    n_others = sum(count for number, count in filled.items() if columns[number] != chosen)
    told = [f"{n_others:,} cells of other layers than {chosen} were left out."] if n_others else []
    return columns.index(chosen) if chosen in columns else None, told


def _begin(sentence: _Sentence, before: int) -> int:
    """Where a sentence begins in the document: so that its tokens are its text, right behind the one before."""
    units = sentence.text.encode("utf-16-le", "surrogatepass")
    rows = [row for row in sentence.rows if "." not in row[0]]

    def fits(begin: int) -> bool:
        return all(
            begin <= start <= end
            and units[2 * (start - begin) : 2 * (end - begin)] == form.encode("utf-16-le", "surrogatepass")
            for _, start, end, form, _ in rows
        )

    first = (
        rows[0][1] - len(sentence.text[: max(sentence.text.find(rows[0][3]), 0)].encode("utf-16-le")) // 2
        if rows
        else 0
    )
    for begin in (before + 1, before, first):
        if begin >= 0 and fits(begin):
            return begin
    raise InvalidInputError(
        f"{sentence.location}: the tokens are not where they say they are in the text of the sentence. Positions "
        "count UTF-16 units of the whole document."
    )


def _spans(sentence: _Sentence, begin: int, column: int | None) -> tuple[tuple[Stretch, ...], tuple[Span, ...]]:
    position = characters_at(sentence.text)
    tokens: list[Stretch] = []
    joined: dict[tuple[str, str], list[Stretch]] = {}
    found: list[Span] = []
    for unit, start, end, _, cells in sentence.rows:
        at = position.get(start - begin), position.get(end - begin)
        if at[0] is None or at[1] is None or at[0] >= at[1]:
            raise InvalidInputError(
                f"{sentence.location}: {unit} is at {start}-{end}, which is no part of the sentence."
            )
        stretch = (at[0], at[1])
        if "." not in unit:
            tokens.append(stretch)
        if column is None or cells[column] in (_NONE, ""):
            continue
        for label, number in _values(cells[column]):
            if number:
                joined.setdefault((number, label), []).append(stretch)
            else:
                found.append(Span(*stretch, label))
    # Between tokens that a number joins there are only blanks.
    found += [Span(pieces[0][0], pieces[-1][1], label) for (_, label), pieces in joined.items()]
    return tuple(tokens), tuple(sorted(set(found)))


def _values(cell: str) -> list[tuple[str, str]]:
    r"""The labels of a cell with the numbers that join tokens.

    >>> _values(r"PER[1]|a\_b[2]|\[x\]")
    [('PER', '1'), ('a_b', '2'), ('[x]', '')]
    """
    values, label, number, inside = [], "", "", False
    characters = iter(f"{cell}|")
    for character in characters:
        if character == "\\":
            following = next(characters, "")
            label += _NAMED.get(following, following) if following in "tn" else following
        elif character == "|":
            values.append((label.strip() or _NO_VALUE, number))
            label, number, inside = "", "", False
        elif character in "[]":
            inside = character == "["
        elif inside:
            number += character
        else:
            label += character
    return values


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.?)", lambda match: _NAMED.get(match[1], match[1]), text, flags=re.DOTALL)


def _put(export: Export, path: Path) -> None:
    lines = [f"{_HEADER}.3\n", f"#T_SP={_USUAL}\n", "\n"]
    begin, counter = 0, 0
    for number, item in enumerate(export.items, start=1):
        lines.append("\n")
        lines.append(f"{_SENTENCE}{_escaped(item.id, _TEXT_ESCAPES)}\n")
        lines += [f"{_TEXT}{_escaped(line, _TEXT_ESCAPES)}\n" for line in item.text.split("\n")]
        rows, counter = _rows(item, begin, number, counter)
        lines += rows
        begin += units_before(item.text)[-1] + 1
    write_lines(path, lines)


def _rows(item: Item, begin: int, number: int, counter: int) -> tuple[list[str], int]:
    units, tokens = units_before(item.text), item.tokens or ()
    spans = item.judgements[0].said if item.judgements else ()
    cells: list[list[str]] = [[] for _ in tokens]
    covered = {span: [n for n, token in enumerate(tokens) if span.start <= token[0] < span.end] for span in spans}
    use = Counter(place for places in covered.values() for place in places)
    for span, places in covered.items():
        # A number tells which tokens are one span; what is one token and alone needs none.
        is_joined = len(places) > 1 or use[places[0]] > 1
        counter += is_joined
        for place in places:
            cells[place].append(_escaped(span.label, _VALUE_ESCAPES) + (f"[{counter}]" if is_joined else ""))
    rows = []
    for place, (start, end) in enumerate(tokens):
        form = item.text[start:end]
        if any(mark in form for mark in "\t\n\r"):
            raise InvalidInputError(
                f"The token {form!r:.40} of item {item.id!r:.40} holds a tab or line end: WebAnno TSV cannot."
            )
        at = f"{begin + units[start]}-{begin + units[end]}"
        rows.append(f"{number}-{place + 1}\t{at}\t{form}\t{'|'.join(cells[place]) or _NONE}\t\n")
    return rows, counter


def _escaped(text: str, escapes: dict[str, Any]) -> str:
    return "".join(escapes.get(character, character) for character in text).replace(
        "->", "\\->" if "|" in escapes else "->"
    )


WEBANNO = Format(
    "webanno",
    "WebAnno TSV 3",
    ("spans",),
    frozenset({"overlapping", "between", "spans", "tokens", "ids", "any ids", "order"}),
    "not in the file: --empty-means",
    _knows,
    _read,
    _put,
    (".tsv",),
    needs_tokens=("spans",),
)
