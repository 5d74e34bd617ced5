"""Writes the loops that Numba would not write: rows of doubles kept in vector registers."""

from collections.abc import Callable, Iterable
from typing import Any

from llvmlite import ir
from numba import types

BYTE, SHORT, LONG, DOUBLE = ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.DoubleType()

_LINE = 8  # doubles in a cache line
_FUSED = ("contract",)


class Emitter:
    """Appends vector code to a function under construction."""

    def __init__(self, builder: Any) -> None:
        self.builder = builder

    def switch(self, n_columns: Any, widths: Iterable[int], write: Callable[[int], None]) -> None:
        """Branch to the code that `write` writes for the number of columns at hand, one of `widths`."""
        end = self.builder.function.append_basic_block("end")
        switch = self.builder.switch(n_columns, end)
        for width in widths:
            block = self.builder.function.append_basic_block(f"columns.{width}")
            switch.add_case(LONG(width), block)
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
        place, values = builder.phi(LONG), [builder.phi(value.type) for value in initial]
        changed = body(place, values)
        following = builder.add(place, LONG(1))
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
            vector = ir.VectorType(DOUBLE, size).as_pointer()
            places.append(self.builder.bitcast(self.builder.gep(base, [LONG(column)]), vector))
            column += size
        return places

    def multiply_add(self, factor: Any, row: list[Any], sums: list[Any]) -> list[Any]:
        """sums + factor * row, fused where the processor can."""
        if factor.type != DOUBLE:
            factor = self.builder.fpext(factor, DOUBLE)
        return [
            self.fused(self.spread(factor, value.type.count), value, total)
            for value, total in zip(row, sums, strict=True)
        ]

    def fused(self, first: Any, second: Any, third: Any) -> Any:
        """first * second + third, in one rounding where the processor can."""
        product = self.builder.fmul(first, second, flags=_FUSED)
        return self.builder.fadd(product, third, flags=_FUSED)

    def spread(self, scalar: Any, size: int) -> Any:
        """A vector of so many copies."""
        nothing = ir.Constant(ir.VectorType(scalar.type, size), ir.Undefined)
        single = self.builder.insert_element(nothing, scalar, SHORT(0))
        return self.builder.shuffle_vector(
            single, nothing, ir.Constant(ir.VectorType(SHORT, size), [SHORT(0)] * size)
        )

    def row(self, table: Any, index: Any, place: Any, stride: Any) -> Any:
        """Where the row begins that an entry of the index points to; an index is never negative."""
        number = self.builder.zext(self.builder.load(self.builder.gep(index, [place])), LONG)
        return self.builder.gep(table, [self.builder.mul(number, stride)])

    def prefetch(self, base: Any, width: int) -> None:
        """Call for the cache lines of a row."""
        for column in range(0, width, _LINE):
            emit_prefetch(self.builder, self.builder.gep(base, [LONG(column)]))


def emit_prefetch(builder: Any, place: Any) -> None:
    """Call for the cache line of a place."""
    pointer = BYTE.as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [pointer, SHORT, SHORT, SHORT])
    call = builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
    builder.call(call, [builder.bitcast(place, pointer), SHORT(0), SHORT(3), SHORT(1)])


def arrays_among(context: Any, builder: Any, signature: Any, arguments: Any) -> dict[int, Any]:
    """The arrays among the arguments, by place."""
    return {
        place: context.make_array(kind)(context, builder, arguments[place])
        for place, kind in enumerate(signature.args)
        if isinstance(kind, types.Array)
    }
