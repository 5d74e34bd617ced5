import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from labelworth.fisher.documents.conditional_worth import ConditionalWorth

RIDGE = 0.5


def rows(n_samples=80, n_features=3, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((n_samples, n_features))
    logits = features @ rng.standard_normal((n_features, n_classes))
    labels = np.array([rng.choice(n_classes, p=np.exp(own) / np.exp(own).sum()) for own in logits])
    is_labeled = np.arange(n_samples) < n_samples // 2
    model = LogisticRegression(C=1 / RIDGE).fit(features[is_labeled], labels[is_labeled])
    return features, model.predict_proba(features), is_labeled


def brute_force(features, probabilities, is_labeled):
    """The trace with and without every row, matrices written out."""
    whole = np.hstack([features, np.ones((len(features), 1))])
    spreads = np.array(
        [np.kron(np.diag(p) - np.outer(p, p), np.outer(x, x)) for x, p in zip(whole, probabilities, strict=True)]
    )
    held = RIDGE * np.eye(spreads.shape[1]) + spreads[is_labeled].sum(axis=0)
    weight = spreads.mean(axis=0)

    def error(information):
        return 0.5 * np.trace(np.linalg.solve(information, weight))

    return np.array([error(held) - error(held + spread) for spread in spreads])


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_gains_are_what_one_more_label_takes_off_the_trace(n_classes, is_sparse):
    features, probabilities, is_labeled = rows(n_classes=n_classes)
    given = sp.csr_array(features) if is_sparse else features
    gains = np.mean(
        [ConditionalWorth.at(given, probabilities, is_labeled, RIDGE, seed).gains() for seed in range(40)], axis=0
    )
    exact = brute_force(features, probabilities, is_labeled)
    ratio = gains[~is_labeled] / exact[~is_labeled]
    # 2560 probes: squares spread by about one in thirty; the noise of a denominator adds one in a hundred.
    assert 0.97 < ratio.mean() < 1.05
    assert ratio.std() < 0.08
    assert (gains[is_labeled] == 0).all()
    # The order is that of brute force, and not that of another model.
    order = np.argsort(np.argsort(exact[~is_labeled]))
    assert np.corrcoef(order, np.argsort(np.argsort(gains[~is_labeled])))[0, 1] > 0.98
    other = brute_force(features[::-1], probabilities, is_labeled)
    assert np.corrcoef(order, np.argsort(np.argsort(other[~is_labeled])))[0, 1] < 0.9


def test_one_draw_of_probes_ranks_rows_well():
    features, probabilities, is_labeled = rows(seed=4)
    gains = ConditionalWorth.at(features, probabilities, is_labeled, RIDGE).gains()[~is_labeled]
    exact = brute_force(features, probabilities, is_labeled)[~is_labeled]
    assert np.corrcoef(np.argsort(np.argsort(exact)), np.argsort(np.argsort(gains)))[0, 1] > 0.9
