"""`lw.frontier`: what can be had for what."""

from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from labelworth.arrays import UNLABELED
from labelworth.data.answers import Answers
from labelworth.engines.runner import working
from labelworth.planning.answer import Held
from labelworth.planning.landscape import FrontierDesign
from labelworth.planning.outcome import cloud
from labelworth.planning.plan import planner_at_work
from labelworth.planning.source import AskedSource, GivenPrices, PlanSettings, UseUnlabeled
from labelworth.planning.units import criterion_words, in_units
from labelworth.progress import SILENT, Progress
from labelworth.tradeoff.accuracy import Source
from labelworth.tradeoff.direction import direction_of
from labelworth.tradeoff.problem import Question
from labelworth.wording import count, money


@dataclass(frozen=True)
class PlanFrontier:
    """Ways to go on, and which of them are worth considering."""

    points: tuple[FrontierDesign, ...]  # The cloud; costs and labels are those still to be bought.
    arms: tuple[str, ...]  # What the counts of points are of.
    held: Held
    uses_unlabeled: bool
    source: Source
    reason: str  # Why that source.
    criterion: str  # What the error is.
    criterion_words: str
    # What one more sample of every arm costs, or which function said so; and what was paid for what is held.
    prices: dict[str, Any]
    currency: str = ""  # Stands before amounts of money; empty: nothing does.

    @property
    def boundary(self) -> tuple[FrontierDesign, ...]:
        """The undominated points: cost rises, error falls."""
        best = [point for point in self.points if point.dominated_by is None]
        return tuple(sorted(best, key=lambda point: point.cost))

    def lines(self) -> list[str]:
        first, last = self.boundary[0], self.boundary[-1]
        errors = [in_units(point.error, self.criterion) for point in (first, last)]
        costs = [money(point.cost, self.currency) for point in (first, last)]
        worth, dominated = len(self.boundary), len(self.points) - len(self.boundary)
        used = "" if self.uses_unlabeled else " Unlabeled data is not used."
        return [
            f"{count(worth, 'design')} of {len(self.points):,} are worth considering; the other {dominated:,} cost "
            "and err no less than one of these."
            if dominated
            else f"All of {count(worth, 'design')} are worth considering: what costs more errs less.",
            f"{self.criterion_words[:1].upper()}{self.criterion_words[1:]}: {errors[0]} for "
            f"{costs[0]} more, {direction_of(self.criterion).toward} to {errors[1]} for {costs[1]} more.",
            f"Figures are {self.source} ({self.reason}).{used}",
        ]

    def to_dict(self) -> dict[str, Any]:
        """As JSON knows it."""
        boundary = [index for index, point in enumerate(self.points) if point.dominated_by is None]
        figures = {**asdict(self), "held": self.held.to_dict(), "boundary": boundary, "lines": self.lines()}
        if not self.currency:
            del figures["currency"]
        return figures


def frontier(
    X: Any,
    y: Any = None,
    *,
    model: Any = "auto",
    prices: GivenPrices = None,
    criterion: str | None = None,
    source: AskedSource = "auto",
    rules: Sequence[Any] | str | None = None,
    pool: float | None = None,
    use_unlabeled: UseUnlabeled = "auto",
    classes: Sequence[Hashable] | None = None,
    unlabeled: Hashable = UNLABELED,
    seed: int = 0,
    checkpoint: str | Path | None = None,
    max_time: float | None = None,
    currency: str | None = None,
    channels: Any = None,
    answers: Answers | None = None,
    engine: Any = None,
    progress: Progress = SILENT,
) -> PlanFrontier:
    """The achievable cloud over (samples, labeled fraction) or policies, and its undominated boundary.

    Parameters
    ----------
    X, y, model, prices, criterion, source, rules, pool, use_unlabeled, classes, unlabeled, seed
        As in `labelworth.plan`.
    checkpoint, max_time, currency, channels, answers, engine, progress
        As in `labelworth.plan`.

    Raises
    ------
    NotIdentifiableError
        If labels, or the menu, cannot pin the model down.
    InvalidInputError
        If an argument is invalid.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> classes = rng.integers(2, size=600)
    >>> X = rng.standard_normal((600, 2)) + 2 * classes[:, None]
    >>> y = np.where(np.arange(600) < 60, classes, -1)
    >>> cloud = frontier(X, y, model="gaussian", criterion="excess_log_loss")
    >>> cloud.boundary[0].cost, cloud.boundary[-1].cost
    (0.0, 540.0)
    """
    room = Question.of(budget=0.0, pool=pool).pool
    settings = PlanSettings(
        prices=prices,
        criterion=criterion,
        source=source,
        rules=rules,
        use_unlabeled=use_unlabeled,
        seed=seed,
        checkpoint=checkpoint,
        max_time=max_time,
        currency=currency or "",
        channels=channels,
        answers=answers,
    )
    with (
        working(engine),
        planner_at_work(
            X, y, settings, model=model, classes=classes, unlabeled=unlabeled, progress=progress
        ) as planner,
    ):
        situation, chosen = planner.situation(room)
        points = cloud(situation)
    return PlanFrontier(
        points,
        situation.accuracy.arms,
        situation.held,
        planner.uses_unlabeled,
        situation.accuracy.source,
        chosen.reason,
        chosen.criterion,
        criterion_words(chosen.criterion),
        situation.price_list,
        situation.currency,
    )
