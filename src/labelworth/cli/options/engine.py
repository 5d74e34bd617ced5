"""Who walks through shards, and who refits."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import typer

from labelworth.cli.options.table import Between, Options
from labelworth.errors import InvalidInputError

if TYPE_CHECKING:
    from labelworth.data.shards.folder import Shards


@dataclass(frozen=True)
class EngineOptions(Options):
    """Threads, processes, or a cluster."""

    panel: ClassVar[str] = "Who works"

    engine: Annotated[
        Literal["threads", "processes"],
        typer.Option(
            help="Who walks through a folder of shards, and refits; the answer is the same to the last bit."
        ),
    ] = "threads"
    workers: Annotated[
        int | None, typer.Option(help="How many threads or processes; one per processor unless given."), Between(1)
    ] = None
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="A scheduler of Dask, as tcp://host:8786: its workers do it, and see the folder too.",
        ),
    ] = None

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """They do what is done inside."""
        from labelworth.engines.runner import working

        is_usual = self == type(self)()
        with working(None if is_usual else self._engine(), self.workers):
            yield

    def opened(self, folder: Path, checkpoint: Path | None = None) -> "Shards":
        """The shards of a folder; passes are kept where there is a checkpoint."""
        from labelworth.data.shards.folder import Shards

        return Shards.open(folder, engine=self._engine(), workers=self.workers, checkpoint=checkpoint)

    def _engine(self) -> object:
        if self.scheduler is None:
            return self.engine
        said = [word for word in self.typed() if word in ("--engine", "--workers")]
        if said:
            raise InvalidInputError(
                f"The workers of the scheduler at {self.scheduler} do it all: leave out {' and '.join(said)}, or "
                "--scheduler."
            )
        return _client(self.scheduler)


def _client(address: str) -> object:
    from labelworth.cli.console import tell
    from labelworth.engines.cluster import connected

    client = connected(address)
    if not client.nthreads():
        tell(f"The scheduler at {address} has no worker yet: work begins when there is one.")
    return client
