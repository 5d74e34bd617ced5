"""Kinds of labels in words, as people type them or keep them in a file, read into channels.

One kind is ``crowd: price 0.02, confusion 0.85 0.15 / 0.30 0.70, votes 1 3 5, unknown``; a file holds one of these
per line, or the same words as keys of JSON, or as indented lines (`read_kinds`). Words are those of `Channel`.
``both: model + crowd x 3`` asks two of them about the same row.
"""

import difflib
import json
import os
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from labelworth.channels.arm import Arm, Together
from labelworth.channels.channel import Channel
from labelworth.data.readers.json_files import parse_json
from labelworth.errors import DataUnavailableError, InvalidInputError

EXAMPLE = "expert: price 0.5, accuracy 0.97"
_FLAGS = ("unknown", "independent")
_WORDS = ("price", "accuracy", "confusion", "votes", "question", "sets", "answers", *_FLAGS)
_TABLES = ("confusion", "sets")
_SUM = re.compile(r"(^|\s)\+|\+(\s|$)")
"""A plus between names, not within a number as 1e+3."""
_WORD = re.compile(r"([^\s:=]+)\s*[:=]?\s*(.*)", re.DOTALL)
_COMMAS = re.compile(r",(?![^\[]*\])(?!\s*\[)")
"""Those outside of brackets."""


Kind = Channel | Together
"""Somebody who answers, or several of them on one row."""


def read_kind(text: str) -> Kind:
    """A channel from one line, or several on one row.

    ``NAME: WORD VALUE, WORD VALUE, ...`` with the words price, accuracy, confusion (rows parted by ``/``), votes,
    question (classes parted by ``/``), sets (parted by ``/``, their classes by blanks), answers, unknown and
    independent. ``NAME: KIND + KIND x VOTES`` asks other kinds about the same row.

    Raises
    ------
    InvalidInputError
        If it is no kind of label, in words.

    Examples
    --------
    >>> crowd = read_kind("crowd: price 0.02, confusion 0.85 0.15 / 0.30 0.70, votes 1 3 5, unknown")
    >>> crowd.name, crowd.price, crowd.votes, crowd.is_unknown
    ('crowd', 0.02, (1, 3, 5), True)
    >>> read_kind("screener: question spam, price .05, accuracy .95").table(("ham", "spam")).answers
    ('yes', 'no')
    """
    name, colon, rest = text.partition(":")
    if not colon or not name.strip() or name.strip()[0] in "{[":
        raise InvalidInputError(
            f"A kind of label is a name, a colon and what is known of it: {EXAMPLE!r}. Got {text!r}."
        )
    return kind_of(name.strip(), rest)


def read_kinds(path: str | os.PathLike[str]) -> list[Kind]:
    """Channels from a file: lines as `read_kind` takes them, JSON, or blocks of indented lines.

    JSON is ``{"expert": {"price": 0.5, "accuracy": 0.97}}`` or ``[{"name": "expert", "price": 0.5, ...}]``. Of YAML
    there are comments, a name and a colon per kind, below it lines ``word: value`` that are further in, with values
    as in JSON or plain, and lists as ``[1, 3]`` or one ``- value`` per line.

    Raises
    ------
    DataUnavailableError, InvalidInputError
        If the file cannot be read, or is none of these.
    """
    try:
        content = Path(path).read_bytes()
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{str(path)!r} holds no kinds of labels: it is not UTF-8 text.") from error
    except (OSError, ValueError) as error:
        words = getattr(error, "strerror", None) or error
        raise DataUnavailableError(f"Cannot read {str(path)!r}: {words}.") from error
    if text.lstrip()[:1] in ("{", "["):
        try:
            document = parse_json(content, each_once=True)
        except (ValueError, RecursionError) as error:
            raise InvalidInputError(f"{str(path)!r} cannot be read as JSON: {error}.") from error
    else:
        document = _blocks(text, str(path))
    kinds = kinds_of(document)
    if not kinds:
        raise InvalidInputError(f"{str(path)!r} names no kind of label; write lines as {EXAMPLE!r}.")
    return kinds


