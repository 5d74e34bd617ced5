"""One table of options: dataclasses whose fields are options of commands, entries of records, and words of messages.

A field is declared once, as ``name: Annotated[type, typer.Option(...)] = default``. `with_options` writes the fields
into the signature of every command that takes the dataclass (Typer has no such feature), `Options.asked` writes them
into records, `Options.from_record` reads them back with every type checked, and `flags` tells messages what the
library's keywords are called on the command line.
"""

import copy
import inspect
import math
import os
import re
import shlex
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, replace
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self, Union, get_args, get_origin, get_type_hints

from typer.models import ArgumentInfo, OptionInfo

from labelworth.errors import InvalidInputError

COMMON = "Options"
"""The title under which help shows the options of no panel."""
_METAVARS: dict[Any, str] = {bool: "", int: "N", float: "NUMBER", str: "TEXT", Path: "FILE"}
_TYPE_WORDS: dict[Any, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    Path: "the name of a file",
    type(None): "null",
}


@dataclass(frozen=True)
class Between:
    """What the number of an option must lie between, both ends allowed."""

    low: float
    high: float = math.inf


class _Names(tuple[str, ...]):
    def __new__(cls, *names: str) -> Self:
        return super().__new__(cls, names)


class Keywords(_Names):
    """What the library calls an option, where it has other names there."""


class Without(_Names):
    """Options of a group that a command does not have: ``Annotated[DataOptions, Without("labels")]``."""


class Only(_Names):
    """The options of a group that a command has, where it has no others."""


@dataclass(frozen=True)
class Options:
    """A group of options. Subclasses are frozen dataclasses whose fields are annotated with `typer.Option`."""

    panel: ClassVar[str | None] = None
    """Under which title help shows those of the group that name no other."""

    def asked(self) -> dict[str, Any]:
        """As records keep them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def typed(self) -> list[str]:
        """As one would type it, without what is as usual."""
        words = []
        for option in options_of_group(type(self)):
            value = getattr(self, option.name)
            if option.flag is None:
                words.append(shlex.quote(str(value)))
            elif isinstance(value, bool) and value != option.default:
                words.append(option.flag)
            elif value != option.default:
                entries = value if isinstance(value, list | tuple) else [value]
                words += [word for entry in entries for word in (option.flag, shlex.quote(_typed(entry)))]
        return words

    @classmethod
    def from_record(cls, asked: Mapping[str, Any], source: str) -> Self:
        """Read back what `asked` wrote; what the record does not name has its default.

        Raises
        ------
        InvalidInputError
            If a value has another type than the option, or lies outside its bounds.
        """
        values = {}
        for option in options_of_group(cls):
            if option.name in asked:
                values[option.name] = option.restored(asked[option.name], source)
            elif option.default is inspect.Parameter.empty:
                raise InvalidInputError(f"{source} does not say {option.name}.")
        return cls(**values)


def _typed(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class Option:
    """One parameter of a command: a field of a group, or a parameter of its own."""

    name: str
    annotation: Any
    default: Any
    panel: str | None = None

    @property
    def type(self) -> Any:
        return get_args(self.annotation)[0] if get_origin(self.annotation) is Annotated else self.annotation

    @property
    def metadata(self) -> tuple[Any, ...]:
        return get_args(self.annotation)[1:] if get_origin(self.annotation) is Annotated else ()

    @property
    def info(self) -> OptionInfo | ArgumentInfo | None:
        """What Typer is told."""
        return next((part for part in self.metadata if isinstance(part, OptionInfo | ArgumentInfo)), None)

    @property
    def declared(self) -> tuple[str, ...]:
        """Names that were given to Typer; in an annotation it keeps the first as the default."""
        if not isinstance(self.info, OptionInfo):
            return ()
        return tuple(name for name in (self.info.default, *(self.info.param_decls or ())) if isinstance(name, str))

    @property
    def flag(self) -> str | None:
        """``--text-column``; None for an argument."""
        if not isinstance(self.info, OptionInfo):
            return None
        return next((name for name in self.declared if name.startswith("--")), _usual_flag(self.name))

    @property
    def heading(self) -> str:
        """Under which help shows it."""
        own = self.info.rich_help_panel if isinstance(self.info, OptionInfo) else COMMON
        return str(own or self.panel or COMMON)

    @property
    def keywords(self) -> tuple[str, ...]:
        """What else the library may call it."""
        return next((part for part in self.metadata if isinstance(part, Keywords)), Keywords())

    def parameter(self) -> inspect.Parameter:
        """For the signature of a command."""
        info = copy.copy(self.info)
        if isinstance(info, OptionInfo):
            info.rich_help_panel = info.rich_help_panel or self.panel
        if isinstance(info, OptionInfo) and self.declared:
            info.default, info.param_decls = ..., self.declared
        if info is not None and info.metavar is None:
            info.metavar = _metavar(self.type) if isinstance(info, OptionInfo) else self.name.upper()
        others = [part for part in self.metadata if part is not self.info]
        annotation = self.type if info is None else Annotated[self.type, info, *others]
        return inspect.Parameter(
            self.name, inspect.Parameter.KEYWORD_ONLY, default=self.default, annotation=annotation
        )

    def require_between(self, value: Any, name: str) -> None:
        """Refuse a number outside the bounds of the option."""
        bounds = next((part for part in self.metadata if isinstance(part, Between)), None)
        if bounds is None or value is None or bounds.low <= value <= bounds.high:
            return
        words = f"at least {bounds.low:g}" if math.isinf(bounds.high) else f"{bounds.low:g} to {bounds.high:.0f}"
        raise InvalidInputError(f"{name} must be {words}. Got {value:.20g}.")

    def restored(self, value: Any, source: str) -> Any:
        """A value of a record as the type of the option."""
        for kind in _members(self.type):
            if _fits(value, kind):
                self.require_between(value, f"{source}: {self.name}")
                return kind(value) if kind in (Path, float) else value
        words = " or ".join(_words(kind) for kind in _members(self.type))
        raise InvalidInputError(f"{source}: {self.name} must be {words}. Got {value!r:.60}.")


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Spread the groups that a command takes into options of its own, and hand the groups over.

    A parameter ``data: DataOptions`` becomes one option per field; ``data: DataOptions | None`` too, and is None
    where the argument of the group is not given. Numbers outside the bounds of their option are refused.
    """
    groups = {name: group for name, group in _groups(command).items() if group is not None}
    options = {option.name: option for option in options_of(command)}

    @wraps(command)
    def spread(**given: Any) -> None:
        for name, option in options.items():
            option.require_between(given[name], option.flag or name)
        values = {name: given[name] for name in inspect.signature(command).parameters if name in given}
        for name, group in groups.items():
            values[name] = group.built(given)
        command(**values)

    signature = inspect.Signature([option.parameter() for option in options.values()])
    spread.__dict__["__signature__"] = signature
    spread.__annotations__ = {}
    return spread


