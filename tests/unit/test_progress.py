"""One bar over work of many parts: how long it will take, and what still fits into a limit."""

from typing import Any

import pytest

from labelworth import progress
from labelworth.errors import InfeasiblePlanError
from labelworth.progress import SilentProgress, tracking, under_one_bar


class Listening(SilentProgress):
    """Remembers all that it hears."""

    def __init__(self) -> None:
        self.bars: list[str] = []
        self.steps: list[int] = []
        self.notes: list[str] = []
        self.said: list[str] = []
        self.finished = 0

    def start(self, title: str, total: int | None) -> Any:
        self.bars.append(f"{title} {total}")
        return self

    def advance(self, steps: int = 1, note: str = "", seconds: float | None = None) -> None:
        self.steps.append(steps)
        self.notes.append(note)

    def finish(self, task: Any) -> None:
        self.finished += 1

    def say(self, message: str) -> None:
        self.said.append(message)


def test_many_parts_move_one_bar() -> None:
    heard = Listening()
    with under_one_bar(heard, "planning") as whole:
        with tracking(whole, "EM", None) as task:
            task.advance(note="objective 3")
        whole.expect(8)
        for title in ("first", "second"):
            with tracking(whole, title, 4) as task:
                task.advance(1)
                task.advance(3)
    assert (heard.bars, heard.finished) == (["planning 100"], 1)
    assert heard.steps == [0, 12, 38, 12, 38]
    assert heard.notes == ["EM: objective 3", "first", "first", "second", "second"]
    assert heard.said == []


def test_the_first_steps_say_how_long_all_will_take() -> None:
    heard = Listening()
    with under_one_bar(heard, "planning") as whole:
        whole.expect(100)
        with tracking(whole, "refits", 100) as task:
            task.advance(10, seconds=60.0)
            task.advance(10, seconds=90.0)
    assert heard.said == ["This takes about 9 minutes more."]


def test_no_more_time_is_foretold_than_is_allowed() -> None:
    heard = Listening()
    with under_one_bar(heard, "planning", max_minutes=2) as whole:
        whole.expect(100, least=10)
        with tracking(whole, "refits", 100) as task:
            task.advance(10, seconds=60.0)
    assert heard.said == ["This takes about 2 minutes more, as much as is allowed: all of it would take 9 minutes."]


def test_what_does_not_fit_into_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with under_one_bar(SilentProgress(), "planning", max_minutes=10) as whole:
        whole.expect(100, least=50)
        assert whole.has_time(10**9)  # Nothing was measured yet.
        now[0] = 100.0
        with tracking(whole, "refits", 100) as task:
            task.advance(10, seconds=100.0)
        assert whole.has_time(50)
        assert not whole.has_time(51)


def test_what_cannot_be_done_in_time_is_refused_when_the_first_steps_are_done() -> None:
    with under_one_bar(SilentProgress(), "planning", max_minutes=1) as whole:
        whole.expect(200, least=100)
        with tracking(whole, "refits", 200) as task:
            words = r"about 9 minutes at least, longer than max_time=1 minutes"
            with pytest.raises(InfeasiblePlanError, match=words) as caught:
                task.advance(10, seconds=60.0)
    assert caught.value.nearest == pytest.approx(9.0, abs=0.1)
