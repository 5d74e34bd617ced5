"""Names say what things are; the paper map is complete; nothing private leaks into the tree."""

import ast
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "labelworth"
SOURCES = sorted([*PACKAGE.rglob("*.py"), *(ROOT / "studies" / "labelworth_studies").rglob("*.py")])
BANNED_MODULES = {"utils", "helpers", "misc", "common", "base"}
BANNED_IDENTIFIERS = {"sigma", "lam", "wp", "chi", "V1", "V2"}
PAPER_LABEL = re.compile(r"\b(?:prop|eq|def|fig):[A-Za-z0-9]+")

# Every label of the paper's LaTeX source that names a proposition, definition, equation or figure.
LABELS = {
    "def:identifiable", "prop:consistency1", "prop:consistency2", "prop:efficiency1", "prop:efficiency2",
    "eq:ll0", "eq:ll1", "eq:ll2", "eq:ll2m", "eq:policyExample", "eq:mle", "eq:ulln", "eq:efficiency1",
    "eq:efficiency2", "eq:tsell", "eq:res1", "eq:res2", "eq:WQ", "eq:step1", "eq:remainingTerm",
    "eq:tradeoff1", "eq:tradeoff2", "eq:tradeoff3", "fig:lorem1", "fig:lorem2", "fig:lorem3",
}  # fmt: skip


def test_no_module_has_an_empty_name() -> None:
    assert [path for path in SOURCES if path.stem in BANNED_MODULES] == []


def test_no_banned_identifier() -> None:
    found = []
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            name = getattr(node, "id", None) or getattr(node, "arg", None) or getattr(node, "attr", None)
            if name in BANNED_IDENTIFIERS:
                found.append(f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)} {name}")
    assert found == []


def paper_map_rows() -> dict[str, str]:
    rows = {}
    for line in (ROOT / "docs" / "paper_map.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) >= 3 and PAPER_LABEL.fullmatch(cells[0].strip("`")):
            rows[cells[0].strip("`")] = cells[-1]
    return rows


def test_the_paper_map_has_every_label_of_the_paper_and_no_other() -> None:
    assert set(paper_map_rows()) == LABELS


def test_every_place_named_in_the_paper_map_exists() -> None:
    missing = []
    for label, places in paper_map_rows().items():
        paths = re.findall(r"`((?:src|studies|tests|docs|results)/[^`]*?)`", places)
        assert paths or "not yet" in places, f"{label} names no place"
        missing += [f"{label}: {path}" for path in paths if not (ROOT / path).exists()]
    assert missing == []


def test_every_paper_label_in_the_code_is_in_the_paper_map_with_that_file() -> None:
    rows, found = paper_map_rows(), []
    for path in SOURCES:
        for line in re.findall(r"Paper:(.*)", path.read_text()):
            for label in PAPER_LABEL.findall(line):
                place = str(path.relative_to(ROOT))
                if place not in rows.get(label, ""):
                    found.append(f"{place} cites {label}")
    assert found == []


def test_no_machine_path_is_committed() -> None:
    files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    pattern = re.compile(r"/(?:work|root|home)/|/tmp/[a-z]")
    this_file = Path(__file__).resolve()
    found = []
    for name in filter(None, files.stdout.split("\0")):
        path = ROOT / name
        if path.suffix in {".png", ".gz", ".npz"} or not path.is_file() or path.resolve() == this_file:
            continue
        if pattern.search(path.read_text(encoding="utf-8")):
            found.append(name)
    assert found == []
