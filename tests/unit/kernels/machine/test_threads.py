import os
import subprocess
import sys

import numpy as np
import pytest

from labelworth.arrays import IntArray
from labelworth.kernels.machine.compilation import compiled
from labelworth.kernels.machine.instructions import fetch_and_add
from labelworth.kernels.machine.threads import n_threads_available, n_threads_for, run_together


@compiled()
def count_to(limit: int, visits: IntArray, counters: IntArray) -> None:
    """Visit every number below the limit once, whoever does it."""
    while True:
        number = fetch_and_add(counters, 0, 1)
        if number >= limit:
            return
        visits[number] += 1
        fetch_and_add(counters, 1, 1)


@pytest.mark.parametrize("n_threads", [1, 2, 7])
def test_every_piece_is_done_once(n_threads: int) -> None:
    for _ in range(20):
        visits, counters = np.zeros(5000, dtype=np.int64), np.zeros(2, dtype=np.int64)
        run_together(count_to, (5000, visits, counters), n_threads, counters[1:], 5000)
        assert (visits == 1).all()


def test_small_work_is_done_alone() -> None:
    assert n_threads_for(1000) == 1
    assert n_threads_for(10**9) == n_threads_available()


def test_number_of_threads_can_be_set_from_outside() -> None:
    code = "from labelworth.kernels.machine.threads import n_threads_available; print(n_threads_available())"
    environment = {**os.environ, "NUMBA_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.strip() == "1"


def test_a_forked_process_does_everything_alone() -> None:
    visits, counters = np.zeros(5000, dtype=np.int64), np.zeros(2, dtype=np.int64)
    run_together(count_to, (5000, visits, counters), 2, counters[1:], 5000)
    code = (
        "import os, numpy as np\n"
        "from labelworth.kernels.rows.tables import smoothed_shares\n"
        "counts = np.ones((2, 10**6))\n"
        "smoothed_shares(counts, 0.0)\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    os._exit(int(smoothed_shares(counts, 0.0)[0, 0] != 1e-6))\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.strip() == "0"
