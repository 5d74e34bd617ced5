"""What the robust formula says of a labeling policy: bias and noise of fits to real sentences, of a wrong model."""

from typing import Any

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.data.sequences import Sequences
from labelworth.errors import NotIdentifiableError
from labelworth.evaluation.sequences import evaluate_labels
from labelworth.policies.policy import Policy
from labelworth_studies.robust.chain_risk import SequenceRisk, ShownPopulation, sequence_risk
from labelworth_studies.robust.curvature import WordModel

N_RANDOM_FITS = 8
"""Drawn around the center, for the token error."""


def robust_excess(
    target: WordModel, train: Sequences, policy: Policy, sizes: list[int], *, penalty: float, seed: int
) -> dict[str, Any]:
    """Excess log-losses and token error of fits to n sentences.

    Parameters
    ----------
    target : model
        Fitted to all of `train`; excess is above it.
    train : Sequences
        The population.

    Returns
    -------
    dict
        Per loss, ``excess`` and its part ``bias``, by size; ``token_error`` with ``excess`` and ``excess_se`` over
        random fits. None where the likelihood has no maximum to speak of.
    """
    rng = np.random.default_rng(seed)
    population = ShownPopulation.of(train, policy, rng)
    try:
        risks = sequence_risk(target, population, sizes, penalty=penalty)
    except NotIdentifiableError:
        return {"told": False}
    answer: dict[str, Any] = {"told": True}
    for loss in risks[0].bias:
        answer[loss] = {
            "excess": [risk.excess[loss] for risk in risks],
            "bias": [risk.bias[loss] for risk in risks],
        }
    errors = [_token_errors(risk, target, train, rng) for risk in risks]
    answer["token_error"] = {
        "excess": [float(values.mean()) for values in errors],
        "excess_se": [float(values.std(ddof=1) / np.sqrt(len(values))) for values in errors],
    }
    return answer


def _token_errors(risk: SequenceRisk, target: WordModel, train: Sequences, rng: np.random.Generator) -> FloatArray:
    """The token error of random fits above that of the target."""
    hidden = train.hide()

    def error(model: WordModel) -> float:
        return 1 - evaluate_labels(model.best_labels(hidden), train).accuracy

    return np.array([error(model) for model in risk.draw(N_RANDOM_FITS, rng)]) - error(target)
