"""Runs a study: a grid of cells, each a pure function of what it is asked, kept as they finish."""

import json
import signal
import threading
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from joblib import Parallel, cpu_count, delayed
from threadpoolctl import threadpool_limits

from labelworth.data.kept import Checkpoint, CorruptAnswerError
from labelworth.errors import InvalidInputError
from labelworth.progress import SILENT, Progress, tracking
from labelworth.report.values import Outcome
from labelworth_studies.runner.study import Cell, Result, Study, canonical

CELLS_FOLDER = ".cells"


@dataclass(frozen=True)
class Run:
    """A study that has run."""

    outcome: Outcome
    n_cells: int  # How many cells there are, and how many had been kept from before.
    n_reused: int
    data_digest: str | None


def run(
    study: Study,
    output: Path,
    *,
    quick: bool = False,
    seed: int = 0,
    workers: int | None = None,
    progress: Progress = SILENT,
) -> Run:
    """Compute the cells that are missing, keep each as it finishes, and sum up.

    Parameters
    ----------
    study : Study
    output : path
        The results folder; cells lie in its ``.cells/``.
    quick : bool
        The study's smaller grid.
    seed : int
        Handed to the study's grid.
    workers : int, optional
        Processes; all cores when None. The answers are the same bits whatever the number.
    progress : Progress

    Raises
    ------
    KeyboardInterrupt
        Passed on after Ctrl-C, with a message that says what was kept.
    """
    n_workers = cpu_count() if workers is None else workers
    if n_workers < 1:
        raise InvalidInputError(f"There must be at least one worker. Got {workers}.")
    cells = list(study.cells(quick, seed))
    digest = study.data_digest()
    kept_as = study.cells_name or study.name
    context = {"study": kept_as, "version": study.version, "labelworth": version("labelworth"), "data": digest}
    store = Checkpoint(output / CELLS_FOLDER / kept_as, context)
    results = _kept(store, cells, progress)
    n_reused = sum(result is not None for result in results)
    missing = [index for index, result in enumerate(results) if result is None]
    if n_reused:
        progress.say(f"{n_reused} of {len(cells)} cells of {study.name} were kept from before.")
    if missing:
        store.require_writable()
    if missing and study.prepare is not None:
        study.prepare(progress)
    jobs = [(index, cells[index]) for index in missing]
    try:
        with (
            _given_up_quietly(_computed(study.compute, jobs, n_workers)) as finished,
            tracking(progress, study.title, len(missing)) as task,
        ):
            for index, result in finished:
                store.save(cells[index], result)
                results[index] = result
                task.advance()
    except KeyboardInterrupt:
        n_kept = sum(result is not None for result in results)
        raise KeyboardInterrupt(
            f"Stopped. {n_kept} of {len(cells)} cells are kept in {store.folder}; "
            "the same command goes on from there."
        ) from None
    pairs = [(cell, result) for cell, result in zip(cells, results, strict=True) if result is not None]
    return Run(study.summarize(pairs), len(cells), n_reused, digest)


def _kept(store: Checkpoint, cells: Iterable[Cell], progress: Progress) -> list[Result | None]:
    kept: list[Result | None] = []
    for cell in cells:
        try:
            kept.append(store.load(cell))
        except CorruptAnswerError as error:
            progress.say(f"{error} It is computed again.")
            kept.append(None)
    return kept


def _computed(
    compute: Callable[[Cell], Result], jobs: Sequence[tuple[int, Cell]], n_workers: int
) -> Generator[tuple[int, Result]]:
    """Results as they finish, each with the index of its cell."""
    if n_workers == 1 or len(jobs) <= 1:
        yield from (_one(compute, index, cell) for index, cell in jobs)
        return
    pool = Parallel(
        n_jobs=min(n_workers, len(jobs)),
        return_as="generator_unordered",
        # Nothing waits in the pool's queue: stopped by Ctrl-C, its thread would trip over what does.
        pre_dispatch="n_jobs",
    )
    with _interrupts_for_the_main_process_only():
        finished = pool(delayed(_one)(compute, index, cell) for index, cell in jobs)
    yield from finished


@contextmanager
def _given_up_quietly(results: Generator[tuple[int, Result]]) -> Iterator[Generator[tuple[int, Result]]]:
    """Where a cell cannot be kept this is told; that others were then given up needs no words of joblib's."""
    try:
        yield results
    finally:
        before = threading.excepthook

        def tripped(args: threading.ExceptHookArgs) -> None:
            # The pool's thread looks for work that was just taken away; it ends either way.
            if args.exc_type is not KeyError or "ExecutorManager" not in str(args.thread):
                before(args)

        threading.excepthook = tripped
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                results.close()
        finally:
            threading.excepthook = before


@contextmanager
def _interrupts_for_the_main_process_only() -> Iterator[None]:
    """Start processes that never hear of Ctrl-C, which a terminal sends to all: they would answer with tracebacks.

    A signal that is ignored stays so in processes started meanwhile; blocking it would not do, as joblib unblocks it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _one(compute: Callable[[Cell], Result], index: int, cell: Cell) -> tuple[int, Result]:
    # Linear algebra adds up in an order that depends on its threads: one thread, wherever the cell runs.
    with threadpool_limits(limits=1, user_api="blas"):
        result = compute(cell)
    # Through its JSON text, so that a fresh answer and one read back are the same value.
    return index, json.loads(canonical(result))
