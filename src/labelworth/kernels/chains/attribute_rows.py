"""A row added to rows that an index names: the way back of `row_sums.add_rows`, one source to many targets.

Each word has a plain Python twin, which is what runs where the compiler is switched off (``NUMBA_DISABLE_JIT=1``).
"""

from collections.abc import Callable
from typing import Any

from numba import config, types

from labelworth.arrays import AnyArray, FloatArray
from labelworth.kernels.machine.compilation import intrinsic
from labelworth.kernels.machine.vector_code import Emitter, arrays_among
from labelworth.kernels.rows.row_sums import WIDEST


@intrinsic
def _add_to_rows(
    typing_context: Any,
    source: Any,
    source_start: Any,
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
        _emit_add_to_rows(context, builder, signature, arguments)
        return context.get_dummy_value()

    return types.void(source, long, table, long, long, index, scale, long, long, long), generate


def _emit_add_to_rows(context: Any, builder: Any, signature: Any, arguments: Any) -> None:
    arrays = arrays_among(context, builder, signature, arguments)
    (_, source_start, _, table_start, stride, _, _, first, last, n_columns) = arguments
    source = builder.gep(arrays[0].data, [source_start])
    table = builder.gep(arrays[2].data, [table_start])
    index, scale = arrays[5].data, arrays[6].data
    emitter = Emitter(builder)

    def write(width: int) -> None:
        row = emitter.load(source, width)

        def step(place: Any, _: list[Any]) -> list[Any]:
            target = emitter.row(table, index, place, stride)
            factor = builder.load(builder.gep(scale, [place]))
            emitter.store(target, width, emitter.multiply_add(factor, row, emitter.load(target, width)))
            return []

        emitter.loop(first, last, [], step)

    emitter.switch(n_columns, range(4, WIDEST + 1, 4), write)


def _add_to_rows_plainly(
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

    For i from `first` to `last` and `n_columns` columns, a multiple of four up to `WIDEST`; all arrays are flat.
    """
    row = source[source_start : source_start + n_columns]
    for place in range(first, last):
        start = table_start + int(index[place]) * stride
        table[start : start + n_columns] += float(scale[place]) * row


_plain = bool(config.DISABLE_JIT)
add_to_rows: Callable[..., None] = _add_to_rows_plainly if _plain else _add_to_rows
