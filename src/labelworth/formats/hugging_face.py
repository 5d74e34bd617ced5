"""Data sets of Hugging Face: Parquet with their features, or a folder that save_to_disk wrote."""

import io
import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from labelworth.arrays import UNLABELED
from labelworth.data.files import atomic_write
from labelworth.data.guard import guarded
from labelworth.data.readers.json_files import read_json
from labelworth.data.readers.parquet import read_columns
from labelworth.data.readers.streams import read_bytes
from labelworth.data.readers.tokens_jsonl import IGNORED, TAG_COLUMNS
from labelworth.errors import InvalidInputError
from labelworth.formats.export import Export, Item, Judgement, Kind
from labelworth.formats.fields import Fields
from labelworth.formats.folders import files_in, folders_in, whole_folder
from labelworth.formats.format import Format, chosen_column, free_fields
from labelworth.formats.source import HUGGING_FACE_KEY as _KEY
from labelworth.formats.source import Source
from labelworth.formats.token_files import item_of_words

_INFO, _STATE, _SPLITS = "dataset_info.json", "state.json", "dataset_dict.json"
_ARROW = "data-00000-of-00001.arrow"
_TAGS, _CURE = "ner_tags", "Save or copy it again."
_OWN = ("id", "text", "tokens", "label", _TAGS)


def _knows(source: Source) -> bool:
    if source.is_folder:
        return any((source.path / name).is_file() for name in (_STATE, _SPLITS))
    return source.head.startswith(b"PAR1") and _KEY in read_bytes(source.path)


def _read(source: Source) -> Export:
    columns, features = _folder(source.path) if source.is_folder else _parquet(source.path)
    labels = {name: spec for name, spec in features.items() if name in columns and _names(spec) is not None}
    tokens = "tokens" if "tokens" in columns else None
    field = source.reading.text_field or (tokens or "text")
    if field not in columns:
        texts = [name for name in columns if name not in labels and any(isinstance(c, str) for c in columns[name])]
        if len(texts) != 1:
            raise InvalidInputError(
                f"{source.path} has no column {field!r}. It has: {', '.join(columns)}. Name one with text_column=."
            )
        field = texts[0]
    found = labels or {name: {} for name in ("label", *TAG_COLUMNS) if name in columns}
    asked = source.reading.question
    if asked in columns and asked != field:
        found = {asked: {}}
    counts = {name: sum(value is not None for value in columns[name]) for name in found}
    question = chosen_column(counts, asked, str(source.path))
    names = _names(features.get(question, {}))
    cells = columns.get(question, [None] * len(columns[field]))
    is_tags = any(isinstance(cell, list) for cell in columns[field])
    beside, left_out = _beside(columns, features, (field, question))
    reader = _Rows(str(source.path), names, columns, beside)
    items = tuple(
        reader.item(number, cell, label, is_tags=is_tags)
        for number, (cell, label) in enumerate(zip(columns[field], cells, strict=True), start=1)
    )
    kind: Kind = "tags" if is_tags else "classes"
    notes = [f"{reader.n_ignored:,} tags were {IGNORED}, and were read as not seen."] if reader.n_ignored else []
    if left_out:
        notes.append(f"Columns that JSON cannot hold, or that are named as another thing, were left out: {left_out}.")
    return Export(items, kind, tuple(names or ()), "label", str(source.path), tuple(notes))


def _beside(
    columns: Mapping[str, list[Any]], features: Mapping[str, Any], used: tuple[str, str]
) -> tuple[dict[str, list[Any]], str]:
    """The other columns, classes by their names; and the names of those that cannot be kept."""
    beside, left_out = {}, []
    for name, cells in columns.items():
        if name in ("id", *used):
            continue
        if name in _OWN:
            left_out.append(name)
            continue
        names = _names(features.get(name, {}))
        values = [None if isinstance(cell, float) and math.isnan(cell) else _by_name(cell, names) for cell in cells]
        try:
            json.dumps(values, allow_nan=False)
        except (TypeError, ValueError):
            left_out.append(name)
        else:
            beside[name] = values
    return beside, ", ".join(left_out)


def _by_name(cell: Any, names: list[str] | None) -> Any:
    if names is None:
        return cell
    if isinstance(cell, list):
        return [_by_name(entry, names) for entry in cell]
    return names[cell] if isinstance(cell, int) and 0 <= cell < len(names) else None


