import itertools

import pytest

from labelworth.errors import InvalidInputError
from labelworth_studies.benchmarks import race
from labelworth_studies.benchmarks import races as benchmarks
from labelworth_studies.benchmarks.race import Contender, Race, run_race


def a_race(order: list[str], *, floor: float = 1.0, tolerance: float = 0.0, share: float = 1.0) -> Race:
    return Race(
        "counting",
        "Counting",
        Contender("ours", lambda: order.append("ours") or 1.0),
        Contender("peer", lambda: order.append("peer") or 1.5, share),
        floor,
        floor,
        lambda ours, theirs: abs(ours - theirs),
        tolerance,
    )


def tick(monkeypatch: pytest.MonkeyPatch, steps: list[float]) -> None:
    """A clock that shows the given durations, one per timed call."""
    times = itertools.chain.from_iterable((0.0, step) for step in steps)
    monkeypatch.setattr(race.time, "perf_counter", lambda: next(times))


def test_contenders_take_turns_after_a_warm_up(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    tick(monkeypatch, [1.0] * 6)
    run_race(a_race(order), n_repeats=3)
    assert order == ["ours", "peer"] * 4


def test_short_work_is_repeated_within_a_turn_and_every_run_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    tick(monkeypatch, [0.25, 0.375, 1.0])
    result = run_race(a_race(order), n_repeats=1)
    assert order[2:] == ["ours", "ours", "peer"]
    assert (result.ours_median, result.ours_minimum) == (0.3125, 0.25)


def test_the_ratio_of_medians_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    tick(monkeypatch, [1.0, 4.0, 2.0, 6.0, 9.0, 30.0])
    result = run_race(a_race([], floor=3.5, tolerance=1.0), n_repeats=3)
    assert (result.ours_median, result.peer_median) == (2.0, 6.0)
    assert result.ratio_of_medians == 3.0
    assert result.ratio_of_minima == 4.0
    assert not result.is_met


def test_a_part_of_the_work_counts_for_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    tick(monkeypatch, [1.0, 1.0])
    assert run_race(a_race([], share=0.1), n_repeats=1).ratio_of_medians == pytest.approx(10.0)


def test_being_fast_and_wrong_is_not_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    tick(monkeypatch, [1.0, 100.0])
    result = run_race(a_race([], tolerance=0.4), n_repeats=1)
    assert result.difference == 0.5
    assert not result.is_met


CORPORA = {"em-hmm": "conll2000", "train-crf": "conll2000"}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.corpus(CORPORA[name])] if name in CORPORA else [])
        for name in benchmarks.RACES
    ],
)
def test_in_every_race_both_find_the_same(name: str) -> None:
    result = run_race(benchmarks.prepare(name, quick=True), n_repeats=1)
    assert result.name == name
    assert result.difference <= result.tolerance


def test_an_unknown_race_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="no race called"):
        benchmarks.prepare("sack", quick=True)
