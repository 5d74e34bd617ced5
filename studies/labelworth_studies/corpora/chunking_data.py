"""CoNLL-2000 chunking as the chain models take it: attributes for the CRF, words for the others."""

from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from types import MappingProxyType
from typing import Literal, NamedTuple, get_args

from labelworth.data.digest import texts_digest
from labelworth.data.readers.raw import RawTexts
from labelworth.data.readers.raw_sequences import RawTokens
from labelworth.data.sequences import Sequences
from labelworth.data.tokens.attributes import extract_attributes
from labelworth.data.tokens.lexicon import Lexicon, shape
from labelworth.data.tokens.templates import CHUNKING, Template
from labelworth.errors import InvalidInputError
from labelworth_studies.corpora.folder import conll2000

Division = Literal["test", "later"]
"""What a fit is tested on: the test set of the task, or the last fifth of the training sentences."""

EARLIER_SHARE = 0.8

_WORD, _TAG, _LOWER, _SUFFIX, _SHAPE = range(5)
_WINDOW = (-2, -1, 0, 1, 2)


def _line(number: int, *references: tuple[int, int]) -> str:
    return f"U{number:02d}:" + "/".join(f"%x[{row},{column}]" for row, column in references)


def _rich() -> Template:
    """Everything of the tutorial, words beside parts of speech, and what words look like."""
    cells: list[tuple[tuple[int, int], ...]]
    cells = [((row, column),) for column in (_WORD, _TAG, _LOWER) for row in _WINDOW]
    cells += [((row, column),) for column in (_SUFFIX, _SHAPE) for row in (-1, 0, 1)]
    cells += [((row, column), (row + 1, column)) for column in (_WORD, _LOWER) for row in (-1, 0)]
    cells += [((row, _TAG), (row + 1, _TAG)) for row in (-2, -1, 0, 1)]
    cells += [((row, _TAG), (row + 1, _TAG), (row + 2, _TAG)) for row in (-2, -1, 0)]
    cells += [((-2, _TAG), (-1, _TAG), (0, _TAG), (1, _TAG)), ((-1, _TAG), (0, _TAG), (1, _TAG), (2, _TAG))]
    cells += [((0, _WORD), (row, _TAG)) for row in (-1, 0, 1)]
    cells += [((row, _WORD), (0, _TAG)) for row in (-1, 1)]
    cells += [((-1, _TAG), (0, _WORD), (1, _TAG)), ((-1, _WORD), (0, _TAG), (1, _TAG))]
    return Template.of([_line(number, *references) for number, references in enumerate(cells)])


TEMPLATES = MappingProxyType(
    {
        "tutorial": CHUNKING,
        "marked": Template(CHUNKING.patterns),
        "rich": _rich(),
        "words": Template.of(["w[0]=%x[0,0]"]),
    }
)
"""The tutorial of CRFsuite; the same with the ends of sentences marked, as CRF++ does; a richer one; words alone."""


class Divided(NamedTuple):
    """Sentences to learn from and sentences to test on."""

    # With the labels of the training sentences; another label of a test sentence counts as not seen.
    train: Sequences
    test: Sequences
    test_tags: tuple[str, ...]  # All labels of the test sentences.


@dataclass(frozen=True)
class AttributeChoice:
    """How sentences become attributes."""

    template: str  # A key of `TEMPLATES`.
    min_count: int = 1  # Attributes that occur less often in the training sentences are left out.


@lru_cache(maxsize=2)
def divided_tokens(division: Division) -> tuple[RawTokens, RawTokens]:
    """The sentences of a division; kept for the next cell of the same process."""
    if division not in get_args(Division):
        raise InvalidInputError(f"division must be one of {', '.join(get_args(Division))}. Got {division!r} instead.")
    train = conll2000("train")
    if division == "test":
        return train, conll2000("test")
    n_sentences = len(train.offsets) - 1
    cut = round(EARLIER_SHARE * n_sentences)
    return sentences(train, 0, cut), sentences(train, cut, n_sentences)


def sentences(raw: RawTokens, first: int, last: int) -> RawTokens:
    """The sentences `first` to `last`."""
    begin, end = int(raw.offsets[first]), int(raw.offsets[last])
    return RawTokens(
        tuple(column[begin:end] for column in raw.columns),
        raw.column_names,
        raw.word_column,
        raw.offsets[first : last + 1] - begin,
        raw.labels[begin:end],
        f"{raw.source}, in part",
    )


@lru_cache(maxsize=1)
def with_attributes(division: Division, choice: AttributeChoice) -> Divided:
    """Sentences with the attributes of a template; those that the training sentences lack are left out."""
    train, test = divided_tokens(division)
    template = TEMPLATES[choice.template]
    classes, known = _known_labels(train, test)
    extracted = extract_attributes(template, _columns(train), train.offsets, min_count=choice.min_count)
    again = extract_attributes(template, _columns(test), test.offsets, names=extracted.names)
    return Divided(
        Sequences(extracted.rows, train.offsets, train.evidence(classes), extracted.names),
        Sequences(again.rows, test.offsets, known.evidence(classes), extracted.names),
        test.labels,
    )


@lru_cache(maxsize=1)
def with_words(division: Division, min_count: int) -> Divided:
    """Sentences as words; those below `min_count` in the training sentences share an entry per shape."""
    train, test = divided_tokens(division)
    classes, known = _known_labels(train, test)
    lexicon = Lexicon.from_words(train.words, min_count=min_count, rare="shapes")
    return Divided(train.sequences(lexicon, classes), known.sequences(lexicon, classes), test.labels)


def conll2000_digest() -> str:
    """Which sentences and labels the studies read."""
    raw = conll2000("all")
    texts = tuple(chain(*raw.columns, [" ".join(map(str, raw.offsets.tolist()))]))
    return texts_digest(RawTexts(texts, (*raw.labels, *[None] * (len(texts) - len(raw.labels))), "CoNLL-2000"))


def _known_labels(train: RawTokens, test: RawTokens) -> tuple[tuple[str, ...], RawTokens]:
    """The labels to learn, and the test sentences without any other; the test set has two tokens with one."""
    classes = tuple(sorted(set(train.labels)))
    return classes, test.with_labels([label if label in classes else None for label in test.labels])


def _columns(raw: RawTokens) -> list[tuple[str, ...]]:
    """Word, part of speech, and what the word looks like."""
    words, tags = raw.columns[:2]
    kinds = {word: (word.lower(), word[-3:].lower(), shape(word)) for word in set(words)}
    return [words, tags, *(tuple(kinds[word][index] for word in words) for index in range(3))]
