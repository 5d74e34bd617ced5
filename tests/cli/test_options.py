"""The table of options: what commands, records, messages and plan files take from it."""

import inspect
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
import typer
from typer.testing import CliRunner

from labelworth.cli.application import add_command, application
from labelworth.cli.main import app
from labelworth.cli.options import DataOptions, ModelOptions, Only, PlanOptions, PriceOptions, Question, Without
from labelworth.cli.options.table import (
    COMMON,
    Between,
    Keywords,
    Options,
    flags,
    in_options,
    options_of,
    options_of_group,
)
from labelworth.errors import InvalidInputError

GROUPS = (DataOptions, ModelOptions, PriceOptions, PlanOptions, Question)
CALLBACKS = {
    command.name or inspect.unwrap(command.callback).__name__: command.callback for command in app.registered_commands
}
DOORS = ("reproduce", "bench", "data")


@dataclass(frozen=True)
class Fruit(Options):
    """A group to try things on."""

    basket: Annotated[Path, typer.Argument(help="Where they are.")]
    count: Annotated[int, typer.Option(help="How many."), Between(1, 9)] = 1
    weight: Annotated[float | None, typer.Option("--weight", "--kilos", help="Of all."), Keywords("mass")] = None
    kind: Annotated[Literal["apple", "pear"], typer.Option(help="Which.")] = "apple"
    is_ripe: Annotated[bool, typer.Option("--ripe", help="To be eaten now.")] = False


def _run(command: Callable[..., None], *arguments: str) -> tuple[int, str]:
    tried = application("tried")
    add_command(tried, command, "eat")
    tried.callback()(lambda: None)
    result = CliRunner().invoke(tried, ["eat", *arguments], catch_exceptions=False)
    return result.exit_code, result.stderr


def _parameters(name: str) -> list[Any]:
    return typer.main.get_command(app).commands[name].params


@pytest.mark.parametrize("name", [name for name in CALLBACKS if name not in DOORS])
def test_the_options_of_a_command_are_those_of_the_table(name: str) -> None:
    declared = {option.name: option for option in options_of(inspect.unwrap(CALLBACKS[name]))}
    shown = {parameter.name: parameter for parameter in _parameters(name)}
    assert [own for own in shown if own != "help_all"] == list(declared)
    for option in declared.values():
        assert shown[option.name].help == option.info.help
        if option.flag is not None:
            assert shown[option.name].opts[0] == option.flag


def test_a_field_is_spelled_and_explained_alike_in_all_commands() -> None:
    owners = {field.name: group for group in GROUPS for field in fields(group)}
    assert len(owners) == sum(len(fields(group)) for group in GROUPS)
    said: dict[str, set[tuple[str, str]]] = {}
    for name, callback in CALLBACKS.items():
        if name in DOORS:
            continue
        taken = {option.name for option in options_of(inspect.unwrap(callback))}
        for parameter in _parameters(name):
            # `predict` calls the file of a model MODEL.
            if parameter.name in taken & owners.keys() and (name, parameter.name) != ("predict", "model"):
                said.setdefault(parameter.name, set()).add((parameter.opts[0], parameter.help))
    assert said.keys() == owners.keys()
    assert {name for name, ways in said.items() if len(ways) > 1} == set()


