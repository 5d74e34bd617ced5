"""Documents of words with Zipf's frequencies, from a seed, written row by row: any number of them.

Rows are like those of an export: a name of the row, a time, where it came from and its language beside its text and
its label.

``python -m labelworth_studies.corpora.zipf_documents 1000000 corpus.jsonl`` writes a million.
"""

import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import numpy as np

from labelworth.arrays import IntArray
from labelworth.data.files import write_lines

N_WORDS = 200_000
N_CLASSES = 20
LENGTH = 20
LABELED = 0.01
_EXPONENT = 1.05
_OWN = 0.3
"""The share of words that every class draws from frequencies of its own, in another order."""
_ROWS = 10_000
_SYLLABLES = tuple(f"{consonant}{vowel}" for consonant in "bcdfghjklmnpqrstvwxz" for vowel in "aeiou")
_SYLLABLES_PER_WORD = 5
_STRIDE = 7_654_321
"""Has no divisor in common with the number of words of so many syllables: no two words are alike."""
_SOURCES = ("mail", "chat", "form", "call")
_FIRST_TIME = datetime(2024, 1, 1, tzinfo=UTC)


def documents(n_documents: int, seed: int = 0) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
    """Words (n, LENGTH), classes, and which of them are told, some thousand rows at a time."""
    edges = np.cumsum(1 / np.arange(1, N_WORDS + 1) ** _EXPONENT)
    edges /= edges[-1]
    for first in range(0, n_documents, _ROWS):
        rng = np.random.default_rng([seed, first])
        count = min(_ROWS, n_documents - first)
        ranks = np.minimum(np.searchsorted(edges, rng.random((count, LENGTH))), N_WORDS - 1)
        classes = rng.integers(0, N_CLASSES, size=count)
        own = rng.random((count, LENGTH)) < _OWN
        words = np.where(own, (ranks * 7919 + 104_729 * (1 + classes[:, None])) % N_WORDS, ranks)
        yield words, classes, np.flatnonzero(rng.random(count) < LABELED)


def spoken(word: int) -> str:
    """A word that can be said, another one for every number."""
    rest = word * _STRIDE % len(_SYLLABLES) ** _SYLLABLES_PER_WORD
    syllables = []
    for _ in range(_SYLLABLES_PER_WORD):
        rest, syllable = divmod(rest, len(_SYLLABLES))
        syllables.append(_SYLLABLES[syllable])
    return "".join(syllables)


def write_corpus(path: Path, n_documents: int, seed: int = 0) -> None:
    """As JSON lines, of which a hundredth have a label."""
    names = np.array([spoken(word) for word in range(N_WORDS)], dtype=object)

    def lines() -> Iterator[str]:
        number = 0
        for words, classes, told in documents(n_documents, seed):
            labels: list[str | None] = [None] * len(classes)
            for row in told.tolist():
                labels[row] = f"class {classes[row]:02d}"
            # Drawn apart from the documents, which stay the same.
            random = np.random.default_rng([seed, number, 1]).bytes(16 * len(classes))
            for row, (text, label) in enumerate(zip(names[words].tolist(), labels, strict=True)):
                name = UUID(bytes=random[16 * row : 16 * row + 16])
                moment = (_FIRST_TIME + timedelta(seconds=number)).strftime("%Y-%m-%dT%H:%M:%SZ")
                yield (
                    f'{{"id": "{name}", "created": "{moment}", "source": "{_SOURCES[name.int % len(_SOURCES)]}", '
                    f'"language": "en", "text": "{" ".join(text)}", "label": {json.dumps(label)}}}\n'
                )
                number += 1

    write_lines(path, lines())


if __name__ == "__main__":
    write_corpus(Path(sys.argv[2]), int(sys.argv[1]))
