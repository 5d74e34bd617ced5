"""The doors of the command line through which files of unknown origin come in, each with valid files to damage."""

import copy
import csv
import hashlib
import io
import json
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp

from fuzz.mutations import (
    ODD_TEXTS,
    ODD_VALUES,
    archive_of,
    as_json,
    mutated_array,
    mutated_bytes,
    mutated_cells,
    mutated_value,
)
from labelworth.formats.export import Export, Item, Judgement, Prediction, Span
from support.command_line import labelworth

TEXTS = [
    f"{word} {other} words here" for word in ("win", "hello", "lunch", "prize") for other in ("now", "again", "or")
]
LABELS = ["spam", "ham", "ham", "spam", None, "ham", "spam", "ham", ["ham", "spam"], None, "ham", "spam"]
SENTENCES = [(["the", "cat", "sat"], ["D", "N", "V"]), (["a", "dog"], ["D", "N"]), (["go"], [None])]
CONLL = "the DT B-NP\ncat NN I-NP\n\n-DOCSTART- X O\n\ngo VB O\nhome NN B-NP\n\nstay VB ?\n"
CRFSUITE = "@weight:2\nB-NP\tw=the\tp\\:q:0.5\n?\tw=cat\n\nO\tw=go\nB-NP\tw=home\n\nO\n"
DOCUMENT_SPEC = {
    "model": "multinomial-naive-bayes",
    "parameters": {
        "class_probabilities": [0.4, 0.6],
        "word_probabilities": [[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]],
    },
    "document_length": 3,
    "n_samples": 100,
    "labeled_fractions": [0.0, 0.5, 1.0],
    "classes": ["a", "b"],
}
DESIGN_SPEC = {
    **{name: value for name, value in DOCUMENT_SPEC.items() if name != "labeled_fractions"},
    "kinds": [
        {"name": "model", "confusion": [[0.9, 0.1], [0.3, 0.7]], "unknown": True},
        {"name": "crowd", "confusion": [[0.6, 0.3, 0.1], [0.0, 0.2, 0.8]], "votes": 2},
        {"name": "audited", "audits": "model"},
    ],
    "designs": [[0.5, 0.5, 0, 0, 0], [0.2, 0.1, 0.3, 0.2, 0.2], [0, 0, 1, 0, 0]],
}
CHAIN_SPEC = {
    "model": "hidden-markov",
    "parameters": {
        "start": [0.5, 0.5],
        "transition": [[0.8, 0.2], [0.3, 0.7]],
        "emission": [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]],
    },
    "lengths": {"2": 0.5, "3": 0.5},
    "rules": ["everything", "nothing"],
    "policies": [[1, 0], [0.5, 0.5]],
    "n_samples": 100,
}


@dataclass(frozen=True)
class Door:
    """How a file is made, what it is called, and the command it is given to (the file's path is appended)."""

    ending: str
    make: Callable[[Random], bytes]
    command: Callable[[Path, Path], list[object]]


def _fit(path: Path, folder: Path) -> list[object]:
    return ["fit", path, "--output", folder / "model.lw"]


def _information(path: Path, folder: Path) -> list[object]:
    return ["information", path, "--json"]


def _predict(path: Path, folder: Path) -> list[object]:
    data = folder / "data.jsonl"
    data.write_bytes(_rows_json())
    return ["predict", path, data, "--output", folder / "predicted.jsonl"]


def _rows_json() -> bytes:
    return b"".join(
        as_json({"text": text, "label": label}) + b"\n" for text, label in zip(TEXTS, LABELS, strict=True)
    )


def _jsonl(random: Random) -> bytes:
    rows: list[Any] = [{"text": text, "label": label} for text, label in zip(TEXTS, LABELS, strict=True)]
    return _some_json(rows, random)


def _tokens(random: Random) -> bytes:
    return _some_json([{"tokens": words, "tags": tags} for words, tags in SENTENCES * 2], random)


