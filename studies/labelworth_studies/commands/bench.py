"""`labelworth bench`: speed as ratios against named peers, and what a person feels."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from labelworth.cli.console import answer, tell, working
from labelworth.cli.options import Json
from labelworth.cli.options.table import Between

if TYPE_CHECKING:
    from rich.console import Console

    from labelworth.progress import Progress
    from labelworth.report.record import Record
    from labelworth.report.values import Table
    from labelworth_studies.benchmarks.limits import Limit
    from labelworth_studies.benchmarks.race import RaceResult
    from labelworth_studies.benchmarks.races import Wait

_PATIENCE = 2.0  # seconds to wait, at every turn, for a quiet machine


def bench(
    names: Annotated[
        list[str] | None, typer.Argument(help="Which races and limits; all of them unless named.")
    ] = None,
    repeats: Annotated[int, typer.Option(help="Turns of every race."), Between(1)] = 7,
    quick: Annotated[bool, typer.Option("--quick", help="Small data: only to see that it runs.")] = False,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the figures are kept as they come.")] = Path(
        "labelworth-bench.json"
    ),
    as_json: Json = False,
) -> None:
    """Race against named peers in one run; the ratio of medians decides.

    Examples
    --------
    labelworth bench --quick
    labelworth bench -o figures.json
    """
    from labelworth.data.files import require_writable

    require_writable(output)
    measured = _Measured({"names": names, "repeats": repeats, "quick": quick}, output)
    try:
        with working() as progress:
            measured.measure(names, repeats, quick, progress)
    except KeyboardInterrupt:
        if not measured.n_kept:
            raise
        raise KeyboardInterrupt(f"Stopped. What was measured so far is kept in {output}.") from None
    answer(measured.record(), measured.show, as_json=as_json)
    tell(f"Wrote {output}")


class _Measured:
    """The figures of one run: told as they come, and the record so far kept in a file."""

    def __init__(self, asked: dict[str, object], output: Path) -> None:
        from labelworth.report.record import Stopwatch

        self._asked, self._output, self._watch = asked, output, Stopwatch()
        self._races: list[RaceResult] = []
        self._waits: list[Wait] = []
        self._limits: list[Limit] = []

    @property
    def n_kept(self) -> int:
        return len(self._races) + len(self._waits) + len(self._limits)

    def measure(self, names: list[str] | None, repeats: int, quick: bool, progress: "Progress") -> None:
        from labelworth.errors import DataUnavailableError
        from labelworth_studies.benchmarks.limits import LIMITS
        from labelworth_studies.benchmarks.race import run_race
        from labelworth_studies.benchmarks.races import RACES, prepare, waits

        for wait in waits(progress) if not names else []:
            self._waits.append(wait)
            self._keep(progress, f"{wait.name}: {wait.seconds:.2f} s (limit {wait.limit:g} s)", wait.is_met)
        for name in names or (*RACES, *LIMITS):
            progress.say(f"Preparing {name}")
            if name in LIMITS:
                with self._watch.timing(name):
                    limit = LIMITS[name](quick)
                self._limits.append(limit)
                self._keep(progress, f"{limit.name}: {limit.value:.4g} (limit {limit.limit:g})", limit.is_met)
                continue
            try:
                race = prepare(name, quick=quick)
            except DataUnavailableError as error:
                if names:
                    raise
                progress.say(f"Left out {name}: {error}")
                continue
            with self._watch.timing(name):
                result = run_race(race, repeats, progress, patience=0.0 if quick else _PATIENCE)
            self._races.append(result)
            # The data of one race would crowd the next one out of memory.
            del race
            self._keep(
                progress,
                f"{name}: {result.ratio_of_medians:.1f} times faster than {result.peer} "
                f"({result.ours_median:.3g} s against {result.peer_median:.3g} s; floor {result.floor:g})",
                result.is_met,
            )

    def _keep(self, progress: "Progress", words: str, is_met: bool) -> None:
        progress.say(f"{words}: {'met' if is_met else 'NOT MET'}")
        self.record().write(self._output)

    def record(self) -> "Record":
        from labelworth.report.record import Record

        figures = {
            name: [{**vars(result), "is_met": result.is_met} for result in results]
            for name, results in (("races", self._races), ("waits", self._waits), ("limits", self._limits))
        }
        return Record("bench", self._asked, figures, None, None, self._watch.durations)

    def show(self, console: "Console") -> None:
        from labelworth.report.tables import show_table
        from labelworth.report.values import Table

        if self._races:
            show_table(console, _race_table(self._races))
        if self._waits:
            waited = tuple((wait.name, wait.seconds, wait.limit, _yes(wait.is_met)) for wait in self._waits)
            show_table(console, Table("What a person feels", ("command", "seconds", "limit", "met"), waited))
        if self._limits:
            rows = tuple(
                (limit.name, limit.value, limit.limit, limit.detail, _yes(limit.is_met)) for limit in self._limits
            )
            show_table(console, Table("What must not grow", ("what", "measured", "limit", "detail", "met"), rows))


def _yes(is_met: bool) -> str:
    return "yes" if is_met else "NO"


def _race_table(results: "list[RaceResult]") -> "Table":
    from labelworth.report.values import Table

    rows = tuple(
        (
            result.name,
            f"{result.ours_median:.3g} ({result.ours_minimum:.3g})",
            f"{result.peer_median:.3g} ({result.peer_minimum:.3g})",
            f"{result.ratio_of_medians:.1f} ({result.ratio_of_minima:.1f})",
            f"{result.floor:g} / {result.goal:g}",
            _yes(result.is_met),
        )
        for result in results
    )
    columns = ("race", "ours, s", "peer, s", "times faster", "floor / goal", "met")
    details = [
        f"{result.name}: {result.title}; against {result.peer}, results agree to {result.difference:.1g} "
        f"(allowed {result.tolerance:.0g})."
        for result in results
    ]
    heard = [result.disturbance for result in results if result.disturbance is not None]
    if heard:
        details.append(
            f"Others kept {max(heard):.1f} processors busy at worst; above 0.2 the times are not to be trusted."
        )
    note = "\n".join(["Medians, with minima in brackets; the medians decide.", *details])
    return Table("Races", columns, rows, note)
