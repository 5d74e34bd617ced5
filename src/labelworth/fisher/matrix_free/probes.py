r"""Figures of a policy from random probes: exact ones of a dense neighbor, and what probes say of the difference.

With :math:`M = \frac1n \sum_i M_i`, a draw changes :math:`t = \operatorname{tr} G M^{-1}` by
:math:`-\frac1n U_i' M^{-1} G M^{-1} U_i`. Probes z, :math:`E z z' = G`, know that as :math:`(U_i' M^{-1} z)^2`: a
noisy number, but the noises of two probes have nothing to do with each other, so that products of two different
probes have the right mean. That gives standard errors, and the bias of the inverse.
"""

from dataclasses import dataclass, replace

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.fisher.criteria import CRITERIA, Weight
from labelworth.fisher.matrix_free.operator import DenseNeighbor
from labelworth.fisher.matrix_free.whitening import Whitening
from labelworth.linalg.conjugate_gradients import LockstepConjugateGradients


@dataclass(frozen=True, eq=False)
class Probes:
    r"""Random vectors z on the tangent space, b of each kind."""

    whitening: Whitening
    plain: FloatArray  # (n_named, b): Signs: :math:`E z z' = 1`.
    # (n_named, b): Signs times :math:`d\theta / du`: :math:`E z z'` is the weight of the total variance.
    named: FloatArray
    signs: FloatArray  # (n_named, b): More signs, for the log determinant; a root of the neighbor is taken of them.

    @classmethod
    def drawn(cls, whitening: Whitening, n_probes: int, rng: np.random.Generator) -> "Probes":
        """Draw all of them."""
        signs = rng.integers(0, 2, size=(3, whitening.size, n_probes)) * 2.0 - 1.0
        scaled = (signs[0], whitening.named_scale[:, None] * signs[1], signs[2])
        return cls(whitening, *(whitening.project(block) for block in scaled))

    @property
    def count(self) -> int:
        """How many of each kind."""
        return int(self.plain.shape[1])

    def columns(self, kind: int) -> slice:
        """Where the columns of one kind lie: plain, named, those of the log determinant, and any behind them."""
        return slice(kind * self.count, (kind + 1) * self.count)


@dataclass(frozen=True, eq=False)
class Solved:
    r"""What conjugate gradients found of one policy."""

    probes: Probes
    neighbor: DenseNeighbor  # :math:`M_0`.
    # Of plain and named probes, roots of the neighbor, and products of unlabeled sequences with plain probes.
    run: LockstepConjugateGradients
    partly: float  # The weight of the draws in M.
    inner: FloatArray  # (n, columns of the run): :math:`U_i' x` of every draw and solution.
    # (n, 3 b), optional: The neighbor D_0 of unlabeled sequences, their product D z with plain probes, and what
    # every draw without labels gives with plain probes, their solutions, and those of the log determinant.
    # Absent if M is D.
    dark_neighbor: DenseNeighbor | None = None
    dark: FloatArray | None = None
    dark_inner: FloatArray | None = None

    def inner_of(self, kind: int) -> FloatArray:
        """The inner products of one kind of probes, (n, b)."""
        return self.inner[:, self.probes.columns(kind)]

    def leverage(self) -> FloatArray:
        """U_i' M^-1 U_i times its weight, once per probe, (n, b)."""
        return np.asarray(self.partly * np.square(self.inner_of(2)))


