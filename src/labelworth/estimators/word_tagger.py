"""What the taggers share whose tokens are single words: the words they know, and what becomes of others."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from labelworth.data.sequences import Sequences
from labelworth.data.tokens.lexicon import Lexicon, RareWords, shared_entries
from labelworth.estimators.estimator import AT_LEAST_ONE, AT_LEAST_ZERO
from labelworth.estimators.tagger import Coverage, SequenceTagger
from labelworth.estimators.token_input import TokenInput, nothing_known, recoded


@dataclass(kw_only=True, eq=False, repr=False)
class WordTagger(SequenceTagger):
    """A tagger of words, which learns from sequences without labels too."""

    min_count: int = 1
    rare_words: RareWords = "entry"
    unlabeled_weight: float = 1.0
    n_init: int = 1
    random_state: Any = None

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SequenceTagger._parameter_constraints,
        "min_count": [AT_LEAST_ONE],
        "rare_words": [StrOptions({"entry", "shapes", "none"})],
        "unlabeled_weight": [AT_LEAST_ZERO],
        "n_init": [AT_LEAST_ONE],
        "random_state": ["random_state", np.random.Generator],
    }

    @property
    def lexicon_(self) -> Lexicon:
        """The words of the fitted model, and what others become."""
        check_is_fitted(self)
        names = self.model_.feature_names
        return Lexicon(names[: len(names) - len(shared_entries(self.rare_words))], self.rare_words, self.min_count)

    def coverage(self, X: Any) -> Coverage:
        """Count the words of X that have no entry of their own."""
        lexicon, sequences = self.lexicon_, self.sequences(X, nothing_known(X))
        n_rare = int(lexicon.is_rare(sequences.words).sum())
        return Coverage(sequences.n_tokens, sequences.n_tokens, n_rare, lexicon.describe(sequences.words))

    def _read_to_learn(self, given: TokenInput) -> Sequences:
        sequences = given.words()
        names = sequences.feature_names
        occurring = (names[code] for code in sequences.words.tolist())
        lexicon = Lexicon.from_words(occurring, min_count=int(self.min_count), rare=self.rare_words)
        return recoded(sequences, lexicon)

    def _read_to_predict(self, given: TokenInput) -> Sequences:
        return recoded(given.words(), self.lexicon_)
