"""Files in their authors' layouts become what the studies read: small ones, and the real ones laid out again."""

import csv
import gzip
import io
import json
import tarfile
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labelworth.errors import InvalidInputError
from labelworth_studies.corpora import conversion
from labelworth_studies.corpora.catalogue import CATALOGUE
from labelworth_studies.corpora.folder import corpora_folder
from labelworth_studies.corpora.getting import content_digest

Rows = list[dict[str, Any]]


def rows(content: bytes) -> Rows:
    return [json.loads(line) for line in content.decode().split("\n")[:-1]]


def written(folder: Path, *contents: bytes) -> list[Path]:
    paths = [folder / f"fetched-{number}" for number in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content)
    return paths


def tar(members: Iterable[tuple[str, bytes]]) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz", compresslevel=1) as archive:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return file.getvalue()


def zipped(**members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def table(split_rows: Rows, line_end: str = "\r\n") -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator=line_end)
    writer.writerow(("text", "category"))
    writer.writerows((row["text"], row["label"]) for row in split_rows)
    return text.getvalue().encode()


def test_posts_are_sorted_by_label_and_number_and_other_members_are_left_alone(tmp_path: Path) -> None:
    top = "repository-0d07/data/20news-bydate-"
    members = [
        (f"{top}train/sci.med/100", "From: ä\n\nlate\r\n".encode()),
        (f"{top}train/sci.med/99", b"early \xff"),
        (f"{top}train/alt.atheism/7", b"first"),
        (f"{top}test/sci.med/1", b"test"),
        (f"{top}test/.DS_Store", b"no post"),
        ("/etc/passwd", b"no post"),
        ("../../20news-bydate-test/sci.med/2x", b"no post"),
    ]
    made = conversion.NEWSGROUPS_OF_A_REPOSITORY(written(tmp_path, tar(members)))
    train = rows(made["20news-bydate-train.jsonl"])
    assert [(row["label"], row["id"]) for row in train] == [("alt.atheism", 7), ("sci.med", 99), ("sci.med", 100)]
    assert [row["text"] for row in train[1:]] == ["early \ufffd", "From: ä\n\nlate\r\n"]
    assert rows(made["20news-bydate-test.jsonl"]) == [{"text": "test", "label": "sci.med", "split": "test", "id": 1}]
    of_scikit_learn = conversion.NEWSGROUPS_OF_SCIKIT_LEARN(written(tmp_path, tar(members)))
    assert rows(of_scikit_learn["20news-bydate-train.jsonl"])[1]["text"] == "early ÿ"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fetched-0"]


def test_a_link_in_an_archive_is_not_followed(tmp_path: Path) -> None:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        link = tarfile.TarInfo("20news-bydate-train/sci.med/1")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    made = conversion.NEWSGROUPS_OF_SCIKIT_LEARN(written(tmp_path, file.getvalue()))
    assert made["20news-bydate-train.jsonl"] == b""


def test_what_unpacks_to_more_than_the_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversion, "MOST_BYTES", 1000)
    bomb = b"ham\t" + b"0" * 5000
    with pytest.raises(InvalidInputError, match="SMSSpamCollection holds more than 1,000 bytes"):
        conversion.sms(written(tmp_path, zipped(SMSSpamCollection=bomb)))
    with pytest.raises(InvalidInputError, match="fetched-0 holds more than 1,000 bytes"):
        conversion.conll2000(written(tmp_path, gzip.compress(bomb), b""))
    with pytest.raises(InvalidInputError, match="holds more than the posts of 20 Newsgroups"):
        conversion.NEWSGROUPS_OF_SCIKIT_LEARN(written(tmp_path, tar([("20news-bydate-train/sci.med/1", bomb)])))


