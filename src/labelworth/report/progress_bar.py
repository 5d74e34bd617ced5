"""How far long work is, on stderr: a bar with the time left on a terminal, plain lines elsewhere."""

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as RichProgress
from rich.progress import Task as RichTask
from rich.text import Text

from labelworth.progress import Task

_SECONDS_BETWEEN_LINES = 15.0


class _TimeLeft(TimeRemainingColumn):
    """Nothing where the end is not known: "left" alone would be read with the time that has passed."""

    def render(self, task: RichTask) -> Text:
        return Text() if task.total is None else Text.assemble("left ", super().render(task))


class _BarTask:
    def __init__(self, bars: RichProgress, title: str, total: int | None) -> None:
        self._bars, self._note = bars, ""
        self.key = bars.add_task(title, total=total, note="")

    def advance(self, steps: int = 1, note: str = "", seconds: float | None = None) -> None:
        self._note = note or self._note
        self._bars.update(self.key, advance=steps, note=self._note)


class _LineTask:
    """Where nobody watches a terminal, a line now and then: logs stay short."""

    def __init__(self, console: Console, title: str, total: int | None) -> None:
        self._console, self.title, self._total = console, title, total
        self._done = 0
        self._started = self._told = time.monotonic()

    def advance(self, steps: int = 1, note: str = "", seconds: float | None = None) -> None:
        self._done += steps
        now = time.monotonic()
        if now - self._told >= _SECONDS_BETWEEN_LINES:
            self._told = now
            self._console.print(self._line(now - self._started, note), highlight=False, markup=False)

    def _line(self, elapsed: float, note: str) -> str:
        words = f"{self.title}: {self._done}"
        if self._total is not None:
            words += f" of {self._total}"
        if self._total is not None and self._done:
            words += f", about {elapsed * (self._total - self._done) / self._done:.0f} s left"
        return f"{words} ({note})" if note else words


class ProgressBar:
    """Shows the progress of one command on `console`; use it as a context.

    Satisfies `labelworth.progress.Progress`.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bars = RichProgress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            _TimeLeft(),
            TextColumn("{task.fields[note]}", markup=False, style="dim"),
            console=console,
            transient=True,
        )

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._console.is_terminal:
            self._bars.stop()

    def start(self, title: str, total: int | None) -> Task:
        """Begin a piece of work."""
        if self._console.is_terminal:
            return _BarTask(self._bars, title, total)
        return _LineTask(self._console, title, total)

    def finish(self, task: Task) -> None:
        """End it and take its bar away."""
        if isinstance(task, _BarTask):
            self._bars.remove_task(task.key)

    def say(self, message: str) -> None:
        """Tell one line, above the bars."""
        self._console.print(message, highlight=False, markup=False, soft_wrap=True)
