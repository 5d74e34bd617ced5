"""`lw.information`: one door to the theory, of single samples and of sequences."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike

from labelworth.criteria.table import Asked, InformationTable, tabulate
from labelworth.errors import InvalidInputError
from labelworth.fisher.choice import choose
from labelworth.fisher.documents.population import LABEL_OR_NOT, DocumentPopulation, KindMethod, Method
from labelworth.fisher.information import require_fractions
from labelworth.models.protocol import Model
from labelworth.progress import SILENT, Progress

if TYPE_CHECKING:
    from labelworth.channels.arm import Arm
    from labelworth.channels.channel import Channel
    from labelworth.data.lengths import LengthDistribution
    from labelworth.data.sequences import Sequences
    from labelworth.fisher.sequences.population import RuleMethod
    from labelworth.models.chains.protocol import ChainModel
    from labelworth.policies.policy import Policy
    from labelworth.policies.rule import Rule


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
    model: Model,
    *,
    kinds: "Sequence[Channel | Arm]",
    designs: Sequence[Sequence[float]],
    n_samples: float,
    method: KindMethod = ...,
    seed: int = ...,
    relative_error: float = ...,
    max_draws: int | None = ...,
    progress: Progress = ...,
) -> InformationTable: ...


@overload
def information(
    model: "ChainModel",
    *,
    policies: Sequence["Policy | str | Sequence[float]"],
    n_samples: float,
    rules: "Sequence[Rule | str] | None" = ...,
    lengths: "LengthDistribution | Mapping[Any, float] | None" = ...,
    inputs: "Sequences | None" = ...,
    input_probabilities: ArrayLike | None = ...,
    method: "RuleMethod" = ...,
    seed: int = ...,
    relative_error: float = ...,
    max_draws: int | None = ...,
    progress: Progress = ...,
) -> InformationTable: ...


def information(model: Any, **question: Any) -> InformationTable:
    """What samples are worth: at every labeled fraction, in every design, or for sequences under every policy.

    Parameters
    ----------
    model : Model or ChainModel
        With the parameters taken for true.
    **question
        Of single samples: `labeled_fractions`, and what `document_information` takes; or `kinds` of answers and
        `designs`, and what `labelworth.criteria.design_information.design_information` takes.
        Of sequences: `policies`, `lengths` or `inputs`, and what
        `labelworth.criteria.policy_information.policy_information` takes. Of both: `n_samples`.

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
    is_chain = hasattr(model, "reference")
    if is_chain and "policies" not in question:
        raise InvalidInputError(
            "Sequences are labeled by policies: give policies=, as in ['everything', '0.5*window:5 + 0.5*nothing'], "
            "and lengths= or inputs=."
        )
    if not is_chain and ("kinds" in question or "designs" in question):
        from labelworth.criteria.design_information import design_information

        return design_information(model, **question)
    if not is_chain and "labeled_fractions" not in question:
        raise InvalidInputError(
            "Single samples are labeled or not: give labeled_fractions=, as in [1, 0.5, 0.1]; or kinds= of answers "
            "with designs=."
        )
    if not is_chain:
        return document_information(model, **question)
    from labelworth.criteria.policy_information import policy_information

    return policy_information(model, **question)


def document_information(
    model: Model,
    *,
    labeled_fractions: ArrayLike,
    n_samples: float,
    method: Method = "auto",
    seed: int = 0,
    relative_error: float = 0.01,
    max_draws: int | None = None,
    progress: Progress = SILENT,
) -> InformationTable:
    r"""What the samples of a model are worth, at every labeled fraction.

    One sample labeled with probability f carries :math:`I(f) = I_{XY} - (1-f)\, E[\operatorname{Var}(S | X)]`; with n
    of them the estimate has covariance :math:`I(f)^{-1} / n`, and every figure follows.

    Parameters
    ----------
    model : Model
        With the parameters taken for true.
    labeled_fractions : sequence of float
        Each in [0, 1].
    n_samples : float
        n, labeled and unlabeled together.
    method : {"auto", "enumeration", "formula", "sampling"}
        "auto": exact where it can be, by enumeration or the two-class formula, else sampling.
    seed : int
        Of the sampling.
    relative_error : float
        The standard error that sampling aims at, relative to each figure.
    max_draws : int, optional
        A limit to sampling.
    progress : Progress

    Raises
    ------
    NotIdentifiableError
        If not even complete labels would identify the model.
    MoreSamplesNeededError
        If sampling gave no sensible information within its limits.

    Notes
    -----
    Paper: prop:efficiency1.

    Examples
    --------
    >>> from labelworth.data.lengths import LengthDistribution
    >>> from labelworth.models.classes.multinomial import MultinomialModel
    >>> words = [[0.8, 0.2], [0.3, 0.7]]
    >>> model = MultinomialModel(("ham", "spam"), [0.5, 0.5], words, LengthDistribution.single(4))
    >>> table = document_information(model, labeled_fractions=[1.0, 0.1], n_samples=1000)
    >>> [round(1000 * point.figures["total_variance"], 3) for point in table.points]
    [0.87, 2.457]
    """
    fractions = require_fractions(labeled_fractions).tolist()
    chosen = choose(
        DocumentPopulation(model),
        LABEL_OR_NOT,
        fractions,
        method,
        np.random.default_rng(seed),
        relative_error=relative_error,
        max_draws=max_draws,
        progress=progress,
    )
    asked = [Asked.of_fraction(fraction) for fraction in fractions]
    return tabulate(chosen, asked, n_samples, relative_error=relative_error)
