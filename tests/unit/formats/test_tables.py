"""Tables of texts and classes: what their rows mean."""

from pathlib import Path

import pytest

import labelworth as lw
from labelworth.formats.export import Item, Judgement

NAMES = {"csv": "a.csv", "tsv": "a.tsv", "excel": "a.xlsx", "jsonl": "a.jsonl"}


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_label_is_unlabeled_or_nothing_as_was_said(tmp_path: Path, name: str) -> None:
    path = tmp_path / NAMES[name]
    items = (Item("1", "a", (Judgement(("x",), annotator="ann"),)), Item("2", "b", (Judgement((), annotator="ann"),)))
    [loss] = lw.write_export(lw.Export(items), path, name, accept_losses=True)
    assert (loss.aspect, loss.ids) == ("nothing", ("2",))
    for said, state in ((None, "unlabeled"), ("unlabeled", "unlabeled"), ("nothing", "nothing")):
        export = lw.read_export(path, format=name, empty_means=said)
        assert [item.state for item in export.items] == ["labeled", state]


def test_who_labeled_a_row_as_nothing_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text,label,annotator,seconds\na,,ann,2\nb,x,bob,3\n")
    export = lw.read_export(path, empty_means="nothing")
    assert export.items[0].judgements == (Judgement((), annotator="ann", seconds=2.0),)
