import numpy as np
import pytest

from labelworth.data.lengths import LengthDistribution
from labelworth.fisher.matrix_free.whitening import Whitening, labeled_shares
from labelworth.fisher.sequences.population import ChainPopulation
from labelworth.policies.spec import parse_policy
from support.chain_models import chain_model
from support.chain_oracle import drawn_tables

LENGTHS = LengthDistribution.from_mapping({1: 0.2, 3: 0.3, 5: 0.5})
MODEL = chain_model("hidden-markov", drawn_tables("hidden-markov", 2, 3, 3))
WHITE = Whitening(MODEL, LENGTHS)


def test_complete_labels_show_everything_and_no_labels_nothing() -> None:
    np.testing.assert_allclose(labeled_shares(WHITE, parse_policy("everything")), 1.0, rtol=1e-12)
    assert not labeled_shares(WHITE, parse_policy("nothing")).any()
    shares = labeled_shares(WHITE, parse_policy("prefix:1"))
    np.testing.assert_allclose(shares[:2], 1.0, rtol=1e-12)
    assert not shares[2:6].any()


@pytest.mark.statistical
@pytest.mark.parametrize("policy", ["window:2", "random:0.4", "0.2*everything + 0.5*every-other + 0.3*prefix:0.5"])
def test_shares_are_those_of_the_uses_that_labels_show(policy: str) -> None:
    """Counted in 40 000 draws, entry by entry: six standard errors of a Poisson count."""
    n_draws = 40_000
    drawn = ChainPopulation.of(MODEL, lengths=LENGTHS).draw(n_draws, np.random.default_rng(0))
    seen, _ = parse_policy(policy).apply(drawn, 1)
    first, pairs, words = np.zeros(2), np.zeros((2, 2)), np.zeros((2, 3))
    known, codes, begins = seen.evidence.codes >= 0, drawn.evidence.codes, np.zeros(drawn.n_tokens, dtype=bool)
    begins[drawn.offsets[:-1]] = True
    np.add.at(first, codes[known & begins], 1)
    np.add.at(words, (codes[known], drawn.words[known]), 1)
    both = np.flatnonzero(known[:-1] & known[1:] & ~begins[1:])
    np.add.at(pairs, (codes[both], codes[both + 1]), 1)
    counted = np.concatenate([first, pairs.ravel(), words.ravel()])
    expected = n_draws * WHITE.counts * labeled_shares(WHITE, parse_policy(policy))
    # Uses come in sequences of up to five.
    assert (np.abs(counted - expected) <= 6 * np.sqrt(5 * expected)).all()
    assert (expected > 500).all()
