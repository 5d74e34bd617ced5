"""The man pages, from what the commands say of themselves: one for `labelworth`, one for each of its commands.

python docs/man_pages.py man      # or: make man
"""

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap
from typing import Any

import typer

import labelworth
from labelworth.cli.main import app

CITATION = Path(__file__).parents[1] / "CITATION.cff"
SECTION = "1"
EXIT_CODES = (
    ("0", "Done."),
    ("1", "It cannot be done: no plan meets the target, or the data does not tell."),
    ("2", "Something that was given is wrong; the message says what."),
    ("130", "Stopped by Ctrl-C."),
)
_COMMON = "Options"


def pages() -> dict[str, str]:
    """By file name, the text of every page."""
    return dict(_pages(typer.main.get_command(app), ("labelworth",), None))


def _pages(command: Any, words: tuple[str, ...], above: Any) -> Iterator[tuple[str, str]]:
    context = typer.Context(command, above, words[-1], **command.context_settings)
    children = getattr(command, "commands", {})
    lines = [*_head(command, context, words), *_options(command, context)]
    if children:
        lines.append(".SH COMMANDS")
        for name, child in children.items():
            lines += _entry(f"\\fB{_escaped(_page_name((*words, name)))}\\fR({SECTION})", _summary(child))
    if command.epilog:
        lines.append(".SH EXAMPLES")
        for number, line in enumerate(command.epilog.splitlines()):
            lines += [*[".PP"] * (number > 0), *_text(line)]
    lines.append(".SH EXIT STATUS")
    for code, meaning in EXIT_CODES:
        lines += _entry(code, meaning)
    if above is not None:
        lines += [".SH SEE ALSO", f".BR {_escaped(_page_name(words[:-1]))} ({SECTION})"]
    yield f"{_page_name(words)}.{SECTION}", "\n".join(lines) + "\n"
    for name, child in children.items():
        yield from _pages(child, (*words, name), context)


def _head(command: Any, context: Any, words: tuple[str, ...]) -> Iterator[str]:
    name = _page_name(words)
    yield f'.TH "{_escaped(name.upper())}" "{SECTION}" "{_released()}" "labelworth {labelworth.__version__}"'
    yield from (".nh", ".ad l")  # Names of options are not hyphenated, nor spaced out.
    yield ".SH NAME"
    yield from _text(f"{name} - {_summary(command).rstrip('.')}")
    yield ".SH SYNOPSIS"
    yield f"\\fB{_escaped(' '.join(words))}\\fR {_escaped(' '.join(command.collect_usage_pieces(context)))}"
    yield ".SH DESCRIPTION"
    for number, paragraph in enumerate(_paragraphs(command)):
        yield from [".PP"] * (number > 0)
        yield from _text(paragraph)


def _options(command: Any, context: Any) -> Iterator[str]:
    """Arguments, then the options of no panel, then those of each panel, as help shows them."""
    panels: dict[str, list[tuple[str, str]]] = {"Arguments": [], _COMMON: []}
    for parameter in command.get_params(context):
        if getattr(parameter, "hidden", False):
            continue
        is_argument = parameter.param_type_name == "argument"
        panel = getattr(parameter, "rich_help_panel", None) or ("Arguments" if is_argument else _COMMON)
        record = parameter.get_help_record(context)
        if record is not None:
            panels.setdefault(panel, []).append(record)
    for title, records in panels.items():
        if records:
            yield f'.SH "{_escaped(title.upper())}"'
        for names, text in records:
            yield from _entry(f"\\fB{_escaped(names.strip())}\\fR", text)


def _entry(title: str, text: str) -> list[str]:
    return [".TP", title, *_text(text)]


def _paragraphs(command: Any) -> list[str]:
    text = inspect.cleandoc(command.help)
    return [" ".join(paragraph.replace("\b", "").split()) for paragraph in text.split("\n\n") if paragraph.strip()]


def _summary(command: Any) -> str:
    return _paragraphs(command)[0]


def _page_name(words: tuple[str, ...]) -> str:
    return "-".join(words)


def _released() -> str:
    found = re.search(r"^date-released: (\S+)$", CITATION.read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None, f"{CITATION.name} names no date"
    return found[1]


def _text(text: str) -> list[str]:
    return [_escaped(line) for line in wrap(text, 72, break_long_words=False, break_on_hyphens=False)]


def _escaped(text: str) -> str:
    """Text as roff prints it: backslashes and hyphens as they are typed, no line that begins with a command."""
    plain = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga").replace("'", "\\(aq")
    return f"\\&{plain}" if plain.startswith((".", "\\(aq")) else plain


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8")
