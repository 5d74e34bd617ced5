"""The site: its reference is complete, formulas lead to code, numbers come from records, its first page runs."""

import ast
import inspect
import operator
import re
import shlex
from pathlib import Path

import pytest

import claims
import labelworth as lw
import links
from labelworth_studies.runner.registry import names as study_names
from question_order import ORDER
from support.command_line import labelworth
from symbols import located

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if "generated" not in path.parts and "gallery" not in path.parts)


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def cited(role: str) -> list[str]:
    return sorted({name for page in PAGES for name in re.findall(rf"\{{{role}\}}`([^`]+)`", text_of(page))})


def test_the_reference_has_every_public_name_once() -> None:
    listed = re.findall(r"^   (\w+)$", text_of(DOCS / "api" / "index.md"), flags=re.MULTILINE)
    assert sorted(listed) == sorted(set(lw.__all__) - {"__version__"})


@pytest.mark.parametrize("symbol", cited("source"))
def test_every_formula_leads_to_code_that_is_there(symbol: str) -> None:
    module, line = located(symbol)
    assert symbol.startswith(module)
    assert line >= 1


def test_every_section_of_the_theory_leads_to_as_many_places_of_code_as_it_has_formulas() -> None:
    sections = re.split(r"^## ", text_of(DOCS / "theory" / "index.md"), flags=re.MULTILINE)[1:]
    assert [one.splitlines()[0] for one in sections if one.count("{source}") < one.count("```{math}")] == []


@pytest.mark.parametrize("claim", claims.CLAIMS, ids=lambda claim: claim.records[0])
def test_a_claim_is_read_from_its_record_and_names_a_command_that_is_there(claim: claims.Claim) -> None:
    assert re.search(r"\d", claim.says())
    if claim.command.startswith("make "):
        assert re.search(rf"^{claim.command.removeprefix('make ')}:", text_of(ROOT / "Makefile"), re.MULTILINE)
        return
    _, reproduce, study, *_ = claim.command.split()
    assert reproduce == "reproduce"
    assert study in study_names()
    for name in claim.records:
        assert claims.record(name)["study"] == study


def test_figures_and_records_that_pages_cite_are_there() -> None:
    for key in cited("measured"):
        assert claims.measured(key)
    for name in cited("record"):
        assert claims.record(name)


def test_no_figure_of_how_far_to_trust_it_is_typed() -> None:
    prose = re.sub(r"^```.*?^```", "", text_of(DOCS / "trust.md"), flags=re.MULTILINE | re.DOTALL)
    # What an interval promises is no measurement.
    assert re.findall(r"\d[\d.,]*", prose.replace("90 %", "")) == []


def test_every_study_with_a_page_is_listed() -> None:
    index = text_of(DOCS / "studies" / "index.md")
    missing = [page.stem for page in (DOCS / "studies").glob("*.md") if page.stem != "index"]
    assert [name for name in missing if not re.search(rf"^{name}$", index, flags=re.MULTILINE)] == []


def test_the_first_five_minutes_go_as_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    told = []
    for language, block in re.findall(
        r"```(python|bash)\n(.*?)```", text_of(DOCS / "first_five_minutes.md"), re.DOTALL
    ):
        if language == "python":
            exec(block, {})
            continue
        for line in block.splitlines():
            answer = labelworth(*shlex.split(line)[1:])
            assert answer.code == 0, answer.stderr
            told.append(answer.stdout)
    assert re.match(r"\s*(Label|Stop)", told[0])
    assert Path("plan.html").stat().st_size > 100_000
    assert Path("batch.csv").read_text().startswith("row,")


def test_links_of_a_site_are_followed(tmp_path: Path) -> None:
    (tmp_path / "other.html").write_text('<h1 id="here">x</h1>')
    (tmp_path / "index.html").write_text(
        '<a href="other.html#here">a</a><a href="other.html#gone">b</a><a href="no.html">c</a>'
        '<a href="https://example.org/">d</a>'
    )
    broken, elsewhere = links.followed(tmp_path)
    assert broken == ["index.html: no.html", "index.html: other.html#gone (no such place)"]
    assert elsewhere == {"https://example.org/"}


def test_commands_of_the_readme_and_the_table_are_there() -> None:
    from typer.main import get_command

    from labelworth.cli.main import app

    known = get_command(app).commands  # type: ignore[attr-defined]
    pages = (ROOT / "README.md", DOCS / "commands.md", *(DOCS / "doors").glob("*.md"))
    named = {
        word for page in pages for word in re.findall(r"(?:`|^)labelworth ([a-z]+)\b", text_of(page), re.MULTILINE)
    }
    assert sorted(named - set(known)) == []


def test_the_table_of_commands_has_every_command() -> None:
    from typer.main import get_command

    from labelworth.cli.main import app

    text = text_of(DOCS / "commands.md")
    known = {name for name, own in get_command(app).commands.items() if not own.hidden}  # type: ignore[attr-defined]
    assert sorted(name for name in known if f"`labelworth {name}" not in text) == []


@pytest.mark.parametrize("page", [ROOT / "README.md", DOCS / "python.md", *sorted((DOCS / "doors").glob("*.md"))])
def test_calls_that_pages_show_are_calls_that_the_library_takes(page: Path) -> None:
    """Pages whose data are the reader's: nothing is run, names and arguments are held against signatures."""
    for block in re.findall(r"```python\n(.*?)```", text_of(page), flags=re.DOTALL):
        for call in ast.walk(ast.parse(block)):
            if isinstance(call, ast.Call) and re.fullmatch(r"lw(\.\w+)+", ast.unparse(call.func)):
                called = operator.attrgetter(ast.unparse(call.func).removeprefix("lw."))(lw)
                names = {keyword.arg: None for keyword in call.keywords if keyword.arg}
                inspect.signature(called).bind_partial(*call.args, **names)


def test_the_readme_fits_a_screen_and_shows_a_picture_that_a_command_makes() -> None:
    text = text_of(ROOT / "README.md")
    assert len(text.splitlines()) <= 75
    commands = re.findall(r"^    (make \w+)", text, flags=re.MULTILINE)
    assert commands[:2] == ["make demo", "make test"]
    (picture,) = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text)
    assert (ROOT / picture).is_file()
    assert picture in text_of(ROOT / "Makefile")
    assert [target for target in re.findall(r"\]\((?!http)([^)#]+)\)", text) if not (ROOT / target).exists()] == []


def test_places_that_the_tour_names_are_there() -> None:
    named = re.findall(r"`((?:\w+/)+[\w.]*)`", text_of(ROOT / "CONTRIBUTING.md"))
    places = (ROOT, ROOT / "src" / "labelworth", ROOT / "tests")
    assert len(named) > 40
    assert [name for name in named if not any((place / name).exists() for place in places)] == []


def test_the_order_of_the_gallery_names_every_example() -> None:
    assert sorted(ORDER) == sorted(path.stem.removeprefix("plot_") for path in (ROOT / "examples").glob("plot_*.py"))
