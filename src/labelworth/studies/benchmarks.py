"""The races by name, and what a person feels: start-up and first use."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import MappingProxyType

from labelworth.errors import InvalidInputError
from labelworth.progress import SILENT, Progress, tracking
from labelworth.studies.race import Race

RACES: Mapping[str, str] = MappingProxyType(
    {
        "em-newsgroups": "labelworth.studies.race_expectation:newsgroups_race",
        "em-rcv1": "labelworth.studies.race_expectation:rcv1_race",
        "fractions": "labelworth.studies.race_information:fractions_race",
        "lanczos": "labelworth.studies.race_information:lanczos_race",
    }
)
"""Name -> module:function that prepares it, given whether it should be quick."""

_COMMAND = (sys.executable, "-c", "from labelworth.cli.main import run; run()")
_TEXTS = '{"text": "goal match", "label": "sport"}\n{"text": "law vote", "label": "politics"}\n{"text": "goal law"}\n'


def prepare(name: str, *, quick: bool) -> Race:
    """Prepare the race called `name`."""
    if name not in RACES:
        raise InvalidInputError(f"There is no race called {name!r}. Choose among: {', '.join(RACES)}.")
    module, function = RACES[name].split(":")
    maker: Callable[[bool], Race] = getattr(import_module(module), function)
    return maker(quick)


@dataclass(frozen=True)
class Wait:
    """How long a person waits for something, and how long is fine.

    Attributes
    ----------
    name : str
    seconds, limit : float
    """

    name: str
    seconds: float
    limit: float

    @property
    def is_met(self) -> bool:
        """Whether it is quick enough."""
        return self.seconds <= self.limit


def waits(progress: Progress = SILENT) -> list[Wait]:
    """Time the command line as a person meets it: the best of three, but for what happens only once."""
    with tempfile.TemporaryDirectory() as folder, tracking(progress, "starting commands", 3) as task:
        data = Path(folder) / "texts.jsonl"
        data.write_text(_TEXTS, encoding="utf-8")
        fit = ("fit", str(data), "--output", str(Path(folder) / "model.lw"))
        fresh = {**os.environ, "NUMBA_CACHE_DIR": str(Path(folder) / "machine-code")}
        version = min(_seconds(("--version",)) for _ in range(3))
        task.advance()
        first = _seconds(fit, fresh)
        task.advance()
        later = min(_seconds(fit, fresh) for _ in range(3))
        task.advance()
    return [
        Wait("labelworth --version", version, 0.5),
        Wait("a small fit, first use (compiles)", first, 20.0),
        Wait("a small fit, later", later, 2.5),
    ]


def _seconds(arguments: tuple[str, ...], environment: Mapping[str, str] | None = None) -> float:
    begun = time.perf_counter()
    subprocess.run([*_COMMAND, *arguments], check=True, capture_output=True, env=environment)
    return time.perf_counter() - begun
