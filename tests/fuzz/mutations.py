"""Small changes to valid files: of their bytes, their cells, and the values inside them."""

import copy
import io
import json
import zipfile
from random import Random
from typing import Any

_ODD_BYTES = [b"", b"\0", b"\xff", b"\n", b"\r", b"\t", b",", b";", b'"', b"[", b"{", b"}", b":", b"\xef\xbb\xbf"]
ODD_TEXTS = [
    "", " ", "\t", "-1", "-1.0", "nan", "inf", "1e999", "9" * 400, "1000000000", "None", "null", "true", "?", "_",
    "O", "B-NP", "b-np", "E-X", "@weight:2", "-DOCSTART-", "\ud800", "\u2028", "\ufeff", "a b", "[", '["a", "b"]',
    "%x[0,0]", "<unseen>", "a" * 5000,
]  # fmt: skip
ODD_VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 2, -100, 10**6, 10**9, 10**18, 10**30, 10**400, -(10**400), 0.5, -0.0, 1e-320,
    1e-200, 1e-9, 1e9, 1e200, 1e308, float("nan"), float("inf"), -float("inf"), [], {}, [[]], [None], [1, "a"],
    {"a": 1}, *ODD_TEXTS,
]  # fmt: skip


def mutated_bytes(content: bytes, random: Random) -> bytes:
    """Cut, repeat, overwrite or insert a little somewhere."""
    for _ in range(random.choice([1, 1, 1, 2, 4])):
        start = random.randrange(len(content) + 1)
        end = min(len(content), start + random.choice([0, 1, 1, 2, 8, 40, 10**9]))
        middle = random.choice(
            [
                b"",
                random.choice(_ODD_BYTES),
                random.choice(ODD_TEXTS).encode(errors="surrogatepass"),
                bytes([random.randrange(256)]) * (end - start if end - start < 100 else 1),
                content[start:end][:1000] * 2,
            ]
        )
        content = content[:start] + middle + content[end:]
    return content


def mutated_cells(text: str, separator: str, random: Random) -> str:
    """Change, drop, repeat or move a cell or a line."""
    lines = text.split("\n")
    for _ in range(random.choice([1, 1, 2, 5])):
        row = random.randrange(len(lines))
        cells = lines[row].split(separator)
        column = random.randrange(len(cells))
        action = random.randrange(6)
        if action == 0:
            cells[column] = random.choice(ODD_TEXTS)
        elif action == 1:
            del cells[column]
        elif action == 2:
            cells.insert(column, cells[column])
        elif action == 3:
            cells[column] = cells[column].swapcase() + random.choice(["", " ", "\u00a0"])
        elif action == 4:
            lines.insert(row, random.choice(lines))
        else:
            random.shuffle(cells)
        lines[row] = separator.join(cells)
    return "\n".join(lines)


def mutated_value(document: Any, random: Random) -> Any:
    """A copy of a JSON document with some of its values replaced, dropped, repeated or moved."""
    changed = copy.deepcopy(document)
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        spots = list(_spots(changed))
        if not spots:
            return random.choice(ODD_VALUES)
        holder, key = random.choice(spots)
        action = random.randrange(8)
        if action <= 4:
            holder[key] = copy.deepcopy(random.choice(ODD_VALUES))
        elif action == 5:
            del holder[key]
        elif action == 6 and isinstance(holder, list):
            holder.insert(key, copy.deepcopy(holder[key]))
        else:
            other, other_key = random.choice(spots)
            holder[key] = copy.deepcopy(other[other_key])
    return changed


def _spots(value: Any) -> Any:
    """Every (container, key) inside a document."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in list(items):
        yield value, key
        yield from _spots(item)


def as_json(document: Any, **settings: Any) -> bytes:
    return json.dumps(document, **settings).encode(errors="surrogatepass")


def archive_of(members: dict[str, bytes], *, packed: bool = False) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def mutated_array(content: bytes, random: Random) -> bytes:
    """An ``.npy`` member with another header (shape, type, order) or other bytes."""
    if random.random() < 0.3 or content[:6] != b"\x93NUMPY":
        return mutated_bytes(content, random)
    size = int.from_bytes(content[8:10], "little")
    header = content[10 : 10 + size].decode("latin1")
    old, new = random.choice(
        [
            ("(", f"({random.choice([-1, 0, 1, 2, 10**6, 10**9, 10**12, 10**30])}, "),
            ("shape", random.choice(["shap", "shape'': ", "shape"])),
            (
                "'<f8'",
                random.choice(["'<f4'", "'|O'", "'<U3'", "'<i8'", "'|b1'", "'<c16'", "'|S0'", "[('a', '<f8')]"]),
            ),
            ("'<i", random.choice(["'<f", "'<u", "'>i", "'<M"])),
            ("False", random.choice(["True", "None", "(", "'a'"])),
            (")", random.choice(["", "))", ", 'a')", "L)", "(" * 300])),
        ]
    )
    changed = header.replace(old, new, 1).encode("latin1")
    return content[:8] + len(changed).to_bytes(2, "little") + changed + content[10 + size :]
