"""Is the model right? Labels alone and all the data together must then agree, up to chance."""

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.stats import chi2

from labelworth.arrays import FloatArray, require_between
from labelworth.data.samples import Samples
from labelworth.data.shards.passes import AsTheyAre, total
from labelworth.engines.runner import Sums
from labelworth.errors import InvalidInputError, NotIdentifiableError
from labelworth.estimation.fit import fit
from labelworth.linalg.symmetric import Pencil
from labelworth.models.classes.responsibilities import posterior
from labelworth.models.protocol import Family, Model, ModelT
from labelworth.progress import SILENT, Progress, tracking
from labelworth.robust.row_forms import RowForms, class_covariances

Method = Literal["auto", "chi-square", "bootstrap"]

MOST_PARAMETERS = 3000
"""Beyond it the test, which solves a dense system per data set, is not run."""
LABELS_PER_PARAMETER = 5
"""From so many on asymptotic theory is trusted."""
_BLIND = 1e-6  # directions the unlabeled rows do not see cannot disagree


@dataclass(frozen=True)
class SpecificationTest:
    """The outcome of a specification test."""

    statistic: float
    p_value: float  # Chance of a statistic at least as large if the model is right.
    method: str  # "chi-square", or "bootstrap" where labels are too few for that.
    degrees_of_freedom: int | None  # Of the chi-square.
    n_bootstrap: int | None  # Data sets simulated from the fitted model.
    n_labels: int
    n_parameters: int

    def rejects(self, level: float = 0.05) -> bool:
        """Whether the model is refused, wrongly so with probability `level`."""
        return self.p_value <= level

    def words(self, level: float = 0.05) -> str:
        """The outcome as a sentence."""
        how = (
            f"chi-square with {self.degrees_of_freedom} degrees of freedom"
            if self.method == "chi-square"
            else f"against {self.n_bootstrap} data sets simulated from the fitted model"
        )
        if self.rejects(level):
            return (
                f"Specification test: the model is wrong (p = {self.p_value:.2g}, {how}): the labeled rows do not "
                "look like the classes fitted to all rows. Do not trust formulas that assume the model is right."
            )
        return (
            f"Specification test: nothing speaks against the model (p = {self.p_value:.2g}, {how}); "
            f"with {self.n_labels} labels for {self.n_parameters} parameters small flaws would go unnoticed."
        )

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def specification_test(
    family: Family[ModelT],
    samples: Samples,
    *,
    rng: np.random.Generator,
    method: Method = "auto",
    n_bootstrap: int = 99,
    tolerance: float = 1e-6,
    progress: Progress = SILENT,
) -> SpecificationTest:
    r"""Test whether labels alone and all data together estimate the same model (Hausman).

    In its score form the test asks whether the score of the labeled rows, taken at the estimate from all rows,
    :math:`u = \sum_{i \text{ labeled}} \nabla \log p(x_i, y_i)`, is zero up to chance. If the model is right,

    .. math:: \operatorname{Var}(u) = I_L - I_L I^{-1} I_L, \qquad I_L = r I_{XY}, \quad I = r I_{XY} + (n-r) I_X

    for r labels among n rows. With many labels per parameter :math:`u' \operatorname{Var}(u)^- u` is chi-square
    ("chi-square"). With fewer, the statistic is :math:`u' I_{XY}^{-1} u / r`, which needs no estimate of
    :math:`I_X`, and its distribution is found by simulating data sets from the fitted model, hiding as many labels
    and fitting each anew ("bootstrap").

    Parameters
    ----------
    family, samples
        The model, and rows with and without labels; ambiguous rows are left out.
    rng : Generator
        For the simulations.
    method : str
        "auto" takes the chi-square when there are at least five labels per parameter.
    n_bootstrap : int
        How many data sets to simulate; the smallest possible p-value is 1 / (n_bootstrap + 1).
    tolerance : float
        Of every fit.

    Raises
    ------
    NotIdentifiableError
        If a class has no label.
    InvalidInputError
        If there are no unlabeled rows, or more than 3000 parameters.

    Notes
    -----
    Any failure of the model shows: classes that are not the clusters of the data, and rows more varied than the model
    allows. Sizes and powers: docs/derivations/robust.md.
    """
    if method not in get_args(Method):
        raise InvalidInputError(f"method must be one of {', '.join(get_args(Method))}. Got {method!r} instead.")
    require_between("n_bootstrap", n_bootstrap, 1, 1e9)
    if samples.weights is not None:
        raise InvalidInputError("The specification test is for rows that count one each. Got sample weights.")
    samples = samples.take(~samples.evidence.is_ambiguous)
    _require_both_kinds(samples)
    fitted = fit(family, samples, tolerance=tolerance)
    n_parameters = fitted.model.coordinates.n_free
    if n_parameters > MOST_PARAMETERS:
        raise InvalidInputError(
            f"The specification test solves dense systems: at most {MOST_PARAMETERS} parameters. Got {n_parameters}; "
            "use a smaller vocabulary, or rely on the harm verdict, which works at any size."
        )
    n_labels = int(samples.evidence.is_gold.sum())
    if method == "auto":
        method = "chi-square" if n_labels >= LABELS_PER_PARAMETER * n_parameters else "bootstrap"
    if method == "chi-square":
        statistic, degrees = chi_square_statistic(fitted.model, samples)
        return SpecificationTest(
            statistic, float(chi2.sf(statistic, degrees)), method, degrees, None, n_labels, n_parameters
        )
    statistic = pearson_statistic(fitted.model, samples)
    exceeded = 0
    with tracking(progress, "specification test", n_bootstrap) as task:
        for _ in range(n_bootstrap):
            simulated = _simulated(fitted.model, samples, rng)
            refitted = fit(fitted.family, simulated, tolerance=tolerance)
            exceeded += pearson_statistic(refitted.model, simulated) >= statistic
            task.advance()
    p_value = (1 + exceeded) / (1 + n_bootstrap)
    return SpecificationTest(statistic, p_value, method, None, n_bootstrap, n_labels, n_parameters)


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """Rows with their weights, for one pass."""

    samples: Samples
    weights: FloatArray

    def labeled(self, model: Model) -> Sums:
        """The sum of the scores of log p(x, y) over the rows whose class is known, (d,)."""
        labeled = self.samples.take(self.samples.evidence.is_gold)
        gold = np.eye(len(model.classes))[labeled.evidence.codes]
        return {"labeled": RowForms(model, labeled).mean(gold)}

    def moments(self, model: Model) -> Sums:
        """That, the same of rows whose class is not, and the spread of the scores of all given x."""
        unlabeled = self.samples.evidence.is_unlabeled
        everywhere = posterior(model, self.samples.hide())
        return {
            **self.labeled(model),
            "hidden": RowForms(model, self.samples.take(unlabeled)).mean(everywhere[unlabeled]),
            "spread": RowForms(model, self.samples).total(class_covariances(everywhere)),
        }