def flags(command: Callable[..., Any]) -> dict[str, str]:
    """By keyword of the library, the option of the command that says it; an option's own name comes first."""
    flag_of = [(option, option.flag) for option in options_of(command) if option.flag is not None]
    others = {keyword: flag for option, flag in flag_of for keyword in option.keywords}
    return {**others, **{option.name: flag for option, flag in flag_of}}


def in_options(message: str, flag_of: Mapping[str, str]) -> str:
    """Say a message of the library in the words of the command line.

    A keyword is rewritten where it stands as an argument (``labels=``) or begins the message (``budget must be``),
    if the command has an option for it; what is quoted stays as it is.

    Parameters
    ----------
    flag_of : mapping
        Option by keyword; see `flags`.

    Examples
    --------
    >>> flag_of = {"label_column": "--label-column", "unlabeled": "--unlabeled", "per_label": "--price-label"}
    >>> in_options("Use label_column='unlabeled=3', or unlabeled=None; see labels= and unlabeled=.", flag_of)
    "Use --label-column 'unlabeled=3', or --unlabeled none; see labels= and --unlabeled."
    >>> in_options("per_label must be a non-negative number. Got -1.0 instead.", flag_of)
    '--price-label must be a non-negative number. Got -1.0 instead.'
    >>> in_options("Write it all the same with accept_losses=True.", {"accept_losses": "--accept-losses"})
    'Write it all the same with --accept-losses.'
    """
    if not flag_of:
        return message
    names = "|".join(map(re.escape, flag_of))
    argument = rf"\b(?P<argument>{names})=(?:(?P<none>None\b)|(?P<true>True\b))?"
    parts = rf"(?<!\w)'[^']*'(?!\w)|{argument}|^(?P<subject>{names})(?= must\b)"

    def option(match: re.Match[str]) -> str:
        if match["subject"]:
            return flag_of[match["subject"]]
        if not match["argument"]:
            return match[0]
        flag = flag_of[match["argument"]]
        if match["none"]:
            return f"{flag} none"
        if match["true"]:
            return flag
        return f"{flag} " if message[match.end() :][:1].strip(" .,;:)") else flag

    return re.sub(parts, option, message)


