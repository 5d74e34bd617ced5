import numpy as np
import pytest
import scipy.sparse as sp

from labelworth.data.evidence import Evidence
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError, NotIdentifiableError
from labelworth.estimation.fit import at_maximum, settled
from labelworth.estimators.pools.documents import ClassLearner
from labelworth.fisher.documents.worth import DenseWorth, ProbedWorth, row_worth
from labelworth.models.classes.bernoulli import BernoulliFamily
from labelworth.models.classes.multinomial import MultinomialFamily
from labelworth.models.classes.responsibilities import condition
from support.small_models import CASES, drawn_multinomial


def partly_labeled(case, n_samples=60, n_labeled=20, seed=3):
    samples = case.draw(np.random.default_rng(seed)).sample(n_samples, np.random.default_rng(seed + 1))
    return samples.hide(np.arange(n_labeled, n_samples))


def fitted(case, samples):
    return settled(case.family(samples, smoothing=0.8, class_smoothing=0.6), samples)


def outer_products(model, samples):
    """Var(S | x) of every row, one by one, (n, d, d)."""
    responsibilities, _ = condition(model.log_joint(samples.hide()), samples.hide().evidence)
    matrices = []
    for row in range(samples.n_samples):
        scores, r = model.class_scores(samples.take([row]))[0], responsibilities[row]
        mean = r @ scores
        matrices.append(sum(share * np.outer(s - mean, s - mean) for share, s in zip(r, scores, strict=True)))
    return np.array(matrices)


def held_information(fit, samples):
    """Of labeled rows all of it, of the others without what the missing label takes away, and the prior."""
    responsibilities, _ = condition(fit.model.log_joint(samples), samples.evidence)
    spreads, is_open = outer_products(fit.model, samples), samples.evidence.is_unlabeled
    complete = fit.model.complete_curvature(samples, responsibilities)
    return complete + fit.family.prior_curvature(fit.model) - spreads[is_open].sum(axis=0), spreads


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_gains_are_what_one_more_label_takes_off_the_trace(case):
    samples = partly_labeled(case)
    fit = fitted(case, samples)
    worth = row_worth(fit.model, fit.family, samples)
    held, spreads = held_information(fit, samples)
    weight = spreads.mean(axis=0)

    def error(information):
        return 0.5 * np.trace(np.linalg.solve(information, weight))

    brute = [error(held) - error(held + spread) for spread in spreads]
    is_open = samples.evidence.is_unlabeled
    np.testing.assert_allclose(worth.gains(np.zeros(60))[is_open], np.array(brute)[is_open], rtol=1e-7, atol=1e-14)
    shares = np.random.default_rng(0).uniform(0, 1, samples.n_samples)
    assert (worth.gains(shares)[~is_open] == 0).all()
    mixed = held + np.einsum("n,nde->de", shares * is_open, spreads)
    np.testing.assert_allclose(worth.error(shares).values, [error(mixed)], rtol=1e-8)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_greedy_order_is_that_of_brute_force(case):
    samples = partly_labeled(case, n_samples=40, n_labeled=15)
    fit = fitted(case, samples)
    worth = DenseWorth.at(fit.model, fit.family.prior_curvature(fit.model), samples)
    held, spreads = held_information(fit, samples)
    weight, left = spreads.mean(axis=0), list(np.flatnonzero(samples.evidence.is_unlabeled))
    taken = np.zeros(samples.n_samples)
    for _ in range(6):
        errors = [np.trace(np.linalg.solve(held + spreads[row], weight)) for row in left]
        gains = worth.gains(taken)
        best = left[int(np.argmin(errors))]
        # Of rows that are alike any is the best.
        assert gains[best] == pytest.approx(gains[left].max(), rel=1e-9)
        held = held + spreads[best]
        left.remove(best)
        taken[best] = 1.0


def test_slopes_are_derivatives_of_the_error():
    case = CASES[0]
    samples = partly_labeled(case)
    fit = fitted(case, samples)
    worth = row_worth(fit.model, fit.family, samples)
    shares = np.full(samples.n_samples, 0.3)
    slopes = worth.slopes(shares)
    for row in (25, 40, 59):
        step = np.zeros_like(shares)
        step[row] = 1e-5
        change = worth.error(shares + step).values[0] - worth.error(shares - step).values[0]
        assert slopes[row] == pytest.approx(-change / 2e-5, rel=1e-6)


def with_many_words(n_samples=400, n_labeled=60, n_words=30):
    model = drawn_multinomial(3, n_words, {8: 1.0}, seed=5)
    samples = model.sample(n_samples, np.random.default_rng(6)).hide(np.arange(n_labeled, n_samples))
    return samples, settled(MultinomialFamily.for_samples(samples, smoothing=0.5, class_smoothing=1.0), samples)