def labeled_score(model: Model, samples: Samples) -> FloatArray:
    """Sum of the scores of log p(x, y) over the rows whose class is known, (d,)."""
    return total(AsTheyAre(ScoredRows), samples, samples.sample_weights, "labeled", model)["labeled"]


def pearson_statistic(model: Model, samples: Samples) -> float:
    r"""The squared length of the labeled rows' score in the complete information, :math:`u' I_{XY}^{-1} u / r`."""
    score = labeled_score(model, samples)
    weighted = cho_solve(cho_factor(model.complete_information()), score)
    return float(score @ weighted) / int(samples.evidence.is_gold.sum())


def chi_square_statistic(model: Model, samples: Samples) -> tuple[float, int]:
    r"""Hausman's statistic and its degrees of freedom.

    In the basis of :math:`I_{mis} W = I_{XY} W \operatorname{diag}(\mu)` the score has independent entries with
    variance :math:`r (1-f)(1-\mu) / (1 - (1-f)\mu)`, f = r / n. Directions with :math:`\mu = 1` are left out: there
    unlabeled rows say nothing that could disagree. The mean that a prior adds is taken off.
    """
    n_samples, n_labels = samples.n_samples, int(samples.evidence.is_gold.sum())
    sums = total(AsTheyAre(ScoredRows), samples, samples.sample_weights, "moments", model)
    pencil = Pencil.of(sums["spread"] / n_samples, model.complete_information())
    fraction = n_labels / n_samples
    labeled = pencil.vectors.T @ sums["labeled"]
    # At the maximum the two scores and the prior's gradient add up to zero.
    prior_gradient = -labeled - pencil.vectors.T @ sums["hidden"]
    relative = 1 - (1 - fraction) * pencil.values
    centered = labeled + fraction / relative * prior_gradient
    variance = n_labels * (1 - fraction) * (1 - pencil.values) / relative
    seen = 1 - pencil.values > _BLIND
    return float(np.sum(centered[seen] ** 2 / variance[seen])), int(seen.sum())


def _simulated(model: ModelT, samples: Samples, rng: np.random.Generator) -> Samples:
    """As many rows from the model, with as many labels, at random."""
    drawn = model.sample(samples.n_samples, rng)
    n_hidden = samples.n_samples - int(samples.evidence.is_gold.sum())
    return drawn.hide(rng.permutation(samples.n_samples)[:n_hidden])


def _require_both_kinds(samples: Samples) -> None:
    evidence = samples.evidence
    missing = [str(evidence.classes[code]) for code in np.flatnonzero(evidence.label_counts() == 0)]
    if missing:
        raise NotIdentifiableError(
            f"{len(missing)} class(es) have no label ({', '.join(missing[:8])}), so nothing says which rows are "
            "theirs; label at least one row of each.",
            missing,
        )
    if not evidence.is_unlabeled.any():
        raise InvalidInputError(
            "The specification test compares labeled with unlabeled rows. Got no unlabeled row; hide some labels."
        )
