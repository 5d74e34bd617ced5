"""The kinds of models there are: by name, with what they take and where their estimator and their model live.

This is the only list of kinds. Reading it loads no estimator: a class is fetched from its module when asked for.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

from labelworth.errors import InvalidInputError
from labelworth.estimators.others.named_classifiers import NAMED

AUTO = "auto"
"""In place of a kind: the model is chosen on the pilot."""
Takes = Literal["counts", "vectors", "sequences"]
"""What X is: a table of counts, dense vectors, or a list of sequences of tokens."""


@dataclass(frozen=True)
class ModelKind:
    """A kind of model."""

    name: str  # As in ``lw.plan(..., model="multinomial")``, ``--model`` and model files.
    takes: Takes
    estimator_path: str  # "module:Class" of what is fitted to X and y.
    model_path: str  # "module:Class" of what a fit gives.

    @property
    def takes_sequences(self) -> bool:
        return self.takes == "sequences"

    @property
    def estimator(self) -> type[Any]:
        return _fetched(self.estimator_path)

    @property
    def model(self) -> type[Any]:
        return _fetched(self.model_path)


_ESTIMATORS, _MODELS = "labelworth.estimators", "labelworth.models"

KINDS: dict[str, ModelKind] = {
    kind.name: kind
    for kind in (
        ModelKind(
            "multinomial",
            "counts",
            f"{_ESTIMATORS}.multinomial:MultinomialNaiveBayes",
            f"{_MODELS}.classes.multinomial:MultinomialModel",
        ),
        ModelKind(
            "bernoulli",
            "counts",
            f"{_ESTIMATORS}.bernoulli:BernoulliNaiveBayes",
            f"{_MODELS}.classes.bernoulli:BernoulliModel",
        ),
        ModelKind(
            "gaussian",
            "vectors",
            f"{_ESTIMATORS}.gaussian:GaussianClasses",
            f"{_MODELS}.classes.gaussian_model:GaussianModel",
        ),
        ModelKind(
            "hidden-markov",
            "sequences",
            f"{_ESTIMATORS}.hidden_markov:HiddenMarkov",
            f"{_MODELS}.chains.hidden_markov:HiddenMarkovModel",
        ),
        ModelKind(
            "boltzmann-chain",
            "sequences",
            f"{_ESTIMATORS}.boltzmann_chain:BoltzmannChain",
            f"{_MODELS}.chains.boltzmann_chain:BoltzmannChainModel",
        ),
        ModelKind(
            "conditional-random-field",
            "sequences",
            f"{_ESTIMATORS}.conditional_random_field:ConditionalRandomField",
            f"{_MODELS}.chains.conditional_random_field:ConditionalRandomFieldModel",
        ),
    )
}


def kind_named(name: str) -> ModelKind:
    """Look a kind up.

    Raises
    ------
    InvalidInputError
        If there is none of that name.
    """
    if name not in KINDS:
        names = ", ".join([AUTO, *KINDS, *NAMED])
        raise InvalidInputError(f"model must be one of {names}, or an estimator. Got {name!r}.")
    return KINDS[name]


def estimator_homes() -> dict[str, str]:
    """The module of every estimator by the name of its class."""
    paths = (kind.estimator_path.partition(":") for kind in KINDS.values())
    return {class_name: module for module, _, class_name in paths}


def _fetched(path: str) -> type[Any]:
    module, _, name = path.partition(":")
    fetched: type[Any] = getattr(import_module(module), name)
    return fetched