def options_of(command: Callable[..., Any]) -> list[Option]:
    """Everything that a command can be told, in order."""
    parameters = inspect.signature(command, eval_str=True).parameters.values()
    groups = _groups(command)
    options: list[Option] = []
    for parameter in parameters:
        group = groups[parameter.name]
        if group is None:
            options.append(Option(parameter.name, parameter.annotation, parameter.default))
        else:
            options += group.options()
    return options


def options_of_group(group: type[Options]) -> Iterator[Option]:
    """The fields of a group."""
    annotations = get_type_hints(group, include_extras=True)
    for field in fields(group):
        default = inspect.Parameter.empty if field.default is MISSING else field.default
        yield Option(field.name, annotations[field.name], default, group.panel)


@dataclass(frozen=True)
class _Group:
    """A group as one command takes it."""

    type: type[Options]
    chosen: tuple[str, ...]
    is_optional: bool

    def options(self) -> list[Option]:
        kept = [option for option in options_of_group(self.type) if option.name in self.chosen]
        return [self._optional(option) for option in kept] if self.is_optional else kept

    def built(self, given: Mapping[str, Any]) -> Options | None:
        """The group; None where its argument is missing, which no other option of it may then go without."""
        options = list(options_of_group(self.type))
        missing = [
            option for option in options if option.default is inspect.Parameter.empty and given[option.name] is None
        ]
        if not missing:
            return self.type(**{name: given[name] for name in self.chosen})
        idle = [
            option
            for option in options
            if option not in missing and given.get(option.name, option.default) != option.default
        ]
        if idle:
            info = missing[0].info
            argument = (info and info.metavar) or missing[0].name.upper()
            raise InvalidInputError(
                f"{idle[0].flag} goes with {argument}, which is not named. Name it, or leave {idle[0].flag} out."
            )
        return None

    @staticmethod
    def _optional(option: Option) -> Option:
        if option.default is not inspect.Parameter.empty:
            return option
        return replace(option, annotation=Annotated[option.type | None, *option.metadata], default=None)


def _groups(command: Callable[..., Any]) -> dict[str, _Group | None]:
    parameters = inspect.signature(command, eval_str=True).parameters.values()
    return {parameter.name: _group(parameter.annotation) for parameter in parameters}


def _group(annotation: Any) -> _Group | None:
    option = Option("", annotation, None)
    members = _members(option.type)
    group = next((kind for kind in members if isinstance(kind, type) and issubclass(kind, Options)), None)
    if group is None:
        return None
    names = tuple(field.name for field in fields(group))
    for part in option.metadata:
        if isinstance(part, Only | Without):
            names = tuple(name for name in names if (name in part) == isinstance(part, Only))
    return _Group(group, names, is_optional=type(None) in members)


def _usual_flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _members(kind: Any) -> tuple[Any, ...]:
    """The members of a union, or the type itself."""
    return get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)


def _metavar(kind: Any) -> str:
    """What stands behind an option in the help: nothing behind a flag, the values of a choice."""
    first = next(member for member in _members(kind) if member is not type(None))
    if get_origin(first) is list:
        first = get_args(first)[0]
    return "|".join(get_args(first)) if get_origin(first) is Literal else _METAVARS[first]


def _fits(value: Any, kind: Any) -> bool:
    """Whether a JSON value is one of a type; texts that no file or codec can be named by are not."""
    if get_origin(kind) is Literal:
        return isinstance(value, str) and value in get_args(kind)
    if get_origin(kind) is list:
        return isinstance(value, list) and all(_fits(entry, get_args(kind)[0]) for entry in value)
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e308
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if kind in (str, Path):
        return isinstance(value, str) and "\0" not in value and _is_encodable(value)
    return isinstance(value, kind)


def _is_encodable(text: str) -> bool:
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return False
    return True


def _words(kind: Any) -> str:
    if get_origin(kind) is list:
        return f"a list, each {_words(get_args(kind)[0])}"
    return ", ".join(get_args(kind)) if get_origin(kind) is Literal else _TYPE_WORDS[kind]
