"""Lines of whole designs against all of their designs, long lines and steps included."""

from dataclasses import dataclass

import numpy as np
import pytest

from labelworth.tradeoff.line import Line, WholeLine, climbed
from labelworth.tradeoff.problem import UNMET, Question


@dataclass(frozen=True)
class Falling:
    """An error that falls with the one arm there is; below `first` samples there is none."""

    first: int = 0
    arms: tuple[str, ...] = ("everything",)
    criterion: str = "error"
    source: str = "asymptotic"

    @property
    def labels_per_sample(self) -> np.ndarray:
        return np.ones(1)

    def error(self, counts: np.ndarray) -> float:
        return np.inf if counts[0] < self.first else float(0.05 + 3 / (30 + counts[0]))

    def standard_error(self, counts: np.ndarray) -> None:
        return None


@dataclass(frozen=True)
class Steps:
    """So much per sample, and a step every so many."""

    each: float
    step: float
    every: int
    arms: tuple[str, ...] = ("everything",)

    def cost(self, counts: np.ndarray) -> float:
        return float(self.each * counts[0] + self.step * np.ceil(counts[0] / self.every))


COSTS = (Steps(1.0, 0.0, 1), Steps(0.0, 100.0, 250), Steps(0.2, 70.0, 90))
QUESTIONS: tuple[tuple[str, float], ...] = (
    ("budget", 0.0), ("budget", 777.0), ("budget", 1e9), ("target", 0.06), ("target", 0.0503), ("alpha", 500.0),
    ("alpha", 3e4), ("alpha", 1e6),
)  # fmt: skip


def brute(accuracy: Falling, costs: Steps, most: int, question: Question) -> tuple[float, float]:
    return min(
        question.rank(costs.cost(np.array([float(k)])), accuracy.error(np.array([float(k)]))) for k in range(most + 1)
    )


@pytest.mark.parametrize("costs", COSTS)
@pytest.mark.parametrize("most", [0, 1, 7, 900, 9000])
@pytest.mark.parametrize("first", [0, 40])
def test_the_best_of_a_line_is_the_best_of_all(costs: Steps, most: int, first: int) -> None:
    accuracy = Falling(first)
    line = WholeLine(Line(accuracy, costs, np.zeros(1), np.ones(1), most))
    for problem, value in QUESTIONS:
        question = Question(problem, value)
        rank, counts = line.best(question)
        expected = brute(accuracy, costs, most, question)
        if not np.isfinite(expected[0]):
            assert rank == UNMET or not np.isfinite(rank[0])
            continue
        assert rank == pytest.approx(expected, rel=1e-9), (problem, value)
        assert question.rank(costs.cost(counts), accuracy.error(counts)) == rank
        assert counts[0] == np.rint(counts[0])


@pytest.mark.parametrize("costs", COSTS)
def test_few_looks_find_nearly_as_much(costs: Steps) -> None:
    line = WholeLine(Line(Falling(), costs, np.zeros(1), np.ones(1), 9000), n_tried=33)
    for problem, value in QUESTIONS:
        question = Question(problem, value)
        rank, _ = line.best(question)
        assert rank[0] <= 1.05 * brute(Falling(), costs, 9000, question)[0] + 1e-12, (problem, value)


def test_climbing_ends_where_no_neighbor_is_better() -> None:
    assert climbed(lambda k: (abs(k - 7), 0.0), 2, 20) == 7
    assert climbed(lambda k: (abs(k - 7), 0.0), 2, 5) == 5
    assert climbed(lambda k: (k, 0.0), 3, 5) == 0
