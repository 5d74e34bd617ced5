"""The man pages: one for every command, with all that it can be told, as `man` reads it."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from labelworth.cli.main import app

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs"))

from man_pages import pages

PAGES = pages()


def test_every_command_has_a_page_that_names_all_its_options() -> None:
    group = typer.main.get_command(app)
    commands = {f"labelworth-{name}.1": command for name, command in group.commands.items()}  # type: ignore[attr-defined]
    assert set(commands) < set(PAGES)
    assert "labelworth-campaign-new.1" in PAGES
    for name, command in commands.items():
        plain = PAGES[name].replace("\\-", "-")
        for parameter in command.params:
            for option in parameter.opts if parameter.param_type_name == "option" else ():
                assert option in plain, f"{name} does not name {option}"


def test_no_text_is_read_as_a_request_of_roff() -> None:
    known = {".TH", ".SH", ".TP", ".PP", ".BR", ".nh", ".ad"}
    for name, text in PAGES.items():
        strange = [line for line in text.splitlines() if line[0] in ".'" and line.split()[0] not in known]
        assert strange == [], name


@pytest.mark.skipif(shutil.which("mandoc") is None, reason="mandoc is not there to read them")
@pytest.mark.parametrize("name", sorted(PAGES))
def test_mandoc_finds_no_fault(name: str, tmp_path: Path) -> None:
    page = tmp_path / name
    page.write_text(PAGES[name])
    done = subprocess.run(["mandoc", "-Tlint", str(page)], capture_output=True, text=True, check=False)
    assert done.stdout == ""
