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
    NotWantedError,
    OutputError,
    StoreUnavailableError,
)
from labelworth.estimators.kinds import estimator_homes

if TYPE_CHECKING:
    from labelworth.campaign.campaign import Campaign
    from labelworth.channels.arm import Arm
    from labelworth.channels.channel import Channel
    from labelworth.criteria.information import information
    from labelworth.data.answers import Answers
    from labelworth.data.readers import read_sequences
    from labelworth.data.readers.answers import read_answers
    from labelworth.data.shards.folder import Shards
    from labelworth.data.tokens.templates import Template, parse_template
    from labelworth.estimators.bernoulli import BernoulliNaiveBayes
    from labelworth.estimators.boltzmann_chain import BoltzmannChain
    from labelworth.estimators.check import check
    from labelworth.estimators.conditional_random_field import ConditionalRandomField
    from labelworth.estimators.gaussian import GaussianClasses
    from labelworth.estimators.hidden_markov import HiddenMarkov
    from labelworth.estimators.multinomial import MultinomialNaiveBayes
    from labelworth.estimators.others.any_classifier import AnyClassifier
    from labelworth.estimators.others.any_tagger import AnyTagger
    from labelworth.estimators.storage import load
    from labelworth.estimators.written import WrittenModel
    from labelworth.formats.choose import read_export, write_export
    from labelworth.formats.export import Export
    from labelworth.planning.frontier import frontier
    from labelworth.planning.plan import plan
    from labelworth.policies.policy import Policy
    from labelworth.policies.spec import parse_policy
    from labelworth.report.displays import (
        AnnotatorsDisplay,
        FrontierDisplay,
        InformationDisplay,
        PolicyDisplay,
        RiskSurfaceDisplay,
    )

    __version__: str

_HOMES = {
    "AnnotatorsDisplay": "labelworth.report.displays",
    "Answers": "labelworth.data.answers",
    "AnyClassifier": "labelworth.estimators.others.any_classifier",
    "AnyTagger": "labelworth.estimators.others.any_tagger",
    "Arm": "labelworth.channels.arm",
    "Campaign": "labelworth.campaign.campaign",
    "Channel": "labelworth.channels.channel",
    "Export": "labelworth.formats.export",
    "FrontierDisplay": "labelworth.report.displays",
    "InformationDisplay": "labelworth.report.displays",
    "Policy": "labelworth.policies.policy",
    "PolicyDisplay": "labelworth.report.displays",
    "RiskSurfaceDisplay": "labelworth.report.displays",
    "Shards": "labelworth.data.shards.folder",
    "Template": "labelworth.data.tokens.templates",
    "WrittenModel": "labelworth.estimators.written",
    "check": "labelworth.estimators.check",
    "frontier": "labelworth.planning.frontier",
    "information": "labelworth.criteria.information",
    "load": "labelworth.estimators.storage",
    "parse_policy": "labelworth.policies.spec",
    "parse_template": "labelworth.data.tokens.templates",
    "plan": "labelworth.planning.plan",
    "read_answers": "labelworth.data.readers.answers",
    "read_export": "labelworth.formats.choose",
    "read_sequences": "labelworth.data.readers",
    "write_export": "labelworth.formats.choose",
}

__all__ = [
    "AnnotatorsDisplay",
    "Answers",
    "AnyClassifier",
    "AnyTagger",
    "Arm",
    "BernoulliNaiveBayes",
    "BoltzmannChain",
    "Campaign",
    "Channel",
    "ConditionalRandomField",
    "DataUnavailableError",
    "DidNotConvergeWarning",
    "Export",
    "FrontierDisplay",
    "GaussianClasses",
    "HiddenMarkov",
    "InfeasiblePlanError",
    "InformationDisplay",
    "InvalidInputError",
    "LabelworthError",
    "LabelworthWarning",
    "MoreSamplesNeededError",
    "MultinomialNaiveBayes",
    "NotIdentifiableError",
    "NotWantedError",
    "OutputError",
    "Policy",
    "PolicyDisplay",
    "RiskSurfaceDisplay",
    "Shards",
    "StoreUnavailableError",
    "Template",
    "WrittenModel",
    "__version__",
    "check",
    "frontier",
    "information",
    "load",
    "parse_policy",
    "parse_template",
    "plan",
    "read_answers",
    "read_export",
    "read_sequences",
    "write_export",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        value: Any = version("labelworth")
    elif (home := (_HOMES | estimator_homes()).get(name)) is not None:
        value = getattr(import_module(home), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
