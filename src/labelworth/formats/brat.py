"""brat standoff: a folder of texts (.txt) with their annotations (.ann), or a folder per annotator."""

import re
from collections import Counter
from pathlib import Path

from labelworth.data.guard import guarded
from labelworth.data.readers.streams import read_lines
from labelworth.errors import InvalidInputError
from labelworth.formats.export import Export, Item, Judgement, Span
from labelworth.formats.fields import Fields
from labelworth.formats.folders import files_in, folders_in, whole_folder
from labelworth.formats.format import USUAL, Format, Gathered, empty_judged, require_meaning
from labelworth.formats.source import Source

_SPAN = re.compile(r"(T[^\t ]*)\t([^\t ]+) ([0-9; ]+)(?:\t.*)?")
_OTHERS = {
    "R": "relations",
    "E": "events",
    "A": "attributes",
    "M": "attributes",
    "N": "normalizations",
    "#": "notes",
    "*": "equivalences",
}
_BLANK = re.compile(r"\s")


def _knows(source: Source) -> bool:
    if not source.is_folder:
        return False
    if files_in(source.path, ".ann"):
        return True
    return any(files_in(folder, ".ann") for folder in folders_in(source.path))


def _read(source: Source) -> Export:
    own = files_in(source.path, ".ann", ".txt")
    folders = {"": source.path} if own else {folder.name: folder for folder in folders_in(source.path)}
    gathered, empty, others = Gathered(str(source.path)), list[str](), Counter[str]()
    for annotator, folder in folders.items():
        found = {path.name: path for path in files_in(folder, ".ann", ".txt")}
        for path in (path for path in found.values() if path.suffix == ".txt"):
            text = _text(path, source.reading.encoding)
            item = Item(path.stem, text)
            annotations = found.get(f"{path.stem}.ann")
            judgements: tuple[Judgement, ...] = ()
            if annotations is not None:
                spans = _spans(annotations, text, source.reading.encoding, others)
                judgements = empty_judged(Judgement(spans, annotator=annotator), source.reading, empty, path.stem)
            gathered.add(Item(item.id, text, judgements), Fields({}, str(path)))
        missing = next((name for name in found if name.endswith(".ann") and f"{name[:-4]}.txt" not in found), None)
        if missing is not None:
            raise InvalidInputError(f"{folder / missing} has no text: there is no {missing[:-4]}.txt beside it.")
    require_meaning(source, list(dict.fromkeys(empty)), "brat")
    told = [f"{count:,} {name} were left out." for name, count in others.items()]
    return Export(gathered.items(), "spans", (), "label", str(source.path), tuple(told))


def _text(path: Path, encoding: str) -> str:
    # An empty text is one, and no file that was cut off.
    return "".join(read_lines(path, encoding)) if path.stat().st_size else ""


def _spans(path: Path, text: str, encoding: str, others: Counter[str]) -> tuple[Span, ...]:
    spans = []
    for number, line in enumerate(read_lines(path, encoding) if path.stat().st_size else (), start=1):
        entry = line.rstrip("\r\n")
        if not entry.strip():
            continue
        fields = Fields({}, f"{path}, line {number}")
        if entry[:1] in _OTHERS:
            others[_OTHERS[entry[0]]] += 1
            continue
        match = _SPAN.fullmatch(entry)
        if match is None:
            raise fields.error(
                f"an annotation is written T1, a tab, LABEL START END, a tab and its text. Got {entry[:40]!r}"
            )
        with guarded(fields.location, "is not a span", "Write START END, with ; between several."):
            pieces = [tuple(map(int, piece.split())) for piece in match[3].split(";")]
            if not all(len(piece) == 2 and 0 <= piece[0] < piece[1] <= len(text) for piece in pieces):
                raise fields.error(f"{match[3][:40]!r} is beyond a text of {len(text):,} characters, or empty")
            spans.append(Span.of_pieces([(piece[0], piece[1]) for piece in pieces], fields.label(match[2])))
    return tuple(sorted(set(spans)))


def _put(export: Export, path: Path) -> None:
    with whole_folder(path) as folder:
        for item in export.items:
            text = f"\ufeff{item.text}" if item.text.startswith("\ufeff") else item.text
            (folder / f"{item.id}.txt").write_bytes(text.encode())
            spans = item.judgements[0].said if item.judgements else ()
            lines = [_line(number, span, item) for number, span in enumerate(spans, start=1)]
            (folder / f"{item.id}.ann").write_bytes("".join(lines).encode())


def _line(number: int, span: Span, item: Item) -> str:
    if _BLANK.search(span.label):
        raise InvalidInputError(f"brat cannot hold the label {span.label!r:.40}, which has blanks. Rename it.")
    places = ";".join(f"{start} {end}" for start, end in span.pieces)
    covered = " ".join(item.text[start:end] for start, end in span.pieces)
    return f"T{number}\t{span.label} {places}\t{_BLANK.sub(' ', covered)}\n"


BRAT = Format(
    "brat",
    "brat standoff",
    ("spans",),
    frozenset({*USUAL - {"any ids", "order"}, "discontinuous", "ids"}),
    "no .ann: unlabeled; an .ann that is empty: --empty-means",
    _knows,
    _read,
    _put,
    ("",),
)
