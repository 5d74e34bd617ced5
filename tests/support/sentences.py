"""A few sentences with parts of speech that anybody can check by eye, and more drawn from the same grammar."""

from pathlib import Path

import numpy as np

SENTENCES = [["the", "cat", "sleeps"], ["the", "dog", "sleeps"], ["a", "cat", "sleeps"], ["the", "cat", "runs"]]
LABELS = [["D", "N", "V"]] * 4

_WORDS = {"D": ["the", "a", "this"], "N": ["cat", "dog", "cow", "bird"], "V": ["sleeps", "runs", "eats"]}
_SHAPES = ["DNV", "DNVDN", "DN", "NV", "DNVN"]


def draw_sentences(n_sentences: int, seed: int = 0) -> tuple[list[list[str]], list[list[str]]]:
    """Words and labels."""
    rng = np.random.default_rng(seed)
    labels = [list(_SHAPES[rng.integers(len(_SHAPES))]) for _ in range(n_sentences)]
    words = [[_WORDS[label][rng.integers(len(_WORDS[label]))] for label in sentence] for sentence in labels]
    return words, labels


def write_columns(path: Path, words: list[list[str]], labels: list[list[str | None]] | None) -> Path:
    """CoNLL columns: the word, its first letter, and the label, ``_`` where there is none."""
    lines = []
    for place, sentence in enumerate(words):
        for token, word in enumerate(sentence):
            label = [] if labels is None else [labels[place][token] or "_"]
            lines.append(" ".join([word, word[0], *label]))
        lines.append("")
    path.write_text("\n".join(lines) + "\n")
    return path
