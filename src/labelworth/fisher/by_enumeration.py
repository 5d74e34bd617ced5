"""Exact information of a small model: sum over everything it can produce."""

from labelworth.fisher.fraction_information import FractionInformation
from labelworth.fisher.outcomes import enumerate_outcomes
from labelworth.fisher.score_moments import summed_spread
from labelworth.models.protocol import Model


def enumerated_information(model: Model) -> FractionInformation:
    r"""Complete information in closed form, missing information by a sum over every x.

    .. math:: I_{miss} = \sum_x p(x) \operatorname{Var}(S \mid x)

    Raises
    ------
    InvalidInputError
        If there are too many distinct x; see `labelworth.fisher.outcomes`.

    Notes
    -----
    O(n_outcomes K d^2). For random lengths the sum runs over each length with its probability q(m): the score is
    centered within each length, and q carries no parameter.

    Paper: prop:efficiency1.
    """
    outcomes = enumerate_outcomes(model)
    missing = summed_spread(model, outcomes.samples, outcomes.posterior, outcomes.probabilities)
    return FractionInformation(model.coordinates, model.complete_information(), missing, "enumeration")
