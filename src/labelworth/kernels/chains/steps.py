"""The parts of a step of the recursion in plain loops, for any number of labels."""

from labelworth.arrays import FloatArray
from labelworth.kernels.chains.algebra import WIDEST, add_outer_rows, rows_at_once
from labelworth.kernels.machine.compilation import compiled


@compiled(fastmath={"contract", "reassoc"})
def weigh_row(target: FloatArray, target_start: int, row: FloatArray, scale: float, width: int) -> float:
    """Multiply a row of `target` by another one, and by a number; return its sum."""
    total = 0.0
    for label in range(width):
        value = target[target_start + label] * (row[label] * scale)
        target[target_start + label] = value
        total += value
    return total


@compiled(fastmath={"contract"})
def divide_rows(
    marginals: FloatArray,
    forwards: FloatArray,
    start: int,
    row: FloatArray,
    scale: float,
    weight: float,
    ratios: FloatArray,
    ratios_start: int,
    beta: FloatArray,
    width: int,
) -> None:
    """Marginals of one place, and the ratios that lead to it."""
    for label in range(width):
        forward = forwards[start + label]
        marginals[start + label] = weight * (forward * beta[label])
        # Where a label cannot be, nothing bounds its ratio, and nothing asks for it.
        quotient = beta[label] * (row[label] * scale)
        ratios[ratios_start + label] = quotient if forward > 0.0 else 0.0


@compiled(fastmath={"contract"})
def multiply_rows(
    target: FloatArray, target_start: int, factors: FloatArray, factors_start: int, matrix: FloatArray, width: int
) -> None:
    """Set a row of `target` to a row of `factors` times a square matrix; all flat, rows of `width`."""
    for column in range(width):
        target[target_start + column] = factors[factors_start] * matrix[column]
    for row in range(1, width):
        factor = factors[factors_start + row]
        for column in range(width):
            target[target_start + column] += factor * matrix[row * width + column]


@compiled(fastmath={"contract"})
def add_outer_products(
    sums: FloatArray, left: FloatArray, left_start: int, right: FloatArray, n_rows: int, n_labels: int, width: int
) -> None:
    """Add to a square matrix the outer products of `n_rows` rows of `left` with as many of `right`."""
    if width <= WIDEST:
        for label in range(0, n_labels, rows_at_once(width)):
            add_outer_rows(sums, label, left, left_start, right, n_rows, width)
        return
    for row in range(n_rows):
        for label in range(width):
            factor = left[left_start + row * width + label]
            for column in range(width):
                sums[label * width + column] += factor * right[row * width + column]
