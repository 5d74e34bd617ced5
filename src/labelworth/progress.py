"""Long work reports how far it is through one small door; the command line hangs a bar on it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Task(Protocol):
    """One piece of work under way."""

    def advance(self, steps: int = 1, note: str = "") -> None:
        """Say that `steps` more are done; `note` is a few words on where the work stands."""


class Progress(Protocol):
    """Whoever wants to know how far the work is."""

    def start(self, title: str, total: int | None) -> Task:
        """Begin a piece of work of `total` steps (None: not known beforehand)."""

    def finish(self, task: Task) -> None:
        """End it."""

    def say(self, message: str) -> None:
        """Report one line, once."""


class _SilentTask:
    def advance(self, steps: int = 1, note: str = "") -> None:
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


@contextmanager
def tracking(progress: Progress, title: str, total: int | None) -> Iterator[Task]:
    """Run a piece of work under `progress`, ending it whatever happens."""
    task = progress.start(title, total)
    try:
        yield task
    finally:
        progress.finish(task)
