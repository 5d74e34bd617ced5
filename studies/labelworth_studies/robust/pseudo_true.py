"""Where the estimate goes with endless data when the model is wrong, at every labeled fraction."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray, require_between
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError
from labelworth.estimation.fit import fit
from labelworth.models.protocol import Family, ModelT
from labelworth.progress import SILENT, Progress, tracking
from labelworth_studies.robust.sandwich import require_population

_TOLERANCE = 1e-12
_MAX_ITERATIONS = 20_000


def weighted_population(population: Samples, fraction: float, n_samples: float) -> Samples:
    """Every row twice, labeled with weight f and hidden with weight 1 - f, as many as `n_samples` in all."""
    shares = population.sample_weights * (n_samples / population.sample_weights.sum())
    rows = np.arange(population.n_samples)
    twice = population.take(np.tile(rows, 2)).hide(len(rows) + rows)
    return twice.weighted(np.concatenate([fraction * shares, (1 - fraction) * shares]))


def pseudo_true_path(
    family: Family[ModelT],
    population: Samples,
    fractions: Sequence[float] | FloatArray,
    *,
    n_samples: float,
    unlabeled_weight: float = 1.0,
    tolerance: float = _TOLERANCE,
    progress: Progress = SILENT,
) -> list[ModelT]:
    r"""Follow the pseudo-true parameters from full labels down to few.

    .. math::

        \theta^*_f = \arg\max_\theta\; n \bigl[ f\, E \log p_\theta(X, Y) + (1-f)\, \beta\, E \log p_\theta(X) \bigr]
            + \log \text{prior}(\theta)

    with E the mean over the population. A wrong model has another :math:`\theta^*_f` for every f: that is the bias
    which unlabeled data brings.

    Parameters
    ----------
    family : Family
        The kind of model, with the prior the estimator uses.
    population : Samples
        Rows with their classes.
    fractions : sequence of float
        In (0, 1]; answered in the order given, walked from large to small, each fit from the one before, so that the
        path is the one that begins at full labels.
    n_samples : float
        n, the size of the sample the estimator will see; it says how much the prior counts.

    Returns
    -------
    list of Model
        One per fraction.
    """
    require_population(population)
    values = [float(fraction) for fraction in fractions]
    if not values:
        raise InvalidInputError("Give at least one labeled fraction.")
    for value in values:
        require_between("A labeled fraction", value, 0.0, 1.0, open_low=True)
    require_between("n_samples", n_samples, 0.0, float(np.finfo(float).max), open_low=True)
    fixed: Any = family.adapted(population, population.sample_weights)
    models: dict[float, ModelT] = {}
    current = fit(
        fixed, population.weighted(population.sample_weights * (n_samples / population.sample_weights.sum()))
    )
    with tracking(progress, "pseudo-true path", len(set(values))) as task:
        for value in sorted(set(values), reverse=True):
            current = fit(
                fixed,
                weighted_population(population, value, n_samples),
                start=current.model,
                unlabeled_weight=unlabeled_weight,
                tolerance=tolerance,
                max_iterations=_MAX_ITERATIONS,
            )
            models[value] = current.model
            task.advance()
    return [models[value] for value in values]
