"""What pages of the site are made of beside Markdown: records, claims, links into the code, help of commands.

Roles:      {record}`channels`                         the record of a study, which the site carries
            {source}`labelworth.fisher.dense.X.at`     code, with its lines in view
            {measured}`scale.ratio_to_memory`          a figure, read from its record while the site is built
Directives: {claims}                                   the table of what was measured
            {commands}                                 what every command says of itself
            {corpora}                                  which corpora the studies read, and where these are public
"""

import importlib
import inspect
import shutil
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective, SphinxRole

import claims
from symbols import located

ROOT = Path(__file__).resolve().parents[2]


def _up(docname: str) -> str:
    return "../" * docname.count("/")


class SourceRole(SphinxRole):
    """A link to the lines of code that compute something."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        module, line = located(self.text)
        self.env.metadata[self.env.docname].setdefault("sources", set()).add(module)
        uri = f"{_up(self.env.docname)}code/{module}.html#L-{line}"
        words = self.text.removeprefix(f"{module}.").removeprefix("labelworth.")
        link = nodes.reference("", "", nodes.literal(words, words), refuri=uri, internal=True, classes=["source"])
        return [link], []


class RecordRole(SphinxRole):
    """A link to the record of a study."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        return [record_link(self.env.docname, self.text)], []


def record_link(docname: str, name: str) -> nodes.reference:
    claims.record(name)
    words = f"results/{name}.json"
    uri = f"{_up(docname)}{words}"
    return nodes.reference("", "", nodes.literal(words, words), refuri=uri, internal=True)


class MeasuredRole(SphinxRole):
    """A figure from a record, in words."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        return [nodes.Text(claims.measured(self.text))], []


class ClaimsTable(SphinxDirective):
    """Claim, what was measured, record and command; every number from the record."""

    def run(self) -> list[nodes.Node]:
        columns = {"claim": 30, "measured": 50, "record and command": 20}
        rows = [
            [nodes.paragraph(text=claim.title), nodes.paragraph(text=claim.says()), self._where(claim)]
            for claim in claims.CLAIMS
        ]
        return [table_of("claims", columns, rows)]

    def _where(self, claim: claims.Claim) -> nodes.paragraph:
        where = nodes.paragraph()
        for name in claim.records:
            where += [record_link(self.env.docname, name), nodes.Text(" ")]
        where += nodes.literal(claim.command, claim.command)
        return where


class Corpora(SphinxDirective):
    """What `labelworth data` knows of every corpus."""

    def run(self) -> list[nodes.Node]:
        from labelworth_studies.corpora.catalogue import CATALOGUE

        columns = {"name": 15, "what it is": 35, "licence": 20, "where it is public": 30}
        rows = []
        for corpus in CATALOGUE.values():
            words = f"{corpus.title}; {corpus.n_rows:,} rows"
            where = nodes.paragraph(text=corpus.instead)
            for source in corpus.sources:
                place = source.files[0].place
                is_address = "/" in place  # or else a package, which pip finds by its name
                link = (
                    nodes.reference("", place.split("/")[2], refuri=place) if is_address else nodes.literal("", place)
                )
                where += [link, nodes.Text(" ")]
            if corpus.sources:
                where += nodes.Text(f"({corpus.how.partition('; ')[2]})")
            texts = [nodes.paragraph(text=text) for text in (words, corpus.licence)]
            rows.append([nodes.paragraph("", "", nodes.literal(corpus.name, corpus.name)), *texts, where])
        return [table_of("corpora", columns, rows)]


def table_of(kind: str, columns: dict[str, int], rows: list[list[nodes.Node]]) -> nodes.table:
    """A table under the names of its columns, each with its width."""
    table, group = nodes.table(classes=[kind]), nodes.tgroup(cols=len(columns))
    table += group
    group += [nodes.colspec(colwidth=width) for width in columns.values()]
    head, body = nodes.thead(), nodes.tbody()
    for part, own in ((head, [[nodes.paragraph(text=name) for name in columns]]), (body, rows)):
        for cells in own:
            row = nodes.row()
            for cell in cells:
                entry = nodes.entry()
                entry += cell
                row += entry
            part.append(row)
    group += [head, body]
    return table


class Commands(SphinxDirective):
    """What `labelworth COMMAND --help-all` says, of every command."""

    def run(self) -> list[nodes.Node]:
        parts: list[nodes.Node] = []
        for name, text in command_help():
            section = nodes.section(ids=[f"command-{name.replace(' ', '-')}"])
            section += nodes.title(text=f"labelworth {name}")
            section += nodes.literal_block(text, text, language="text")
            parts.append(section)
        return parts


def command_help() -> Iterator[tuple[str, str]]:
    """Every command of the product with its help, as a terminal of 100 columns shows it."""
    import typer
    from typer.testing import CliRunner

    from labelworth.cli.main import app

    group: Any = typer.main.get_command(app)
    doors = ("reproduce", "bench", "data")  # Of the laboratory, which may not be there.
    plain = {"TERMINAL_WIDTH": "100", "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}

    def names(group: Any, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
        for name, command in group.commands.items():
            if name not in doors:
                yield from names(command, (*before, name)) if hasattr(command, "commands") else [(*before, name)]

    for words in names(group):
        told = CliRunner().invoke(app, [*words, "--help-all"], env=plain)
        if told.exit_code:  # All of its options are common ones.
            told = CliRunner().invoke(app, [*words, "--help"], env=plain)
        lines = [line.rstrip() for line in told.output.splitlines()]
        yield " ".join(words), "\n".join(lines).strip("\n")


def code_pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """A page per module that is linked to, with numbered lines."""
    for module in sorted({module for own in app.env.metadata.values() for module in own.get("sources", ())}):
        text = inspect.getsource(importlib.import_module(module))
        shown = highlight(text, PythonLexer(), HtmlFormatter(linenos="inline", lineanchors="L", anchorlinenos=True))
        body = f'<h1>{escape(module)}</h1>\n<div class="highlight-python code-page">{shown}</div>'
        yield f"code/{module}", {"title": module, "body": body, "display_toc": False}, "page.html"


def copy_records(app: Sphinx, exception: Exception | None) -> None:
    """The site carries the records that it cites."""
    if exception is None and app.builder.format == "html":
        folder = Path(app.outdir) / "results"
        folder.mkdir(exist_ok=True)
        for path in sorted((ROOT / "results").glob("*.json")):
            shutil.copy(path, folder / path.name)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_role("source", SourceRole())
    app.add_role("record", RecordRole())
    app.add_role("measured", MeasuredRole())
    app.add_directive("claims", ClaimsTable)
    app.add_directive("commands", Commands)
    app.add_directive("corpora", Corpora)
    app.connect("html-collect-pages", code_pages)
    app.connect("build-finished", copy_records)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
