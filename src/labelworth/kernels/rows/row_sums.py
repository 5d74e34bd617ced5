"""Sums of rows of tables, the work of every pass: rows that an index names, scaled, added up in vector registers.

Each word has a plain Python twin, which is what runs where the compiler is switched off (``NUMBA_DISABLE_JIT=1``).
"""

from collections.abc import Callable
from typing import Any

from numba import config, types

from labelworth.arrays import AnyArray, FloatArray
from labelworth.kernels.machine.compilation import intrinsic
from labelworth.kernels.machine.vector_code import LONG, Emitter, arrays_among

WIDEST = 52
"""The most columns that `add_rows` takes, a multiple of four: thirteen registers leave room for the factor."""

NARROW = 16
"""The most columns that `gather_listed` and `scatter_listed` take; any number below, too."""

_AHEAD = 20  # how many rows before it is added a row is called for


def _emit_add_rows(context: Any, builder: Any, signature: Any, arguments: Any) -> None:
    arrays = arrays_among(context, builder, signature, arguments)
    (_, target_start, _, table_start, stride, _, _, first, last, n_columns) = arguments
    target = builder.gep(arrays[0].data, [target_start])
    table = builder.gep(arrays[2].data, [table_start])
    index, scale = arrays[5], arrays[6].data
    emitter = Emitter(builder)

    def write(width: int) -> None:
        def step(place: Any, sums: list[Any]) -> list[Any]:
            later = builder.add(place, LONG(_AHEAD))
            later = builder.select(builder.icmp_signed("<", later, index.nitems), later, place)
            emitter.prefetch(emitter.row(table, index.data, later, stride), width)
            factor = builder.load(builder.gep(scale, [place]))
            return emitter.multiply_add(
                factor, emitter.load(emitter.row(table, index.data, place, stride), width), sums
            )

        emitter.store(target, width, emitter.loop(first, last, emitter.load(target, width), step))

    emitter.switch(n_columns, range(4, WIDEST + 1, 4), write)


def _emit_add_listed(gather: bool, context: Any, builder: Any, signature: Any, arguments: Any) -> None:
    arrays = arrays_among(context, builder, signature, arguments)
    (_, packed_start, _, table_start, ahead, stride, _, first, last, factor, _, scale_start, n_columns) = arguments
    packed, table = (
        builder.gep(arrays[place].data, [start]) for place, start in ((0, packed_start), (2, table_start))
    )
    distance = builder.sub(ahead, table_start)
    index, scale = arrays[6].data, builder.gep(arrays[10].data, [scale_start])
    emitter = Emitter(builder)

    def write(width: int) -> None:
        def step(place: Any, _: list[Any]) -> list[Any]:
            listed = emitter.row(table, index, place, stride)
            following = builder.gep(packed, [builder.mul(builder.sub(place, first), stride)])
            source, target = (listed, following) if gather else (following, listed)
            emitter.prefetch(builder.gep(listed, [distance]), width)
            scaled = builder.fmul(factor, builder.load(emitter.row(scale, index, place, LONG(1))))
            sums = emitter.multiply_add(scaled, emitter.load(source, width), emitter.load(target, width))
            emitter.store(target, width, sums)
            return []

        emitter.loop(first, last, [], step)

    emitter.switch(n_columns, range(1, NARROW + 1), write)


def _typed_add_listed(gather: bool, packed: Any, table: Any, index: Any, scale: Any) -> Any:
    """The signature of `gather_listed` or `scatter_listed`, and what writes its code."""
    long = types.int64

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _emit_add_listed(gather, context, builder, signature, arguments)
        return context.get_dummy_value()

    factor = types.float64
    return types.void(packed, long, table, long, long, long, index, long, long, factor, scale, long, long), generate


@intrinsic
def _add_rows(
    typing_context: Any,
    target: Any,
    target_start: Any,
    table: Any,
    table_start: Any,
    stride: Any,
    index: Any,
    scale: Any,
    first: Any,
    last: Any,
    n_columns: Any,
) -> Any:
    long = types.int64

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _emit_add_rows(context, builder, signature, arguments)
        return context.get_dummy_value()

    return types.void(target, long, table, long, long, index, scale, long, long, long), generate


def _add_rows_plainly(
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
    for place in range(first, last):
        start = table_start + int(index[place]) * stride
        sums += float(scale[place]) * table[start : start + n_columns]


@intrinsic
def _gather_listed(
    typing_context: Any,
    packed: Any,
    packed_start: Any,
    table: Any,
    table_start: Any,
    ahead: Any,
    stride: Any,
    index: Any,
    first: Any,
    last: Any,
    factor: Any,
    scale: Any,
    scale_start: Any,
    n_columns: Any,
) -> Any:
    return _typed_add_listed(True, packed, table, index, scale)


def _gather_listed_plainly(
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
    for place in range(first, last):
        listed = table_start + int(index[place]) * stride
        following = packed_start + (place - first) * stride
        scaled = factor * scale[scale_start + int(index[place])]
        packed[following : following + n_columns] += scaled * table[listed : listed + n_columns]


@intrinsic
def _scatter_listed(
    typing_context: Any,
    packed: Any,
    packed_start: Any,
    table: Any,
    table_start: Any,
    ahead: Any,
    stride: Any,
    index: Any,
    first: Any,
    last: Any,
    factor: Any,
    scale: Any,
    scale_start: Any,
    n_columns: Any,
) -> Any:
    return _typed_add_listed(False, packed, table, index, scale)


def _scatter_listed_plainly(
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
    for place in range(first, last):
        listed = table_start + int(index[place]) * stride
        following = packed_start + (place - first) * stride
        scaled = factor * scale[scale_start + int(index[place])]
        table[listed : listed + n_columns] += scaled * packed[following : following + n_columns]


_plain = bool(config.DISABLE_JIT)
add_rows: Callable[..., None] = _add_rows_plainly if _plain else _add_rows
gather_listed: Callable[..., None] = _gather_listed_plainly if _plain else _gather_listed
scatter_listed: Callable[..., None] = _scatter_listed_plainly if _plain else _scatter_listed
