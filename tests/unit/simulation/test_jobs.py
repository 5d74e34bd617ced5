"""Fits in threads and in processes: the same answers in the same order, kept here, and only where it pays."""

import os
import threading
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from sklearn.ensemble import RandomForestClassifier

from labelworth.data.evidence import encode_labels
from labelworth.data.rows import Rows
from labelworth.errors import InvalidInputError
from labelworth.estimators.pools.any_rows import AnyLearner
from labelworth.progress import SILENT
from labelworth.simulation import jobs as module
from labelworth.simulation.basis import forecast_basis
from labelworth.simulation.jobs import keep_nothing, run_fits, run_jobs
from support.blobs import vectors


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes pay at once, as soon as one fit was timed."""
    monkeypatch.setattr(module, "_WORTH_PROCESSES", 0.0)


def fits(bind: Callable[[int], Callable[[], Any]], n: int, **options: Any) -> list[Any]:
    settings = {"name": str, "keep": keep_nothing, "in_processes": True, "workers": 2, **options}
    return run_fits(bind, range(n), title="", progress=SILENT, work=lambda job: 1, **settings)


def process_after(seconds: float) -> int:
    time.sleep(seconds)
    return os.getpid()


def bound(seconds: float) -> Callable[[int], Callable[[], int]]:
    return lambda job: partial(process_after, seconds)


@pytest.mark.usefixtures("eager")
def test_later_fits_run_in_other_processes_and_answers_stay_in_order() -> None:
    owners = fits(bound(0.05), 8)
    assert owners[0] == os.getpid()
    assert os.getpid() not in owners[3:]
    assert fits(lambda job: partial(pow, job, 2), 8) == [job**2 for job in range(8)]


def test_small_work_stays_in_this_process() -> None:
    assert set(fits(bound(0.001), 8)) == {os.getpid()}


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("options", [{"in_processes": False}, {"workers": 1}])
def test_kernels_and_single_workers_stay_in_this_process(options: dict[str, Any]) -> None:
    assert set(fits(bound(0.05), 5, **options)) == {os.getpid()}


@pytest.mark.usefixtures("eager")
def test_what_is_kept_is_kept_here_and_never_computed_again() -> None:
    kept: dict[str, Any] = {"3": "from before"}

    def keep(name: str, compute: Callable[[], Any]) -> Any:
        if name not in kept:
            kept[name] = compute()
        return kept[name]

    answers = fits(lambda job: partial(pow, job, 3), 6, keep=keep)
    assert answers == [0, 1, 8, "from before", 64, 125]
    assert sorted(kept) == [str(job) for job in range(6)]


@pytest.mark.usefixtures("eager")
def test_what_cannot_be_sent_is_done_here() -> None:
    lock = threading.Lock()

    def bind(job: int) -> Callable[[], int]:
        def locked() -> int:
            with lock:
                return process_after(0.01)

        return locked

    assert set(fits(bind, 5)) == {os.getpid()}


@pytest.mark.usefixtures("eager")
def test_an_error_elsewhere_is_raised_here() -> None:
    def bind(job: int) -> Callable[[], float]:
        return partial(process_after, 0.01) if job < 4 else partial(int, "no number")

    with pytest.raises(ValueError, match="no number"):
        fits(bind, 6)
    assert fits(lambda job: partial(pow, job, 2), 5) == [0, 1, 4, 9, 16]


def test_there_is_at_least_one_worker() -> None:
    with pytest.raises(InvalidInputError, match="at least one worker"):
        fits(bound(0.0), 3, workers=0)


@pytest.mark.usefixtures("eager")
def test_a_forecast_has_the_same_bits_in_processes_as_in_one_thread() -> None:
    X, y = vectors(50, 16, distance=1.0)
    rows = Rows(X, encode_labels(y, unlabeled=-1))
    learner = AnyLearner(RandomForestClassifier(2), 5, mode="labels-only", modes=("labels-only",))
    alone, elsewhere = (forecast_basis(learner, rows, 32, workers=workers).to_dict() for workers in (1, 2))
    assert elsewhere == alone
    other = AnyLearner(RandomForestClassifier(2), 6, mode="labels-only", modes=("labels-only",))
    assert forecast_basis(other, rows, 32, workers=1).to_dict() != alone


def test_slow_fits_come_first_and_answers_stay_in_order() -> None:
    begun: list[int] = []

    def keep(name: str, compute: Callable[[], Any]) -> Any:
        begun.append(int(name))
        return compute()

    options: Any = {"name": str, "keep": keep, "in_processes": True, "workers": 1, "title": "", "progress": SILENT}
    assert run_fits(lambda job: partial(abs, job), [1, 3, 2], work=int, **options) == [1, 3, 2]
    assert begun == [3, 2, 1]


def test_what_others_code_warns_of_in_threads_is_not_repeated() -> None:
    """Filters of single threads undo each other: without one around them all, some of these came through."""

    def warned(job: int) -> int:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            time.sleep(0.002 * (job % 3))
        warnings.warn_explicit("few labels", UserWarning, "fit.py", 1, module="sklearn.linear_model")
        return job

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert run_jobs(warned, range(12), workers=2, title="fits", progress=SILENT) == list(range(12))
    assert not caught


def test_who_stops_in_the_middle_waits_for_what_runs() -> None:
    """A thread that goes on in a kernel while the interpreter ends takes the process down with it."""
    begun, ended = threading.Event(), threading.Event()

    def job(index: int) -> int:
        if index == 0:
            begun.wait(5)
            raise InvalidInputError("stop")
        begun.set()
        time.sleep(0.3)
        ended.set()
        return index

    with pytest.raises(InvalidInputError, match="stop"):
        run_jobs(job, range(2), workers=2, title="", progress=SILENT)
    assert ended.is_set()


def test_no_job_is_begun_once_one_has_failed() -> None:
    """Whoever waits for the first job hears of the second one's end late; a cluster that is gone gets no more."""
    failed, begun = threading.Event(), []

    def job(index: int) -> int:
        begun.append(index)
        if index == 1:
            failed.set()
            raise InvalidInputError("lost")
        failed.wait(5)
        time.sleep(0.3)
        return index

    with pytest.raises(InvalidInputError, match="lost"):
        run_jobs(job, range(6), workers=2, title="", progress=SILENT)
    assert sorted(begun) == [0, 1]


def test_a_job_that_fails_at_once_is_told_as_what_it_is() -> None:

    def job(index: int) -> int:
        raise InvalidInputError("lost")

    for _ in range(20):
        with pytest.raises(InvalidInputError, match="lost"):
            run_jobs(job, range(200), workers=2, title="", progress=SILENT)
