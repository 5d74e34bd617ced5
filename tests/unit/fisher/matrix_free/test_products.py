from dataclasses import replace

import numpy as np
import pytest

from labelworth.fisher.matrix_free.operator import ChainProducts
from labelworth.models.chains.words import ChainCounts
from support.plain_chains import open_counts
from support.small_chains import boltzmann_chain, hidden_markov, partly_labeled


def flat(counts: ChainCounts) -> np.ndarray:
    return np.concatenate([table.reshape(-1, table.shape[-1]) for table in counts])


@pytest.mark.parametrize("n_vectors", [1, 3, 50])
@pytest.mark.parametrize("draw", [hidden_markov, boltzmann_chain])
@pytest.mark.parametrize("weighted", [True, False])
def test_products_equal_those_with_the_counts_spelled_out(draw, weighted: bool, n_vectors: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = draw(rng)
    sequences = partly_labeled(model, [1, 4, 2, 6], rng, without_word=0.2)
    if weighted:
        sequences = replace(sequences, weights=rng.random(4))
    start, pairs, _ = model.word_chain.counts_by_sequence(sequences)
    rows = np.where(sequences.words < 0, 4, sequences.words)
    at_tokens = model.word_chain.marginals(sequences)
    counts = open_counts(start, pairs, at_tokens, rows, sequences.evidence.codes, sequences.offsets, 4)
    words = counts[:, 12:].reshape(4, 4, 3).transpose(0, 2, 1).reshape(4, -1)
    counts = np.concatenate([counts[:, :12], words], axis=1)
    shapes = ((3,), (3, 3), (3, 4))
    vectors = ChainCounts(*(rng.standard_normal((*shape, n_vectors)) for shape in shapes))
    products, weights = ChainProducts(model.word_chain, sequences), sequences.sequence_weights[:, None]
    expected = counts @ flat(vectors)
    np.testing.assert_allclose(products.inner(vectors), expected, rtol=1e-10)
    inner, sums = products.gram(vectors)
    np.testing.assert_allclose(inner, expected, rtol=1e-10)
    np.testing.assert_allclose(flat(sums), counts.T @ (weights * expected), atol=1e-12)
