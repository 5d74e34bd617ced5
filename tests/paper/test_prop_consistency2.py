"""prop:consistency2: under an identifiable labeling policy the maximum-likelihood estimate converges to the truth.

False-alarm rate 1e-6 per assertion where there is one; the rest are statements about medians with a wide margin.
"""

from itertools import pairwise

import numpy as np
import pytest

from labelworth.criteria.information import information
from support.chain_models import chain_model
from support.chain_oracle import ChainOracle
from support.chain_replicates import draw_seen, estimate

pytestmark = pytest.mark.statistical

SIZES = (1000, 8000, 64_000)
N_REPLICATES = 150
LENGTHS = {2: 0.5, 3: 0.5}
TABLES = {
    "hidden-markov": {
        "start": [0.6, 0.4],
        "transition": [[0.75, 0.25], [0.3, 0.7]],
        "emission": [[0.8, 0.2], [0.25, 0.75]],
    },
    "boltzmann-chain": {"transition": [[0.6, -0.2], [-0.4, 0.5]], "emission": [[0.9, -0.6], [-0.7, 0.6]]},
}
POLICIES = {
    "full": {"everything": 1.0},
    "window": {"window:2": 1.0},
    "prefix": {"prefix:0.5": 1.0},
    "first only": {"prefix:1": 1.0},
}


def distances(oracle: ChainOracle, policy: dict[str, float], n_samples: int, seed: int, start=None) -> np.ndarray:
    """How far many estimates are from the truth, on the estimable contrasts, in standard errors of complete labels.

    Each begins somewhere near the truth, unless `start` says where.
    """
    rng = np.random.default_rng(seed)
    data = draw_seen(oracle, policy, n_samples, N_REPLICATES, rng)
    begin = np.tile(oracle.theta if start is None else start, (N_REPLICATES, 1))
    begin += (0.05 if oracle.kind == "hidden-markov" else 0.3) * rng.uniform(-1, 1, size=begin.shape)
    found = (estimate(oracle, data, begin) - oracle.theta) @ oracle.estimable
    whole = oracle.estimable.T @ oracle.rule_information("everything") @ oracle.estimable
    return np.sqrt(np.einsum("ra,ab,rb->r", found, whole, found))


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("name", POLICIES)
def test_estimates_converge_to_the_truth_at_the_rate_of_the_square_root(kind, name) -> None:
    oracle = ChainOracle(kind, TABLES[kind], LENGTHS)
    medians = [np.median(distances(oracle, POLICIES[name], size, seed)) for seed, size in enumerate(SIZES)]
    # Eight times the sequences: about 2.8 times as close.
    for larger, smaller in pairwise(medians):
        assert 2.0 < larger / smaller < 4.5


@pytest.mark.parametrize("kind", TABLES)
def test_without_a_label_the_names_of_the_labels_are_never_found(kind) -> None:
    """The control: a start near the truth with its labels swapped stays there, however many sequences there are."""
    oracle = ChainOracle(kind, {**TABLES[kind]}, {4: 1.0})
    swapped = {
        name: np.asarray(table)[::-1, ::-1] if name == "transition" else np.asarray(table)[::-1]
        for name, table in TABLES[kind].items()
    }
    start = ChainOracle(kind, swapped, {4: 1.0}).theta
    far = [np.median(distances(oracle, {"nothing": 1.0}, 512_000, 10, start))]
    near = [np.median(distances(oracle, {"everything": 0.1, "nothing": 0.9}, 512_000, 11, oracle.theta))]
    assert far[0] > 0.5 > 0.05 > near[0]


def test_a_policy_that_leaves_a_direction_open_never_finds_it() -> None:
    """The control: one token and two words of two labels; the words alone do not tell the labels' words apart."""
    tables = {**TABLES["hidden-markov"]}
    oracle = ChainOracle("hidden-markov", tables, {1: 1.0})
    table = information(
        chain_model("hidden-markov", tables), policies=["nothing", "everything"], lengths={1: 1.0}, n_samples=1
    )
    assert [point.is_identifiable for point in table.points] == [False, True]
    start = ChainOracle("hidden-markov", {**tables, "emission": [[0.65, 0.35], [0.475, 0.525]]}, {1: 1.0}).theta
    far = [np.median(distances(oracle, {"nothing": 1.0}, size, 20 + seed, start)) for seed, size in enumerate(SIZES)]
    assert min(far) > 0.2
    assert far[-1] > 0.8 * far[0]
