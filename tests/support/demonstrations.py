"""A demonstration that runs once and is told twice by its command: as a record and in words."""

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pytest

from labelworth.demo.story import Story
from labelworth.progress import Progress
from support.command_line import Answer, labelworth


@dataclass(frozen=True)
class Told:
    """The two answers, and the picture that came with them."""

    as_record: Answer
    in_words: Answer
    picture: Path


def told_twice(story: str, *options: str, picture: Path) -> Told:
    """``labelworth demo OPTIONS`` with and without --json, 80 columns wide; `story` is the module it runs."""
    module = import_module(f"labelworth.demo.{story}")
    run, told = module.tell, list[Story]()

    def once(quick: bool, seed: int, progress: Progress) -> Story:
        if not told:
            told.append(run(quick, seed, progress))
        return told[0]

    asked = ("demo", *options, "--output", picture)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("COLUMNS", "80")
        patched.setattr(module, "tell", once)
        return Told(labelworth(*asked, "--json"), labelworth(*asked), picture)
