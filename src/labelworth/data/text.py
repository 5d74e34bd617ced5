"""From text to counts, through scikit-learn's tokenizer, with a vocabulary that can be kept beside a model."""

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from labelworth.arrays import AnyArray
from labelworth.data.counts import as_counts
from labelworth.data.readers.raw import RawTexts
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError

TWO_LETTERS_OR_MORE = r"(?u)\b\w\w+\b"
"""scikit-learn's token pattern."""
LETTERS = r"(?u)[^\W\d_]+"
"""Runs of letters, the pattern of the published newsgroups table."""


@dataclass(frozen=True)
class Vocabulary:
    """The words that are counted, in order, and how text is cut into them."""

    words: tuple[str, ...]  # What the columns of the counts stand for.
    token_pattern: str = TWO_LETTERS_OR_MORE  # The regular expression a word matches.
    lowercase: bool = True  # Whether text is put in lower case first.

    def __post_init__(self) -> None:
        if not self.words:
            raise InvalidInputError("A vocabulary needs at least one word.")
        if not all(isinstance(word, str) for word in self.words) or len(set(self.words)) != len(self.words):
            raise InvalidInputError("The words of a vocabulary must be distinct texts.")
        _require_pattern(self.token_pattern)

    @property
    def n_words(self) -> int:
        return len(self.words)

    def counts(self, texts: Sequence[str]) -> sp.csr_array:
        """Count the words of each text, shape (n_texts, n_words); words outside the vocabulary are left out."""
        _require_texts(texts)
        vectorizer = _vectorizer(
            vocabulary=list(self.words), token_pattern=self.token_pattern, lowercase=self.lowercase
        )
        return as_counts(vectorizer.transform(texts))

    def samples(self, raw: RawTexts, classes: Sequence[Hashable] | None = None) -> Samples:
        """Texts and labels from a file as samples; `classes` names all classes where they are known beforehand."""
        return Samples(self.counts(raw.texts), raw.evidence(classes), feature_names=self.words)

    def to_mapping(self) -> dict[str, Any]:
        """Everything needed to build it again, as JSON knows it."""
        return {"words": list(self.words), "token_pattern": self.token_pattern, "lowercase": self.lowercase}

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any]) -> Self:
        """Build it again, checking everything."""
        try:
            words, pattern, lowercase = mapping["words"], mapping["token_pattern"], mapping["lowercase"]
        except (KeyError, TypeError) as error:
            raise InvalidInputError(
                "A stored vocabulary has words, token_pattern and lowercase; this one does not. Store it again."
            ) from error
        if not (isinstance(words, list) and isinstance(pattern, str) and isinstance(lowercase, bool)):
            raise InvalidInputError("A stored vocabulary has a list of words, a pattern and true or false.")
        return cls(tuple(words), pattern, lowercase)


def count_words(
    texts: Sequence[str],
    *,
    min_df: float = 1,
    max_df: float = 1.0,
    max_features: int | None = None,
    stop_words: str | Sequence[str] | None = None,
    token_pattern: str = TWO_LETTERS_OR_MORE,
    lowercase: bool = True,
) -> tuple[Vocabulary, sp.csr_array]:
    """Learn a vocabulary from texts, and count its words in them.

    Parameters
    ----------
    min_df, max_df : int or float
        Leave out words in fewer than `min_df` or more than `max_df` texts; a float is a share of the texts.
    max_features : int, optional
        Keep the most frequent words only; among equals, the first in the alphabet.
    stop_words : "english" or a sequence of str, optional
        Words that are never counted.
    token_pattern : str
        The regular expression a word matches; `LETTERS` and `TWO_LETTERS_OR_MORE` are usual.
    lowercase : bool
        Whether to put text in lower case first.

    Returns
    -------
    Vocabulary
        Its words are sorted.
    CSR array of shape (n_texts, n_words)

    Raises
    ------
    InvalidInputError
        If no word is left, or an option makes no sense.

    Examples
    --------
    >>> vocabulary, counts = count_words(["to be or not to be", "be quiet"])
    >>> vocabulary.words, counts.toarray().tolist()
    (('be', 'not', 'or', 'quiet', 'to'), [[2.0, 1.0, 1.0, 0.0, 2.0], [1.0, 0.0, 0.0, 1.0, 0.0]])
    """
    _require_texts(texts)
    _require_pattern(token_pattern)
    if max_features is not None and max_features < 1:
        raise InvalidInputError(f"max_features must be at least 1. Got {max_features} instead.")
    vectorizer = _vectorizer(
        min_df=min_df, max_df=max_df, stop_words=stop_words, token_pattern=token_pattern, lowercase=lowercase
    )
    try:
        counts = as_counts(vectorizer.fit_transform(texts))
    except ValueError as error:  # scikit-learn's messages, or our own
        raise _no_words(str(error), min_df, max_df) from error
    words = np.asarray(vectorizer.get_feature_names_out(), dtype=object)
    if max_features is not None and max_features < words.size:
        kept = _most_frequent(counts, max_features)
        words, counts = words[kept], as_counts(counts[:, kept])
    return Vocabulary(tuple(words.tolist()), token_pattern, lowercase), counts


def analyzer(token_pattern: str = TWO_LETTERS_OR_MORE, lowercase: bool = True) -> Callable[[str], list[str]]:
    """A text -> its words."""
    _require_pattern(token_pattern)
    analyze: Callable[[str], list[str]] = _vectorizer(
        token_pattern=token_pattern, lowercase=lowercase
    ).build_analyzer()
    return analyze


def _most_frequent(counts: sp.csr_array, limit: int) -> AnyArray:
    """The columns to keep, rising; ties go to the first, so that every machine keeps the same ones."""
    totals = np.bincount(counts.indices, weights=counts.data, minlength=int(counts.shape[1]))
    return np.sort(np.argsort(-totals, kind="stable")[:limit])


def _vectorizer(**options: Any) -> Any:
    from sklearn.feature_extraction.text import CountVectorizer

    return CountVectorizer(dtype=np.float64, **options)


def _no_words(problem: str, min_df: float, max_df: float) -> InvalidInputError:
    """Why no word is left, in options that the caller has; scikit-learn's own words where it names another option."""
    if "no terms remain" in problem:
        limits = f"min_df={min_df}" if max_df == 1.0 else f"min_df={min_df} and max_df={max_df}"
        problem = f"none is left with {limits}. Ask for less."
    elif "empty vocabulary" in problem:
        problem = "the texts are empty, or hold nothing but stop words and single letters or signs."
    return InvalidInputError(f"There are no words to count: {problem}")


def _require_texts(texts: Sequence[str]) -> None:
    if isinstance(texts, str):
        raise InvalidInputError("Texts must be a sequence of texts. Got a single one; put it in a list.")
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise InvalidInputError(
                f'Text {row} is of type {type(text).__name__}, not text. Use "" for an empty document.'
            )


def _require_pattern(pattern: str) -> None:
    try:
        groups = re.compile(pattern).groups
    except re.error as error:
        raise InvalidInputError(f"The token pattern {pattern!r} is not a regular expression: {error}.") from error
    if groups > 1:
        raise InvalidInputError(
            f"The token pattern {pattern!r} has {groups} groups; one at most says what a word is. Use (?:...) inside."
        )
