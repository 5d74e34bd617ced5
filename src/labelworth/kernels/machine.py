"""What the processor can do and Numba has no word for: sums of rows in registers, prefetching, shared counters, bits.

Each word has a plain Python twin, which is what runs where the compiler is switched off (``NUMBA_DISABLE_JIT=1``).
"""

import struct
from collections.abc import Callable, Iterable
from threading import Lock
from typing import Any

from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

from labelworth.arrays import AnyArray, FloatArray, IntArray

WIDEST = 52
"""The most columns that `add_rows` takes, a multiple of four: thirteen registers leave room for the factor."""

NARROW = 16
"""The most columns that `gather_listed` and `scatter_listed` take; any number below, too."""

AHEAD = 16
"""How many rows ahead of the sum the next one is called for."""

_LINE = 8  # doubles in a cache line
_BYTE, _SHORT, _LONG, _DOUBLE = ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.DoubleType()
_FUSED = ("contract",)
_COUNTING = Lock()


class _Emitter:
    """Writes loops that keep a row of doubles in vector registers, one loop for every number of columns."""

    def __init__(self, builder: Any, widths: Iterable[int]) -> None:
        self.builder = builder
        self.widths = widths

    def switch(self, n_columns: Any, write: Callable[[int], None]) -> None:
        """Branch to the code that `write` writes for the number of columns at hand."""
        end = self.builder.function.append_basic_block("end")
        switch = self.builder.switch(n_columns, end)
        for width in self.widths:
            block = self.builder.function.append_basic_block(f"columns.{width}")
            switch.add_case(_LONG(width), block)
            self.builder.position_at_end(block)
            write(width)
            self.builder.branch(end)
        self.builder.position_at_end(end)

    def loop(
        self, first: Any, last: Any, initial: list[Any], body: Callable[[Any, list[Any]], list[Any]]
    ) -> list[Any]:
        """Repeat `body(place, values)` for places from `first` to `last`; the values stay in registers."""
        builder, before = self.builder, self.builder.block
        loop, done = (builder.function.append_basic_block(name) for name in ("loop", "done"))
        builder.cbranch(builder.icmp_signed("<", first, last), loop, done)
        builder.position_at_end(loop)
        place, values = builder.phi(_LONG), [builder.phi(value.type) for value in initial]
        changed = body(place, values)
        following = builder.add(place, _LONG(1))
        builder.cbranch(builder.icmp_signed("<", following, last), loop, done)
        builder.position_at_end(done)
        results = [builder.phi(value.type) for value in initial]
        incoming = [(place, first, following), *zip(values, initial, changed, strict=True)]
        incoming += zip(results, initial, changed, strict=True)
        for phi, start, step in incoming:
            phi.add_incoming(start, before)
            phi.add_incoming(step, loop)
        return results

    def load(self, base: Any, width: int) -> list[Any]:
        """A row as vectors of four doubles, then two, then one."""
        return [self.builder.load(place, align=8) for place in self._places(base, width)]

    def store(self, base: Any, width: int, values: list[Any]) -> None:
        """Write such vectors back."""
        for place, value in zip(self._places(base, width), values, strict=True):
            self.builder.store(value, place, align=8)

    def _places(self, base: Any, width: int) -> list[Any]:
        places, column = [], 0
        while column < width:
            size = next(size for size in (4, 2, 1) if size <= width - column)
            vector = ir.VectorType(_DOUBLE, size).as_pointer()
            places.append(self.builder.bitcast(self.builder.gep(base, [_LONG(column)]), vector))
            column += size
        return places

    def multiply_add(self, factor: Any, row: list[Any], sums: list[Any]) -> list[Any]:
        """sums + factor * row, fused where the processor can."""
        if factor.type != _DOUBLE:
            factor = self.builder.fpext(factor, _DOUBLE)
        added = []
        for value, total in zip(row, sums, strict=True):
            nothing = ir.Constant(value.type, ir.Undefined)
            single = self.builder.insert_element(nothing, factor, _SHORT(0))
            zeros = ir.Constant(ir.VectorType(_SHORT, value.type.count), [_SHORT(0)] * value.type.count)
            spread = self.builder.shuffle_vector(single, nothing, zeros)
            product = self.builder.fmul(spread, value, flags=_FUSED)
            added.append(self.builder.fadd(product, total, flags=_FUSED))
        return added

    def row(self, table: Any, index: Any, place: Any, stride: Any) -> Any:
        """Where the row begins that an entry of the index points to; an index is never negative."""
        number = self.builder.zext(self.builder.load(self.builder.gep(index, [place])), _LONG)
        return self.builder.gep(table, [self.builder.mul(number, stride)])

    def prefetch(self, base: Any, width: int) -> None:
        """Call for the cache lines of a row."""
        for column in range(0, width, _LINE):
            _emit_prefetch(self.builder, self.builder.gep(base, [_LONG(column)]))


