"""A corpus from a server of strangers: the next source where one fails, and nothing that is not what it should be."""

import gzip
import hashlib
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from labelworth.errors import DataUnavailableError
from labelworth.progress import SilentProgress
from labelworth_studies.corpora import conversion
from labelworth_studies.corpora.catalogue import CATALOGUE, Corpus, Source
from labelworth_studies.corpora.download import Remote
from labelworth_studies.corpora.folder import corpora_folder, corpus_file, short_texts
from labelworth_studies.corpora.getting import _held, content_digest, get, is_here
from labelworth_studies.runner import registry
from support.faulty_server import FaultyServer, Page, faulty_server

LINES = b"ham\tsee you\nspam\tWIN\n"
ROWS = b'{"text": "see you", "label": "ham"}\n{"text": "WIN", "label": "spam"}\n'


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with faulty_server() as own:
        yield own


def corpus_of(*sources: Source) -> Corpus:
    files = {"sms_spam.jsonl.gz": hashlib.sha256(ROWS).hexdigest()}
    return replace(CATALOGUE["sms"], n_rows=2, files=files, sources=sources)


def source(server: FaultyServer, path: str, page: Page | bytes, differs: str = "") -> Source:
    return Source((Remote(server.url(path, page), 1000),), conversion.sms, differs)


def test_what_is_got_is_what_the_studies_read(
    server: FaultyServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABELWORTH_DATA", str(tmp_path))
    own = corpus_of(source(server, "/sms", Page(LINES, cuts=[5])))
    assert not is_here(own, tmp_path)
    assert get(own, tmp_path, waits=(0.0,)) == "got; its rows are those of our records"
    assert is_here(own, tmp_path)
    assert short_texts("sms").labels == ("ham", "spam")
    assert gzip.decompress(corpus_file("sms_spam", "sms_spam.jsonl.gz").read_bytes()) == ROWS
    assert "Licence: free with notice" in (tmp_path / "sms_spam" / "SOURCE.md").read_text()
    assert [*(tmp_path / ".downloads").iterdir()] == []
    assert get(own, tmp_path) == "is here; its rows are those of our records"
    assert len(server.asked) == 2  # The second went on from where the first was cut.


def test_the_next_source_is_asked_where_one_fails(server: FaultyServer, tmp_path: Path) -> None:
    failing = {
        "/gone": Page(b"", status=404),
        "/html": Page(b"<html>Sign in</html>"),
        "/bad.zip": Page(b"PK\x05\x06" + b"\0" * 18),
        "/other": Page(LINES + b"ham\tone more\n"),
    }
    sources = [source(server, path, page) for path, page in failing.items()]
    own = corpus_of(*sources, source(server, "/sms", LINES))
    said: list[str] = []
    progress = SilentProgress()
    progress.say = said.append  # type: ignore[method-assign]
    assert get(own, tmp_path, progress, waits=()) == "got; its rows are those of our records"
    assert [path for path, _ in server.asked] == [*failing, "/sms"]
    assert [path for path, words in zip(failing, said, strict=True) if path not in words] == []


def test_what_no_source_gives_is_not_there_and_every_reason_is_told(server: FaultyServer, tmp_path: Path) -> None:
    own = corpus_of(
        source(server, "/gone", Page(b"", status=404)),
        source(server, "/html", b"<html>"),
        source(server, "/other", LINES + b"ham\tone more\n"),
    )
    said = r"No source gave sms\. .*404.*not laid out as expected.*not those that the studies read \(sms_spam"
    with pytest.raises(DataUnavailableError, match=said):
        get(own, tmp_path, waits=())
    assert not is_here(own, tmp_path)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_another_edition_is_taken_only_with_as_many_rows_and_is_told(server: FaultyServer, tmp_path: Path) -> None:
    fewer = source(server, "/fewer", b"ham\tsee you\n", differs="letters differ")
    with pytest.raises(DataUnavailableError, match=r"has 1 rows instead of 2"):
        get(corpus_of(fewer), tmp_path, waits=())
    own = corpus_of(source(server, "/other", b"ham\tsee YOU\nspam\tWIN\n", differs="letters differ"))
    assert get(own, tmp_path, waits=()) == "got, but letters differ"
    assert "Not as in our records: letters differ." in (tmp_path / "sms_spam" / "SOURCE.md").read_text()
    assert get(own, tmp_path) == "is here; its rows are not those of our records"


def test_a_damaged_file_is_told_and_not_replaced(server: FaultyServer, tmp_path: Path) -> None:
    own = corpus_of(source(server, "/sms", LINES))
    get(own, tmp_path, waits=())
    path = tmp_path / "sms_spam" / "sms_spam.jsonl.gz"
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(DataUnavailableError, match=r"cannot be read .*Remove it, and get it again"):
        get(own, tmp_path, waits=())


def test_a_corpus_that_is_not_public_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(DataUnavailableError, match=r"rcv1-whole is not got by a command\. Sign the agreement"):
        get(CATALOGUE["rcv1-whole"], tmp_path)


def test_every_source_can_be_verified() -> None:
    for corpus in CATALOGUE.values():
        assert corpus.licence
        assert bool(corpus.sources) != bool(corpus.instead)
        for own in corpus.sources:
            # Rows are verified by their own digest; of another edition nothing is known but the digests of its files.
            assert all(corpus.files.values())
            assert not own.differs or all(remote.sha256 for remote in own.files)
            assert all(re.match(r"https://|[\w-]+==[\d.]+$", remote.place) for remote in own.files)


def test_scikit_learn_has_the_same_address_and_digest() -> None:
    from sklearn.datasets._twenty_newsgroups import ARCHIVE

    (remote,) = CATALOGUE["newsgroups"].sources[1].files
    assert (remote.place, remote.sha256) == (ARCHIVE.url, ARCHIVE.checksum)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.corpus(own.folder)) for name, own in CATALOGUE.items() if own.sources],
)
def test_the_digests_are_those_of_the_corpora_the_records_were_computed_on(name: str) -> None:
    corpus = CATALOGUE[name]
    found = {file: _held(corpus_file(corpus.folder, file)) for file in corpus.files}
    assert {file: content_digest(file, content) for file, content in found.items()} == corpus.files


@pytest.mark.corpus(*(own.folder for own in CATALOGUE.values()))
def test_studies_read_no_corpora_but_those_they_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = corpora_folder()
    studies = {study.data_digest: study for study in map(registry.find, registry.names())}
    for number, study in enumerate(studies.values()):
        folder = tmp_path / str(number)
        folder.mkdir()
        monkeypatch.setenv("LABELWORTH_DATA", str(folder))
        if study.corpora and study.quick_reads_corpora:
            with pytest.raises(DataUnavailableError, match=r"labelworth data get|is not got by a command"):
                study.data_digest()
        for one in {CATALOGUE[name].folder for name in study.corpora}:
            (folder / one).symlink_to(here / one)
        study.data_digest()


def test_every_study_names_corpora_of_the_catalogue() -> None:
    for name in registry.names():
        assert set(registry.find(name).corpora) <= set(CATALOGUE)
