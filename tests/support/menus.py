"""Small menus of arms with known information, and what plain linear algebra says of designs on them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from labelworth.fisher.dense import DenseInformation
from labelworth.models.coordinates import Coordinates, FreeTable, SimplexRows
from labelworth.tradeoff.accuracy import Accuracy
from labelworth.tradeoff.asymptotic_accuracy import AsymptoticAccuracy
from labelworth.tradeoff.costs import Costs
from labelworth.tradeoff.problem import Question, Solution
from labelworth.tradeoff.solve import solve
from labelworth.tradeoff.whole_counts import whole_counts

RULES = ("everything", "random:0.5", "every-other", "window:2", "random:0.2", "random:0.1")


def coordinates(n_free: int) -> Coordinates:
    """A table of free numbers and, for more than one parameter, a row of probabilities, whose last is not free."""
    if n_free == 1:
        return Coordinates((FreeTable("mean", [""], ["x"]),))
    words = [f"word{place}" for place in range(n_free)]
    return Coordinates((SimplexRows("word", ["spam"], words), FreeTable("mean", [""], ["x"])))


def random_menu(rng: np.random.Generator, n_arms: int, n_free: int, n_blind: int = 0) -> DenseInformation:
    """Everything, some rules between, and nothing; "nothing" does not see `n_blind` directions at all."""
    root = rng.standard_normal((n_free, n_free))
    complete = root @ root.T / n_free + 0.2 * np.eye(n_free)
    lower = np.linalg.cholesky(complete)
    matrices = [complete]
    for arm in range(1, n_arms):
        shares = rng.uniform(0.02, 0.9, n_free) ** 2
        if arm == n_arms - 1:
            shares[:n_blind] = 0.0
        rotation = np.linalg.qr(rng.standard_normal((n_free, n_free)))[0]
        matrices.append(lower @ (rotation * shares) @ rotation.T @ lower.T)
    labels = np.concatenate([[10.0], np.sort(rng.uniform(1.0, 8.0, n_arms - 2))[::-1], [0.0]])
    rules = (*RULES[: n_arms - 1], "nothing")
    return DenseInformation(coordinates(n_free), rules, np.stack(matrices), 0, n_arms - 1, labels, "enumeration")


def crossed_menu(n_free: int) -> DenseInformation:
    """One arm per direction, so that the worst direction is as good as it can be where all are equally bad."""
    table = Coordinates((FreeTable("mean", [""], [f"x{place}" for place in range(n_free)]),))
    matrices = [np.eye(n_free), *(np.diag(row) for row in 0.02 + 0.9 * np.eye(n_free))]
    rules = ("everything", *RULES[1:n_free], "nothing")
    labels = np.full(n_free + 1, 1.0)
    labels[0] = 3.0 * n_free
    return DenseInformation(table, rules, np.stack(matrices), 0, n_free, labels, "enumeration")


def plain_errors(menu: DenseInformation, criterion: str, designs, held=None) -> np.ndarray:
    """The criterion by inverting the sum of the matrices, for designs of shape (n, n_arms)."""
    totals = np.tensordot(designs, menu.matrices, axes=1) + (0 if held is None else held)
    covariances = np.linalg.inv(totals)
    jacobian = menu.coordinates.jacobian()
    everything, nothing = menu.matrices[menu.everything], menu.matrices[menu.nothing]
    named = jacobian @ covariances @ jacobian.T
    trace = np.einsum
    return {
        "total_variance": lambda: trace("nii->n", named),
        "worst_direction": lambda: np.linalg.eigvalsh(named)[:, -1],
        "excess_log_loss": lambda: trace("ij,nji->n", everything - nothing, covariances) / 2,
        "excess_joint_log_loss": lambda: trace("ij,nji->n", everything, covariances) / 2,
        "excess_marginal_log_loss": lambda: trace("ij,nji->n", nothing, covariances) / 2,
        "log_volume": lambda: np.linalg.slogdet(covariances)[1],
    }[criterion]()


def plain_error(menu: DenseInformation, criterion: str, counts, held=None) -> float:
    """That of one design."""
    return float(plain_errors(menu, criterion, np.asarray(counts)[None], held)[0])


def accuracy_of(
    menu: DenseInformation,
    criterion: str,
    *,
    arms: Sequence[str] | None = None,
    held: np.ndarray | None = None,
    make: type[AsymptoticAccuracy] = AsymptoticAccuracy,
) -> AsymptoticAccuracy:
    """The accuracy of some of the rules, with information of any kind already held."""
    if held is None:
        return make.of(menu, criterion, menu=arms)
    information = menu.with_rule("held", held)
    return make.of(information, criterion, menu=menu.rules if arms is None else arms, held={"held": 1.0})


def by_matrices(
    information: DenseInformation, criterion: str, *, held: Mapping[str, float] | None = None
) -> AsymptoticAccuracy:
    """The same arms with a rule beside them that nobody uses: no two rules that are diagonal at once."""
    three = information.with_rule("unused", information.matrices[0] / 2)
    return AsymptoticAccuracy.of(three, criterion, menu=information.rules, held=held)


def fitting_grid(prices, money: float, pool: float, steps: int) -> np.ndarray:
    """Designs in all proportions on a fine simplex grid, each as large as the money and the pool allow.

    More samples never hurt a right model, so the best design is among the largest.
    """
    prices = np.asarray(prices)
    most = np.minimum(pool, np.divide(money, prices, out=np.full(len(prices), np.inf), where=prices > 0))
    axes = np.meshgrid(*[np.arange(steps + 1)] * (len(prices) - 1), indexing="ij")
    parts = np.stack([axis.ravel() for axis in axes], axis=1)
    parts = parts[parts.sum(axis=1) <= steps]
    whole = np.column_stack([parts, steps - parts.sum(axis=1)]) * most / steps
    return whole * np.minimum(money / np.maximum(whole @ prices, 1e-300), pool / whole.sum(axis=1))[:, None]


def solved(accuracy: Accuracy, costs: Costs, **asked: float) -> Solution:
    """The best design for a budget, a target or alpha, and a pool."""
    return solve(accuracy, costs, Question.of(**asked))


@dataclass(frozen=True)
class Rounded:
    criterion: str
    counts: np.ndarray
    cost: float
    error: float


def rounded(accuracy: Accuracy, costs: Costs, solution: Solution) -> Rounded:
    """A solution in whole samples, with what they cost and err."""
    counts = whole_counts(accuracy, costs, solution)
    return Rounded(accuracy.criterion, counts, costs.cost(counts), accuracy.error(counts))
