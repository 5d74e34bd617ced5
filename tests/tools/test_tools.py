"""What annotation tools themselves write is read, and what we write they read: `make tools-test` installs them.

Servers and databases are left out: it is each tool's own code for files that runs here.
"""

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import MagicMock
from uuid import UUID

import pytest

from labelworth.formats.choose import read_export, write_export
from labelworth.formats.export import Export, Item, Judgement, Prediction, Span

pytestmark = pytest.mark.filterwarnings("ignore")  # What tools are warned of is not ours to mend.
ANN, BOB = "6d9e4b1c-0000-4000-8000-000000000001", "6d9e4b1c-0000-4000-8000-000000000002"
TEXTS = ("Ann met Bob 😀 in Rome.", "no one was there", "nobody looked here")
CLASSES = ("good", "bad")
CONFIGS = {
    "classes": '<View><Text name="text" value="$text"/><Choices name="label" toName="text">'
    '<Choice value="good"/><Choice value="bad"/></Choices></View>',
    "spans": '<View><Text name="text" value="$text"/><Labels name="label" toName="text">'
    '<Label value="PER"/><Label value="LOC"/></Labels></View>',
}
SPANS = (Span(0, 3, "PER"), Span(8, 11, "PER"), Span(17, 21, "LOC"))


def documents(annotator: str = "") -> Export:
    """Labeled, and not looked at."""
    who = (Judgement(("good",), annotator=annotator), Judgement(("bad",), annotator=annotator))
    items = (Item("1", TEXTS[0], who[:1]), Item("2", TEXTS[1], who[1:]), Item("3", TEXTS[2]))
    return Export(items, "classes", CLASSES)


def entities(annotator: str = "") -> Export:
    """Labeled, labeled as nothing, and not looked at."""
    judgements = (Judgement(SPANS, annotator=annotator), Judgement((), annotator=annotator))
    items = (Item("1", TEXTS[0], judgements[:1]), Item("2", TEXTS[1], judgements[1:]), Item("3", TEXTS[2]))
    return Export(items, "spans", ("PER", "LOC"))


def said(export: Export) -> list[Any]:
    """Of every item what was said; None where nobody looked."""
    return [item.judgements[-1].said if item.judgements else None for item in export.items]


def written(export: Export, path: Path, format: str) -> Path:
    write_export(export, path, format, accept_losses=True)
    return path