class _Rows:
    def __init__(
        self,
        source: str,
        names: list[str] | None,
        columns: Mapping[str, list[Any]],
        beside: Mapping[str, list[Any]],
    ) -> None:
        self.source, self.names, self.columns, self.beside = source, names, columns, beside
        self.n_ignored = 0

    def item(self, number: int, cell: Any, label: Any, *, is_tags: bool) -> Item:
        row = Fields(
            {"id": self.columns["id"][number - 1] if "id" in self.columns else None}, f"{self.source}, row {number}"
        )
        name = row.name("id") or str(number)
        values = {column: cells[number - 1] for column, cells in self.beside.items()}
        meta = {column: value for column, value in values.items() if value is not None}
        if not is_tags:
            text = Fields({"text": "" if cell is None else cell}, row.location).text("text")
            return Item(name, text, self._judgements(label, row), meta=meta)
        words = [] if cell is None else cell
        if not isinstance(words, list) or not all(isinstance(word, str) and word for word in words):
            raise row.error("tokens must be texts, none of them empty")
        tags = [None] * len(words) if label is None else label
        if not isinstance(tags, list) or len(tags) != len(words):
            raise row.error(f"there must be a tag for each of {len(words):,} tokens")
        return replace(item_of_words(name, words, tuple(self._class(tag, row) for tag in tags)), meta=meta)

    def _judgements(self, label: Any, row: Fields) -> tuple[Judgement, ...]:
        if isinstance(label, list):
            classes = [self._class(entry, row) for entry in label]
            return (Judgement(tuple(dict.fromkeys(name for name in classes if name is not None))),)
        name = self._class(label, row)
        return () if name is None else (Judgement((name,)),)

    def _class(self, label: Any, row: Fields) -> str | None:
        if isinstance(label, int) and not isinstance(label, bool) and label in (UNLABELED, IGNORED):
            self.n_ignored += label == IGNORED
            return None
        if label is None or label == "":
            return None
        if self.names is None or isinstance(label, str):
            return row.label(label)
        if not isinstance(label, int) or not 0 <= label < len(self.names):
            raise row.error(f"the label {label!r:.20} is none of the {len(self.names):,} classes")
        return self.names[label]


def _names(spec: Any) -> list[str] | None:
    """The names of a column of classes, or of lists of them."""
    if isinstance(spec, list) and len(spec) == 1:
        spec = spec[0]
    if not isinstance(spec, Mapping):
        return None
    if spec.get("_type") == "ClassLabel":
        names = spec.get("names")
        if not isinstance(names, list) or not all(isinstance(name, str) and name.strip() for name in names):
            raise InvalidInputError("The features declare classes without names. Save the data set again.")
        return [name.strip() for name in names]
    return _names(spec["feature"]) if "feature" in spec else None


def _features(metadata: Mapping[bytes, bytes] | None) -> Mapping[str, Any]:
    held = json.loads((metadata or {}).get(_KEY, b"{}"))
    features = held.get("info", {}).get("features") if isinstance(held, Mapping) else None
    return features if isinstance(features, Mapping) else {}


def _parquet(path: Path) -> tuple[dict[str, list[Any]], Mapping[str, Any]]:
    columns = read_columns(path)
    from pyarrow import parquet

    with guarded(path, "is not a whole Parquet file", _CURE):
        return columns, _features(parquet.read_schema(io.BytesIO(read_bytes(path))).metadata)


def _folder(folder: Path) -> tuple[dict[str, list[Any]], Mapping[str, Any]]:
    if not (folder / _STATE).is_file():
        splits = ", ".join(str(split) for split in folders_in(folder)) or "none"
        raise InvalidInputError(f"{folder} holds several data sets. Name one of them: {splits}.")
    state = read_json(folder / _STATE, "state of a data set")
    inside = {path.name: path for path in files_in(folder, ".arrow")}
    listed = state.get("_data_files") if isinstance(state, Mapping) else None
    names = (
        [str(entry.get("filename")) for entry in listed if isinstance(entry, Mapping)]
        if isinstance(listed, list)
        else []
    )
    outside = [name for name in names if name not in inside]
    if outside or not names:
        raise InvalidInputError(
            f"{folder / _STATE} names the file {str(outside[:1])[1:-1] or 'none'!r:.60}, which is not in its folder."
        )
    if isinstance(state, Mapping) and state.get("_indices_files"):
        raise InvalidInputError(f"{folder} holds rows in another order. Save it with flatten_indices() first.")
    return _arrow([inside[name] for name in names])


