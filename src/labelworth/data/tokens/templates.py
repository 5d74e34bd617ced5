"""Templates: which neighbors of a token make its attributes, in the language of CRF++.

A line ``U05:%x[-1,0]/%x[0,0]`` asks for column 0 of the token before and of the token itself, and makes the attribute
``U05:the/pound``. A line ``B`` gives pairs of neighboring labels a weight. ``#`` begins a comment line.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

from labelworth.errors import InvalidInputError

Edges = Literal["marked", "skipped"]
"""Beyond a sequence there are the values ``_B-1``, ``_B+1``, ... (CRF++), or no attribute is made (CRFsuite)."""

_MACRO = re.compile(r"%x\[\s*([+-]?\d{1,9})\s*,\s*(\d{1,9})\s*\]")
_FARTHEST = 1_000


@dataclass(frozen=True)
class Reference:
    """``%x[row,column]``: a column of the token so many places further on."""

    row: int
    column: int


@dataclass(frozen=True)
class Pattern:
    """One line of a template."""

    # What stands before, between and behind the references; one more than there are references.
    texts: tuple[str, ...]
    references: tuple[Reference, ...]

    @classmethod
    def parse(cls, line: str) -> Self:
        """Read ``text%x[row,column]text...``.

        Examples
        --------
        >>> Pattern.parse("U1:%x[-1,0]/%x[0,1]").references
        (Reference(row=-1, column=0), Reference(row=0, column=1))
        """
        pieces = _MACRO.split(line)
        texts = tuple(pieces[::3])
        if any("%" in text for text in texts):
            raise InvalidInputError(
                f"A template refers to a column as %x[row,column], as in %x[-1,0]. Got {line!r} instead."
            )
        references = tuple(Reference(int(r), int(c)) for r, c in zip(pieces[1::3], pieces[2::3], strict=True))
        if any(abs(reference.row) > _FARTHEST for reference in references):
            raise InvalidInputError(f"A template refers to tokens at most {_FARTHEST} away. Got {line!r} instead.")
        return cls(texts, references)

    def __str__(self) -> str:
        references = [f"%x[{reference.row},{reference.column}]" for reference in self.references] + [""]
        return "".join(text + reference for text, reference in zip(self.texts, references, strict=True))


@dataclass(frozen=True)
class Template:
    """Patterns, and what they find beyond the ends of a sequence.

    Attributes
    ----------
    patterns : tuple of Pattern
        Each makes at most one attribute per token. The same text from two patterns is the same attribute.
    edges : "marked" or "skipped"
        Beyond the ends, columns read ``_B-1``, ``_B-2``, ... and ``_B+1``, ...; or the pattern makes no attribute.
    first, last : str
        Further attributes of the first and the last token; none where empty.
    transitions : bool
        Whether pairs of neighboring labels have weights (``B``).
    """

    patterns: tuple[Pattern, ...]
    edges: Edges = "marked"
    first: str = ""
    last: str = ""
    transitions: bool = True

    def __post_init__(self) -> None:
        if not self.patterns:
            raise InvalidInputError("A template needs at least one pattern, as U00:%x[0,0].")
        if self.edges not in get_args(Edges):
            raise InvalidInputError(f"edges must be one of {', '.join(get_args(Edges))}. Got {self.edges!r} instead.")

    @property
    def n_columns(self) -> int:
        """How many columns a token must have."""
        return 1 + max((r.column for pattern in self.patterns for r in pattern.references), default=-1)

    @classmethod
    def of(cls, lines: Iterable[str], **settings: Any) -> Self:
        """A template from its patterns as text; `settings` are the other attributes."""
        return cls(tuple(Pattern.parse(line) for line in lines), **settings)

    def to_mapping(self) -> dict[str, Any]:
        """Everything needed to build it again, as JSON knows it."""
        return {
            "patterns": [str(pattern) for pattern in self.patterns],
            "edges": self.edges,
            "first": self.first,
            "last": self.last,
            "transitions": self.transitions,
        }

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any]) -> Self:
        """Build it again, checking everything."""
        try:
            settings = {name: mapping[name] for name in ("edges", "first", "last", "transitions")}
            return cls.of(mapping["patterns"], **settings)
        except (KeyError, TypeError) as error:
            raise InvalidInputError(
                "A stored template has patterns, edges, first, last and transitions; this one does not."
            ) from error


def parse_template(text: str) -> Template:
    r"""Read a template file of CRF++.

    Raises
    ------
    InvalidInputError
        For a line that is neither ``U...``, ``B``, a comment nor blank, with its number; and for ``B`` with columns
        (a weight per pair of labels and value), which we do not have.

    Examples
    --------
    >>> template = parse_template("# words\nU00:%x[-1,0]\nU01:%x[0,0]\n\nB\n")
    >>> len(template.patterns), template.transitions
    (2, True)
    """
    patterns, transitions = [], False
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("U"):
            try:
                patterns.append(Pattern.parse(line))
            except InvalidInputError as error:
                raise InvalidInputError(f"Line {number} of the template: {error}") from error
        elif line.startswith("B") and "%" not in line:
            transitions = True
        else:
            raise InvalidInputError(
                f"Line {number} of the template must begin with U, be B alone, or begin with #. Got {line!r}; "
                "weights of pairs of labels cannot depend on columns here."
            )
    return Template(tuple(patterns), transitions=transitions)


def _window(name: str, column: int, rows: tuple[int, ...]) -> str:
    """In the notation of CRFsuite: ``w[-1]|w[0]=%x[-1,0]|%x[0,0]``."""
    names = "|".join(f"{name}[{row}]" for row in rows)
    values = "|".join(f"%x[{row},{column}]" for row in rows)
    return f"{names}={values}"


CHUNKING = Template.of(
    [_window("w", 0, rows) for rows in ((-2,), (-1,), (0,), (1,), (2,), (-1, 0), (0, 1))]
    + [_window("pos", 1, rows) for rows in ((-2,), (-1,), (0,), (1,), (2,))]
    + [_window("pos", 1, rows) for rows in ((-2, -1), (-1, 0), (0, 1), (1, 2))]
    + [_window("pos", 1, rows) for rows in ((-2, -1, 0), (-1, 0, 1), (0, 1, 2))],
    edges="skipped",
    first="__BOS__",
    last="__EOS__",
)
"""The template of CRFsuite's tutorial on chunking: words (column 0) and parts of speech (column 1) of five tokens."""
