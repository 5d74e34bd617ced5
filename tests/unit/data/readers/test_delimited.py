import csv
from pathlib import Path

import pandas as pd
import pytest

from labelworth.data.readers.delimited import read_delimited
from labelworth.errors import InvalidInputError


def written(tmp_path: Path, content: str) -> Path:
    path = tmp_path / "a.csv"
    path.write_bytes(content.encode())
    return path


def test_quotes_line_ends_and_other_columns_are_understood(tmp_path: Path) -> None:
    path = written(tmp_path, 'id,label,text\r\n1,x,"a ""b"", c"\r\n2,,"two\nlines"\r\n\r\n3,"[""x"", ""y""]",c\r\n')
    raw = read_delimited(path)
    assert raw.texts == ('a "b", c', "two\nlines", "c")
    assert raw.labels == ("x", None, ["x", "y"])


def test_a_table_without_texts_is_told_where_numbers_are_read_from(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"no column 'text'.* an array X beside labels y in an \.npz file"):
        read_delimited(written(tmp_path, "f0,f1,label\n1.5,2,a\n"))
    with pytest.raises(InvalidInputError) as refused:
        read_delimited(written(tmp_path, "txt,label\nsome words,a\n"))
    assert "npz" not in str(refused.value)


def test_what_pandas_writes_is_read(tmp_path: Path) -> None:
    frame = pd.DataFrame({"text": ["a\nb", 'q"', ""], "label": ["x", None, "y"]})
    frame.to_csv(tmp_path / "a.csv", index=False)
    raw = read_delimited(tmp_path / "a.csv")
    assert raw.texts == ("a\nb", 'q"', "")
    assert raw.labels == ("x", None, "y")


def test_cells_longer_than_the_csv_module_likes_are_read_and_its_limit_restored(tmp_path: Path) -> None:
    limit = csv.field_size_limit()
    text = "word " * 100_000
    assert read_delimited(written(tmp_path, f"text,label\n{text},x\n")).texts == (text,)
    assert csv.field_size_limit() == limit


@pytest.mark.parametrize("mark", [";", "\t"])
def test_cells_that_end_elsewhere_are_read_and_that_is_said(tmp_path: Path, mark: str) -> None:
    table = [["text", "label"], ["one, two", "x"], [f'"a{mark}b"', ""]]
    raw = read_delimited(written(tmp_path, "".join(mark.join(row) + "\r\n" for row in table)))
    assert raw.texts == ("one, two", f"a{mark}b")
    assert raw.labels == ("x", None)
    assert raw.notes == (f"The cells of {tmp_path / 'a.csv'} end at {mark!r}, and were read so.",)
    assert read_delimited(written(tmp_path, "text,label\na;b,x\n")).notes == ()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('text,label\n"a\nb",x\nc\n', r"line 4 has 1 cell\(s\) where the header has 2.*quotes"),
        ("text,label\na,b,c\n", r"line 2 has 3 cell\(s\)"),
        ('text,label\na,b\n"c,d\n', r"line 3 and on: unexpected end"),
        ('text,label\n"a" b,c\n', r"line 2 and on: .*doubled"),
        ("text,label\ra,b\r", r"line 1 and on"),
        ("text,text\na,b\n", r"more than one column 'text'"),
        ("body\na\n", r"no column 'text'. It has: 'body'"),
        ("text;topic\na;b\n", r"no column 'label'. It has: 'text', 'topic'"),
        ("body,label\na,b\n", r"no column 'text'. It has: 'body', 'label'.*text_column="),
        ("text,labels\na,b\n", r"no column 'label'.*label_column='labels'"),
        ("text,label\n", r"holds no rows"),
        ("\n", r"holds no rows"),
    ],
)
def test_broken_tables_are_named(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        read_delimited(written(tmp_path, content))
