"""prop:consistency1: with a positive labeled fraction the maximum-likelihood estimate converges to the truth.

False-alarm rate 1e-6 per assertion.
"""

import numpy as np
import pytest

from labelworth.data.lengths import LengthDistribution
from labelworth.fisher.documents.population import enumerated_information
from labelworth.fisher.information import of_fraction, over_fractions
from labelworth.models.classes.multinomial import MultinomialModel
from support.oracles import enumerated_multinomial
from support.replicates import draw_replicates, estimate
from support.statistical import assert_mean_is

pytestmark = pytest.mark.statistical

SIZES = (500, 2000, 8000, 32000)
N_REPLICATES = 400
WORDS = [[0.6, 0.3, 0.1], [0.15, 0.25, 0.6]]
ORACLE = enumerated_multinomial([0.4, 0.6], WORDS, {4: 1.0})
BLIND = enumerated_multinomial([0.4, 0.6], [[0.7, 0.3], [0.2, 0.8]], {1: 1.0})
"""One token of two words: the documents alone cannot tell the classes' words from their shares."""


def distances(oracle, n_samples, label_probabilities, seed, start=None) -> np.ndarray:
    """Euclidean errors of many estimates."""
    rng = np.random.default_rng(seed)
    data = draw_replicates(oracle, n_samples, np.asarray(label_probabilities), N_REPLICATES, rng)
    return np.linalg.norm(estimate(data, start) - oracle.theta, axis=1)


@pytest.mark.parametrize(("oracle", "fraction"), [(ORACLE, 0.1), (BLIND, 0.2)], ids=["seen", "blind"])
def test_estimates_converge_to_the_truth(oracle, fraction) -> None:
    """The share outside a small ball goes to zero, also where only labels see a direction."""
    radius = 0.05
    outside = [
        float(np.mean(distances(oracle, size, [fraction] * 2, seed) > radius)) for seed, size in enumerate(SIZES)
    ]
    assert outside == sorted(outside, reverse=True)
    assert outside[0] > 0.2
    assert outside[-1] == 0.0


def test_the_squared_error_falls_like_one_over_n_at_the_predicted_rate() -> None:
    model = MultinomialModel(("a", "b"), [0.4, 0.6], WORDS, LengthDistribution.single(4))
    information = enumerated_information(model)
    free = np.trace(information.covariance(of_fraction(0.1)))
    assert free < over_fractions(information, "total_variance", np.array([0.1])).values[0]
    for seed, size in enumerate(SIZES[1:]):
        squares = size * np.square(distances(ORACLE, size, [0.1, 0.1], 10 + seed))
        assert_mean_is(squares, free, model_tolerance=0.1 * free)


def test_without_labels_a_blind_direction_is_never_found() -> None:
    """The negative control: where documents do not tell, more of them do not help."""
    wrong = np.tile([[0.5, 0.5], [0.3, 0.7]], (N_REPLICATES, 1, 1))
    far = [np.median(distances(BLIND, size, [0.0, 0.0], 20 + seed, wrong)) for seed, size in enumerate(SIZES)]
    assert min(far) > 0.1
    assert far[-1] > 0.9 * far[0]


def test_labels_not_drawn_at_random_lead_elsewhere() -> None:
    """The negative control: labeling one class five times as often breaks the proposition's condition."""
    far = [np.median(distances(ORACLE, size, [0.5, 0.1], 30 + seed)) for seed, size in enumerate(SIZES[2:])]
    fair = [np.median(distances(ORACLE, size, [0.3, 0.3], 40 + seed)) for seed, size in enumerate(SIZES[2:])]
    assert far[1] > 0.9 * far[0]
    assert far[1] > 5 * fair[1]
