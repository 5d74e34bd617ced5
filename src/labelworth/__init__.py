"""How many examples to label, what accuracy that buys, and whether unlabeled data helps.

>>> import labelworth as lw
>>> lw.MultinomialNaiveBayes().unlabeled
-1

Importing the package is cheap: a name is fetched from its room when it is first used.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from labelworth.errors import (
    DataUnavailableError,
    DidNotConvergeWarning,
    InfeasiblePlanError,
    InvalidInputError,
    LabelworthError,
    LabelworthWarning,
    MoreSamplesNeededError,
    NotIdentifiableError,
    OutputError,
)

if TYPE_CHECKING:
    from labelworth.criteria.table import information
    from labelworth.estimators.bernoulli import BernoulliNaiveBayes
    from labelworth.estimators.gaussian import GaussianClasses
    from labelworth.estimators.multinomial import MultinomialNaiveBayes
    from labelworth.estimators.storage import load
    from labelworth.report.displays import InformationDisplay
    from labelworth.robust.check import check

    __version__: str

_HOMES = {
    "BernoulliNaiveBayes": "labelworth.estimators.bernoulli",
    "GaussianClasses": "labelworth.estimators.gaussian",
    "InformationDisplay": "labelworth.report.displays",
    "MultinomialNaiveBayes": "labelworth.estimators.multinomial",
    "check": "labelworth.robust.check",
    "load": "labelworth.estimators.storage",
}

__all__ = [
    "BernoulliNaiveBayes",
    "DataUnavailableError",
    "DidNotConvergeWarning",
    "GaussianClasses",
    "InfeasiblePlanError",
    "InformationDisplay",
    "InvalidInputError",
    "LabelworthError",
    "LabelworthWarning",
    "MoreSamplesNeededError",
    "MultinomialNaiveBayes",
    "NotIdentifiableError",
    "OutputError",
    "__version__",
    "check",
    "information",
    "load",
]


class _CallableRoom(ModuleType):
    """`labelworth.information` is a room and, for people, a function: the figures of a model at every fraction."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """See `labelworth.criteria.table.information`."""
        return import_module("labelworth.criteria.table").information(*arguments, **options)


class _Package(ModuleType):
    def __setattr__(self, name: str, value: Any) -> None:
        # The import system binds a room to its package when it is first imported, by whomever.
        if name == "information" and isinstance(value, ModuleType):
            value.__class__ = _CallableRoom
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        value: Any = version("labelworth")
    elif name == "information":
        value = import_module("labelworth.information")
    elif name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
