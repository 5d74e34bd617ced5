"""The studies by name: `fig1-error` is the file ``fig1_error.py`` of a room.

Every file that lies directly in one of the rooms is a study; what studies share lies in ``parts`` below them.
A module is imported only when its study is asked for.
"""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType

from labelworth.errors import InvalidInputError
from labelworth_studies.runner.study import Study

ROOMS = ("naive_bayes", "paper", "chains", "forecasts", "answers", "scale")
_PACKAGE = Path(__file__).resolve().parents[1]


def _modules() -> dict[str, str]:
    return {
        path.stem.replace("_", "-"): f"labelworth_studies.{room}.{path.stem}"
        for room in ROOMS
        for path in sorted((_PACKAGE / room).glob("*.py"))
        if path.stem != "__init__"
    }


STUDIES: Mapping[str, str] = MappingProxyType(_modules())
"""Name -> module that holds its ``STUDY``."""


def names() -> tuple[str, ...]:
    """All studies, room by room."""
    return tuple(STUDIES)


def find(name: str) -> Study:
    if name not in STUDIES:
        raise InvalidInputError(f"There is no study called {name!r}. Choose one of: {', '.join(STUDIES)}.")
    study: Study = import_module(STUDIES[name]).STUDY
    return study
