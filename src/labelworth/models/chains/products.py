"""Expected counts of sequences as a linear map: products with blocks of vectors, never the counts themselves."""

from threading import Lock

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.data.sequences import Sequences
from labelworth.kernels.chains.blocks import WIDEST
from labelworth.kernels.chains.layout import lay_out, owners, unweighted
from labelworth.kernels.chains.products import CountBlock, count_products, empty_block
from labelworth.kernels.rows.tables import padded_width
from labelworth.models.chains.words import ChainCounts, WordChain


class ChainProducts:
    r"""The map from vectors in the space of counts to one number per sequence, and its transpose.

    The rows of the map are :math:`E[T_i | x_i, \text{evidence}_i]`: expected first labels, neighbors and words beside
    labels, where labels leave them open; what stands between known labels alone does not count, and neither do words
    that were not seen (`NO_WORD`). A product costs one recursion per sequence, for any number of vectors at once.

    Parameters
    ----------
    word_chain : WordChain
        The potentials of a model.
    sequences : Sequences
        Words and evidence; their weights are those in `transpose` and `gram`.

    Notes
    -----
    A block of vectors is a `ChainCounts` of arrays with one axis more, at the end: start (K, b), pairs (K, K, b),
    emission (K, V, b).
    """

    def __init__(self, word_chain: WordChain, sequences: Sequences, n_threads: int | None = None) -> None:
        self._word_chain = word_chain
        tokens = word_chain.tokens(sequences)
        if sequences.weights is None:
            tokens = unweighted(tokens)
        self._layout = lay_out(tokens, word_chain.n_words + 1)
        self._owners = owners(tokens)
        self._n_threads = n_threads
        self._in_use = Lock()

    @property
    def n_sequences(self) -> int:
        """How many rows the map has."""
        return len(self._layout.tokens.offsets) - 1

    def inner(self, vectors: ChainCounts) -> FloatArray:
        """<E[T_i], v> for every sequence and vector, (n_sequences, b)."""
        nothing = np.zeros((self.n_sequences, vectors.start.shape[1]))
        return self._run(vectors, nothing, 1.0, False)[0]

    def transpose(self, coefficients: FloatArray) -> ChainCounts:
        """sum_i w_i c_i E[T_i] for coefficients c (n_sequences, b), with w the weights of the sequences."""
        return self._run(None, -coefficients, 0.0, True)[1]

    def gram(self, vectors: ChainCounts, offsets: FloatArray | None = None) -> tuple[FloatArray, ChainCounts]:
        """Both at once: u_i = <E[T_i], v> and sum_i w_i (u_i - offset_i) E[T_i].

        Parameters
        ----------
        vectors : ChainCounts
            Of b vectors.
        offsets : array of shape (n_sequences, b), optional
            Zeros when absent.
        """
        if offsets is None:
            offsets = np.zeros((self.n_sequences, vectors.start.shape[1]))
        return self._run(vectors, offsets, 1.0, True)

    def _run(
        self, vectors: ChainCounts | None, offsets: FloatArray, scale: float, summed: bool
    ) -> tuple[FloatArray, ChainCounts]:
        """In groups of at most `WIDEST` vectors."""
        parts = [
            self._run_group(vectors, offsets, slice(first, first + WIDEST), scale, summed)
            for first in range(0, offsets.shape[1], WIDEST)
        ]
        sums = ChainCounts(
            *(np.concatenate(tables, axis=-1) for tables in zip(*(part[1] for part in parts), strict=True))
        )
        return np.concatenate([part[0] for part in parts], axis=1), sums

    def _run_group(
        self, vectors: ChainCounts | None, offsets: FloatArray, group: slice, scale: float, summed: bool
    ) -> tuple[FloatArray, ChainCounts]:
        chain, nodes = self._word_chain
        part = offsets[:, group]
        n_vectors = part.shape[1]
        padded = np.zeros((self.n_sequences, padded_width(n_vectors)))
        padded[:, :n_vectors] = part
        block = self._padded(vectors, group, padded.shape[1])
        with self._in_use:
            inner, sums = count_products(
                self._layout, self._owners, chain, nodes, block, padded, scale, summed, self._n_threads
            )
        return inner[:, :n_vectors], self._counts(sums, padded.shape[1], n_vectors)

    def _padded(self, vectors: ChainCounts | None, group: slice, n_vectors: int) -> CountBlock:
        """In the form of the kernel: labels filled up, words first, a last row of zeros for the word not seen."""
        width = len(self._word_chain.chain.start)
        if vectors is None:
            return empty_block(0, width, n_vectors)
        start, pairs, emission = (table[..., group] for table in vectors)
        n_labels, n_words, n_given = emission.shape
        block = empty_block(n_words + 1, width, n_vectors)
        block.start.reshape(width, n_vectors)[:n_labels, :n_given] = start
        block.pairs.reshape(width, width, n_vectors)[:n_labels, :n_labels, :n_given] = pairs
        rows = block.rows.reshape(n_words + 1, width, n_vectors)
        rows[:n_words, :n_labels, :n_given] = emission.transpose(1, 0, 2)
        return block

    def _counts(self, block: CountBlock, n_vectors: int, n_kept: int) -> ChainCounts:
        width, n_labels = len(self._word_chain.chain.start), len(self._word_chain.chain.log_start)
        start = block.start.reshape(width, n_vectors)[:n_labels, :n_kept]
        pairs = block.pairs.reshape(width, width, n_vectors)[:n_labels, :n_labels, :n_kept]
        emission = block.rows.reshape(-1, width, n_vectors)[: self._word_chain.n_words, :n_labels, :n_kept]
        return ChainCounts(start, pairs, emission.transpose(1, 0, 2))
