"""Figures of a page that nobody answers for: neither read from a record, nor said to be no measurement.

A page is Markdown. Answered for are figures within *rows*, words that a test writes anew from records, and those
under a mark:

    <!-- not measured: REASON -->                     the block that follows, up to a blank line
    <!-- not measured in this section: REASON -->     up to the next heading of the same rank or above

Code, formulas in code, addresses and what directives are given are no claims; neither are names with digits in them,
the numbers of headings, lists and formulas, and -1, 0 and 1 in prose.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_FIGURE = re.compile(r"(?<![\w.^/#:-])[+-]?(?:\d+(?:,\d{3})*(?:\.\d+)?|\.\d+)(?:e-?\d+)?(?![\w^])")
_MARK = re.compile(r"<!--\s*not measured(?P<section> in this section)?\s*:(?P<reason>.*?)-->", re.DOTALL)
_NAMES = (
    r"20\s+Newsgroups",
    r"(?:Figure|[Ss]ections?|Table)\s+\d+(?:\s+(?:and|to)\s+\d+|,\s+\d+)*",
    r"Python\s+3\.\d+",
    r"LCDB\s+1\.1",
    r"crowd-kit\s+1\.4(?:\.2)?",
    # Who wrote something, and when.
    r"[A-Z]\w+,?\s+\((?:19|20)\d\d\)|\([A-Z][^()\d]*(?:19|20)\d\d\)|et al\.,?\s+(?:19|20)\d\d",
    r"90\s+%\s+intervals?|[Ii]ntervals?\s+of\s+90\s+%",  # what is promised; how often that is kept is another figure
)
_NO_CLAIMS = (
    r"\A---\n.*?^---$",  # front matter
    r"^(`{3,}|~{3,}).*?^\1",  # fenced blocks
    r"^:{3,}.*$",  # directives
    r"^:\w[\w-]*:.*$",  # their options
    r"`[^`]*`",
    r"\]\([^)]*\)",  # where links lead
    r"<https?:[^>]*>",
    r"^\[[^\]]+\]: .*$",
    r"<!--.*?-->",
    r"^#+ \d+\.",
    r"^ *\d+\. ",
    *_NAMES,
)


class Unread(NamedTuple):
    """A figure that nobody answers for, in its line."""

    line: int
    figure: str
    words: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.figure} in {self.words.strip()!r}"


def unread(text: str, rows: Iterable[str] = ()) -> list[Unread]:
    """All figures of a page that are within no row, and under no mark; a ValueError for a mark that says nothing."""
    marked = _marked(text)
    answered = marked | _within(text, rows)
    lines = text.splitlines()
    found = []
    for start, figure in _figures(text):
        if start not in answered:
            line = text.count("\n", 0, start)
            found.append(Unread(line + 1, figure, lines[line]))
    return found


def _figures(text: str) -> Iterator[tuple[int, str]]:
    """Where figures stand that may be claims."""
    bare = text
    for pattern in _NO_CLAIMS:
        bare = re.sub(pattern, _blank, bare, flags=re.MULTILINE | re.DOTALL if "?" in pattern else re.MULTILINE)
    for number in re.findall(r"^    .* (\(\d\))$", text, flags=re.MULTILINE):  # of formulas
        bare = bare.replace(number, "___")
    for start, block in _blocks(bare):
        if all(line.startswith("    ") for line in block.splitlines()):  # code and formulas
            continue
        for own in _FIGURE.finditer(block):
            is_in_table = block.startswith("|", block.rfind("\n", 0, own.start()) + 1)
            if own[0] not in ("-1", "0", "1") or is_in_table or re.match(r"\s?%", block[own.end() :]):
                yield start + own.start(), own[0]


def _blank(found: re.Match[str]) -> str:
    """As many characters, of which none is a figure; lines stay where they are."""
    return re.sub(r"[^\n]", "_", found[0])


def _blocks(text: str) -> Iterator[tuple[int, str]]:
    return ((own.start(), own[0]) for own in re.finditer(r"(?:^.*\S.*(?:\n|\Z))+", text, flags=re.MULTILINE))


def _marked(text: str) -> set[int]:
    """Places under marks."""
    places: set[int] = set()
    standing = {start for start, _ in _figures(text)}
    for mark in _MARK.finditer(text):
        if not mark["reason"].strip():
            raise ValueError(f"A mark gives no reason: {mark[0]}")
        end = _end_of_section if mark["section"] else _end_of_block
        own = range(mark.end(), end(text, mark.end()))
        if standing.isdisjoint(own):
            raise ValueError(f"A mark stands over no figure: {mark[0]}")
        places.update(own)
    return places


def _end_of_block(text: str, place: int) -> int:
    end = text.find("\n\n", place)
    return len(text) if end < 0 else end


def _end_of_section(text: str, place: int) -> int:
    headings = [(own.start(), len(own[1])) for own in re.finditer(r"^(#+) ", text, flags=re.MULTILINE)]
    rank = [own for start, own in headings if start < place][-1]
    return next((start for start, own in headings if start > place and own <= rank), len(text))


def flat(text: str) -> str:
    """Without line breaks and bold type, which may be anywhere."""
    return " ".join(text.replace("**", "").split())


def _within(text: str, rows: Iterable[str]) -> set[int]:
    """Places within rows."""
    kept = [own.start() for own in re.finditer(r"\S|\s+", re.sub(r"\*\*", "\0\0", text)) if own[0] != "\0"]
    bare = "".join(" " if text[place].isspace() else text[place] for place in kept)
    places: set[int] = set()
    for row in map(flat, rows):
        start = bare.find(row)
        while start >= 0:
            places.update(kept[start : start + len(row)])
            start = bare.find(row, start + 1)
    return places