def test_stories_have_their_topics_sorted_and_one_label_or_none(tmp_path: Path) -> None:
    stories = [
        {"doc_label": ["C152", "C15", "CCAT"], "doc_token": ["Oil", "giant"], "doc_keyword": [], "doc_topic": []},
        {"doc_label": ["GCAT", "ECAT"], "doc_token": ["Jobs"], "doc_keyword": [], "doc_topic": []},
    ]
    content = "\n".join(map(json.dumps, stories)).encode()
    made = rows(conversion.rcv1(written(tmp_path, content))["rcv1_tokens_2316.jsonl"])
    assert made == [
        {"tokens": ["Oil", "giant"], "topics": ["C15", "C152", "CCAT"], "label": "CCAT", "top_level": ["CCAT"]},
        {"tokens": ["Jobs"], "topics": ["ECAT", "GCAT"], "label": None, "top_level": ["ECAT", "GCAT"]},
    ]


def test_messages_keep_their_spaces_and_lose_carriage_returns(tmp_path: Path) -> None:
    lines = "ham\tsee you \u2028there \r\nspam\tWIN £1\r\n".encode()
    expected = [{"text": "see you \u2028there ", "label": "ham"}, {"text": "WIN £1", "label": "spam"}]
    assert rows(conversion.sms(written(tmp_path, lines))["sms_spam.jsonl"]) == expected
    packed = zipped(readme=b"", SMSSpamCollection=lines.replace(b"\r", b""))
    assert rows(conversion.sms(written(tmp_path, packed))["sms_spam.jsonl"]) == expected
    with pytest.raises(InvalidInputError, match=r"A line is a class, a tab and a text. Got '<html>"):
        conversion.sms(written(tmp_path, b"<html>Not found</html>"))


def test_rows_of_a_table_without_a_category_are_left_out(tmp_path: Path) -> None:
    train = b'text,category\r\n"Where, now? ",card_arrival\r\nlost,\r\n'
    made = rows(
        conversion.banking(written(tmp_path, train, b"text,category\nwhen?,exchange_rate\n"))["banking77.jsonl"]
    )
    assert made == [
        {"text": "Where, now?", "label": "card_arrival", "split": "train"},
        {"text": "when?", "label": "exchange_rate", "split": "test"},
    ]


def test_curves_are_those_of_the_test_rows_and_gaps_are_nan(tmp_path: Path) -> None:
    names = {"learners": ["A", "B"], "anchors": [16, 18], "dataset_ids": [3, 6]}
    curve = [[[[0, 0, 0.25], [0, 0, 0.125]], [[0, 0, 0.5], [0, 0, None]]]] * 2
    made = conversion.lcdb(written(tmp_path, json.dumps(names).encode(), json.dumps(curve).encode()), ids=(6,))
    arrays = np.load(io.BytesIO(made["lcdb.npz"]), allow_pickle=False)
    assert arrays["openml_ids"].tolist() == [6]
    assert arrays["learners"].tolist() == ["A", "B"]
    assert arrays["test_error"].tolist() == [[[0.25, 0.125]] * 2]
    assert np.array_equal(arrays["standard_error"], [[[0.5, np.nan]] * 2], equal_nan=True)


def held(name: str, file: str) -> bytes:
    return gzip.decompress((corpora_folder() / CATALOGUE[name].folder / file).read_bytes())


def lines(kept: Rows, pattern: str, line_end: str = "\n") -> bytes:
    return "".join(pattern.format(**row) + line_end for row in kept).encode()


def of(kept: Rows, **wanted: str) -> Rows:
    return [row for row in kept if all(row[key] == value for key, value in wanted.items())]


