"""A process that dies is replaced, and its work done again."""

import os
import signal
from pathlib import Path

import numpy as np
import pytest

from labelworth.engines import processes
from labelworth.engines.processes import Processes
from labelworth.engines.runner import Sums, Threads
from labelworth.errors import InvalidInputError, LabelworthError


def dying_once(folder: str, number: int) -> Sums:
    """Ends its process, hard, in every third piece when that is done first."""
    mark = Path(folder) / str(number)
    if number % 3 == 1 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"values": np.random.default_rng(number).normal(size=3)}


def healthy(folder: str, number: int) -> Sums:
    return {"values": np.random.default_rng(number).normal(size=3)}


def always_dying(folder: str, number: int) -> Sums:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def refusing(folder: str, number: int) -> Sums:
    raise InvalidInputError(f"piece {number} is damaged")


def test_killed_processes_cost_time_and_no_bit(tmp_path: Path) -> None:
    total = Processes(2).total(dying_once, str(tmp_path), range(10))
    assert len(list(tmp_path.iterdir())) == 3  # so many were killed
    assert total["values"].tobytes() == Threads(1).total(healthy, "", range(10))["values"].tobytes()


def test_a_process_that_always_dies_is_given_up_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_MOST_DEATHS", 1)
    with pytest.raises(LabelworthError, match=r"Processes died 2 times.*memory"):
        Processes(1).total(always_dying, "", range(1))


def test_what_a_piece_refuses_is_told() -> None:
    with pytest.raises(InvalidInputError, match="piece 0 is damaged"):
        Processes(2).total(refusing, "", range(3))
