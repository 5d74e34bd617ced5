"""Expected counts of sequences as a linear map: products with blocks of vectors, never the counts themselves."""

from threading import Lock

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.data.sequences import Sequences
from labelworth.kernels.chain_layout import lay_out, owners, unweighted
from labelworth.kernels.chain_products import CountBlock, count_products, empty_block
from labelworth.models.chain_counts import ChainCounts
from labelworth.models.chain_words import WordChain


class ChainProducts:
    r"""The map from vectors in the space of counts to one number per sequence, and its transpose.

    The rows of the map are :math:`E[T_i | x_i, \text{evidence}_i]`: expected first labels, neighbors and words beside
    labels. A product costs one recursion per sequence, for any number of vectors at once. Words that were not seen
    (`NO_WORD`) do not count.

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
        n_vectors = vectors.start.shape[1]
        nothing = np.zeros((self.n_sequences, n_vectors))
        return self._run(self._padded(vectors), nothing, 1.0, False)[0]

    def transpose(self, coefficients: FloatArray) -> ChainCounts:
        """sum_i w_i c_i E[T_i] for coefficients c (n_sequences, b), with w the weights of the sequences."""
        width, n_vectors = len(self._word_chain.chain.start), coefficients.shape[1]
        nothing = empty_block(0, width, n_vectors)
        return self._run(nothing, -coefficients, 0.0, True)[1]

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
        return self._run(self._padded(vectors), offsets, 1.0, True)

    def _run(
        self, vectors: CountBlock, offsets: FloatArray, scale: float, summed: bool
    ) -> tuple[FloatArray, ChainCounts]:
        chain, nodes = self._word_chain
        with self._in_use:
            inner, sums = count_products(
                self._layout,
                self._owners,
                chain,
                nodes,
                vectors,
                np.ascontiguousarray(offsets, dtype=np.float64),
                scale,
                summed,
                self._n_threads,
            )
        return inner, self._counts(sums)

    def _padded(self, vectors: ChainCounts) -> CountBlock:
        """In the form of the kernel: labels filled up, words first, a last row of zeros for the word not seen."""
        n_labels, n_words, n_vectors = vectors.emission.shape
        width = len(self._word_chain.chain.start)
        block = empty_block(n_words + 1, width, n_vectors)
        block.start[:n_labels] = vectors.start
        block.pairs.reshape(width, width, n_vectors)[:n_labels, :n_labels] = vectors.pairs
        block.rows[:n_words, :n_labels] = vectors.emission.transpose(1, 0, 2)
        return block

    def _counts(self, block: CountBlock) -> ChainCounts:
        width, n_labels = len(self._word_chain.chain.start), len(self._word_chain.chain.log_start)
        pairs = block.pairs.reshape(width, width, -1)[:n_labels, :n_labels]
        emission = block.rows[: self._word_chain.n_words, :n_labels].transpose(1, 0, 2)
        return ChainCounts(block.start[:n_labels], pairs.copy(), np.ascontiguousarray(emission))
