import itertools
from pathlib import Path

import pytest

from labelworth_studies.benchmarks import quietness
from labelworth_studies.benchmarks.quietness import Disturbance, wait_for_quiet


def account(busy_ticks: int) -> str:
    """What the kernel would write: user, nice, system, idle, wait, interrupts, soft interrupts, stolen, guests."""
    return f"cpu  {busy_ticks} 0 0 999999 5 0 0 0 0 0\ncpu0 1 2 3 4\n"


def test_work_of_others_is_what_is_busy_beside_our_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "stat"
    monkeypatch.setattr(quietness, "_ACCOUNT", file)
    own, clock = iter([0.0, 2.0]), iter([0.0, 2.0])
    monkeypatch.setattr(quietness.time, "process_time", lambda: next(own))
    monkeypatch.setattr(quietness.time, "monotonic", lambda: next(clock))
    file.write_text(account(1000))
    watch = Disturbance()
    with watch.watching():
        file.write_text(account(1500))
    # Five seconds of processor time in two seconds, of which two were ours.
    assert watch.processors == pytest.approx(1.5)


def test_nobody_can_tell_without_the_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quietness, "_ACCOUNT", tmp_path / "absent")
    watch = Disturbance()
    with watch.watching():
        pass
    assert watch.processors is None
    wait_for_quiet(60.0)


def test_waiting_ends_with_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[float] = []
    busy = itertools.count(0.0, 1e6)
    monkeypatch.setattr(quietness, "_busy_seconds", lambda: next(busy))
    monkeypatch.setattr(quietness.time, "sleep", looks.append)
    wait_for_quiet(0.05)
    assert looks
