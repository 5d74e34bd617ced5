import io

import pytest
from rich.console import Console

from labelworth.progress import tracking
from labelworth.report import progress_bar
from labelworth.report.progress_bar import ProgressBar


def console(*, terminal: bool) -> tuple[Console, io.StringIO]:
    stream = io.StringIO()
    return Console(file=stream, force_terminal=terminal, width=120), stream


def test_a_terminal_sees_a_bar_with_title_and_note() -> None:
    screen, stream = console(terminal=True)
    with ProgressBar(screen) as bar, tracking(bar, "Reading", 4) as task:
        task.advance(3, note="halfway")
        bar._bars.refresh()
    shown = stream.getvalue()
    assert "Reading" in shown
    assert "3/4" in shown
    assert "left" in shown
    assert "halfway" in shown


def test_a_log_sees_few_lines_with_the_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 1.0, 20.0, 21.0])
    monkeypatch.setattr(progress_bar.time, "monotonic", lambda: next(clock))
    screen, stream = console(terminal=False)
    with ProgressBar(screen) as bar, tracking(bar, "Reading", 4) as task:
        for _ in range(3):
            task.advance()
    assert stream.getvalue() == "Reading: 2 of 4, about 20 s left\n"


@pytest.mark.parametrize("terminal", [True, False])
def test_a_message_is_told_as_it_is(terminal: bool) -> None:
    screen, stream = console(terminal=terminal)
    with ProgressBar(screen) as bar:
        bar.say("[bold]kept[/bold] as it is")
    assert "[bold]kept[/bold] as it is" in stream.getvalue()


def test_work_of_unknown_length_is_shown_too() -> None:
    screen, stream = console(terminal=True)
    with ProgressBar(screen) as bar, tracking(bar, "Searching", None) as task:
        task.advance()
        bar._bars.refresh()
    assert "Searching" in stream.getvalue()
    # Behind the time that has passed it would turn that into time to come.
    assert "left" not in stream.getvalue()
