"""Boltzmann chain for words with labels."""

from collections.abc import Hashable, Sequence
from typing import Any, ClassVar

import numpy as np

from labelworth.arrays import UNLABELED
from labelworth.data.sequences import Sequences
from labelworth.data.tokens.lexicon import RareWords
from labelworth.estimation.boltzmann_chain_fit import fit_boltzmann_chain
from labelworth.estimation.fit import Fit
from labelworth.estimators.estimator import AT_LEAST_ONE, AT_LEAST_ZERO, generator
from labelworth.estimators.word_tagger import WordTagger
from labelworth.models.chains.boltzmann_chain import BoltzmannChainFamily, BoltzmannChainModel
from labelworth.progress import Progress


class BoltzmannChain(WordTagger):
    """Boltzmann chain (log-weights of words and labels together) from labeled, half labeled and unlabeled sequences.

    Parameters
    ----------
    c2 : float
        The coefficient of the sum of squared weights that the objective loses, as sklearn-crfsuite counts it.
    start_weights : bool
        Whether first labels have weights of their own.
    min_count, rare_words, unlabeled_weight, n_init, classes, unlabeled, random_state
        As in `HiddenMarkov`.
    max_iter : int
        Iterations of L-BFGS at most.
    tol : float
        Stop when ten iterations gained less than this many nats per sequence.

    Attributes
    ----------
    classes_, model_, fit_, lexicon_, n_iter_, converged_
        As in `HiddenMarkov`; `model_` is a `BoltzmannChainModel`.

    Examples
    --------
    >>> X = [["the", "cat", "sleeps"], ["the", "dog", "sleeps"], ["a", "cat", "runs"]]
    >>> y = [["D", "N", "V"], ["D", None, None], None]
    >>> BoltzmannChain(c2=0.1).fit(X, y).predict([["the", "dog", "runs"]])
    [['D', 'N', 'V']]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **WordTagger._parameter_constraints,
        "c2": [AT_LEAST_ZERO],
        "start_weights": ["boolean"],
        "unlabeled_weight": [AT_LEAST_ZERO],
        "n_init": [AT_LEAST_ONE],
        "random_state": ["random_state", np.random.Generator],
    }

    model_: BoltzmannChainModel
    fit_: Fit[BoltzmannChainModel, BoltzmannChainFamily]

    def __init__(
        self,
        *,
        c2: float = 1.0,
        start_weights: bool = True,
        min_count: int = 1,
        rare_words: RareWords = "entry",
        unlabeled_weight: float = 1.0,
        max_iter: int = 1000,
        tol: float = 1e-6,
        n_init: int = 1,
        classes: Sequence[Hashable] | None = None,
        unlabeled: Hashable = UNLABELED,
        random_state: Any = None,
    ) -> None:
        self.c2 = c2
        self.start_weights = start_weights
        self.min_count = min_count
        self.rare_words = rare_words
        self.unlabeled_weight = unlabeled_weight
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.classes = classes
        self.unlabeled = unlabeled
        self.random_state = random_state

    def _fitted(self, sequences: Sequences, progress: Progress) -> Fit[BoltzmannChainModel, BoltzmannChainFamily]:
        family = BoltzmannChainFamily.for_sequences(sequences, penalty=self.c2, with_start=self.start_weights)
        return fit_boltzmann_chain(
            family,
            sequences,
            unlabeled_weight=self.unlabeled_weight,
            max_iterations=self.max_iter,
            tolerance=self.tol,
            n_starts=self.n_init,
            rng=generator(self.random_state),
            progress=progress,
        )
