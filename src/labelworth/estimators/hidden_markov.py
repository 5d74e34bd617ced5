"""Hidden Markov model for words with labels."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

from labelworth.data.sequences import Sequences
from labelworth.estimation.fit import Fit, fit
from labelworth.estimators.estimator import ABOVE_ZERO, AT_LEAST_ZERO, generator
from labelworth.estimators.tagger import WordTagger
from labelworth.models.chains.hidden_markov import HiddenMarkovFamily, HiddenMarkovModel
from labelworth.progress import Progress


@dataclass(kw_only=True, eq=False, repr=False)
class HiddenMarkov(WordTagger):
    """Hidden Markov model that learns from labeled, half labeled and unlabeled sequences.

    Parameters
    ----------
    alpha : float
        Add-alpha smoothing of the words of a label, as a prior in the objective; 0 for plain maximum likelihood.
    label_smoothing : float
        The same for first labels and for transitions.
    min_count : int
        Words that occur less often have no entry of their own.
    rare_words : "entry", "shapes" or "none"
        What rare words, and those met later, become: one entry for all, an entry by what they look like (digits,
        capitals, hyphens), or no word at all, as if the word had not been seen.
    unlabeled_weight : float
        How much a sequence without any label counts beside one that has some; 0 leaves them out.
    start_smoothing : float
        How many times stronger the smoothing is in the first, supervised model.
    max_iter : int
        EM steps at most.
    tol : float
        Stop when the gain still to come is below this many nats per sequence.
    n_init : int
        Starts; the best end is kept.
    accelerate : bool
        Whether EM extrapolates; such a step is kept only if the objective does not fall.
    classes : list, optional
        All labels in order; found in y and sorted unless given.
    unlabeled : hashable
        What stands in y for "not seen", beside None and NaN. Name another marker when -1 is a label.
    random_state : int, RandomState, Generator or None
        For random starts.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    lexicon_ : Lexicon
        The words it knows.
    n_iter_, converged_
        EM steps, and whether they converged.

    Examples
    --------
    >>> X = [["the", "cat", "sleeps"], ["the", "dog", "sleeps"], ["a", "cat", "runs"]]
    >>> y = [["D", "N", "V"], ["D", None, None], None]
    >>> tagger = HiddenMarkov(alpha=0.1, label_smoothing=0.1).fit(X, y)
    >>> tagger.predict([["the", "dog", "runs"]])
    [['D', 'N', 'V']]
    """

    learns_answers: ClassVar[bool] = True

    alpha: float = 1.0
    label_smoothing: float = 1.0
    start_smoothing: float = 1.0
    accelerate: bool = True

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **WordTagger._parameter_constraints,
        "alpha": [AT_LEAST_ZERO],
        "label_smoothing": [AT_LEAST_ZERO],
        "start_smoothing": [ABOVE_ZERO],
        "accelerate": ["boolean"],
    }

    model_: HiddenMarkovModel = field(init=False)
    fit_: Fit[HiddenMarkovModel, Any] = field(init=False)

    def _fitted(self, sequences: Sequences, progress: Progress) -> Fit[HiddenMarkovModel, Any]:
        return fit(self._family(sequences), sequences, **self._search(progress))

    def _family(self, sequences: Sequences) -> HiddenMarkovFamily:
        return HiddenMarkovFamily.for_sequences(sequences, smoothing=self.alpha, label_smoothing=self.label_smoothing)

    def _search(self, progress: Progress) -> dict[str, Any]:
        return {
            "start_smoothing": self.start_smoothing,
            "unlabeled_weight": self.unlabeled_weight,
            "max_iterations": self.max_iter,
            "tolerance": self.tol,
            "accelerated": self.accelerate,
            "n_starts": self.n_init,
            "rng": generator(self.random_state),
            "progress": progress,
        }

    def _search_answered(self, data: Sequences, progress: Progress) -> tuple[HiddenMarkovFamily, dict[str, Any]]:
        return self._family(data), self._search(progress)
