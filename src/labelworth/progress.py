"""Long work reports how far it is through one small door; the command line hangs a bar on it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from labelworth.errors import InfeasiblePlanError

_LONG = 10.0
"""From so many seconds on it is said how long work will take."""
_THIS = "This"


class Task(Protocol):
    """One piece of work under way."""

    def advance(self, steps: int = 1, note: str = "", seconds: float | None = None) -> None:
        """Say that `steps` more are done.

        Parameters
        ----------
        note : str
            A few words on where the work stands.
        seconds : float, optional
            What these steps took of the time of all: where several run side by side, a part of their own.
        """


class Progress(Protocol):
    """Whoever wants to know how far the work is."""

    def start(self, title: str, total: int | None) -> Task:
        """Begin a piece of work of `total` steps (None: not known beforehand)."""

    def finish(self, task: Task) -> None:
        """End it."""

    def say(self, message: str) -> None:
        """Report one line, once."""


class _SilentTask:
    def advance(self, steps: int = 1, note: str = "", seconds: float | None = None) -> None:
        pass


class SilentProgress:
    """The default: nobody is watching."""

    def start(self, title: str, total: int | None) -> Task:
        return _SilentTask()

    def finish(self, task: Task) -> None:
        pass

    def say(self, message: str) -> None:
        pass


SILENT: Progress = SilentProgress()


class _BothTasks:
    def __init__(self, first: Task, second: Task) -> None:
        self.first, self.second = first, second

    def advance(self, steps: int = 1, note: str = "", seconds: float | None = None) -> None:
        self.first.advance(steps, note, seconds)
        self.second.advance(steps, note, seconds)


class Both:
    """Two who want to know."""

    def __init__(self, first: Progress, second: Progress) -> None:
        self._first, self._second = first, second

    def start(self, title: str, total: int | None) -> Task:
        return _BothTasks(self._first.start(title, total), self._second.start(title, total))

    def finish(self, task: Task) -> None:
        if isinstance(task, _BothTasks):
            self._first.finish(task.first)
            self._second.finish(task.second)

    def say(self, message: str) -> None:
        self._first.say(message)
        self._second.say(message)


@contextmanager
def tracking(progress: Progress, title: str, total: int | None) -> Iterator[Task]:
    """Run a piece of work under `progress`, ending it whatever happens."""
    task = progress.start(title, total)
    try:
        yield task
    finally:
        progress.finish(task)


class Whole:
    """Work of many parts under one bar, in percent; says how long it will take, and keeps to a limit of time.

    Satisfies `Progress`: parts that are started under it move its bar, and their titles stand beside it. Parts that
    `expect` did not count are shown by their titles alone.

    Parameters
    ----------
    max_minutes : float, optional
        What all of it may take. Work that takes longer is refused when its first steps were measured; later on,
        `has_time` says what still fits.
    """

    def __init__(self, progress: Progress, title: str, max_minutes: float | None = None) -> None:
        self._progress, self._bar, self.max_minutes = progress, progress.start(title, 100), max_minutes
        self._started = time.monotonic()
        self._total = self._least = self._done = self._shown = 0
        self._from, self._until, self._what = 0, 100, _THIS
        self._seconds, self._measured = 0.0, 0

    def expect(self, total: int, least: int | None = None, *, until: int = 100, what: str = _THIS) -> None:
        """Say how many steps are to come, and how many of them cannot be left out.

        Parameters
        ----------
        until : int
            Up to how many percent of the bar these steps go, where others come after them. Steps are measured anew:
            those of one stage say nothing of how long those of another take.
        what : str
            What takes so long, as the beginning of a sentence.
        """
        self._total, self._least, self._done = total, total if least is None else least, 0
        self._from, self._until, self._what = self._shown, until, what
        self._seconds, self._measured = 0.0, 0

    def has_time(self, steps: int) -> bool:
        """Whether so many more steps fit into the limit."""
        return self.max_minutes is None or self._passed + self._takes(steps) <= 60 * self.max_minutes

    def start(self, title: str, total: int | None) -> Task:
        return _Part(self, title, is_counted=total is not None and self._total > 0)

    def finish(self, task: Task) -> None:
        pass

    def say(self, message: str) -> None:
        self._progress.say(message)

    def close(self) -> None:
        """Take the bar away."""
        self._progress.finish(self._bar)

    def advance(self, steps: int, note: str, seconds: float | None = None) -> None:
        """So many steps of a part are done."""
        is_first = self._measured == 0
        self._done += steps
        if seconds is not None:
            self._seconds, self._measured = self._seconds + seconds, self._measured + steps
        gone = self._done / self._total if self._total else 0.0
        shown = self._from + int((self._until - self._from) * gone)
        self._bar.advance(max(shown - self._shown, 0), note)
        self._shown = max(shown, self._shown)
        if is_first and self._measured:
            self._foretell()

    def _foretell(self) -> None:
        whole = left = self._takes(self._total - self._done)
        if self.max_minutes is not None:
            left = min(left, 60 * self.max_minutes - self._passed)
        if left >= _LONG:
            allowed = f", as much as is allowed: all of it would take {duration(whole)}" if left < whole else ""
            self.say(f"{self._what} takes about {duration(left)} more{allowed}.")
        least = self._passed + self._takes(self._least - self._done)
        if self.max_minutes is not None and least > 60 * self.max_minutes:
            raise InfeasiblePlanError(
                f"{self._what} takes about {duration(least)} at least, longer than "
                f"max_time={self.max_minutes:g} minutes. "
                "Allow more, or leave a part of the unlabeled data out; with checkpoint= what is finished is kept, "
                "and the same question goes on from there.",
                least / 60,
            )

    @property
    def _passed(self) -> float:
        return time.monotonic() - self._started

    def _takes(self, steps: int) -> float:
        return steps * self._seconds / self._measured if self._measured else 0.0


class _Part:
    def __init__(self, whole: Whole, title: str, *, is_counted: bool) -> None:
        self._whole, self._title, self._is_counted = whole, title, is_counted

    def advance(self, steps: int = 1, note: str = "", seconds: float | None = None) -> None:
        words = f"{self._title}: {note}" if note else self._title
        if self._is_counted:
            self._whole.advance(steps, words, seconds)
        else:
            self._whole.advance(0, words)


class Pace:
    """How long a walk of steps still takes whose end is only estimated."""

    def __init__(self) -> None:
        self._started, self._done = time.monotonic(), 0

    def words(self, steps_left: float | None) -> str:
        """One more step is done: what is left, to stand behind a note; nothing where that is short, or not known."""
        self._done += 1
        if steps_left is None:
            return ""
        left = steps_left * (time.monotonic() - self._started) / self._done
        return f", about {duration(left)} more" if left >= _LONG else ""


@contextmanager
def under_one_bar(progress: Progress, title: str, max_minutes: float | None = None) -> Iterator[Whole]:
    """Run work of many parts under one bar, ending it whatever happens."""
    whole = Whole(progress, title, max_minutes)
    try:
        yield whole
    finally:
        whole.close()


def duration(seconds: float) -> str:
    """A time as people say it.

    >>> duration(14.2), duration(100), duration(1500), duration(9000)
    ('14 seconds', '2 minutes', '25 minutes', '2.5 hours')
    """
    if seconds < 90:
        return f"{seconds:.0f} second{'' if round(seconds) == 1 else 's'}"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
