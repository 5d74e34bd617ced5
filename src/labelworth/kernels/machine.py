"""What the processor can do and Numba has no word for: sums of rows in registers, prefetching, shared counters, bits.

Each word has a plain Python twin, which is what runs where the compiler is switched off (``NUMBA_DISABLE_JIT=1``).
"""

import struct
from collections.abc import Callable, Iterable
from typing import Any

from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

from labelworth.arrays import AnyArray, FloatArray, IntArray

WIDEST = 52
"""The most columns that are summed at once: thirteen registers of four doubles leave room for the factor."""

NARROWEST = 16
"""Up to here `add_narrow_rows` takes any number of columns; `add_rows` takes multiples of four."""

AHEAD = 16
"""How many rows ahead of the sum the next one is called for."""

_LINE = 8  # doubles in a cache line
_BYTE, _SHORT, _LONG, _DOUBLE = ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.DoubleType()
_FUSED = ("contract",)


class _Emitter:
    """Writes the code of ``target[:] += sum_i scale[i] * table[index[i], :]`` with the sums in vector registers."""

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any) -> None:
        self.builder = builder
        arrays = {
            place: context.make_array(kind)(context, builder, arguments[place])
            for place, kind in enumerate(signature.args)
            if isinstance(kind, types.Array)
        }
        (_, target_start, _, table_start, self.stride, _, _, self.first, self.last, self.n_columns) = arguments
        self.target = builder.gep(arrays[0].data, [target_start])
        self.table = builder.gep(arrays[2].data, [table_start])
        self.index, self.n_index = arrays[5].data, arrays[5].nitems
        self.scale = arrays[6].data

    def emit(self, widths: Iterable[int]) -> None:
        """Branch to the loop for the number of columns at hand."""
        end = self.builder.function.append_basic_block("end")
        switch = self.builder.switch(self.n_columns, end)
        for width in widths:
            block = self.builder.function.append_basic_block(f"columns.{width}")
            switch.add_case(_LONG(width), block)
            self.builder.position_at_end(block)
            self._loop(width, end)
        self.builder.position_at_end(end)

    def _loop(self, width: int, end: Any) -> None:
        builder, before = self.builder, self.builder.block
        initial = self._load(self.target, width)
        loop, done = (builder.function.append_basic_block(name) for name in ("loop", "done"))
        builder.cbranch(builder.icmp_signed("<", self.first, self.last), loop, done)
        builder.position_at_end(loop)
        place = builder.phi(_LONG)
        sums = [builder.phi(value.type) for value in initial]
        self._prefetch_row(place, width)
        factor = builder.load(builder.gep(self.scale, [place]))
        if factor.type != _DOUBLE:
            factor = builder.fpext(factor, _DOUBLE)
        row = self._load(self._row(place), width)
        added = [
            builder.fadd(builder.fmul(self._spread(factor, value.type), value, flags=_FUSED), total, flags=_FUSED)
            for value, total in zip(row, sums, strict=True)
        ]
        following = builder.add(place, _LONG(1))
        builder.cbranch(builder.icmp_signed("<", following, self.last), loop, done)
        for phi, start, step in zip([place, *sums], [self.first, *initial], [following, *added], strict=True):
            phi.add_incoming(start, before)
            phi.add_incoming(step, loop)
        builder.position_at_end(done)
        totals = [builder.phi(value.type) for value in initial]
        for phi, start, step in zip(totals, initial, added, strict=True):
            phi.add_incoming(start, before)
            phi.add_incoming(step, loop)
        self._store(self.target, width, totals)
        builder.branch(end)

    def _row(self, place: Any) -> Any:
        """Where the row of an entry begins; both kinds of index are non-negative."""
        row = self.builder.zext(self.builder.load(self.builder.gep(self.index, [place])), _LONG)
        return self.builder.gep(self.table, [self.builder.mul(row, self.stride)])

    def _prefetch_row(self, place: Any, width: int) -> None:
        """Call for the row of a later entry; near the end of the index, for the present one again."""
        later = self.builder.add(place, _LONG(AHEAD))
        there = self.builder.icmp_signed("<", later, self.n_index)
        row = self._row(self.builder.select(there, later, place))
        for column in range(0, width, _LINE):
            _emit_prefetch(self.builder, self.builder.gep(row, [_LONG(column)]))

    def _places(self, base: Any, width: int) -> list[Any]:
        """The row cut into vectors of four doubles, then two, then one."""
        places, column = [], 0
        while column < width:
            size = next(size for size in (4, 2, 1) if size <= width - column)
            vector = ir.VectorType(_DOUBLE, size).as_pointer()
            places.append(self.builder.bitcast(self.builder.gep(base, [_LONG(column)]), vector))
            column += size
        return places

    def _load(self, base: Any, width: int) -> list[Any]:
        return [self.builder.load(place, align=8) for place in self._places(base, width)]

    def _store(self, base: Any, width: int, values: list[Any]) -> None:
        for place, value in zip(self._places(base, width), values, strict=True):
            self.builder.store(value, place, align=8)

    def _spread(self, factor: Any, vector: Any) -> Any:
        nothing = ir.Constant(vector, ir.Undefined)
        first = self.builder.insert_element(nothing, factor, _SHORT(0))
        zeros = ir.Constant(ir.VectorType(_SHORT, vector.count), [_SHORT(0)] * vector.count)
        return self.builder.shuffle_vector(first, nothing, zeros)


