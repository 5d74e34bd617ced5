"""The short version of `make cluster-chaos`: a few kills in every kind of work, and no bit changes."""

import gc
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("distributed")
pytestmark = [
    # What dask's own event loops leave behind when processes are killed.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


@pytest.fixture(autouse=True)
def nothing_is_left_for_other_tests() -> Iterator[None]:
    """What dask leaves behind is collected here, where it is ignored."""
    yield
    gc.collect()


def test_workers_that_are_killed_and_a_control_that_is_told(tmp_path: Path) -> None:
    from chaos.cluster import Works, is_control_caught, kill_workers
    from labelworth.engines.runner import Threads

    works = Works(tmp_path, 1)
    works.make()
    expected = {name: work(Threads(1), None) for name, work in works.all().items()}
    told = kill_workers(works, expected, 4, 2, random.Random(0), slowest=1.0)
    assert [case.kills for case in told] == [1, 1, 1, 1]
    assert sum(case.wrong for case in told) == 0
    assert is_control_caught(works, expected["EM"], 2)