def _some_json(rows: list[Any], random: Random) -> bytes:
    rows = mutated_value(rows, random) if random.random() < 0.7 else rows
    indent = random.choice([None, None, 1])
    if random.random() < 0.3 or not isinstance(rows, list):
        content = as_json(rows, indent=indent)
    else:
        content = b"\n".join(as_json(row, indent=indent) for row in rows)
    return mutated_bytes(content, random) if random.random() < 0.4 else content


def _table(separator: str) -> Callable[[Random], bytes]:
    def make(random: Random) -> bytes:
        stream = io.StringIO()
        writer = csv.writer(stream, delimiter=random.choice([separator, separator, ";"]), lineterminator="\n")
        writer.writerow(["text", "label"])
        writer.writerows(
            [text, json.dumps(label) if isinstance(label, list) else label or ""]
            for text, label in zip(TEXTS, LABELS, strict=True)
        )
        return _some_text(stream.getvalue(), separator, random)

    return make


def _lines(text: str, separator: str) -> Callable[[Random], bytes]:
    return lambda random: _some_text(text, separator, random)


def _some_text(text: str, separator: str, random: Random) -> bytes:
    if random.random() < 0.6:
        text = mutated_cells(text, separator, random)
    content = text.encode(errors="surrogatepass")
    return mutated_bytes(content, random) if random.random() < 0.6 else content


def _svmlight(random: Random) -> bytes:
    lines = []
    for row in range(8):
        largest = random.choice([9, 9, 9, 9, 2**20, 10**9, 2**31 - 1, 2**40])
        columns = sorted(random.sample(range(1, 9), 3)) + ([largest] if random.random() < 0.1 else [])
        lines.append(f"{row % 2} " + " ".join(f"{column}:{random.choice([1, 2, 0.5])}" for column in columns))
    return _some_text("\n".join(lines) + "\n", random.choice([" ", ":"]), random)


def _npz(random: Random) -> bytes:
    rng = np.random.default_rng(random.randrange(10**6))
    matrix = rng.integers(0, 3, (12, 5)).astype(float)
    stream = io.BytesIO()
    if random.random() < 0.5:
        container = random.choice([sp.csr_array, sp.csc_array, sp.coo_array, sp.bsr_array, sp.dia_array])
        sp.save_npz(stream, container(matrix), compressed=False)
    else:
        np.savez(stream, X=matrix)
    with zipfile.ZipFile(stream) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    labels = random.choice([np.arange(12) % 2, np.array(["a", "b", ""] * 4), rng.random(12)])
    members["y.npy"] = _array_bytes(labels)
    name = random.choice(list(members))
    action = random.randrange(5)
    if action <= 1:
        members[name] = mutated_array(members[name], random)
    elif action == 2:
        sizes = random.choice([(-1, 5), (12, 10**9), (10**9, 5), (10**18, 10**18), (12,), (0, 0), (12, 5, 1), (1, 1)])
        members["shape.npy" if "shape.npy" in members else name] = _array_bytes(np.array(sizes))
    elif action == 3:
        members[random.choice([name, name.removesuffix(".npy"), "y", "labels.npy", "../x.npy"])] = members.pop(name)
    else:
        members[name] = random.choice(list(members.values()))
    content = archive_of(members, packed=random.random() < 0.3)
    return mutated_bytes(content, random) if random.random() < 0.2 else content


def _array_bytes(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def _parquet(random: Random) -> bytes:
    n_rows = len(TEXTS)
    names = random.choice([["text", "label"]] * 4 + [["text", "text"], ["text", "label", "label"], ["label"]])
    columns = [_column("text" if name == "text" else "label", n_rows, random) for name in names]
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_arrays(columns, names=names), stream, compression=random.choice(["snappy", "none"]))
    content = stream.getvalue()
    return mutated_bytes(content, random) if random.random() < 0.4 else content


