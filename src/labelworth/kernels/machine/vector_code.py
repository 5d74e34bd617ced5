"""Words of machine code: loops that Numba would not write, with rows of doubles kept in vector registers.

A word is a plain Python function, which says what it does and is what runs where the compiler is switched off
(``NUMBA_DISABLE_JIT=1``), and a function that writes its machine code. `word` makes the two one.
"""

import inspect
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any, ParamSpec, TypeVar

from llvmlite import ir
from numba import config, extending, types

BYTE, SHORT, LONG, DOUBLE = ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.DoubleType()

LANES = 4
"""How many doubles a vector register holds."""

_LINE = 8  # doubles in a cache line
_FUSED = ("contract",)
_NUMBERS = {int: types.int64, float: types.float64, bool: types.boolean, None: types.void}

Taken = ParamSpec("Taken")
Given = TypeVar("Given")


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
        """Repeat `body(index, values)` for indices from `first` to `last`; the values stay in registers."""
        builder, before = self.builder, self.builder.block
        loop, done = (builder.function.append_basic_block(name) for name in ("loop", "done"))
        builder.cbranch(builder.icmp_signed("<", first, last), loop, done)
        builder.position_at_end(loop)
        index, values = builder.phi(LONG), [builder.phi(value.type) for value in initial]
        changed = body(index, values)
        following = builder.add(index, LONG(1))
        builder.cbranch(builder.icmp_signed("<", following, last), loop, done)
        builder.position_at_end(done)
        results = [builder.phi(value.type) for value in initial]
        incoming = [(index, first, following), *zip(values, initial, changed, strict=True)]
        incoming += zip(results, initial, changed, strict=True)
        for phi, start, step in incoming:
            phi.add_incoming(start, before)
            phi.add_incoming(step, loop)
        return results

    def at(self, base: Any, offset: Any, stride: int = 1) -> Any:
        """The address `stride * offset` doubles behind `base`."""
        distance = offset if stride == 1 else self.builder.mul(offset, LONG(stride))
        return self.builder.gep(base, [distance])

    def load(self, base: Any, width: int) -> list[Any]:
        """A row as vectors of four doubles, then two, then one."""
        return [self.builder.load(address, align=8) for address in self._addresses(base, width)]

    def store(self, base: Any, width: int, values: list[Any]) -> None:
        for address, value in zip(self._addresses(base, width), values, strict=True):
            self.builder.store(value, address, align=8)

    def _addresses(self, base: Any, width: int) -> list[Any]:
        addresses, column = [], 0
        while column < width:
            size = next(size for size in (LANES, 2, 1) if size <= width - column)
            vector = ir.VectorType(DOUBLE, size).as_pointer()
            addresses.append(self.builder.bitcast(self.builder.gep(base, [LONG(column)]), vector))
            column += size
        return addresses

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

    def added_in_halves(self, vectors: list[Any], n_left: int) -> list[Any]:
        """The second half added to the first, again and again, until `n_left` vectors are left."""
        while len(vectors) > n_left:
            half = len(vectors) // 2
            pairs = zip(vectors[:half], vectors[half:], strict=True)
            vectors = [self.builder.fadd(first, second) for first, second in pairs]
        return vectors

    def lanes(self, vector: Any) -> list[Any]:
        """The four numbers of a vector."""
        return [self.builder.extract_element(vector, SHORT(lane)) for lane in range(LANES)]

    def spread(self, scalar: Any, size: int = LANES) -> Any:
        """A vector of `size` copies."""
        nothing = ir.Constant(ir.VectorType(scalar.type, size), ir.Undefined)
        single = self.builder.insert_element(nothing, scalar, SHORT(0))
        return self.builder.shuffle_vector(
            single, nothing, ir.Constant(ir.VectorType(SHORT, size), [SHORT(0)] * size)
        )

    def row(self, table: Any, index: Any, entry: Any, stride: Any) -> Any:
        """Where the row begins that an entry of the index points to; an index is never negative."""
        number = self.builder.zext(self.builder.load(self.builder.gep(index, [entry])), LONG)
        return self.builder.gep(table, [self.builder.mul(number, stride)])

    def prefetch(self, base: Any, width: int = 1) -> None:
        """Call for the cache lines of a row."""
        pointer = BYTE.as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer, SHORT, SHORT, SHORT])
        call = self.builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
        for column in range(0, width, _LINE):
            address = self.builder.bitcast(self.builder.gep(base, [LONG(column)]), pointer)
            self.builder.call(call, [address, SHORT(0), SHORT(3), SHORT(1)])


def zeros(width: int) -> list[Any]:
    """A row of zeros, as vectors."""
    return [constant(0.0) for _ in range(width // LANES)]


def constant(number: float) -> Any:
    """A vector of four copies of a number."""
    return ir.Constant(ir.VectorType(DOUBLE, LANES), [DOUBLE(number)] * LANES)


def word(write: Callable[[Emitter, Any], Any]) -> Callable[[Callable[Taken, Given]], Callable[Taken, Given]]:
    """Give the compiler a word of our own: `write(emitter, arguments)` writes the machine code of a plain function.

    The signature is that of the plain function: `int`, `float`, `bool`, or an array of any type. Arguments come to
    `write` by their names: numbers as they are, arrays with their `data` and number of entries, `nitems`.
    """

    def make(plain: Callable[Taken, Given]) -> Callable[Taken, Given]:
        if config.DISABLE_JIT:
            return plain
        signature = inspect.signature(plain)
        parameters = list(signature.parameters.values())
        result = _NUMBERS[signature.return_annotation]

        def typed(typing_context: Any, *kinds: Any) -> Any:
            taken = [_NUMBERS.get(known.annotation, kind) for known, kind in zip(parameters, kinds, strict=True)]

            def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
                named = {
                    known.name: context.make_array(kind)(context, builder, value)
                    if isinstance(kind, types.Array)
                    else value
                    for known, kind, value in zip(parameters, taken, arguments, strict=True)
                }
                written = write(Emitter(builder), SimpleNamespace(**named))
                return context.get_dummy_value() if written is None else written

            return result(*taken), generate

        first = inspect.Parameter("typing_context", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        vars(typed)["__signature__"] = inspect.Signature([first, *parameters])
        typed.__name__ = typed.__qualname__ = plain.__name__
        known_to_compiler: Callable[Taken, Given] = extending.intrinsic(typed)
        return known_to_compiler

    return make
