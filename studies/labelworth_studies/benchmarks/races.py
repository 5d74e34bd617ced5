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
from typing import NamedTuple

from labelworth.errors import InvalidInputError
from labelworth.progress import SILENT, Progress, tracking
from labelworth_studies.benchmarks.race import Race

RACES: Mapping[str, str] = MappingProxyType(
    {
        "em-newsgroups": "labelworth_studies.benchmarks.race_expectation:newsgroups_race",
        "em-rcv1": "labelworth_studies.benchmarks.race_expectation:rcv1_race",
        "fractions": "labelworth_studies.benchmarks.race_information:fractions_race",
        "lanczos": "labelworth_studies.benchmarks.race_information:lanczos_race",
        "em-hmm": "labelworth_studies.benchmarks.race_chains:hidden_markov_race",
        "train-crf": "labelworth_studies.benchmarks.race_chains:conditional_race",
    }
)
"""Name -> module:function that prepares it, given whether it should be quick."""

# Without pandas, which scikit-learn imports where it finds it and which labelworth needs only for its own tests.
_COMMAND = (
    sys.executable,
    "-c",
    "import sys; sys.modules['pandas'] = None; import labelworth.cli.main as m; m.run()",
)
_BEGUN = "Fitting"
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
    """How long a person waits for something, and how long is fine."""

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
        version = min(_seconds(("--version",)).ended for _ in range(3))
        task.advance()
        first = _seconds(fit, fresh).ended
        task.advance()
        later = min(_seconds(fit, fresh).begun for _ in range(3))
        task.advance()
    return [
        Wait("labelworth --version", version, 0.5),
        Wait("a small fit, first use (compiles)", first, 20.0),
        Wait("until a later fit begins to compute", later, 2.5),
    ]


class _Seconds(NamedTuple):
    """How long a command took until it said that it computes (or ended), and until it ended."""

    begun: float
    ended: float


def _seconds(arguments: tuple[str, ...], environment: Mapping[str, str] | None = None) -> _Seconds:
    started = time.perf_counter()
    begun = None
    with subprocess.Popen(
        [*_COMMAND, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment
    ) as command:
        for line in command.stderr or ():
            if begun is None and line.startswith(_BEGUN):
                begun = time.perf_counter() - started
    ended = time.perf_counter() - started
    if command.returncode:
        raise subprocess.CalledProcessError(command.returncode, arguments)
    return _Seconds(ended if begun is None else begun, ended)
