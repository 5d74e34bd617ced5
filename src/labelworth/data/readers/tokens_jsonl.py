"""JSON lines of sequences, as datasets of Hugging Face are written: one object with `tokens` and `tags` per line."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from labelworth.arrays import UNLABELED
from labelworth.data.readers.cells import missing_column, require_unicode
from labelworth.data.readers.json_files import read_records
from labelworth.data.readers.raw_sequences import RawTokens, SequenceRows
from labelworth.errors import InvalidInputError

TAG_COLUMNS = ("tags", "ner_tags", "chunk_tags", "pos_tags", "labels")
IGNORED = -100
"""What training code of transformers leaves out of its loss; nothing is known of such a token."""


def read_tokens_jsonl(
    path: Path,
    *,
    tokens_column: str = "tokens",
    tags_column: str | None = None,
    tag_names: Sequence[str] | None = None,
    encoding: str = "utf-8",
) -> RawTokens:
    """Read objects such as ``{"tokens": ["the", "cat"], "tags": ["D", null]}``, packed with gzip or not.

    A tag is text, or a whole number; null, -1 and -100 mean "not seen"; a list means "one of these". An object
    without tags is a sequence of which nothing is known. Other lists of the same length are kept as columns.

    Parameters
    ----------
    path : path
    tokens_column : str
    tags_column : str, optional
        The one of `TAG_COLUMNS` that the objects have, when absent.
    tag_names : sequence of str, optional
        What the numbers 0, 1, ... stand for.
    encoding : str
    """
    rows = _Rows(path, tokens_column, tags_column, tag_names)
    for location, record in read_records(path, encoding=encoding):
        rows.add(record, location)
    return rows.finish()


class _Rows(SequenceRows):
    def __init__(self, path: Path, tokens_column: str, tags_column: str | None, names: Sequence[str] | None) -> None:
        super().__init__(path)
        self.tokens_column, self.tags_column, self.names = tokens_column, tags_column, names
        self.is_named = tags_column is not None
        self.words: list[str] = []
        self.beside: list[dict[str, list[str]]] = []
        self.n_empty = self.n_ignored = self.n_numbers = 0
        self.has_tags = False

    def add(self, record: Mapping[str, Any], location: str) -> None:
        if self.tokens_column not in record:
            raise missing_column(location, self.tokens_column, record, "tokens_column")
        tokens = self._tokens(record[self.tokens_column], location)
        if not self.is_named:
            self._find_tags(record, location)
        tags = record.get(self.tags_column) if self.tags_column is not None else None
        self.has_tags |= self.tags_column in record
        labels = self._tags([None] * len(tokens) if tags is None else tags, len(tokens), location)
        if not tokens:
            self.n_empty += 1
            return
        self.words += tokens
        self.labels += labels
        self.locations += [location] * len(tokens)
        self.beside.append(self._columns(record, len(tokens)))
        self.close()

    def finish(self) -> RawTokens:
        offsets = self.offsets()
        if self.is_named and not self.has_tags:
            raise InvalidInputError(
                f"{self.path} has no column {self.tags_column!r}. Name another with tags_column=."
            )
        kept = [name for name in self.beside[0] if all(name in columns for columns in self.beside)]
        columns = [tuple(cell for beside in self.beside for cell in beside[name]) for name in kept]
        names, labels = (self.tokens_column, *kept), tuple(self.labels)
        notes = (*self._notes(), *self.notes())
        return RawTokens((tuple(self.words), *columns), names, 0, offsets, labels, str(self.path), notes)

    def _notes(self) -> list[str]:
        notes = []
        if self.n_empty:
            notes.append(f"{self.n_empty} sequence(s) without tokens were left out.")
        if self.n_ignored:
            notes.append(
                f"{self.n_ignored} tag(s) were {IGNORED}: read as not seen, so all labels are possible there."
            )
        if self.n_numbers and self.names is None:
            notes.append("The tags are numbers; name them with tag_names= to see what they stand for.")
        return notes

    def _find_tags(self, record: Mapping[str, Any], location: str) -> None:
        """The one column of tags; an error if there are several to choose from."""
        there = [name for name in TAG_COLUMNS if name in record]
        if len(there) > 1:
            raise InvalidInputError(
                f"{location} has several columns of tags: {', '.join(there)}. Name the labels with tags_column=."
            )
        if there and self.tags_column not in (None, there[0]):
            raise InvalidInputError(
                f"{location} has tags in {there[0]!r}, earlier lines in {self.tags_column!r}. "
                "Name one with tags_column=."
            )
        self.tags_column = there[0] if there else self.tags_column

    def _tokens(self, tokens: Any, location: str) -> list[str]:
        if not isinstance(tokens, list) or not all(isinstance(token, str) for token in tokens):
            raise InvalidInputError(f"{location}: {self.tokens_column!r} must be a list of texts, one per token.")
        for token in tokens:
            if not token.isascii():
                require_unicode(token, location)
        return tokens

    def _tags(self, tags: Any, n_tokens: int, location: str) -> list[Any]:
        if not isinstance(tags, list):
            raise InvalidInputError(f"{location}: {self.tags_column!r} must be a list of tags, one per token.")
        if len(tags) != n_tokens:
            raise InvalidInputError(
                f"{location} has {n_tokens} token(s) and {len(tags)} tag(s). "
                "A token without a tag needs an entry too: null."
            )
        return [self._tag(tag, location) for tag in tags]

    def _tag(self, tag: Any, location: str) -> Any:
        if not isinstance(tag, list):
            return self._single(tag, location)
        candidates = [None if isinstance(member, list) else self._single(member, location) for member in tag]
        if not candidates or None in candidates:
            raise InvalidInputError(
                f"{location}: the candidate tags {tag!r} must be tags, at least one. "
                "Write null for a token without a tag."
            )
        return candidates

    def _single(self, tag: Any, location: str) -> Any:
        if isinstance(tag, str):
            require_unicode(tag, location)
            return tag.strip() or None
        if tag is None:
            return None
        if not isinstance(tag, int) or isinstance(tag, bool):
            raise InvalidInputError(
                f"{location}: the tag {tag!r} must be text, a whole number, null, or a list of those."
            )
        if tag in (UNLABELED, IGNORED):
            self.n_ignored += tag == IGNORED
            return None
        self.n_numbers += 1
        if self.names is None:
            return tag
        if not 0 <= tag < len(self.names):
            raise InvalidInputError(f"{location}: the tag {tag} is not one of the {len(self.names)} of tag_names=.")
        return self.names[tag]

    def _columns(self, record: Mapping[str, Any], n_tokens: int) -> dict[str, list[str]]:
        """Whatever else the object says of every token."""
        skipped = (self.tokens_column, self.tags_column)
        return {
            name: [str(cell) for cell in cells]
            for name, cells in record.items()
            if name not in skipped
            and isinstance(cells, list)
            and len(cells) == n_tokens
            and all(isinstance(cell, str | int) for cell in cells)
        }
