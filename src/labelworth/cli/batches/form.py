"""What batches are made of: the columns and marks that `next` writes and `merge` reads back."""

from labelworth.data.readers.raw_sequences import RawTokens

ASKED, NOT_ASKED = "?", "_"
"""In CoNLL columns: a label that is asked for, to be replaced, and one that is not; both are read as not seen."""
ROW, SEQUENCE, ASK, RULE = "row", "sequence", "ask", "rule"
"""Columns of ours: the index of a document or sequence in the data, the positions to label, and by which rule."""
NUMBERED = "-DOCSTART- sequence"
"""In CoNLL columns: the line before a sequence that says its index; readers leave it out."""


def columns_of_tokens(raw: RawTokens, sequence: int) -> dict[str, list[str]]:
    """What columns say of the tokens of a sequence, the words first and called "tokens"."""
    first, end = int(raw.offsets[sequence]), int(raw.offsets[sequence + 1])
    others = {
        name: list(column[first:end])
        for index, (name, column) in enumerate(zip(raw.column_names, raw.columns, strict=True))
        if index != raw.word_column
    }
    return {"tokens": list(raw.words[first:end]), **others}


def label_index(raw: RawTokens) -> int:
    """In which column labels stand: that of the data where its columns have numbers, else the last."""
    numbers = [str(number) for number in range(len(raw.columns) + 1)]
    left_out = [number for number in numbers if number not in raw.column_names]
    return int(left_out[0]) if len(left_out) == 1 else len(raw.columns)


def word_index(raw: RawTokens) -> int:
    """The column of words, that of labels counted in."""
    name = raw.column_names[raw.word_column]
    return int(name) if name.isdigit() else raw.word_column