def test_probes_agree_with_matrices_within_their_noise():
    samples, fit = with_many_words()
    exact = DenseWorth.at(fit.model, fit.family.prior_curvature(fit.model), samples)
    probed = [ProbedWorth.at(fit.model, fit.family, samples, seed) for seed in range(12)]
    shares = np.random.default_rng(1).uniform(0, 0.5, samples.n_samples)
    for own in (np.zeros_like(shares), shares):
        errors = np.array([worth.error(own).values[0] for worth in probed])
        # Twelve means of 64 probes: five standard errors are passed once in three thousand times or less often.
        assert abs(errors.mean() - exact.error(own).values[0]) < 6 * errors.std(ddof=1) / np.sqrt(12)
    slopes = np.mean([worth.slopes(shares) for worth in probed], axis=0)
    is_open = samples.evidence.is_unlabeled
    ratio = slopes[is_open] / exact.slopes(shares)[is_open]
    # 768 draws of squares of about two normals each: a spread of one in twenty at most.
    assert 0.97 < ratio.mean() < 1.03
    assert ratio.std() < 0.1


def test_gains_of_probes_keep_what_the_row_says_itself():
    samples, fit = with_many_words()
    worth, none = DenseWorth.at(fit.model, fit.family.prior_curvature(fit.model), samples), np.zeros(400)
    exact, slopes = worth.gains(none), worth.slopes(none)
    gains = np.mean([ProbedWorth.at(fit.model, fit.family, samples, seed).gains(none) for seed in range(12)], axis=0)
    is_open = samples.evidence.is_unlabeled
    # An upper bound that lies nearer to the gain than the slope does.
    assert (gains[is_open] > 0.85 * exact[is_open]).all()
    assert np.abs(gains - exact)[is_open].sum() < 0.75 * np.abs(slopes - exact)[is_open].sum()
    assert np.corrcoef(np.argsort(np.argsort(gains)), np.argsort(np.argsort(exact)))[0, 1] > 0.97


def test_models_with_many_parameters_that_are_not_multinomial_are_refused():
    rng = np.random.default_rng(0)
    features = rng.integers(0, 2, size=(50, 200)).astype(float)
    samples = Samples(sp.csr_array(features), Evidence(np.arange(50) % 2, ("a", "b"))).hide(np.arange(20, 50))
    fit = settled(BernoulliFamily.for_samples(samples, smoothing=1.0), samples)
    with pytest.raises(InvalidInputError, match="choose rows by uncertainty"):
        row_worth(fit.model, fit.family, samples)


def test_what_is_no_maximum_is_refused():
    samples, fit = with_many_words()
    far = drawn_multinomial(3, 30, {8: 1.0}, seed=11)
    with pytest.raises(NotIdentifiableError, match="not a strict maximum"):
        ProbedWorth.at(far, fit.family, samples, 0).gains(np.zeros(400))


def with_a_row_between_two_classes():
    """Two classes alike but for their words, and a row of words that nobody else uses: EM leaves it at one half."""
    rng = np.random.default_rng(0)
    half = np.add(rng.integers(0, 3, size=(20, 3)), [1, 0, 0])
    one, other = np.pad(half, ((0, 0), (0, 7))), np.pad(half, ((0, 0), (3, 4)))
    counts = np.vstack([one, other, one[:10], other[:10], [0] * 6 + [1] * 4])
    codes = np.repeat([0, 1, -1], [20, 20, 21])
    samples = Samples(sp.csr_array(counts.astype(float)), Evidence(codes, ("a", "b")))
    return samples, MultinomialFamily.for_samples(samples, smoothing=0.1, class_smoothing=1.0)


@pytest.mark.parametrize("kind", ["matrices", "probes"])
def test_from_a_saddle_em_climbs_on_to_where_rows_have_a_worth(kind):
    samples, family = with_a_row_between_two_classes()
    saddle = settled(family, samples)
    posterior = np.exp(saddle.model.log_joint(samples.take([60])))
    assert posterior[0, 0] == pytest.approx(posterior[0, 1], rel=1e-12)
    tried = []

    def gains(fit):
        tried.append(fit.objective)
        if kind == "probes":
            return ProbedWorth.at(fit.model, fit.family, samples, 0).gains(np.zeros(61))
        return row_worth(fit.model, fit.family, samples).gains(np.zeros(61))

    with pytest.raises(NotIdentifiableError, match="not a strict maximum"):
        gains(saddle)
    found = at_maximum(gains, family, samples, saddle.model)
    assert (found >= 0).all()
    assert found.any()
    # The row was given to one of the classes, and that is more likely.
    assert tried[-1] > tried[0] + 1
    learned = ClassLearner(family).worths(saddle.model, samples)
    assert learned.any()


def test_what_no_climb_mends_is_still_refused():
    samples, family = with_a_row_between_two_classes()
    seen = []

    def never(fit):
        seen.append(fit.objective)
        raise NotIdentifiableError("Something stays open.")

    with pytest.raises(NotIdentifiableError, match="Something stays open"):
        at_maximum(never, family, samples, settled(family, samples).model)
    assert len(seen) == 4
    assert (np.diff(seen) >= 0).all()