@dataclass(frozen=True)
class Figure:
    """A figure before its bias is taken off, with what probes and draws do to it."""

    value: float
    crossed: FloatArray  # (b, b): :math:`z_k' A z_l`, with the trace of A what the probes were asked for.
    # (n, b) or (n, 1): By how much more information every draw makes it smaller, once per probe.
    influence: FloatArray
    bias: float
    left: float  # What conjugate gradients have left.
    size: float  # What the bias is a share of order d/n of.

    def minus(self, other: "Figure") -> "Figure":
        """The difference of two."""
        return Figure(
            self.value - other.value,
            self.crossed - other.crossed,
            self.influence - other.influence,
            self.bias - other.bias,
            float(np.hypot(self.left, other.left)),
            self.size,
        )

    def estimate(self, scale: float = 1.0) -> tuple[float, float]:
        """The value and its standard error, times `scale`."""
        variance = _probe_variance(self.crossed) + draw_variance(self.influence) + self.left**2
        # The next term of the series, as that of d/n + (d/n)^2 + ...
        variance += (self.bias**2 / self.size) ** 2
        return scale * (self.value - self.bias), scale * float(np.sqrt(variance))


def _probe_variance(crossed: FloatArray) -> float:
    r"""Of the mean of :math:`z_k' A z_k` over random signs z, from their spread and from pairs of probes.

    The variance of one is at most :math:`2 |A|_F^2`, and :math:`E (z_k' A z_l)^2 = |A|_F^2` for different probes.
    """
    n_probes = len(crossed)
    n_pairs = n_probes * (n_probes - 1) / 2
    symmetric = (crossed + crossed.T) / 2
    diagonal = np.diag(symmetric)
    squares = float(np.square(symmetric).sum() - np.square(diagonal).sum())  # twice those of all pairs
    spread = float(np.square(diagonal - diagonal.mean()).sum())
    return (spread + squares) / (n_probes - 1 + n_pairs) / n_probes


