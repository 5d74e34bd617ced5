"""How near the rows of the highest worth come to the best choice there is, on models small enough to search."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize_scalar

from labelworth.data.evidence import Evidence
from labelworth.data.lengths import LengthDistribution
from labelworth.data.samples import Samples
from labelworth.estimation.fit import settled
from labelworth.fisher.documents.worth import row_worth
from labelworth.models.classes.gaussian import GaussianFamily
from labelworth.models.classes.multinomial import MultinomialFamily, MultinomialModel
from labelworth.policies.choosing import Choosing


class Choices:
    """The excess log-loss of every choice of open rows at a fit, by the formula."""

    def __init__(self, family, samples):
        fitted = settled(family, samples)
        self.worth = row_worth(fitted.model, fitted.family, samples)
        self.is_open = samples.evidence.is_unlabeled
        self.n_open = int(self.is_open.sum())

    def whole(self, shares):
        every = np.zeros(len(self.is_open))
        every[self.is_open] = shares
        return every

    def error(self, shares):
        return float(self.worth.error(self.whole(shares)).values[0])

    def slopes(self, shares):
        return self.worth.slopes(self.whole(shares))[self.is_open]

    def gains(self, shares):
        return self.worth.gains(self.whole(shares))[self.is_open]

    def steepest(self, slopes, count, least):
        """The linear program: of all choices of so many rows the one along which the error falls most."""
        shares, room = np.full(self.n_open, least), count - least * self.n_open
        order, n_full = np.argsort(-slopes), int(room / (1 - least))
        shares[order[:n_full]] = 1.0
        shares[order[n_full]] += count - shares.sum()
        return shares

    def best(self, count, least=0.0, gap=1e-3):
        """By Frank and Wolfe's steps, until convexity bounds what any other choice could gain by this share."""
        shares = np.full(self.n_open, count / self.n_open)
        for _ in range(500):
            slopes, error = self.slopes(shares), self.error(shares)
            step = self.steepest(slopes, count, least) - shares
            if slopes @ step <= gap * error:
                return shares, error
            part = minimize_scalar(
                lambda part, at=shares, along=step: self.error(at + part * along),
                bounds=(0, 1),
                method="bounded",
                options={"xatol": 1e-4},
            ).x
            shares = shares + part * step
        raise AssertionError("no certificate")


def documents_of_two_words():
    """Only three documents of two words can be: 'aa', 'ab' and 'bb'."""
    counts = np.repeat([[2, 0], [1, 1], [0, 2]], [48, 44, 28], axis=0)
    codes = np.full(120, -1)
    codes[[0, 1, 2, 3, 48, 49, 50, 51, 92, 93, 94, 95]] = [0, 0, 0, 1, 0, 1, 0, 1, 1, 1, 1, 0]
    samples = Samples(sp.csr_array(counts.astype(float)), Evidence(codes, ("x", "y")))
    return Choices(MultinomialFamily.for_samples(samples, smoothing=0.5, class_smoothing=0.5), samples)


def test_brute_force_over_all_choices_finds_the_certified_one():
    choices, count, sizes = documents_of_two_words(), 30, np.array([44, 40, 24])
    found = {}
    for first in np.linspace(0, 1, 51):
        for second in np.linspace(0, 1, 51):
            third = (count - sizes[:2] @ [first, second]) / sizes[2]
            if 0 <= third <= 1:
                shares = (first, second, third)
                found[shares] = choices.error(np.repeat(shares, sizes))
    lowest = min(found, key=found.__getitem__)
    shares, error = choices.best(count, gap=1e-4)
    assert error == pytest.approx(found[lowest], rel=2e-4)
    even = choices.error(np.full(108, count / 108))
    assert error < 0.97 * even
    # The best is sure of a document or leaves it out, but where its worth is just at the threshold.
    own = np.array([part.mean() for part in np.split(shares, np.cumsum(sizes)[:-1])])
    slopes = np.array([part[0] for part in np.split(choices.slopes(shares), np.cumsum(sizes)[:-1])])
    partly = (own > 0.03) & (own < 0.97)
    assert np.ptp(slopes[partly]) < 0.02 * slopes.max()
    assert (slopes[own <= 0.03] <= slopes[partly].min()).all()
    assert (slopes[own >= 0.97] >= slopes[partly].max()).all()


def rare_gaussian(share):
    rng = np.random.default_rng(0)
    codes = (rng.random(300) < share).astype(int)
    vectors = rng.standard_normal((300, 2)) + 1.5 * codes[:, None]
    samples = Samples(vectors, Evidence(np.where(np.arange(300) < 60, codes, -1), (0, 1)))
    return Choices(GaussianFamily.for_samples(samples, "shared", smoothing=1.0), samples)


def drawn_documents(words, shares, length):
    model = MultinomialModel(
        tuple("abc"[: len(shares)]), np.array(shares), np.array(words), LengthDistribution.single(length)
    )
    samples = model.sample(300, np.random.default_rng(0)).hide(np.arange(60, 300))
    return Choices(MultinomialFamily.for_samples(samples, smoothing=1.0, class_smoothing=1.0), samples)


TWO = [[0.45, 0.30, 0.15, 0.10], [0.20, 0.20, 0.25, 0.35]]
THREE = [[0.5, 0.2, 0.1, 0.1, 0.1], [0.1, 0.5, 0.2, 0.1, 0.1], [0.1, 0.1, 0.2, 0.3, 0.3]]
MODELS = {
    "gaussian, rare": lambda: rare_gaussian(0.1),
    "gaussian, even": lambda: rare_gaussian(0.5),
    "documents": lambda: drawn_documents(TWO, [0.6, 0.4], 4),
    "documents, rare": lambda: drawn_documents(TWO, [0.9, 0.1], 4),
    "documents, three classes": lambda: drawn_documents(THREE, [0.5, 0.3, 0.2], 6),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("count", [12, 40])
def test_the_rows_of_the_highest_worth_are_nearly_the_best(name, count):
    choices = MODELS[name]()
    choosing = Choosing("worth")
    gains = choices.gains(np.zeros(choices.n_open))
    drawn, _ = choosing.probabilities(gains, count)
    least = (choosing.random_share + choosing.floor) * count / choices.n_open
    _, best = choices.best(count, least)
    _, free = choices.best(count)
    even = choices.error(np.full(choices.n_open, count / choices.n_open))
    # Within 6 % of the best choice with the same random share and floor.
    assert choices.error(drawn) < 1.06 * best
    assert choices.error(drawn) < 0.96 * even
    # In proportion to their worth rows would do less, even without a random share.
    assert choices.error(drawn) < choices.error(np.minimum(count * gains / gains.sum(), 1.0))
    # One by one, every row at its worth beside those taken, nothing is lost.
    taken = np.zeros(choices.n_open)
    for _ in range(count):
        taken[np.argmax(np.where(taken > 0, -1.0, choices.gains(taken)))] = 1.0
    assert choices.error(taken) < 1.005 * free
