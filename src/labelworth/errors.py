"""Every error labelworth raises on purpose. A message says what is wrong, what was given, and what to do."""

from collections.abc import Sequence
from typing import Any


class LabelworthError(Exception):
    """Base of all errors below: catch this one to catch them all."""


class InvalidInputError(LabelworthError, ValueError):
    """The data, a parameter or a file is not usable as given. The command line exits with 2."""


class DataUnavailableError(LabelworthError, FileNotFoundError):
    """A file or corpus is not where it was looked for. The command line exits with 2."""


class OutputError(LabelworthError, OSError):
    """A result could not be written where it was asked for. The command line exits with 2."""


class NotIdentifiableError(LabelworthError, ValueError):
    """The labels cannot pin the model down. The command line exits with 1.

    Attributes
    ----------
    directions : tuple of str
        The parameters, by name, that the labels leave open; empty if they are not known.
    """

    def __init__(self, message: str, directions: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.directions = tuple(directions)


class InfeasiblePlanError(LabelworthError, ValueError):
    """No plan meets what was asked. The command line exits with 1.

    Attributes
    ----------
    nearest : float or None
        The nearest target, or budget, that a plan can meet; None if there is none.
    plan : labelworth.Plan or None
        The plan for that target, where a target was refused: the best that can be had.
    """

    def __init__(self, message: str, nearest: float | None = None, plan: Any = None) -> None:
        super().__init__(message)
        self.nearest, self.plan = nearest, plan


class MoreSamplesNeededError(LabelworthError, RuntimeError):
    """A sampled figure is too noisy to be given. The message says how many samples would do."""


class NotWantedError(LabelworthError, ValueError):
    """An answer that a campaign does not want, or wants no more: it was not kept. The command line exits with 2."""


class StoreUnavailableError(LabelworthError, OSError):
    """A campaign's store cannot be reached or written now: locked, full, or without its server.

    Nothing that was acknowledged is lost, and what was not can be sent again: with the same key it counts once. The
    command line exits with 2.
    """


class LabelworthWarning(UserWarning):
    """Something worth knowing that does not stop the work."""


class DidNotConvergeWarning(LabelworthWarning):
    """An iteration stopped before it converged; the result says so too."""
