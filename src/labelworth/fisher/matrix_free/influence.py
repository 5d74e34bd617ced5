r"""What single draws do to figures of sampled information: standard errors, and the bias of an inverse.

With :math:`M = \frac1n \sum_i M_i`, a draw changes :math:`t = \operatorname{tr} G M^{-1}` by
:math:`-\frac1n U_i' M^{-1} G M^{-1} U_i`. Probes z, :math:`E z z' = G`, know that as :math:`(U_i' M^{-1} z)^2`: a
noisy number, but the noises of two probes have nothing to do with each other, so that products of two different
probes have the right mean.
"""

import numpy as np

from labelworth.arrays import FloatArray


def draw_variance(influence: FloatArray) -> float:
    """Of a figure over the draws, from what every one of them does to it, once per probe, (n, b).

    Pairs of probes may say that it is less than nothing, where it is nothing beside the noise of the probes. Then it
    is the variance of their mean, which has that noise in it: too large rather than too small.
    """
    centered = influence - influence.mean(axis=0)
    of_pairs = mean_of_pairs(centered, centered)
    if of_pairs <= 0:
        of_pairs = float(centered.mean(axis=1).var())
    return of_pairs / len(influence)


def mean_of_pairs(first: FloatArray, second: FloatArray) -> float:
    """The mean over draws, and over pairs of different probes, of the products of two (n, b)."""
    n_probes = first.shape[-1]
    crossed = np.vdot(first.sum(axis=-1), second.sum(axis=-1)) - np.vdot(first, second)
    n_draws = first.size // n_probes
    return float(crossed / (n_draws * n_probes * (n_probes - 1)))