@pytest.mark.parametrize("name", [name for name in CALLBACKS if name not in DOORS])
def test_help_fits_eighty_columns_and_shows_no_types(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERMINAL_WIDTH", "80")
    others = {parameter.opts[0] for parameter in _parameters(name) if parameter.rich_help_panel not in (None, COMMON)}
    short = CliRunner().invoke(app, [name, "--help"]).stdout
    long = CliRunner().invoke(app, [name, "--help-all"]).stdout if others else short
    for text in (short, long):
        assert not re.search(r"<[a-z\[|]", text)
        assert "[x>=" not in text
        assert "…" not in text
        assert max(map(len, text.splitlines())) <= 80
    # Common options stand in the first panel, and are few; others are named, and explained where all are.
    panel = short.split("─ Options ─")[1].split("╰")[0]
    assert len(re.findall(r"^│ \*? *--", panel, re.MULTILINE)) <= 14
    assert len(short.splitlines()) <= 80
    assert others <= set(re.findall(r"--[a-z0-9-]+", short))
    assert others <= set(re.findall(r"^│ \*? *(--[a-z0-9-]+)", long, re.MULTILINE))


def test_a_group_is_handed_over_with_what_was_given() -> None:
    handed = []

    def eat(*, fruit: Fruit, quickly: Annotated[bool, typer.Option("--quickly")] = False) -> None:
        handed.append((fruit, quickly))

    code, _ = _run(eat, "here", "--count", "3", "--kilos", "1.5", "--kind", "pear", "--ripe", "--quickly")
    assert code == 0
    assert handed == [(Fruit(Path("here"), 3, 1.5, "pear", is_ripe=True), True)]


def test_an_optional_group_is_none_without_its_argument() -> None:
    handed = []

    def eat(*, fruit: Fruit | None) -> None:
        handed.append(fruit)

    assert _run(eat)[0] == _run(eat, "here")[0] == 0
    assert handed == [None, Fruit(Path("here"))]


def test_options_of_a_group_are_not_ignored_where_its_argument_is_missing() -> None:
    def eat(*, fruit: Fruit | None) -> None:
        raise AssertionError

    code, message = _run(eat, "--count", "3")
    assert code == 2
    assert "--count goes with BASKET, which is not named" in message


def test_too_little_memory_is_said_in_words_with_a_cure() -> None:
    def eat() -> None:
        raise MemoryError("Unable to allocate 74.5 GiB for an array")

    def read(*, data: DataOptions) -> None:
        raise MemoryError

    code, message = _run(eat)
    assert code == 1
    assert "not enough for this (Unable to allocate 74.5 GiB for an array)" in message
    assert "--max-words" not in message
    code, message = _run(read, "here.csv")
    assert code == 1
    assert "not enough for this. Try a part of the data, keep fewer words with --max-words" in message


def test_a_command_may_take_a_part_of_a_group() -> None:
    def eat(*, fruit: Annotated[Fruit, Without("kind", "is_ripe")]) -> None:
        pass

    def count(*, fruit: Annotated[Fruit, Only("basket", "count")]) -> None:
        pass

    assert [option.name for option in options_of(eat)] == ["basket", "count", "weight"]
    assert [option.name for option in options_of(count)] == ["basket", "count"]
    assert _run(eat, "here", "--kind", "pear")[0] == 2


def test_a_second_name_gives_way_to_an_option_of_that_name() -> None:
    handed = []

    def eat(*, fruit: Fruit, kilos: Annotated[float, typer.Option()] = 0.0) -> None:
        handed.append((fruit.weight, kilos))

    assert _run(eat, "here", "--kilos", "2")[0] == 0
    assert handed == [(None, 2.0)]


@pytest.mark.parametrize("value", ["0", "10"])
def test_numbers_outside_their_bounds_are_refused(value: str) -> None:
    def eat(*, fruit: Fruit) -> None:
        raise AssertionError

    assert _run(eat, "here", "--count", value) == (2, f"Error: --count must be 1 to 9. Got {value}.\n")


def test_messages_speak_of_the_options_of_the_command_alone() -> None:
    def eat(*, fruit: Fruit) -> None:
        pass

    assert flags(eat) == {
        "count": "--count", "weight": "--weight", "mass": "--weight", "kind": "--kind", "is_ripe": "--ripe"
    }  # fmt: skip
    said = "mass must be positive; see mass=3, kind=None and label 'kind=mass' (alpha=1). The count must be small."
    assert in_options(said, flags(eat)) == (
        "--weight must be positive; see --weight 3, --kind none and label 'kind=mass' (alpha=1). The count must be "
        "small."
    )


def test_a_record_gives_back_what_it_was_given() -> None:
    fruit = Fruit(Path("here"), 3, 1.5, "pear", is_ripe=True)
    kept = json.loads(json.dumps(fruit.asked(), default=str))
    assert Fruit.from_record({**kept, "unknown": 1}, "It") == fruit
    assert Fruit.from_record({"basket": "here", "weight": 2}, "It") == Fruit(Path("here"), weight=2.0)
    with pytest.raises(InvalidInputError, match="It does not say basket"):
        Fruit.from_record({}, "It")


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("basket", 3, "the name of a file. Got 3"),
        ("basket", "a\0b", "the name of a file"),
        ("basket", "\ud800", "the name of a file"),
        ("basket", None, "the name of a file. Got None"),
        ("count", "3", "a whole number. Got '3'"),
        ("count", True, "a whole number. Got True"),
        ("count", 3.5, "a whole number"),
        ("count", 10, "1 to 9. Got 10"),
        ("weight", "3", "a number or null"),
        ("weight", [], "a number or null"),
        ("weight", 10**400, "a number or null"),
        ("kind", "plum", "apple, pear. Got 'plum'"),
        ("kind", ["apple"], "apple, pear"),
        ("is_ripe", 1, "true or false"),
    ],
)
def test_a_record_is_checked_on_reading(name: str, value: object, words: str) -> None:
    with pytest.raises(InvalidInputError, match=re.escape(f"It: {name} must be {words}")):
        Fruit.from_record({"basket": "here", name: value}, "It")


@pytest.mark.parametrize("group", GROUPS)
def test_every_option_refuses_what_no_command_line_can_say(group: type[Options]) -> None:
    for option in options_of_group(group):
        # What may be said again and again is a list of texts.
        lists = ([1], [["a"]]) if "list[str]" in str(option.type) else ([], ["a"])
        for value in ({}, {"a": 1}, *lists):
            with pytest.raises(InvalidInputError, match=f"{option.name} must be"):
                option.restored(value, "It")