def kinds_of(described: Any) -> list[Kind]:
    """Channels, lines of words, or mappings of words to values, by name or in a list: all as channels.

    Raises
    ------
    InvalidInputError
        If one is no kind of label, or two have one name.
    """
    if isinstance(described, str | Channel | Together | Arm):
        described = [described]
    if isinstance(described, Mapping) and list(described) == ["kinds"]:
        described = described["kinds"]
    if isinstance(described, Mapping):
        channels = [kind_of(str(name), said) for name, said in described.items()]
    elif isinstance(described, Sequence):
        channels = [_any_kind(one) for one in described]
    else:
        raise InvalidInputError(f"Kinds of labels are a list of them, or a mapping by name. Got {described!r:.80}.")
    names = [channel.name for channel in channels]
    for name in names:
        if names.count(name) > 1:
            raise InvalidInputError(f"There are two kinds of labels called {name!r}: give each a name of its own.")
    return channels


def split_kinds(kinds: Sequence[Kind]) -> tuple[tuple[Channel, ...], tuple[Together, ...]]:
    """Those who answer, and who of them are asked about the same row.

    Raises
    ------
    InvalidInputError
        If somebody is to be asked who is no kind of label.
    """
    channels = tuple(kind for kind in kinds if isinstance(kind, Channel))
    together = tuple(kind for kind in kinds if isinstance(kind, Together))
    for own in together:
        own.arm(channels)
    return channels, together


def _any_kind(described: Any) -> Kind:
    if isinstance(described, Channel | Together):
        return described
    if isinstance(described, Arm) and not described.has_gold:
        return Together(described.name, tuple((channel.name, votes) for channel, votes in described.asked))
    if isinstance(described, str):
        return read_kind(described)
    if isinstance(described, Mapping) and isinstance(described.get("name"), str):
        return kind_of(described["name"], {word: value for word, value in described.items() if word != "name"})
    if isinstance(described, Mapping) and len(described) == 1:
        [(name, said)] = described.items()
        return kind_of(str(name), said)
    raise InvalidInputError(
        f'A kind of label is {{"name": "expert", "price": 0.5, "accuracy": 0.97}}, a line as {EXAMPLE!r}, or a '
        f"Channel. Got {described!r:.80}."
    )


def kind_of(name: str, said: Any) -> Kind:
    """A channel from words and their values; values may be texts, as they are typed. Several, from a sum of names.

    Raises
    ------
    InvalidInputError
        If there is no such word, or a value is none of it.
    """
    if isinstance(said, str):
        if _SUM.search(said):
            return _together(name, said)
        said = _said(name, said)
    if not isinstance(said, Mapping):
        raise InvalidInputError(f"Of the kind {name!r} must be said what it is, as {EXAMPLE!r}. Got {said!r:.80}.")
    unknown_words = [word for word in said if word not in _WORDS]
    if unknown_words:
        raise InvalidInputError(
            f"Of the kind {name!r} one can say {', '.join(_WORDS)}. Got {', '.join(map(str, unknown_words))}."
            f"{_hint(str(unknown_words[0]), said)}"
        )
    values = {word: _value(name, word, value) for word, value in said.items() if value is not None}
    common = {word: values[word] for word in ("price", "votes", *_FLAGS) if word in values}
    if "answers" in values and "accuracy" in values:
        raise InvalidInputError(
            f"Of the kind {name!r} answers name the columns of a confusion, and it has an accuracy: an answer is a "
            "class then. Leave answers out, or give a confusion."
        )
    for word in ("question", "sets"):
        if word in values:
            others = [other for other in ("question", "sets", "confusion", "answers") if other in values]
            if len(others) > 1:
                raise InvalidInputError(f"The kind {name!r} is one of {' or '.join(others)}, not both.")
            if "accuracy" not in values:
                raise InvalidInputError(
                    f"Of the kind {name!r} must be said how often its answers to the {word} are right: accuracy 0.9; "
                    "with unknown, as a guess."
                )
            asked = Channel.question if word == "question" else Channel.sets
            return asked(name, values[word], accuracy=values["accuracy"], **common)
    confusion = values.get("confusion")
    if confusion is None and "accuracy" not in values:
        if not values.get("unknown"):
            raise InvalidInputError(
                f"Of the kind {name!r} must be said how often it is right: accuracy 0.9, a confusion with a row per "
                "class (confusion 0.9 0.1 / 0.2 0.8), or unknown."
            )
        confusion = "unknown"
    return Channel(name, confusion, accuracy=values.get("accuracy"), answers=values.get("answers"), **common)


