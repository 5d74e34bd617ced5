"""Words that always come together, merged in the rows of a CSR matrix."""

import numpy as np

from labelworth.arrays import AnyArray, FloatArray, IntArray
from labelworth.kernels.machine.compilation import compiled


@compiled()
def merge_alike(
    starts: IntArray,
    words: AnyArray,
    counts: FloatArray,
    column: IntArray,
    first: IntArray,
    sizes: IntArray,
    merged_starts: IntArray,
    merged_words: AnyArray,
    merged_counts: FloatArray,
) -> bool:
    """Write the first word of every group, with the counts of all of them; False where words of a group differ.

    Parameters
    ----------
    starts, words, counts : arrays
        CSR, rows sorted.
    column : array of shape (n_words,)
        The group of every word.
    first, sizes : arrays of shape (n_groups,)
        The first word of every group, rising, and how many words it has.
    merged_starts, merged_words, merged_counts : arrays
        Written to; as long as those read.
    """
    last_row, count_there = np.full(len(first), -1, np.int64), np.zeros(len(first))
    merged_starts[0] = 0
    target = 0
    for row in range(len(starts) - 1):
        for position in range(starts[row], starts[row + 1]):
            group = column[words[position]]
            if words[position] == first[group]:
                last_row[group], count_there[group] = row, counts[position]
                merged_words[target], merged_counts[target] = group, sizes[group] * counts[position]
                target += 1
            elif last_row[group] != row or count_there[group] != counts[position]:
                return False
        merged_starts[row + 1] = target
    return True
