"""The one guard through which arrays, archives, tables and sparse shapes of unknown origin are read.

Whatever a library raises on content it cannot read becomes `InvalidInputError`, and whatever a file declares (a
shape, a size after unpacking, a column number) is held against what the file holds before memory is taken for it.
"""

import ast
import io
import math
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import numpy as np
import scipy.sparse as sp

from labelworth.arrays import AnyArray
from labelworth.errors import InvalidInputError, LabelworthError

_NUMPY_MAGIC = b"\x93NUMPY"
_LONGEST_HEADER = 10_000
_INDEX_PARTS = ("indices", "indptr", "row", "col", "coords", "offsets")
_NEVER_TOO_LARGE = 1 << 28
_MOST_TIMES_LARGER = 200
_NEVER_TOO_WIDE = 1 << 20
_MOST_EMPTY_PER_STORED = 100


@contextmanager
def guarded(source: object, problem: str, cure: str) -> Iterator[None]:
    """Say "`source` `problem` (what the library said). `cure`" of everything that is raised inside.

    Errors raised on purpose pass as they are. Everything else is caught, whatever its type: compiled readers let
    KeyError, OverflowError, RecursionError or MemoryError out of content that somebody else wrote.
    """
    try:
        yield
    except LabelworthError:
        raise
    except Exception as error:
        said = " ".join(str(error).split()) or type(error).__name__
        raise InvalidInputError(f"{source} {problem} ({said[:200]}). {cure}") from error


def most_unpacked(n_packed: int) -> int:
    """How many bytes a packed file may unpack to: what real data never exceeds, and memory can hold."""
    return max(_NEVER_TOO_LARGE, _MOST_TIMES_LARGER * n_packed)


def unpacks_to_too_much(source: object, n_packed: int) -> InvalidInputError:
    return InvalidInputError(
        f"{source} is packed into {n_packed:,} bytes and unpacks to more than {most_unpacked(n_packed):,}, as no "
        "real data does. Unpack it first if it is right."
    )


def read_all(stream: IO[bytes], n_packed: int, source: object) -> bytes:
    """Everything a stream unpacks to, unless that is out of proportion."""
    content = stream.read(most_unpacked(n_packed) + 1)
    if len(content) > most_unpacked(n_packed):
        raise unpacks_to_too_much(source, n_packed)
    return content


def read_archive(content: bytes, source: object, *, may_be_packed: bool = True) -> dict[str, bytes]:
    """The members of a zip archive by name, unpacked."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members, n_unpacked = {}, 0
        for entry in archive.infolist():
            if entry.compress_type != zipfile.ZIP_STORED and not may_be_packed:
                raise ValueError("its parts are compressed")
            n_unpacked += entry.file_size
            if n_unpacked > most_unpacked(len(content)):
                raise unpacks_to_too_much(source, len(content))
            with archive.open(entry) as stream:
                members[entry.filename] = read_all(stream, len(content), source)
    return members


def read_array(content: bytes) -> AnyArray:
    """The array of an ``.npy`` file; never an object, and never larger than `content`.

    Raises
    ------
    ValueError
        If it is not an array of plain values; `guarded` says where.
    """
    header, start = _array_header(content)
    shape, descr = header["shape"], header["descr"]
    if not isinstance(shape, tuple) or any(type(size) is not int or size < 0 for size in shape):
        raise ValueError(f"the shape {shape!r:.60} is not one of an array")
    dtype = np.lib.format.descr_to_dtype(descr)
    if dtype.hasobject or dtype.kind in "VO" or dtype.itemsize == 0:
        raise ValueError(f"values of type {dtype!s:.60} are not plain numbers or texts")
    size = math.prod(shape)
    if size * dtype.itemsize > len(content) - start:
        raise ValueError(f"the shape {shape} takes more bytes than there are")
    values = np.frombuffer(content, dtype=dtype, count=size, offset=start) if size else np.empty(0, dtype)
    return values.reshape(shape, order="F" if header["fortran_order"] else "C")


def _array_header(content: bytes) -> tuple[dict[str, Any], int]:
    """What stands before the values, and where they begin."""
    if content[:6] != _NUMPY_MAGIC or len(content) < 12:
        raise ValueError("it is not an array of NumPy")
    width = 2 if content[6] == 1 else 4
    start = 8 + width + int.from_bytes(content[8 : 8 + width], "little")
    if start > min(len(content), _LONGEST_HEADER):
        raise ValueError("its header is cut off or too long")
    header = ast.literal_eval(content[8 + width : start].decode("latin1" if content[6] < 3 else "utf-8").strip())
    if not isinstance(header, dict) or header.keys() != {"descr", "fortran_order", "shape"}:
        raise ValueError("its header does not describe an array")
    return header, start


def read_sparse(members: dict[str, AnyArray], source: object) -> sp.csr_array:
    """The matrix whose parts ``scipy.sparse.save_npz`` wrote."""
    shape = tuple(int(size) for size in np.atleast_1d(members["shape"]).tolist())
    data = members["data"]
    if len(shape) != 2:
        raise InvalidInputError(f"{source} must have 2 dimensions, one row per sample. Got shape {shape}.")
    require_filled(shape, int(data.size), source)
    indices = [members[name] for name in _INDEX_PARTS if name in members]
    if data.dtype.kind not in "biuf" or any(array.dtype.kind not in "iu" for array in indices):
        raise ValueError("it holds other values than numbers, or fractions of indices")
    kind = members["format"].item()
    kind = kind.decode("ascii") if isinstance(kind, bytes) else kind
    matrix: Any
    if kind in ("csr", "csc", "bsr"):
        build = {"csr": sp.csr_array, "csc": sp.csc_array, "bsr": sp.bsr_array}[kind]
        matrix = build((data, members["indices"], members["indptr"]), shape=shape)
    elif kind == "coo":
        matrix = sp.coo_array((data, _coordinates(members)), shape=shape)
    elif kind == "dia":
        matrix = sp.dia_array((data, members["offsets"]), shape=shape)
    else:
        raise ValueError(f"there is no sparse format {kind!r:.40}")
    require_sound(matrix, name=str(source))
    return sp.csr_array(matrix)


def _coordinates(members: dict[str, AnyArray]) -> tuple[AnyArray, AnyArray]:
    rows, columns = members["coords"] if "coords" in members else (members["row"], members["col"])
    return rows, columns


def require_sound(features: Any, *, name: str = "X") -> None:
    """Refuse a compressed sparse matrix whose indices point outside: whoever converts it would follow them."""
    try:
        if hasattr(features, "check_format"):
            features.check_format(full_check=True)
    except ValueError as error:
        raise InvalidInputError(f"{name} is a broken sparse matrix; {error}. Build it again.") from error


def require_filled(shape: tuple[int, ...], n_stored: int, source: object) -> None:
    """Refuse a sparse matrix whose shape is out of proportion to the values it stores.

    A million rows or columns may be empty (hashed words have that many), and a hundred more per stored value: beyond
    that a column number is a slip, and tables over all columns would not fit in memory.
    """
    for size, what in zip(shape, ("rows", "columns"), strict=True):
        if not 0 <= size <= _NEVER_TOO_WIDE + _MOST_EMPTY_PER_STORED * n_stored:
            raise InvalidInputError(
                f"{source} claims {size:,} {what} and stores {n_stored:,} values. Number the {what} without such "
                "gaps, leaving out those that are empty."
            )