def _together(name: str, text: str) -> Together:
    asks = []
    for part in text.split("+"):
        # A kind may be called x.
        kind, times, votes = ("", "", "") if part.strip() == "x" else f" {part.strip()} ".rpartition(" x ")
        if not (kind if times else part).strip() or (times and not votes.strip()) or "," in part:
            raise InvalidInputError(
                f"Kinds of labels on the same row are names with + between, as 'both: model + crowd x 3'. Got "
                f"{f'{name}: {text.strip()}'!r}."
            )
        asks.append((kind.strip(), _whole(name, "votes", votes.strip())) if times else (part.strip(), 1))
    return Together(name, tuple(asks))


def _hint(word: str, said: Mapping[str, Any]) -> str:
    """What may be meant by a word that is none."""
    if word.isdigit() and "votes" in said:
        return f" Several numbers of votes have blanks between, as votes {said['votes']} {word}: commas part words."
    if word[:1].isdigit():
        return " Write numbers with a point, as 0.9: commas part words."
    near = difflib.get_close_matches(word, _WORDS, n=1)
    return f" Is {near[0]!r} meant?" if near else ""


def _said(name: str, text: str) -> dict[str, Any]:
    """Words and the texts behind them, with a colon, an equal sign or neither; commas in brackets part nothing."""
    said: dict[str, Any] = {}
    bare = text.strip()
    bare = bare[1:-1] if bare.startswith("{") and bare.endswith("}") else bare
    for part in _COMMAS.split(bare):
        found = _WORD.fullmatch(part.strip())
        if found is None:
            continue
        word, value = found[1].strip("\"'").lower(), found[2]
        if word in said:
            raise InvalidInputError(f"The kind {name!r} says its {word} twice.")
        if word in _FLAGS and not value.strip():
            said[word] = True
        elif word in _WORDS and not value.strip():
            raise InvalidInputError(f"The kind {name!r} names its {word} and does not say it, as in {EXAMPLE!r}.")
        else:
            said[word] = _plain(value.strip()) if value.startswith("[") else value.strip()
    return said


def _value(name: str, word: str, value: Any) -> Any:
    if word in _FLAGS:
        return _flag(name, word, value)
    if word in ("price", "accuracy"):
        return _number(name, word, value)
    if word == "votes":
        listed = value if isinstance(value, list | tuple) else str(value).replace("/", " ").split()
        return tuple(_whole(name, word, one) for one in listed)
    if word == "confusion" and value == "unknown":
        return value
    if word in _TABLES:
        rows = [_row(name, word, row) for row in _listed(value, "/")]
        sizes = {len(row) for row in rows}
        if word == "confusion" and len(sizes) > 1:
            raise InvalidInputError(
                f"The confusion of the kind {name!r} has a row per class and in it a number per answer, as 0.9 0.1 / "
                f"0.2 0.8. Got rows of {' and '.join(map(str, sorted(sizes)))} numbers."
            )
        return rows
    # Names of classes may hold blanks.
    return _listed(value, "/" if word == "question" or "/" in str(value) else None)


def _row(name: str, word: str, row: Any) -> list[Any]:
    entries = _listed(row, None)
    return [_number(name, word, entry) for entry in entries] if word == "confusion" else entries


def _listed(value: Any, separator: str | None) -> list[Any]:
    """A list as it is; a text taken apart."""
    if isinstance(value, str):
        bare = value.strip()
        return [part.strip() for part in (bare.split(separator) if separator else bare.split())]
    return list(value) if isinstance(value, Sequence) else [value]


