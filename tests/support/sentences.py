"""A few sentences with parts of speech that anybody can check by eye, and more drawn from the same grammar."""

from pathlib import Path

import numpy as np
from hypothesis import strategies as st

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
    for row, sentence in enumerate(words):
        for token, word in enumerate(sentence):
            label = [] if labels is None else [labels[row][token] or "_"]
            lines.append(" ".join([word, word[0], *label]))
        lines.append("")
    path.write_text("\n".join(lines) + "\n")
    return path


Chunk = tuple[str, int]
"""Its type, O outside of chunks, and how many tokens it has."""

chunk_lists = st.lists(
    st.lists(st.tuples(st.sampled_from(["X", "Y", "O"]), st.integers(1, 3)), min_size=1, max_size=5),
    min_size=1,
    max_size=3,
)
"""Sentences of chunks."""


def tags_of(chunks: list[Chunk], scheme: str) -> list[str]:
    """The tags of one sentence, written from the definition of each scheme."""
    tags = []
    for index, (kind, length) in enumerate(chunks):
        before = chunks[index - 1][0] if index else None
        after = chunks[index + 1][0] if index + 1 < len(chunks) else None
        for token in range(length):
            first, last = token == 0, token == length - 1
            letter = {
                "IOB1": "B" if first and before == kind else "I",
                "IOB2": "B" if first else "I",
                "IOE1": "E" if last and after == kind else "I",
                "IOE2": "E" if last else "I",
                "BIOES": "S" if first and last else "B" if first else "E" if last else "I",
                "BILOU": "U" if first and last else "B" if first else "L" if last else "I",
            }[scheme]
            tags.append("O" if kind == "O" else f"{letter}-{kind}")
    return tags
