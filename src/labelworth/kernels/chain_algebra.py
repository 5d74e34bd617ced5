"""The two products that a recursion over a chain consists of: a row times a matrix, and sums of outer products."""

from labelworth.arrays import FloatArray
from labelworth.kernels.compilation import compiled


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
    sums: FloatArray, left: FloatArray, left_start: int, right: FloatArray, n_rows: int, width: int
) -> None:
    """Add to a square matrix the outer products of `n_rows` rows of `left` with as many of `right`."""
    for row in range(n_rows):
        for label in range(width):
            factor = left[left_start + row * width + label]
            for column in range(width):
                sums[label * width + column] += factor * right[row * width + column]