def _emit_prefetch(builder: Any, place: Any) -> None:
    pointer = _BYTE.as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [pointer, _SHORT, _SHORT, _SHORT])
    call = builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
    builder.call(call, [builder.bitcast(place, pointer), _SHORT(0), _SHORT(3), _SHORT(1)])


def _arrays(context: Any, builder: Any, signature: Any, arguments: Any) -> dict[int, Any]:
    """The arrays among the arguments, by place."""
    return {
        place: context.make_array(kind)(context, builder, arguments[place])
        for place, kind in enumerate(signature.args)
        if isinstance(kind, types.Array)
    }


def _emit_add_rows(context: Any, builder: Any, signature: Any, arguments: Any) -> None:
    arrays = _arrays(context, builder, signature, arguments)
    (_, target_start, _, table_start, stride, _, _, first, last, n_columns) = arguments
    target = builder.gep(arrays[0].data, [target_start])
    table = builder.gep(arrays[2].data, [table_start])
    index, scale = arrays[5], arrays[6].data
    emitter = _Emitter(builder, range(4, WIDEST + 1, 4))

    def write(width: int) -> None:
        def step(place: Any, sums: list[Any]) -> list[Any]:
            later = builder.add(place, _LONG(AHEAD))
            later = builder.select(builder.icmp_signed("<", later, index.nitems), later, place)
            emitter.prefetch(emitter.row(table, index.data, later, stride), width)
            factor = builder.load(builder.gep(scale, [place]))
            return emitter.multiply_add(
                factor, emitter.load(emitter.row(table, index.data, place, stride), width), sums
            )

        emitter.store(target, width, emitter.loop(first, last, emitter.load(target, width), step))

    emitter.switch(n_columns, write)


def _emit_add_listed(gather: bool, context: Any, builder: Any, signature: Any, arguments: Any) -> None:
    arrays = _arrays(context, builder, signature, arguments)
    (_, packed_start, _, table_start, ahead, stride, _, first, last, factor, n_columns) = arguments
    packed, table = (
        builder.gep(arrays[place].data, [start]) for place, start in ((0, packed_start), (2, table_start))
    )
    distance = builder.sub(ahead, table_start)
    index = arrays[6].data
    emitter = _Emitter(builder, range(1, NARROW + 1))

    def write(width: int) -> None:
        def step(place: Any, _: list[Any]) -> list[Any]:
            listed = emitter.row(table, index, place, stride)
            following = builder.gep(packed, [builder.mul(builder.sub(place, first), stride)])
            source, target = (listed, following) if gather else (following, listed)
            emitter.prefetch(builder.gep(listed, [distance]), width)
            sums = emitter.multiply_add(factor, emitter.load(source, width), emitter.load(target, width))
            emitter.store(target, width, sums)
            return []

        emitter.loop(first, last, [], step)

    emitter.switch(n_columns, write)


def _typed_add_listed(gather: bool, packed: Any, table: Any, index: Any) -> Any:
    """The signature of `gather_listed` or `scatter_listed`, and what writes its code."""
    long = types.int64

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _emit_add_listed(gather, context, builder, signature, arguments)
        return context.get_dummy_value()

    return types.void(packed, long, table, long, long, long, index, long, long, types.float64, long), generate


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


@intrinsic  # type: ignore[untyped-decorator]
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
    n_columns: Any,
) -> Any:
    return _typed_add_listed(True, packed, table, index)


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
    n_columns: int,
) -> None:
    """Add `factor` times the rows of `table` that `index` names to the rows of `packed`, one after the other.

    ``packed[packed_start + (i - first) * stride + j] += factor * table[table_start + index[i] * stride + j]``
    for i from `first` to `last` and j over `n_columns` columns; all arrays are flat. The same rows of the table that
    begins at `ahead` will be wanted soon.
    """
    for place in range(first, last):
        listed = table_start + int(index[place]) * stride
        following = packed_start + (place - first) * stride
        packed[following : following + n_columns] += factor * table[listed : listed + n_columns]


@intrinsic  # type: ignore[untyped-decorator]
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
    n_columns: Any,
) -> Any:
    return _typed_add_listed(False, packed, table, index)


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
    n_columns: int,
) -> None:
    """Add `factor` times the rows of `packed`, one after the other, to the rows of `table` that `index` names.

    The other way round than `gather_listed`.
    """
    for place in range(first, last):
        listed = table_start + int(index[place]) * stride
        following = packed_start + (place - first) * stride
        table[listed : listed + n_columns] += factor * packed[following : following + n_columns]


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
    with _COUNTING:
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
gather_listed: Callable[..., None] = _gather_listed_plainly if _plain else _gather_listed
scatter_listed: Callable[..., None] = _scatter_listed_plainly if _plain else _scatter_listed
prefetch: Callable[..., None] = _prefetch_plainly if _plain else _prefetch
fetch_and_add: Callable[..., int] = _fetch_and_add_plainly if _plain else _fetch_and_add
bits: Callable[[float], int] = _bits_plainly if _plain else _bits
from_bits: Callable[[int], float] = _from_bits_plainly if _plain else _from_bits
