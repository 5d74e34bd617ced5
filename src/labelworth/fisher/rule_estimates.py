"""All figures of one policy as values, with standard errors where the information was sampled."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.errors import MoreSamplesNeededError
from labelworth.fisher.identifiability import WeakDirection
from labelworth.fisher.jackknife import Jackknife
from labelworth.fisher.policy_figures import FIGURES, PolicyFigures
from labelworth.fisher.rule_information import RuleInformation

_CERTAIN = 5.0
"""So many standard errors a smallest share must be away from zero for a policy to be called identifiable."""


@dataclass(frozen=True)
class PolicyEstimate:
    """What is known of one policy, per sequence.

    Attributes
    ----------
    is_identifiable : bool
        Whether the information is positive definite on the estimable contrasts.
    smallest_share : float or None
        Of what complete labels would tell, in the weakest direction; None where that was not computed.
    values : mapping of str to float
        By the names in `FIGURES`; NaN where the policy is not identifiable.
    errors : mapping of str to float
        Standard errors; empty if figures are exact.
    weak_directions : tuple of WeakDirection or None
        None where they were not looked for.
    refusal : str, optional
        Why nothing is known.
    """

    is_identifiable: bool
    smallest_share: float | None
    values: Mapping[str, float]
    errors: Mapping[str, float]
    weak_directions: tuple[WeakDirection, ...] | None
    refusal: str | None = None

    @classmethod
    def untold(cls, refusal: str) -> "PolicyEstimate":
        """Of a policy of which the draws do not tell enough."""
        nothing = dict.fromkeys(FIGURES, float("nan"))
        return cls(False, None, nothing, nothing, None, refusal)

    def relative_errors(self, rank: int) -> dict[str, float]:
        """Standard errors relative to their figures; that of the log volume per direction."""
        scales = {name: rank if name == "log_volume" else abs(self.values[name]) for name in self.errors}
        return {name: self.errors[name] / scales[name] for name in self.errors if self.errors[name] > 0}


def estimate_policy(rules: RuleInformation, weights: FloatArray) -> PolicyEstimate:
    r"""Every figure of a policy.

    A noisy matrix has a biased inverse. The jackknife takes the leading bias off: with :math:`t_{-b}` the figure
    without batch b of B, the figure is :math:`B t - (B-1) \bar t_{-b}`. Its standard error joins the jackknife's
    with the size of that correction, and with rounding.

    Raises
    ------
    MoreSamplesNeededError
        If the draws do not tell whether the policy is identifiable.
    """
    figures = rules.figures(weights)
    if not _is_positive(rules, weights, figures):
        nothing = dict.fromkeys(FIGURES, float("nan"))
        no_errors = {} if rules.batches is None else nothing
        return PolicyEstimate(False, 0.0, nothing, no_errors, figures.weak_directions())
    values, errors = figures.values(), np.empty(0)
    if rules.batches is not None:
        noise = Jackknife.of(values, rules.jackknifed(figures, weights))
        rounding = figures.pencil.tolerance * np.abs(values)
        errors = np.sqrt(noise.variance + noise.correction**2 + rounding**2)
        values = values + noise.correction
    return PolicyEstimate(
        True,
        figures.smallest,
        dict(zip(FIGURES, values.tolist(), strict=True)),
        dict(zip(FIGURES, errors.tolist(), strict=False)),
        figures.weak_directions(),
    )


def _is_positive(rules: RuleInformation, weights: FloatArray, figures: PolicyFigures) -> bool:
    """Whether the smallest share is above zero, beyond rounding and noise."""
    smallest, error = figures.smallest, _smallest_error(rules, weights, figures)
    if abs(smallest) <= figures.blind and error <= figures.blind:
        # Where some sequences are labeled whole rounding decides nothing: the share is at least theirs.
        return bool(weights[rules.everything] > 0 and smallest > 0)
    if smallest <= _CERTAIN * error:
        factor = max(4.0, (2 * _CERTAIN * error / smallest) ** 2) if smallest > 0 else 16.0
        raise MoreSamplesNeededError(
            f"After {rules.n_drawn} draws it is open whether the policy is identifiable: its weakest direction has "
            f"{smallest:.2g} of the information of complete labels, give or take {error:.2g}. About "
            f"{factor * rules.n_drawn:.2g} draws may tell; or use method='enumeration' if the model is small."
        )
    if smallest <= 0:
        raise MoreSamplesNeededError(
            f"The information is not positive definite after {rules.n_drawn} draws; draw "
            f"{16 * rules.n_drawn} or more."
        )
    return True


def _smallest_error(rules: RuleInformation, weights: FloatArray, figures: PolicyFigures) -> float:
    """The standard error of the smallest share, along its direction."""
    if rules.batches is None:
        return 0.0
    direction = figures.contrasts.basis @ figures.pencil.vectors[:, 0]
    shares = (rules.batches @ direction) @ direction
    excess = shares @ weights - figures.smallest * shares[:, rules.everything]
    return float(excess.std(ddof=1) / np.sqrt(len(excess)))
