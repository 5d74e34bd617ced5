"""Pages of plans that move when one drags their slider, made while the site is built and shown in frames.

Directive: {live} how-many        one of PAGES, by its name; below the page stands the command that writes it
"""

import csv
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

FOLDER = "reports"
_RUN = "from labelworth.cli.main import run; run()"


class LivePage(NamedTuple):
    """A plan that is shown live."""

    title: str
    write: Callable[[Path], None]  # Writes the data.
    command: tuple[str, ...]  # What follows `labelworth plan`.


def _tickets(path: Path, *, n: int, labeled: int) -> None:
    """Texts of three classes that share most of their words."""
    rng = np.random.default_rng(0)
    words = np.array([f"w{number}" for number in range(200)])
    chances = 0.65 * rng.dirichlet(np.full(200, 0.6)) + 0.35 * rng.dirichlet(np.full(200, 0.3), size=3)
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["text", "label"])
        for row, code in enumerate(rng.integers(3, size=n)):
            text = " ".join(rng.choice(words, size=10, p=chances[code]))
            table.writerow([text, ("bill", "complaint", "praise")[code] if row < labeled else ""])


def _few_tickets(path: Path) -> None:
    _tickets(path, n=1000, labeled=120)


PAGES = {
    "how-many": LivePage(
        "How many more labels, for what error",
        _few_tickets,
        ("tickets.csv", "--budget", "500", "--model", "multinomial", "--currency", "EUR"),
    ),
    "whom-to-ask": LivePage(
        "Gold, crowd or model, for the same money",
        _few_tickets,
        (
            *("tickets.csv", "--budget", "170", "--model", "multinomial", "--currency", "EUR"),
            *("--kind", "crowd: price 0.02, accuracy 0.8, votes 1 3, unknown"),
            *("--kind", "model: price 0.001, accuracy 0.75, unknown"),
        ),
    ),
    "for-a-target": LivePage(
        "The least that a metric costs",
        _few_tickets,
        ("tickets.csv", "--target", "macro-F1 >= 0.75", "--model", "logistic", "--currency", "EUR"),
    ),
}


def write_pages(folder: Path) -> None:
    """All of `PAGES`, each by its command; what is there already is left as it is."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, page in PAGES.items():
        report = folder / f"{name}.html"
        if report.exists():
            continue
        page.write(folder / "tickets.csv")
        command = [sys.executable, "-c", _RUN, "plan", *page.command, "--report", report.name]
        told = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if not report.exists():
            raise RuntimeError(f"{' '.join(command)} wrote no page:\n{told.stdout}{told.stderr}")


class Live(SphinxDirective):
    """A frame with the page of a plan, and the command that wrote it."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        page = PAGES[name]
        uri = f"{'../' * self.env.docname.count('/')}{FOLDER}/{name}.html"
        frame = (
            f'<iframe class="live" src="{uri}" title="{page.title}" loading="lazy"></iframe>\n'
            f'<p class="live-below"><a href="{uri}">Open it alone</a></p>'
        )
        words = [f'"{word}"' if " " in word else word for word in page.command]
        command = f"labelworth plan {' '.join(words)} --report plan.html"
        return [
            nodes.literal_block(command, command, language="text", classes=["wrap"]),
            nodes.raw("", frame, format="html"),
        ]


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("live", Live)
    app.connect("builder-inited", _begin)
    app.connect("build-finished", _end)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _begin(app: Sphinx) -> None:
    """A process of its own computes the plans: nothing else waits for them."""
    if app.builder.format == "html":
        logging.getLogger(__name__).info("writing the pages of three plans")
        command = [sys.executable, __file__, str(Path(app.outdir) / FOLDER)]
        app.live_pages = subprocess.Popen(command)  # type: ignore[attr-defined]


def _end(app: Sphinx, exception: Exception | None) -> None:
    if app.builder.format == "html":
        writing: subprocess.Popen[bytes] = app.live_pages  # type: ignore[attr-defined]
        if exception is not None:
            writing.terminate()
        elif writing.wait():
            raise RuntimeError("The pages of plans were not written.")


if __name__ == "__main__":
    write_pages(Path(sys.argv[1]))
