"""`lw.information`: one door to the theory, of single samples and of sequences."""

from collections.abc import Mapping, Sequence
from typing import Any, overload

from numpy.typing import ArrayLike

from labelworth.criteria.information_table import InformationTable
from labelworth.criteria.policy_points import PolicyTable
from labelworth.criteria.policy_table import policy_information
from labelworth.criteria.table import information as fraction_information
from labelworth.data.lengths import LengthDistribution
from labelworth.data.sequences import Sequences
from labelworth.errors import InvalidInputError
from labelworth.fisher.choice import Method
from labelworth.fisher.rule_choice import RuleMethod
from labelworth.models.chains.protocol import ChainModel, Reference
from labelworth.models.protocol import Model
from labelworth.policies.policy import Policy
from labelworth.policies.rule import Rule
from labelworth.progress import Progress


@overload
def information(
    model: Model,
    *,
    labeled_fractions: ArrayLike,
    n_samples: float,
    method: Method = ...,
    seed: int = ...,
    relative_error: float = ...,
    max_draws: int | None = ...,
    progress: Progress = ...,
) -> InformationTable: ...


@overload
def information(
    model: ChainModel,
    *,
    policies: Sequence[Policy | str | Sequence[float]],
    n_samples: float,
    rules: Sequence[Rule | str] | None = ...,
    lengths: LengthDistribution | Mapping[Any, float] | None = ...,
    inputs: Sequences | None = ...,
    input_probabilities: ArrayLike | None = ...,
    method: RuleMethod = ...,
    seed: int = ...,
    relative_error: float = ...,
    max_draws: int | None = ...,
    progress: Progress = ...,
) -> PolicyTable: ...


def information(model: Any, **question: Any) -> InformationTable | PolicyTable:
    """What samples are worth: at every labeled fraction, or for sequences under every policy.

    Parameters
    ----------
    model : Model or ChainModel
        With the parameters taken for true.
    **question
        Of single samples: `labeled_fractions`, and what `labelworth.criteria.table.information` takes.
        Of sequences: `policies`, `lengths` or `inputs`, and what
        `labelworth.criteria.policy_table.policy_information` takes. Of both: `n_samples`.

    Examples
    --------
    >>> from labelworth.models.chains.hidden_markov import HiddenMarkovModel
    >>> model = HiddenMarkovModel(("A", "B"), [0.5, 0.5], [[0.8, 0.2], [0.3, 0.7]], [[0.7, 0.3], [0.1, 0.9]])
    >>> policies = ["everything", "0.5*everything + 0.5*nothing", "every-other"]
    >>> table = information(model, policies=policies, lengths={6: 1.0}, n_samples=1000)
    >>> [round(1000 * point.figures["total_variance"], 2) for point in table.points]
    [1.0, 1.52, 1.3]
    """
    if hasattr(model, "fit"):
        raise InvalidInputError(
            f"A model is asked what its samples are worth. Got the estimator {type(model).__name__}; give its "
            "model_, or call its own method information()."
        )
    is_chain = isinstance(getattr(model, "reference", None), Reference)
    if is_chain and "policies" not in question:
        raise InvalidInputError(
            "Sequences are labeled by policies: give policies=, as in ['everything', '0.5*window:5 + 0.5*nothing'], "
            "and lengths= or inputs=."
        )
    if not is_chain and "labeled_fractions" not in question:
        raise InvalidInputError("Single samples are labeled or not: give labeled_fractions=, as in [1, 0.5, 0.1].")
    return policy_information(model, **question) if is_chain else fraction_information(model, **question)