def laid_out_again(name: str) -> list[bytes]:
    """A corpus as its source has it."""
    if name == "newsgroups":
        posts = [row for split in ("train", "test") for row in rows(held(name, f"20news-bydate-{split}.jsonl.gz"))]
        members = (
            (f"x/20news-bydate-{row['split']}/{row['label']}/{row['id']}", row["text"].encode()) for row in posts
        )
        return [tar(sorted(members, reverse=True))]
    if name == "conll2000":
        return [gzip.compress(held(name, f"{split}.txt.gz"), 1) for split in ("train", "test")]
    (file,) = CATALOGUE[name].files
    kept = rows(held(name, file))
    train, test = (of(kept, split=split) if "split" in kept[0] else [] for split in ("train", "test"))
    if name == "r52":
        head = "Category\tText\nd\tstring\nclass\t\n\t\n"
        folder = "orangecontrib/text/datasets/reuters-r52-"
        own = {f"{folder}{split}.tab": head.encode() + lines(part, "{label}\t{text}")
               for split, part in (("train", train), ("test", test))}  # fmt: skip
        return [zipped(**own)]
    if name == "rcv1":
        stories = ({"doc_label": row["topics"][::-1], "doc_token": row["tokens"]} for row in kept)
        return ["".join(json.dumps(story) + "\n" for story in stories).encode()]
    if name == "subjectivity":
        # The bytes that are no UTF-8 are lost; any others do as well.
        parts = {
            "plot": lines(of(kept, label="objective"), "{text} "),
            "quote": lines(of(kept, label="subjective"), "{text} "),
        }
        members = (
            (f"{part}.tok.gt9.5000", content.replace("\ufffd".encode(), b"\xe9")) for part, content in parts.items()
        )
        return [tar(members)]
    layouts: dict[str, Callable[[], list[bytes]]] = {
        "sms": lambda: [zipped(SMSSpamCollection=lines(kept, "{label}\t{text}"))],
        "webkb": lambda: [lines(train, "{label}\t{text}"), lines(test, "{label}\t{text}").removesuffix(b"\n")],
        "trec": lambda: [
            lines(train, "{fine} {text}").replace("\ufffd".encode(), b"\xf0"),
            lines(test, "{fine} {text}"),
        ],
        "reviews": lambda: [lines(of(kept, label="pos"), "{text} "), lines(of(kept, label="neg"), "{text}")],
        "banking": lambda: [table(train), table(test, "\n")],
    }
    return layouts[name]()


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.corpus(own.folder))
        for name, own in CATALOGUE.items()
        if own.sources and name != "lcdb"
    ],
)
def test_the_real_corpora_laid_out_as_their_sources_have_them_come_back_bit_for_bit(
    name: str, tmp_path: Path
) -> None:
    corpus = CATALOGUE[name]
    made = corpus.sources[0].convert(written(tmp_path, *laid_out_again(name)))
    assert {file: content_digest(file, made[file.removesuffix(".gz")]) for file in corpus.files} == corpus.files


@pytest.mark.corpus("lcdb")
def test_the_real_curves_laid_out_as_their_source_has_them_come_back_bit_for_bit(tmp_path: Path) -> None:
    arrays = np.load(corpora_folder() / "lcdb" / "lcdb.npz", allow_pickle=False)
    figures = np.stack([arrays["test_error"], arrays["standard_error"]], axis=2).astype(float)
    names = {"learners": arrays["learners"].tolist(), "anchors": arrays["anchors"].tolist()}
    cubes = np.stack([figures * 0, figures * 0, figures], axis=-1).round(4)
    texts = [json.dumps(cube.tolist()).replace("NaN", "null").encode() for cube in cubes]
    made = CATALOGUE["lcdb"].sources[0].convert(written(tmp_path, json.dumps(names).encode(), *texts))
    assert content_digest("lcdb.npz", made["lcdb.npz"]) == CATALOGUE["lcdb"].files["lcdb.npz"]


@pytest.mark.corpus("trec", "conll2000")
def test_digests_that_others_published_are_those_of_our_rows_as_their_authors_wrote_them() -> None:
    trec = CATALOGUE["trec"].sources[0].files
    assert [content_digest("", content) for content in laid_out_again("trec")] == [remote.sha256 for remote in trec]
    assert [*CATALOGUE["conll2000"].files.values()] == [
        remote.sha256 for remote in CATALOGUE["conll2000"].sources[1].files
    ]
