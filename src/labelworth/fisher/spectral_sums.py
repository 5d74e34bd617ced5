r"""Criteria that depend on the pencil's eigenvalues alone, with their derivatives.

Every coordinate-free criterion is a sum :math:`\sum_i h(\mu_i)`. If the missing information moves by E, whose entries
in the eigenbasis are :math:`E_{ij}`, the criterion moves by :math:`\sum_i h'(\mu_i) E_{ii}`.
"""

from dataclasses import dataclass

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.fisher.curve import Weight


def relative_information(mu: FloatArray, fraction: float) -> FloatArray:
    """1 - (1-f) mu, written without the cancellation that mu = 1 and a tiny f would bring."""
    return fraction + (1 - fraction) * (1 - mu)


@dataclass(frozen=True)
class SpectralTerms:
    """h(mu) and h'(mu) for every eigenvalue at one labeled fraction, each of shape (d,)."""

    values: FloatArray
    derivatives: FloatArray


def trace_terms(weight: Weight, mu: FloatArray, fraction: float) -> SpectralTerms:
    """Terms of trace(G I(f)^-1) for the weights that are themselves functions of the pencil."""
    inverse = 1 / relative_information(mu, fraction)
    if weight is Weight.COMPLETE:
        return SpectralTerms(inverse, (1 - fraction) * inverse**2)
    if weight is Weight.MISSING:
        return SpectralTerms(mu * inverse, inverse**2)
    if weight is Weight.MARGINAL:
        return SpectralTerms((1 - mu) * inverse, -fraction * inverse**2)
    raise ValueError(f"{weight} is not a function of the pencil.")


def slope_terms(weight: Weight, mu: FloatArray, fraction: float) -> SpectralTerms:
    """Terms of its derivative in f, -trace(G I(f)^-1 missing I(f)^-1)."""
    inverse = 1 / relative_information(mu, fraction)
    square, cube = inverse**2, inverse**3
    if weight is Weight.COMPLETE:
        return SpectralTerms(-mu * square, -(square + 2 * (1 - fraction) * mu * cube))
    if weight is Weight.MISSING:
        return SpectralTerms(-(mu**2) * square, -2 * mu * cube)
    if weight is Weight.MARGINAL:
        product = mu * (1 - mu)
        return SpectralTerms(-product * square, -((1 - 2 * mu) * square + 2 * (1 - fraction) * product * cube))
    raise ValueError(f"{weight} is not a function of the pencil.")


def log_volume_terms(mu: FloatArray, fraction: float) -> SpectralTerms:
    """Terms of log det I(f)^-1 + log det complete."""
    relative = relative_information(mu, fraction)
    return SpectralTerms(-np.log(relative), (1 - fraction) / relative)


def exchange_terms(weight: Weight, mu: FloatArray, fraction: float) -> tuple[SpectralTerms, SpectralTerms]:
    """Terms of trace(G I^-1 I_XY I^-1) and of trace(G I^-1 I_X I^-1)."""
    inverse, rest = 1 / relative_information(mu, fraction), 1 - mu
    square, growth = inverse**2, 2 * (1 - fraction) * inverse**3
    if weight is Weight.COMPLETE:
        entry, slope = np.ones_like(mu), 0.0
    elif weight is Weight.MISSING:
        entry, slope = mu, 1.0
    elif weight is Weight.MARGINAL:
        entry, slope = rest, -1.0
    else:
        raise ValueError(f"{weight} is not a function of the pencil.")
    labeled = SpectralTerms(entry * square, slope * square + entry * growth)
    return labeled, SpectralTerms(entry * rest * square, (slope * rest - entry) * square + entry * rest * growth)
