"""Boltzmann chain for words with labels."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

from labelworth.data.sequences import Sequences
from labelworth.estimation.boltzmann_chain_fit import fit_boltzmann_chain
from labelworth.estimation.fit import Fit
from labelworth.estimators.estimator import AT_LEAST_ZERO, generator
from labelworth.estimators.tagger import WordTagger
from labelworth.models.chains.boltzmann_chain import BoltzmannChainFamily, BoltzmannChainModel
from labelworth.progress import Progress


@dataclass(kw_only=True, eq=False, repr=False)
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

    c2: float = 1.0
    start_weights: bool = True

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **WordTagger._parameter_constraints,
        "c2": [AT_LEAST_ZERO],
        "start_weights": ["boolean"],
    }

    model_: BoltzmannChainModel = field(init=False)
    fit_: Fit[BoltzmannChainModel, BoltzmannChainFamily] = field(init=False)

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
