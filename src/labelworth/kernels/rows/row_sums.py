"""Sums of rows of tables, the work of every pass: rows that an index names, scaled, added up in vector registers.

As plain compiled loops, raced in one process with interleaved repeats, they cost more, and the pass with them: an EM
pass over documents 1.6 to 2 times (`add_rows`), the missing-information product 2.5 to 3.5 times (`gather_listed`,
`scatter_listed`), a training pass of a CRF 1.2 times (`add_to_rows`).
"""

from typing import Any

from labelworth.arrays import AnyArray, FloatArray
from labelworth.kernels.machine.vector_code import LONG, Emitter, word

WIDEST = 52
"""The most columns that `add_rows` and `add_to_rows` take, a multiple of four: thirteen registers; one is left."""

NARROW = 16
"""The most columns that `gather_listed` and `scatter_listed` take; any number below, too."""

_AHEAD = 20  # how many rows before it is added a row is called for


def _call_for_later(emitter: Emitter, given: Any, table: Any, entry: Any, width: int) -> None:
    """Call for a row of the table that will be wanted soon, maybe by the next call."""
    builder = emitter.builder
    later = builder.add(entry, LONG(_AHEAD))
    later = builder.select(builder.icmp_signed("<", later, given.index.nitems), later, entry)
    emitter.prefetch(emitter.row(table, given.index.data, later, given.stride), width)


def _write_add_rows(emitter: Emitter, given: Any) -> None:
    builder = emitter.builder
    target, table = emitter.at(given.target.data, given.target_start), emitter.at(given.table.data, given.table_start)
    index, scale = given.index.data, given.scale.data

    def write(width: int) -> None:
        def step(entry: Any, sums: list[Any]) -> list[Any]:
            _call_for_later(emitter, given, table, entry, width)
            factor = builder.load(emitter.at(scale, entry))
            row = emitter.load(emitter.row(table, index, entry, given.stride), width)
            return emitter.multiply_add(factor, row, sums)

        emitter.store(target, width, emitter.loop(given.first, given.last, emitter.load(target, width), step))

    emitter.switch(given.n_columns, range(4, WIDEST + 1, 4), write)


@word(_write_add_rows)
def add_rows(
    target: FloatArray,
    target_start: int,
    table: FloatArray,
    table_start: int,
    stride: int,
    index: AnyArray,
    scale: AnyArray,
    first: int,
    last: int,
    n_columns: int,
) -> None:
    """Add ``scale[i] * table[table_start + index[i] * stride + column]`` to ``target[target_start + column]``.

    For i from `first` to `last` and `n_columns` columns; all arrays are flat.
    """
    sums = target[target_start : target_start + n_columns]
    for entry in range(first, last):
        start = table_start + int(index[entry]) * stride
        sums += float(scale[entry]) * table[start : start + n_columns]


def _write_add_to_rows(emitter: Emitter, given: Any) -> None:
    source, table = emitter.at(given.source.data, given.source_start), emitter.at(given.table.data, given.table_start)

    def write(width: int) -> None:
        row = emitter.load(source, width)

        def step(entry: Any, _: list[Any]) -> list[Any]:
            _call_for_later(emitter, given, table, entry, width)
            target = emitter.row(table, given.index.data, entry, given.stride)
            factor = emitter.builder.load(emitter.at(given.scale.data, entry))
            emitter.store(target, width, emitter.multiply_add(factor, row, emitter.load(target, width)))
            return []

        emitter.loop(given.first, given.last, [], step)

    emitter.switch(given.n_columns, range(4, WIDEST + 1, 4), write)


@word(_write_add_to_rows)
def add_to_rows(
    source: FloatArray,
    source_start: int,
    table: FloatArray,
    table_start: int,
    stride: int,
    index: AnyArray,
    scale: AnyArray,
    first: int,
    last: int,
    n_columns: int,
) -> None:
    """Add ``scale[i] * source[source_start + column]`` to ``table[table_start + index[i] * stride + column]``.

    The way back of `add_rows`: one source, many targets.
    """
    row = source[source_start : source_start + n_columns]
    for entry in range(first, last):
        start = table_start + int(index[entry]) * stride
        table[start : start + n_columns] += float(scale[entry]) * row


def _write_add_listed(emitter: Emitter, given: Any, gather: bool) -> None:
    builder = emitter.builder
    packed, table = emitter.at(given.packed.data, given.packed_start), emitter.at(given.table.data, given.table_start)
    scale = emitter.at(given.scale.data, given.scale_start)
    ahead = builder.sub(given.ahead, given.table_start)

    def write(width: int) -> None:
        def step(entry: Any, _: list[Any]) -> list[Any]:
            listed = emitter.row(table, given.index.data, entry, given.stride)
            following = emitter.at(packed, builder.mul(builder.sub(entry, given.first), given.stride))
            source, target = (listed, following) if gather else (following, listed)
            emitter.prefetch(emitter.at(listed, ahead), width)
            factor = builder.load(emitter.row(scale, given.index.data, entry, LONG(1)))
            scaled = builder.fmul(given.factor, factor)
            sums = emitter.multiply_add(scaled, emitter.load(source, width), emitter.load(target, width))
            emitter.store(target, width, sums)
            return []

        emitter.loop(given.first, given.last, [], step)

    emitter.switch(given.n_columns, range(1, NARROW + 1), write)


@word(lambda emitter, given: _write_add_listed(emitter, given, gather=True))
def gather_listed(
    packed: FloatArray,
    packed_start: int,
    table: FloatArray,
    table_start: int,
    ahead: int,
    stride: int,
    index: AnyArray,
    first: int,
    last: int,
    factor: float,
    scale: FloatArray,
    scale_start: int,
    n_columns: int,
) -> None:
    """Add the rows of `table` that `index` names, scaled, to the rows of `packed`, one after the other.

    ``packed[packed_start + (i - first) * stride + j] += factor * scale[scale_start + index[i]] *
    table[table_start + index[i] * stride + j]`` for i from `first` to `last` and j over `n_columns` columns; all
    arrays are flat. The same rows of the table that begins at `ahead` will be wanted soon.
    """
    for entry in range(first, last):
        listed = table_start + int(index[entry]) * stride
        following = packed_start + (entry - first) * stride
        scaled = factor * scale[scale_start + int(index[entry])]
        packed[following : following + n_columns] += scaled * table[listed : listed + n_columns]


@word(lambda emitter, given: _write_add_listed(emitter, given, gather=False))
def scatter_listed(
    packed: FloatArray,
    packed_start: int,
    table: FloatArray,
    table_start: int,
    ahead: int,
    stride: int,
    index: AnyArray,
    first: int,
    last: int,
    factor: float,
    scale: FloatArray,
    scale_start: int,
    n_columns: int,
) -> None:
    """Add the rows of `packed`, one after the other and scaled, to the rows of `table` that `index` names.

    The other way round than `gather_listed`.
    """
    for entry in range(first, last):
        listed = table_start + int(index[entry]) * stride
        following = packed_start + (entry - first) * stride
        scaled = factor * scale[scale_start + int(index[entry])]
        table[listed : listed + n_columns] += scaled * packed[following : following + n_columns]