def _arrow(paths: list[Path]) -> tuple[dict[str, list[Any]], Mapping[str, Any]]:
    try:
        import pyarrow as pa
    except ImportError as error:
        raise InvalidInputError(
            f"Reading {paths[0]} needs pyarrow, which is not installed. Use: pip install 'labelworth[parquet]'"
        ) from error
    columns: dict[str, list[Any]] = {}
    features: Mapping[str, Any] = {}
    for path in paths:
        with guarded(path, "is not a whole file of Arrow", _CURE):
            with pa.ipc.open_stream(io.BytesIO(read_bytes(path))) as stream:
                table = stream.read_all()
            table.validate(full=True)
            if len(set(table.column_names)) < len(table.column_names):
                raise ValueError("it has several columns of one name")
            features = _features(table.schema.metadata)
            for name in table.column_names:
                columns.setdefault(name, []).extend(table.column(name).to_pylist())
    if len({len(column) for column in columns.values()}) > 1 or not columns:
        raise InvalidInputError(f"The files of {paths[0].parent} have different columns. {_CURE}")
    return columns, features


def _put(export: Export, path: Path) -> None:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise InvalidInputError(
            "Writing data sets needs pyarrow, which is not installed. Use: pip install 'labelworth[parquet]'"
        ) from error
    table, features = _table(export, pa)
    stream = io.BytesIO()
    if path.suffix in (".parquet", ".pq"):
        parquet.write_table(table, stream)
        atomic_write(path, stream.getvalue())
        return
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)
    state: dict[str, Any] = {
        "_data_files": [{"filename": _ARROW}], "_fingerprint": "labelworth", "_format_columns": None,
        "_format_kwargs": {}, "_format_type": None, "_output_all_columns": False, "_split": None,
    }  # fmt: skip
    info = {"citation": "", "description": "", "features": features, "homepage": "", "license": ""}
    with whole_folder(path) as folder:
        (folder / _ARROW).write_bytes(stream.getvalue())
        (folder / _STATE).write_text(json.dumps(state, indent=2), encoding="utf-8")
        (folder / _INFO).write_text(json.dumps(info, indent=2), encoding="utf-8")


def _table(export: Export, pa: Any) -> tuple[Any, dict[str, Any]]:
    code = {name: number for number, name in enumerate(export.classes)}
    text, a_class = {"dtype": "string", "_type": "Value"}, {"names": list(export.classes), "_type": "ClassLabel"}
    said = [item.judgements[0].said if item.judgements else None for item in export.items]
    features: dict[str, Any] = {"id": text}
    columns = [pa.array([item.id for item in export.items], pa.string())]
    if export.kind == "tags":
        features |= {"tokens": {"feature": text, "_type": "List"}, _TAGS: {"feature": a_class, "_type": "List"}}
        tags = [
            [UNLABELED if tag is None else code[tag] for tag in (entry or [None] * len(item.tokens or ()))]
            for item, entry in zip(export.items, said, strict=True)
        ]
        columns += [
            pa.array([item.words for item in export.items], pa.list_(pa.string())),
            pa.array(tags, pa.list_(pa.int64())),
        ]
    elif all(entry is None or len(entry) == 1 for entry in said):
        features |= {"text": text, "label": a_class}
        codes = [UNLABELED if entry is None else code[entry[0]] for entry in said]
        columns += [pa.array([item.text for item in export.items], pa.string()), pa.array(codes, pa.int64())]
    else:
        # Several classes, or none of them, are lists.
        features |= {"text": text, "label": {"feature": a_class, "_type": "List"}}
        lists = [None if entry is None else [code[name] for name in entry] for entry in said]
        columns += [
            pa.array([item.text for item in export.items], pa.string()),
            pa.array(lists, pa.list_(pa.int64())),
        ]
    fields = [free_fields(item, _OWN) for item in export.items]
    for name in dict.fromkeys(name for held in fields for name in held):
        features[name] = text
        columns.append(pa.array([held.get(name) for held in fields], pa.string()))
    metadata = {_KEY: json.dumps({"info": {"features": features}}).encode()}
    return pa.Table.from_arrays(
        columns, schema=pa.schema([pa.field(n, c.type) for n, c in zip(features, columns, strict=True)], metadata)
    ), features


HUGGING_FACE = Format(
    "hugging-face",
    "a data set of Hugging Face",
    ("classes", "tags"),
    frozenset({
        "meta", "several classes", "partly judged", "spans alone", "tags", "nothing", "between", "empty items", "ids",
        "any ids", "order", "classes",
    }),
    "a class of -1 or null: unlabeled; an empty list of classes, or all O: nothing",
    _knows,
    _read,
    _put,
    (".parquet", ""),
    needs_tokens=("spans",),
    declares=True,
)  # fmt: skip