def _emit_prefetch(builder: Any, place: Any) -> None:
    pointer = _BYTE.as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [pointer, _SHORT, _SHORT, _SHORT])
    call = builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
    builder.call(call, [builder.bitcast(place, pointer), _SHORT(0), _SHORT(3), _SHORT(1)])


def _typed(widths: Iterable[int], target: Any, table: Any, index: Any, scale: Any) -> tuple[Any, Callable[..., Any]]:
    """The signature of a row adder that knows the given numbers of columns, and what writes its code."""
    long = types.int64
    signature = types.void(target, long, table, long, long, index, scale, long, long, long)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _Emitter(context, builder, signature, arguments).emit(widths)
        return context.get_dummy_value()

    return signature, generate


@intrinsic  # type: ignore[untyped-decorator]
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
    return _typed(range(4, WIDEST + 1, 4), target, table, index, scale)


@intrinsic  # type: ignore[untyped-decorator]
def _add_narrow_rows(
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
    return _typed(range(1, NARROWEST + 1), target, table, index, scale)


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


@intrinsic  # type: ignore[untyped-decorator]
def _prefetch(typing_context: Any, array: Any, place: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        _emit_prefetch(builder, builder.gep(data, [arguments[1]]))
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


def _prefetch_plainly(array: AnyArray, place: int) -> None:
    """Call for a cache line that will be needed soon."""


@intrinsic  # type: ignore[untyped-decorator]
def _fetch_and_add(typing_context: Any, counters: Any, place: Any, step: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.atomic_rmw("add", builder.gep(data, [arguments[1]]), arguments[2], "seq_cst")

    return types.int64(counters, types.int64, types.int64), generate


def _fetch_and_add_plainly(counters: IntArray, place: int, step: int) -> int:
    """Add to a counter that threads share, and return what it was before; all earlier writes become visible."""
    before = int(counters[place])
    counters[place] = before + step
    return before


@intrinsic  # type: ignore[untyped-decorator]
def _bits(typing_context: Any, number: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], _LONG)

    return types.int64(types.float64), generate


def _bits_plainly(number: float) -> int:
    """The 64 bits of a double, read as an integer."""
    return int(struct.unpack("<q", struct.pack("<d", number))[0])


@intrinsic  # type: ignore[untyped-decorator]
def _from_bits(typing_context: Any, bits: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], _DOUBLE)

    return types.float64(types.int64), generate


def _from_bits_plainly(bits: int) -> float:
    """The double with these 64 bits; higher bits are dropped, as the processor does."""
    return float(struct.unpack("<d", struct.pack("<Q", int(bits) & (2**64 - 1)))[0])


_plain = bool(config.DISABLE_JIT)
add_rows: Callable[..., None] = _add_rows_plainly if _plain else _add_rows
add_narrow_rows: Callable[..., None] = _add_rows_plainly if _plain else _add_narrow_rows
prefetch: Callable[..., None] = _prefetch_plainly if _plain else _prefetch
fetch_and_add: Callable[..., int] = _fetch_and_add_plainly if _plain else _fetch_and_add
bits: Callable[[float], int] = _bits_plainly if _plain else _bits
from_bits: Callable[[int], float] = _from_bits_plainly if _plain else _from_bits
