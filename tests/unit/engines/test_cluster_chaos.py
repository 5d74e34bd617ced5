"""The short version of `make cluster-chaos`: a few kills in every kind of work, and no bit changes."""

import random
from pathlib import Path

import pytest

from unit.engines.conftest import of_a_cluster

pytest.importorskip("distributed")
pytestmark = of_a_cluster


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