def json_in(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


class TestLabelStudio:
    @pytest.mark.parametrize("export", [documents("7"), entities("7")], ids=["classes", "spans"])
    @pytest.mark.parametrize(("kind", "file"), [("JSON", "result.json"), ("JSON_MIN", "result.json")])
    def test_its_converter_reads_ours_and_we_read_what_it_writes(
        self, export: Export, kind: str, file: str, tmp_path: Path
    ) -> None:
        converter = pytest.importorskip("label_studio_sdk.converter", reason="label-studio-sdk is not installed")
        path = written(export, tmp_path / "tasks.json", "label-studio")
        made = tmp_path / "made"
        converter.Converter(config=CONFIGS[export.kind], project_dir=None).convert(
            str(path), str(made), kind, is_dir=False
        )
        back = read_export(made / file, question="label")
        assert [item.text for item in back.items] == list(TEXTS)
        assert said(back) == said(export)
        assert back.items[0].judgements[0].annotator == "7"

    def test_it_takes_tasks_with_predictions(self, tmp_path: Path) -> None:
        interface = pytest.importorskip(
            "label_studio_sdk.label_interface", reason="label-studio-sdk is not installed"
        )
        for export, predicted in ((documents(), ("good",)), (entities(), SPANS)):
            shown = Prediction(predicted, 0.83, "lw-1")
            asked = Export((Item("1", TEXTS[0], predictions=(shown,)),), export.kind)
            task = json_in(written(asked, tmp_path / f"{export.kind}.json", "label-studio"))[0]
            known = interface.LabelInterface(CONFIGS[export.kind])
            assert task["data"] == {"text": TEXTS[0]}
            assert known.validate_prediction(task["predictions"][0], return_errors=True) == []


class TestHuggingFace:
    def test_we_read_what_it_saves(self, tmp_path: Path) -> None:
        datasets = pytest.importorskip("datasets", reason="datasets is not installed")
        features = datasets.Features(
            {"text": datasets.Value("string"), "label": datasets.ClassLabel(names=list(CLASSES))}
        )
        made = datasets.Dataset.from_dict({"text": list(TEXTS), "label": [0, 1, -1]}, features=features)
        made.to_parquet(str(tmp_path / "a.parquet"))
        made.save_to_disk(str(tmp_path / "saved"))
        datasets.DatasetDict(train=made).save_to_disk(str(tmp_path / "splits"))
        for place in ("a.parquet", "saved", "splits/train"):
            export = read_export(tmp_path / place)
            assert (said(export), export.classes) == ([("good",), ("bad",), None], CLASSES)

    def test_we_read_its_tags(self, tmp_path: Path) -> None:
        datasets = pytest.importorskip("datasets", reason="datasets is not installed")
        tags = datasets.Sequence(datasets.ClassLabel(names=["O", "B-PER", "I-PER"]))
        features = datasets.Features({"tokens": datasets.Sequence(datasets.Value("string")), "ner_tags": tags})
        rows = {"tokens": [["Ann", "ran"], ["no", "one"]], "ner_tags": [[1, -1], [0, 0]]}
        datasets.Dataset.from_dict(rows, features=features).save_to_disk(str(tmp_path / "saved"))
        assert said(read_export(tmp_path / "saved")) == [("B-PER", None), ("O", "O")]

    @pytest.mark.parametrize("place", ["a.parquet", "folder"])
    def test_it_reads_what_we_write(self, place: str, tmp_path: Path) -> None:
        datasets = pytest.importorskip("datasets", reason="datasets is not installed")
        read = datasets.Dataset.from_parquet if place.endswith(".parquet") else datasets.load_from_disk
        classes = read(str(written(documents(), tmp_path / f"classes-{place}", "hugging-face")))
        assert classes.features["label"].names == list(CLASSES)
        assert (classes["text"][:], classes["label"][:]) == (list(TEXTS), [0, 1, -1])
        tags = read(str(written(entities(), tmp_path / f"tags-{place}", "hugging-face")))
        names = tags.features["ner_tags"].feature.names
        assert [[names[tag] if tag >= 0 else None for tag in row] for row in tags["ner_tags"]] == [
            ["B-PER", "O", "B-PER", "O", "O", "B-LOC", "O"], ["O"] * 4, [None] * 3,
        ]  # fmt: skip


class TestSpacy:
    def test_we_read_what_it_writes(self, tmp_path: Path) -> None:
        spacy = pytest.importorskip("spacy", reason="spaCy is not installed")
        nlp = spacy.blank("en")
        labeled, nothing, unseen = (nlp(text) for text in TEXTS)
        labeled.set_ents([labeled.char_span(s.start, s.end, s.label) for s in SPANS])
        nothing.set_ents([], default="outside")
        unseen.set_ents([], default="missing")
        lines = []
        for doc in (labeled, nothing, unseen):
            # As docs/formats.md says it.
            record = doc.to_json()
            record["missing"] = [token.i for token in doc if token.ent_iob == 0]
            lines.append(json.dumps(record))
        path = tmp_path / "docs.jsonl"
        path.write_text("\n".join(lines), encoding="utf-8")
        assert said(read_export(path)) == [SPANS, (), None]

    def test_it_reads_what_we_write(self, tmp_path: Path) -> None:
        spacy = pytest.importorskip("spacy", reason="spaCy is not installed")
        tokens = pytest.importorskip("spacy.tokens", reason="spaCy is not installed")
        path = written(entities(), tmp_path / "docs.jsonl", "spacy")
        docs = [self._doc(line, spacy, tokens) for line in path.read_text(encoding="utf-8").splitlines()]
        found = [tuple(Span(e.start_char, e.end_char, e.label_) for e in doc.ents) for doc in docs]
        assert (found, [doc.text for doc in docs]) == ([SPANS, (), ()], list(TEXTS))
        path = written(documents(), tmp_path / "cats.jsonl", "spacy")
        docs = [self._doc(line, spacy, tokens) for line in path.read_text(encoding="utf-8").splitlines()]
        assert [doc.cats for doc in docs] == [{"good": 1.0, "bad": 0.0}, {"good": 0.0, "bad": 1.0}, {}]

    @staticmethod
    def _doc(line: str, spacy: ModuleType, tokens: ModuleType) -> Any:
        return tokens.Doc(spacy.blank("en").vocab).from_json(json.loads(line))


class TestArgilla:
    def test_we_read_what_it_writes(self, tmp_path: Path) -> None:
        argilla = pytest.importorskip("argilla", reason="argilla is not installed")
        generic = pytest.importorskip("argilla.records._io._generic", reason="argilla is not installed")
        answers = [
            [("good", ANN, "submitted"), ("bad", BOB, "draft")],
            [("bad", ANN, "discarded"), ("bad", BOB, "submitted")],
            [("good", ANN, "draft")],
        ]
        records = [
            argilla.Record(
                id=str(number),
                fields={"text": text},
                suggestions=[argilla.Suggestion("label", "good", score=0.9, agent="m")],
                responses=[
                    argilla.Response("label", value, user_id=UUID(who), status=status) for value, who, status in made
                ],
            )
            for number, (text, made) in enumerate(zip(TEXTS, answers, strict=True), start=1)
        ]
        path = tmp_path / "records.json"
        path.write_text(json.dumps(generic.GenericIO.to_list(records, flatten=True)), encoding="utf-8")
        export = read_export(path)
        assert [[(j.how, j.said, j.annotator) for j in item.judgements] for item in export.items] == [
            [("is", ("good",), ANN)], [("cannot say", (), ANN), ("is", ("bad",), BOB)], [],
        ]  # fmt: skip
        assert export.items[0].predictions == (Prediction(("good",), 0.9, "m"),)

    @pytest.mark.parametrize("export", [documents(ANN), entities(ANN)], ids=["classes", "spans"])
    def test_it_reads_what_we_write(self, export: Export, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        argilla = pytest.importorskip("argilla", reason="argilla is not installed")
        hub = pytest.importorskip("argilla.datasets._io._hub", reason="argilla is not installed")
        datasets = pytest.importorskip("datasets", reason="datasets is not installed")
        # In place of a server: who is known there, and what would be sent to it.
        client, logged = MagicMock(), list[Any]()
        client.users, client.me = [SimpleNamespace(id=UUID(ANN))], SimpleNamespace(id=UUID(ANN), username="ann")
        monkeypatch.setattr(argilla.Argilla, "_default_client", client)
        question = (
            argilla.LabelQuestion("label", list(CLASSES))
            if export.kind == "classes"
            else argilla.SpanQuestion("label", field="text", labels=["PER", "LOC"])
        )
        settings = argilla.Settings(fields=[argilla.TextField("text")], questions=[question])

        def log(records: list[Any]) -> None:
            logged.extend(records)

        dataset = SimpleNamespace(
            schema=settings.schema,
            settings=settings,
            _client=client,
            records=SimpleNamespace(log=log),
        )
        rows = json_in(written(export, tmp_path / "records.json", "argilla"))
        names = dict.fromkeys(name for row in rows for name in row)
        held = datasets.Dataset.from_list([{name: row.get(name) for name in names} for row in rows])
        hub.HubImportExportMixin._log_dataset_records(held, dataset)
        assert [record.fields["text"] for record in logged] == list(TEXTS)
        answered = [[response.value for response in record.responses["label"]] for record in logged]
        expected = {
            "classes": [["good"], ["bad"], []],
            "spans": [[[{"start": s.start, "end": s.end, "label": s.label} for s in SPANS]], [[]], []],
        }
        assert answered == expected[export.kind]
        assert {str(response.user_id) for record in logged for response in record.responses} == {ANN}


class TestDoccano:
    """doccano is a server; its parsers, formatters and writers are modules that need none."""

    @staticmethod
    def module(name: str, monkeypatch: pytest.MonkeyPatch) -> Any:
        found = importlib.util.find_spec("backend")
        if found is None or not found.submodule_search_locations:
            pytest.skip("doccano is not installed")
        home = Path(next(iter(found.submodule_search_locations)))
        if not (home / "data_import" / "pipeline").is_dir():
            pytest.skip("doccano is not installed")
        monkeypatch.syspath_prepend(str(home))
        # What the formatters take from the models of the database: the name of a column.
        models = ModuleType("data_export.models")
        models.DATA = "data"  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "data_export.models", models)
        return pytest.importorskip(name, reason="doccano is not installed")

    @pytest.mark.parametrize("export", [documents(), entities()], ids=["classes", "spans"])
    def test_it_reads_what_we_write(self, export: Export, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        parsers = self.module("data_import.pipeline.parsers", monkeypatch)
        parser = parsers.JSONLParser(encoding="utf-8")
        rows = list(parser.parse(str(written(export, tmp_path / "all.jsonl", "doccano"))))
        assert parser.errors == []
        assert [row["text"] for row in rows] == list(TEXTS)
        expected = {
            "classes": [["good"], ["bad"], []],
            "spans": [[[s.start, s.end, s.label] for s in SPANS], [], []],
        }
        assert [row["label"] for row in rows] == expected[export.kind]

    @pytest.mark.parametrize("export", [documents(), entities()], ids=["classes", "spans"])
    def test_we_read_what_it_writes(self, export: Export, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        formatters = self.module("data_export.pipeline.formatters", monkeypatch)
        writers = self.module("data_export.pipeline.writers", monkeypatch)
        pandas = pytest.importorskip("pandas", reason="pandas is not installed")
        of_kind = {"classes": formatters.ListedCategoryFormatter, "spans": formatters.TupledSpanFormatter}
        table = pandas.DataFrame(
            {
                "id": [1, 2, 3],
                "data": list(TEXTS),
                "labels": [[self._label(entry) for entry in entries or ()] for entries in said(export)],
                "Comments": [[], [], []],
            }
        )
        for formatter in (of_kind[export.kind]("labels"), formatters.RenameFormatter(data="text", labels="label")):
            table = formatter.format(table)
        writers.JsonlWriter.write(str(tmp_path / "all.jsonl"), table)
        (tmp_path / "approved.jsonl").write_text(
            "\n".join((tmp_path / "all.jsonl").read_text(encoding="utf-8").splitlines()[:2]), encoding="utf-8"
        )
        back = read_export(tmp_path / "all.jsonl", approved=tmp_path / "approved.jsonl")
        assert [item.text for item in back.items] == list(TEXTS)
        assert said(back) == said(export)

    @staticmethod
    def _label(entry: Any) -> Any:
        """What doccano's models of labels answer its formatters."""
        if isinstance(entry, Span):
            return SimpleNamespace(to_tuple=lambda: (entry.start, entry.end, entry.label))
        return SimpleNamespace(to_string=lambda: entry)
