"""`labelworth data`: what there is, what is here, and getting it; and studies that lack theirs."""

import gzip
import hashlib
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from labelworth.report.record import validate
from labelworth.report.values import Outcome
from labelworth_studies.corpora import catalogue, conversion, getting
from labelworth_studies.corpora.download import Remote
from labelworth_studies.runner import registry
from labelworth_studies.runner.study import Study
from support.command_line import labelworth
from support.faulty_server import FaultyServer, Page, faulty_server

ROWS = b'{"text": "see you", "label": "ham"}\n'


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultyServer]:
    """A catalogue of one corpus that can be had, one that fails, and one that is not public."""
    monkeypatch.setenv("LABELWORTH_DATA", str(tmp_path / "data"))
    with faulty_server() as own:
        good, bad = (
            Remote(own.url("/sms", b"ham\tsee you\n"), 100),
            Remote(own.url("/trec", Page(b"", status=404)), 100),
        )
        files = {"sms_spam.jsonl.gz": hashlib.sha256(ROWS).hexdigest()}
        known = catalogue.CATALOGUE
        corpora = (
            replace(known["sms"], n_rows=1, files=files, sources=(catalogue.Source((good,), conversion.sms),)),
            replace(known["trec"], sources=(catalogue.Source((bad,), conversion.trec),)),
            known["rcv1-whole"],
        )
        monkeypatch.setattr(catalogue, "CATALOGUE", {corpus.name: corpus for corpus in corpora})
        yield own


def study(name: str, *corpora: str) -> Study:
    return Study(name, name, lambda quick, seed: [{"seed": seed}], dict, lambda cells: Outcome({}), corpora=corpora)


def test_the_list_says_licence_presence_and_how_to_get_each(server: FaultyServer, tmp_path: Path) -> None:
    answer = labelworth("data", "list", "--json")
    validate(answer.record)
    assert answer.record["folder"] == str(tmp_path / "data")
    sms, trec, whole = answer.record["corpora"]
    assert (sms["is_here"], sms["n_rows"], sms["how"]) == (False, 1, "data get; SHA-256 of rows")
    assert sms["sources"][0]["files"] == [{"place": f"{server.address}/sms", "sha256": None}]
    assert "guards" in trec["needed_by"]
    assert (whole["how"], whole["needed_by"]) == ("by hand", [])
    assert labelworth("data", "get", "sms").code == 0
    shown = labelworth("data", "list").stdout
    assert "notice" in shown
    assert "by hand" in shown
    # No name is cut in two: it is what is typed.
    assert all(re.search(rf"^ *{name} ", shown, re.MULTILINE) for name in ("sms", "trec", "rcv1-whole"))
    assert "Licence: free with notice of the authors' copyright" in " ".join(shown.split())
    assert labelworth("data", "list", "--json").record["corpora"][0]["is_here"]


def test_getting_says_licence_and_place(server: FaultyServer, tmp_path: Path) -> None:
    answer = labelworth("data", "get", "sms")
    assert answer.code == 0
    assert "sms: got; its rows are those of our records. Licence: free with notice" in answer.stderr
    assert gzip.decompress((tmp_path / "data" / "sms_spam" / "sms_spam.jsonl.gz").read_bytes()) == ROWS
    assert "is here" in labelworth("data", "get", "sms").stderr


def test_getting_all_gets_what_can_be_had_and_tells_of_the_rest(server: FaultyServer) -> None:
    answer = labelworth("data", "get", "all")
    assert answer.code == 2
    assert "sms: got" in answer.stderr
    assert "trec: No source gave trec" in answer.stderr
    assert "rcv1-whole: not got by a command. Sign the agreement" in answer.stderr
    assert "Error: Not got: trec." in answer.stderr


def test_ctrl_c_says_how_to_go_on(server: FaultyServer, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(getting, "download", interrupted)
    answer = labelworth("data", "get", "sms")
    assert answer.code == 130
    assert "Stopped. The same command goes on from what is kept." in answer.stderr


def test_what_cannot_be_got_is_an_error_that_says_what_to_do(server: FaultyServer) -> None:
    for name, said in (
        ("trec", "404"),
        ("rcv1-whole", "Sign the agreement"),
        ("nothing", "Choose one of: sms, trec"),
    ):
        answer = labelworth("data", "get", name)
        assert answer.code == 2
        assert said in answer.stderr


def test_a_study_without_its_corpus_names_the_command(
    server: FaultyServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    studies = {"spam": study("spam", "sms"), "free": study("free")}
    monkeypatch.setattr(registry, "STUDIES", dict.fromkeys(studies, "x"))
    monkeypatch.setattr(registry, "find", studies.__getitem__)
    alone = labelworth("reproduce", "spam", "-o", tmp_path / "out")
    assert alone.code == 2
    assert "spam needs sms (SMS Spam Collection v.1): not found in" in alone.stderr
    assert "Get it with `labelworth data get sms`." in alone.stderr
    every = labelworth("reproduce", "all", "-o", tmp_path / "out")
    assert every.code == 0
    assert "Left out: spam needs sms" in every.stderr
    assert sorted(path.name for path in (tmp_path / "out").glob("*.json")) == ["free.json"]
    labelworth("data", "get", "sms")
    assert labelworth("reproduce", "spam", "-o", tmp_path / "out").code == 0


@pytest.mark.parametrize("words", [("reproduce",), ("bench",), ("data", "list"), ("data", "get")])
def test_every_command_of_the_laboratory_has_examples(words: tuple[str, ...]) -> None:
    assert f"Examples:\n   labelworth {' '.join(words)}" in labelworth(*words, "--help").stdout