def _column(kind: str, n_rows: int, random: Random) -> Any:
    usual = pa.array(TEXTS if kind == "text" else [None if isinstance(x, list) else x for x in LABELS])
    ages = [random.choice([0, 1, -(10**6), 10**9, -(2**31), 2**31 - 1]) for _ in range(n_rows)]
    long_ages = [random.choice([0, 2**62, -(2**62), 10**15]) for _ in range(n_rows)]
    return random.choice(
        [
            usual, usual, usual,
            pa.array([list("ab")] * n_rows),
            pa.array(ages, pa.int32()).view(pa.date32()),
            pa.array(long_ages, pa.int64()).view(pa.timestamp(random.choice(["ms", "us", "ns"]))),
            pa.array(long_ages, pa.int64()).view(pa.timestamp("us", tz="Mars/Olympus")),
            pa.array(long_ages, pa.int64()).view(pa.duration("us")),
            pa.array([b"\xff\xfe"] * n_rows),
            pa.Array.from_buffers(pa.string(), n_rows, pa.array([b"\xff\xfe"] * n_rows).buffers()),
            pa.array([{"a": 1}] * n_rows),
            pa.array([date(2020, 1, 1)] * n_rows),
            pa.array([datetime(2020, 1, 1)] * n_rows),
            pa.array([timedelta(1)] * n_rows),
            pa.array([1.5, float("nan"), float("inf")] * (n_rows // 3)),
            pa.array(list(range(n_rows))),
            pa.array([True, False] * (n_rows // 2)),
            usual.dictionary_encode(),
            pa.nulls(n_rows),
        ]
    )  # fmt: skip


def _spec(random: Random) -> bytes:
    documents: list[dict[str, Any]] = [DOCUMENT_SPEC, DESIGN_SPEC]
    spec = random.choice([*documents, CHAIN_SPEC, {**CHAIN_SPEC, "model": "boltzmann-chain"}])
    if spec not in documents and random.random() < 0.3:
        spec = {**CHAIN_SPEC, "model": "conditional-random-field", "input_probabilities": [0.2, 0.3, 0.5]}
    if random.random() < 0.3:
        spec = {**spec, "method": random.choice(["enumeration", "sampling", "auto"])}
    if random.random() < 0.7:
        return as_json(_valid_but_odd(spec, random))
    content = as_json(mutated_value(spec, random))
    return mutated_bytes(content, random) if random.random() < 0.1 else content


def _valid_but_odd(spec: dict[str, Any], random: Random) -> dict[str, Any]:
    """A specification of the right form with numbers nobody would write: its probabilities still add up."""
    odd = copy.deepcopy(spec)
    length = random.choice([1, 2, 12, 10**6, 10**9, 10**15])
    if "lengths" in odd:
        odd["lengths"] = random.choice([odd["lengths"], {str(length): 1.0}, {"1": 0.5, str(length + 1): 0.5}])
        rules = ["everything", "nothing", "every-other", f"window:{length}", f"random:{random.choice([1e-300, 0.5])}"]
        odd["rules"] = random.sample(rules, 2)
    else:
        odd["document_length"] = length
    odd["n_samples"] = random.choice([1e-300, 1, 100, 1e300])
    # Without it millions are drawn for what is rare, which takes most of a minute: slow, as was asked for.
    odd["max_draws"] = random.choice([1, 1000, 100_000])
    if "kinds" in odd:
        odd["kinds"][1]["votes"] = random.choice([1, 7, 150, 1000, 10**6])
        odd["kinds"][0]["confusion"][0] = random.choice([[1.0, 0.0], [1e-300, 1.0], [0.5, 0.5], [1 - 1e-12, 1e-12]])
    tables = odd["parameters"]
    row = random.choice([row for table in tables.values() for row in ([table] if type(table[0]) is float else table)])
    if odd["model"] in ("hidden-markov", "multinomial-naive-bayes"):
        row[0] = random.choice([row[0], 1e-300, 1e-12, 0.999999999])
        row[1:] = [(1 - row[0]) / len(row[1:])] * len(row[1:])
    else:
        row[random.randrange(len(row))] = random.choice([0.0, -1e3, 1e3, 1e9, 1e300, -1e308])
    return odd


@cache
def _model_members() -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as name:
        data = Path(name) / "a.jsonl"
        data.write_bytes(_rows_json())
        labelworth(*_fit(data, Path(name)))
        with zipfile.ZipFile(Path(name) / "model.lw") as archive:
            return {entry: archive.read(entry) for entry in archive.namelist()}


def _model(random: Random) -> bytes:
    members = dict(_model_members())
    header = json.loads(members["header.json"])
    arrays = [name for name in members if name.endswith(".npy")]
    if random.random() < 0.5:
        header = mutated_value(header, random)
    if random.random() < 0.6:
        name = random.choice(arrays)
        other = random.choice(arrays)
        members[name] = random.choice([mutated_array(members[name], random), members[other]])
        # With its digest: what was changed on purpose must be met too.
        if isinstance(header, dict) and isinstance(header.get("arrays"), dict):
            header["arrays"][name] = hashlib.sha256(members[name]).hexdigest()
    members["header.json"] = as_json(header)
    content = archive_of(members, packed=random.random() < 0.05)
    return mutated_bytes(content, random) if random.random() < 0.2 else content


def _template(random: Random) -> bytes:
    row, column = (random.choice([0, 1, 2, 999, 10**6, 10**9, 10**30]) for _ in range(2))
    content = f"U00:%x[-{row},0]\nU01:%x[0,0]/%x[{row},{column}]\nB\n".encode()
    return mutated_bytes(content, random) if random.random() < 0.7 else content


def _fit_template(path: Path, folder: Path) -> list[object]:
    data = folder / "data.conll"
    data.write_text(CONLL)
    model = ["--model", "conditional-random-field"]
    return ["fit", data, *model, "--template", path, "--output", folder / "model.lw"]


def _classes_of(random: Random) -> bytes:
    """Labels of any type beside each other."""
    values = [random.choice([*ODD_VALUES, *ODD_TEXTS, "a", "b", 1, 2]) for _ in TEXTS]
    return b"\n".join(as_json({"text": text, "label": value}) for text, value in zip(TEXTS, values, strict=True))


def _answers(random: Random) -> bytes:
    """A long table of answers of every kind, or a wide one."""
    rows = [["task", "worker", "label", "question", "seconds", "price"]]
    answers = ["ham", "spam|ham", '["ham"]', '{"ham": 0.25, "spam": 0.75}', "[0.5, 0.5]", "?", "", "yes"]
    rows += [
        [str(row), f"w{row % 3}", cell, "spam" if cell == "yes" else "", random.choice(["", "3.5"]), "0.02"]
        for row, cell in enumerate(answers)
    ]
    if random.random() < 0.3:
        rows = [["w1", "w2"], *([random.choice(["ham", "spam", "", "ham|spam"]), "ham"] for _ in TEXTS)]
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(rows)
    return _some_text(stream.getvalue(), ",", random)


def _fit_answers(path: Path, folder: Path) -> list[object]:
    data = folder / "data.jsonl"
    data.write_bytes(_rows_json())
    return ["fit", data, "--answers", path, "--output", folder / "model.lw"]


def _convert(path: Path, folder: Path) -> list[object]:
    return ["convert", path, folder / "out.csv", "--accept-losses", "--empty-means", "nothing"]


def _exported(name: str) -> Callable[[Random], bytes]:
    """A small export of any shape in a format that is one file, damaged in its values, its lines or its bytes."""

    def make(random: Random) -> bytes:
        content = _whole_export(name, random.randrange(4))
        if name in _OBJECTS:
            rows = json.loads(content) if content.startswith(b"[") else [json.loads(x) for x in content.splitlines()]
            return _some_json(rows, random)
        if name in ("webanno", "conll"):
            return _some_text(content.decode(), random.choice(["\t", "|", "-"]), random)
        return mutated_bytes(content, random) if random.random() < 0.9 else content

    return make


def _convert_folder(path: Path, folder: Path) -> list[object]:
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder / "export")
    return _convert(folder / "export", folder)


def _exported_folder(name: str) -> Callable[[Random], bytes]:
    """A small export in a format that is a folder, with a file that is damaged or missing; packed on its way."""

    def make(random: Random) -> bytes:
        members = dict(_whole_folder(name, random.randrange(2)))
        chosen = random.choice(sorted(members))
        if random.random() < 0.1:
            del members[chosen]
        elif chosen.endswith((".ann", ".json", ".txt", ".jsonl")) and random.random() < 0.7:
            members[chosen] = _some_text(members[chosen].decode(), random.choice(["\t", " ", '"']), random)
        else:
            members[chosen] = mutated_bytes(members[chosen], random)
        return archive_of(members)

    return make


@cache
def _whole_folder(name: str, number: int) -> dict[str, bytes]:
    from labelworth.formats.choose import format_named

    known = format_named(name)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "export"
        known.write(EXPORTS[number if "classes" in known.kinds else 1], folder)
        return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@cache
def _whole_export(name: str, number: int) -> bytes:
    from labelworth.formats.choose import format_named

    known = format_named(name)
    export = EXPORTS[number % 2] if len(known.kinds) > 1 else EXPORTS[known.kinds != ("classes",)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"export{known.endings[0]}"
        known.write(export, path)
        return path.read_bytes()


_OBJECTS = {
    "label-studio": ".json", "label-studio-min": ".json", "prodigy": ".jsonl", "doccano": ".jsonl",
    "argilla": ".json", "spacy": ".jsonl",
}  # fmt: skip
_EXPORTED = {**_OBJECTS, "webanno": ".tsv", "hugging-face": ".parquet", "excel": ".xlsx"}
_FOLDERS = ("brat", "doccano-members", "hugging-face")
EXPORTS = (
    Export(
        (
            Item(
                "1", "win now 😀", (Judgement(("spam",), annotator="ann", seconds=2.5),), (Prediction(("ham",), 0.5),)
            ),
            Item("2", "lunch?", (Judgement(("ham",)), Judgement((), annotator="bob")), meta={"source": "web"}),
            Item("3", "", (Judgement((), "cannot say"),)),
        ),
    ),
    Export(
        (
            Item("1", "Ed 😀 met Ann.", (Judgement((Span(0, 2, "PER"), Span(5, 12, "X_|Y")), annotator="ann"),)),
            Item("2", "no one", (Judgement(()),)),
        ),
        "spans",
    ),
)


DOORS = {
    "jsonl": Door(".jsonl", _jsonl, _fit),
    "labels": Door(".jsonl", _classes_of, _fit),
    "csv": Door(".csv", _table(","), _fit),
    "tsv": Door(".tsv", _table("\t"), _fit),
    "parquet": Door(".parquet", _parquet, _fit),
    "svm": Door(".svm", _svmlight, _fit),
    "npz": Door(".npz", _npz, _fit),
    "conll": Door(".conll", _lines(CONLL, " "), _fit),
    "crfsuite": Door(".crfsuite", _lines(CRFSUITE, "\t"), _fit),
    "tokens": Door(".jsonl", _tokens, _fit),
    "answers": Door(".csv", _answers, _fit_answers),
    "template": Door(".template", _template, _fit_template),
    "spec": Door(".json", _spec, _information),
    "model": Door(".lw", _model, _predict),
    **{name: Door(ending, _exported(name), _convert) for name, ending in _EXPORTED.items()},
    **{f"{name} folder": Door(".zip", _exported_folder(name), _convert_folder) for name in _FOLDERS},
}