def policy_figures(solved: Solved) -> tuple[FloatArray, FloatArray]:
    """Values and standard errors of all figures, (n_figures,)."""
    white, remainders = (
        solved.probes.whitening,
        solved.run.remainders(solved.run.right.shape[1] // solved.probes.count),
    )
    diagonal = solved.neighbor.inverse_diagonal()
    joint = _trace(solved, 0, float(diagonal.sum()), solved.probes.plain, remainders[0])
    total = _trace(solved, 1, float(diagonal @ np.square(white.named_scale)), solved.probes.named, remainders[1])
    marginal = _marginal(solved, remainders[-1])
    volume = _volume(solved, remainders[2])
    return _ordered(
        {
            Weight.NAMED: total.estimate(),
            Weight.MISSING: joint.minus(marginal).estimate(0.5),
            Weight.COMPLETE: joint.estimate(0.5),
            Weight.MARGINAL: marginal.estimate(0.5),
        },
        volume.estimate(),
    )


def complete_figures(
    probes: Probes, near: FloatArray, dark: FloatArray, dark_inner: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Of complete labels: all is known but the trace of what unlabeled sequences tell.

    Parameters
    ----------
    near, dark, dark_inner : array
        D_0, D z and d_i' z.
    """
    white = probes.whitening
    forms, nears = probes.plain.T @ dark, probes.plain.T @ (near @ probes.plain)
    exact = float(np.trace(near)) - white.n_rows
    marginal = _ratio(exact, forms, nears, np.square(dark_inner))
    joint = _known(white.n_parameters, probes.count)
    return _ordered(
        {
            Weight.NAMED: (float(np.square(white.named_scale) @ (1 - white.probabilities)), 0.0),
            Weight.MISSING: joint.minus(marginal).estimate(0.5),
            Weight.COMPLETE: joint.estimate(0.5),
            Weight.MARGINAL: marginal.estimate(0.5),
        },
        (-white.log_determinant(), 0.0),
    )


def _ordered(
    traces: dict[Weight | None, tuple[float, float]], volume: tuple[float, float]
) -> tuple[FloatArray, FloatArray]:
    """Values and standard errors in the order of `CRITERIA`; probes know no worst direction."""
    by_weight = traces | {None: volume}
    pairs = np.array(
        [(np.nan, np.nan) if item.form == "largest" else by_weight[item.weight] for item in CRITERIA.values()]
    )
    return pairs[:, 0], pairs[:, 1]


def _known(value: float, n_probes: int) -> Figure:
    return Figure(value, np.zeros((n_probes, n_probes)), np.zeros((1, n_probes)), 0.0, 0.0, value)


def _ratio(exact: float, forms: FloatArray, nears: FloatArray, influence: FloatArray) -> Figure:
    r"""tr G M^-1 as the exact :math:`\operatorname{tr} G M_0^{-1}` times what probes say of the ratio of the two.

    Parameters
    ----------
    forms, nears : array of shape (b, b)
        :math:`z_k' M^{-1} z_l` and :math:`z_k' M_0^{-1} z_l`.
    influence : array of shape (n, b)
    """
    ratio = np.trace(forms) / np.trace(nears)
    value, unit = float(exact * ratio), exact / np.diag(nears).mean()
    # Where few directions make up the trace, probes meet them by chance, and draws by the same.
    single = np.diag(forms)[None]
    pairs = np.sqrt(mean_of_pairs(single, single))
    return Figure(value, unit * (forms - ratio * nears), value / pairs * influence, 0.0, 0.0, value)


def _trace(solved: Solved, kind: int, exact: float, probes: FloatArray, remainder: float) -> Figure:
    """tr G M^-1, for probes z of covariance G."""
    columns = solved.probes.columns(kind)
    forms = probes.T @ solved.run.solutions[:, columns]
    np.fill_diagonal(forms, solved.run.forms[columns])
    influence = solved.partly * np.square(solved.inner_of(kind))
    figure = _ratio(exact, forms, probes.T @ solved.neighbor.solve(probes), influence)
    products = float(influence.mean(axis=1) @ solved.leverage().mean(axis=1)) / len(influence) ** 2
    bias = figure.value * products / float(np.diag(forms).mean())
    return replace(figure, bias=bias, left=figure.value * remainder)


def _marginal(solved: Solved, remainder: float) -> Figure:
    r"""tr D M^-1, with D what unlabeled sequences tell; M and D come from the same draws."""
    probes, run, partly = solved.probes, solved.run, solved.partly
    if solved.dark_neighbor is None or solved.dark is None or solved.dark_inner is None:
        return _known(probes.whitening.n_parameters, probes.count)
    plain = probes.columns(0)
    # z' M^-1 D z to second order in what both solutions lack.
    forms = run.solutions[:, plain].T @ solved.dark + run.residuals[:, plain].T @ run.solutions[:, probes.columns(3)]
    forms -= solved.neighbor.solve(probes.plain).T @ (solved.dark_neighbor.matrix @ probes.plain)
    value = solved.neighbor.inverse_trace(solved.dark_neighbor) + float(np.diag(forms).mean())
    dark, of_plain, of_volume = (solved.dark_inner[:, probes.columns(kind)] for kind in range(3))
    gathered, crossed = partly * solved.inner_of(0) * solved.inner_of(3), of_volume * solved.inner_of(2)
    bias = float(gathered.mean(axis=1) @ solved.leverage().mean(axis=1)) / len(gathered) ** 2
    bias -= partly * mean_of_pairs(crossed, crossed) / len(gathered)
    return Figure(value, forms, gathered - dark * of_plain, bias, value * remainder, value)


def _volume(solved: Solved, remainder: float) -> Figure:
    """- log det M, in free coordinates."""
    white, leverage, columns = solved.probes.whitening, solved.leverage(), solved.probes.columns(2)
    logs = solved.run.gauss().of(np.log)[columns]
    value = -white.log_determinant() - solved.neighbor.log_determinant() - float(logs.mean())
    # Pairs of different probes know the inverse of M relative to M_0, which is its negative logarithm nearly enough.
    crossed = solved.run.right[:, columns].T @ solved.run.solutions[:, columns]
    signs = solved.probes.signs.T @ solved.probes.signs
    crossed -= np.trace(crossed) / np.trace(signs) * signs
    np.fill_diagonal(crossed, -logs)
    bias = mean_of_pairs(leverage, leverage) / (2 * len(leverage))
    d = white.n_parameters
    return Figure(value, crossed, leverage, bias, d * remainder, d)


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
