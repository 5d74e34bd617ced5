"""``--model package.module:name``: a classifier of the user's own, imported because the user typed its name.

This is the only door through which the command runs code that is not ours, and only what was typed comes through it:
plan files, model files and data never name what is run.
"""

import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from labelworth.errors import InvalidInputError


def is_imported(model: str | None) -> bool:
    """Whether a name on the command line is that of something to import."""
    return model is not None and ":" in model


def imported(model: str) -> Any:
    """The estimator of that name, or what the function of that name returns.

    Modules in the current folder are found too.

    Raises
    ------
    InvalidInputError
        If it cannot be imported, or is no estimator.
    """
    module_name, _, name = model.partition(":")
    if not name.isidentifier() or not all(part.isidentifier() for part in module_name.split(".")):
        raise InvalidInputError(f"--model takes package.module:name. Got {model!r}.")
    if str(Path.cwd()) not in sys.path:
        # For good: processes that fit such a model import it again.
        sys.path.insert(0, str(Path.cwd()))
    with _failing_in_words(model):
        module = import_module(module_name)
    if not hasattr(module, name):
        raise InvalidInputError(f"The module {module_name!r} ({_file(module)}) has no {name!r}.")
    found = getattr(module, name)
    if inspect.isclass(found):
        raise InvalidInputError(f"{model} is a class. Name an instance of it, or a function that returns one.")
    if hasattr(found, "fit"):
        return found
    if not callable(found):
        raise InvalidInputError(f"{model} is of type {type(found).__name__}, not an estimator or a function.")
    _require_no_arguments(model, found)
    with _failing_in_words(model):
        made = found()
    if not hasattr(made, "fit"):
        raise InvalidInputError(f"The function {model} must return an estimator. It returned {type(made).__name__}.")
    return made


@contextmanager
def _failing_in_words(model: str) -> Iterator[None]:
    """What goes wrong in code that is not ours, as an error of the input."""
    try:
        yield
    except InvalidInputError:
        raise
    except Exception as error:
        raise InvalidInputError(f"Cannot import {model}: {type(error).__name__}: {error}.") from error


def _require_no_arguments(model: str, function: Any) -> None:
    try:
        inspect.signature(function).bind()
    except TypeError as error:
        raise InvalidInputError(f"The function {model} must take no arguments ({error}).") from error
    except ValueError:
        return


def _file(module: Any) -> str:
    return getattr(module, "__file__", None) or "built in"
