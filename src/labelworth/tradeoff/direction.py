"""Which way a criterion goes when it gets better, said once: errors fall, metrics rise."""

from dataclasses import dataclass

from labelworth.simulation.metrics import is_metric


@dataclass(frozen=True)
class Direction:
    """The words that sentences need, and how figures are turned."""

    verb: str  # What more labels do to the criterion.
    ease: str  # What makes a target easier.
    goes: str  # What a forecast does that gets better.
    better: str
    best: str
    bound: str  # "No less than so much" is no gain.
    toward: str  # Where a frontier goes.
    is_rising: bool = False

    def reached(self, error: float) -> float:
        """The error of a plan as people are told it: of a metric, what is reached and not what is missing to one."""
        return 1 - error if self.is_rising else error

    def ends(self, low: float | None, high: float | None) -> tuple[float | None, float | None]:
        """Ends of an interval of errors, the smaller figure first once they are told."""
        return (high, low) if self.is_rising else (low, high)


FALLING = Direction("lower", "raise", "fall", "lower", "lowest", "less", "down")
RISING = Direction("raise", "lower", "rise", "higher", "highest", "more", "up", is_rising=True)


def direction_of(criterion: str | None) -> Direction:
    """Of a criterion by its name.

    >>> direction_of("error").verb, direction_of("macro_f1").verb, direction_of("macro_f1").reached(0.25)
    ('lower', 'raise', 0.75)
    """
    return RISING if is_metric(criterion) else FALLING
