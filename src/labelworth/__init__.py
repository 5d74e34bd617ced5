"""How many examples to label, what accuracy that buys, and whether unlabeled data helps.

>>> import labelworth as lw
>>> lw.MultinomialNaiveBayes().unlabeled
-1

Importing the package is cheap: a name is fetched from its room when it is first used.
"""

from importlib import import_module
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
    from labelworth.criteria.information import information
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
    "information": "labelworth.criteria.information",
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


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        value: Any = version("labelworth")
    elif name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