def _number(name: str, word: str, value: Any) -> float:
    try:
        if isinstance(value, bool):
            raise ValueError
        text = value.strip() if isinstance(value, str) else value
        if isinstance(text, str) and text.endswith("%"):
            return float(text[:-1]) / 100
        return float(text)
    except (TypeError, ValueError):
        told = any(other in _WORDS for other in str(value).split()) if isinstance(value, str) else False
        comma = " Part words by commas." if told else ""
        raise InvalidInputError(
            f"The {word} of the kind {name!r} must be a number, as 0.9, with nothing beside it. Got {value!r}.{comma}"
        ) from None


def _whole(name: str, word: str, value: Any) -> int:
    try:
        number = _number(name, word, value)
    except InvalidInputError:
        number = 0.5
    if not number.is_integer():
        raise InvalidInputError(f"The {word} of the kind {name!r} are whole numbers, as 1 3 5. Got {value!r}.")
    return int(number)


def _flag(name: str, word: str, value: Any) -> bool:
    known = {True: True, False: False, "true": True, "yes": True, "false": False, "no": False}
    key = value.lower() if isinstance(value, str) else value
    if not isinstance(key, bool | str) or key not in known:
        raise InvalidInputError(f"Whether the kind {name!r} is {word} is said by true or false. Got {value!r}.")
    return known[key]


def _blocks(text: str, path: str) -> dict[str, Any]:
    """Names with their lines: what stands behind the colon, or the indented lines below."""
    lines = text.splitlines()
    first = next((number for number, line in enumerate(lines) if _bare(line)), 0)
    if lines and _bare(lines[first]) == "kinds:":
        # A heading above names that are indented, or above a list.
        below = textwrap.dedent("\n".join(map(_bare, lines[first + 1 :])))
        lines = [*[""] * (first + 1), *below.split("\n")]
    kinds: dict[str, Any] = {}
    block: dict[str, Any] | None = None
    items: list[Any] | None = None
    for number, line in enumerate(lines, start=1):
        bare = _bare(line)
        if not bare:
            continue
        is_inside, stripped = bare[0] in " \t", bare.strip()
        refuse = _refusal(path, number, line)
        if stripped.startswith("- ") and items is not None:
            items.append(_plain(stripped[2:].strip()))
            continue
        word, colon, value = stripped.removeprefix("- ").partition(":")
        word, value = word.strip().strip("\"'"), value.strip()
        if not colon or not word:
            raise refuse()
        is_new = not is_inside or stripped.startswith("- ")
        if is_new and word == "name" and value:
            # A list of blocks, each beginning with its name.
            word, value = value.strip("\"'"), ""
        elif not is_new and word == "name" and block is not None:
            raise refuse()
        if is_new:
            if word in kinds:
                raise InvalidInputError(f"{path}, line {number}: there are two kinds of labels called {word!r}.")
            block, items = {}, None
            kinds[word] = value or block
            block = None if value else block
        elif block is None:
            raise refuse()
        else:
            if word in block:
                raise InvalidInputError(f"{path}, line {number}: a kind says its {word} twice.")
            items = [] if not value else None
            block[word] = items if items is not None else _plain(value)
    return kinds


def _bare(line: str) -> str:
    """A line without its comment; empty where nothing is said."""
    bare = re.sub(r"(^|\s)#.*$", "", line).rstrip()
    return "" if bare.strip() in ("---", "...") else bare


def _refusal(path: str, number: int, line: str) -> Callable[[], InvalidInputError]:
    return lambda: InvalidInputError(
        f"{path}, line {number}: a line is a kind, as {EXAMPLE!r}, or a name and a colon with indented lines below, "
        f"as 'price: 0.5'. Got {line.strip()!r}."
    )


def _plain(value: str) -> Any:
    """As JSON where it is that, else the text itself."""
    try:
        return json.loads(value)
    except ValueError:
        return value.strip("\"'")
