"""How many rows to label next where a pilot is too small to plan from: said in one way for all reasons."""

MOST_TIMES = 10
"""No more labels than this many times those held are asked for before planning again."""
FEWEST_NEXT = 20
"""Rows that are little to ask for, however few are held."""


def label_at_random(wanted: int, n_held: int, n_left: int, *, about: str = "", instead: str = "") -> tuple[int, str]:
    """What to do next, and how many rows that labels: no more than there are, and than ten times what is held.

    >>> label_at_random(5, 5, 300)[1]
    'Label 5 more drawn at random (`labelworth next --count 5`), then plan again'
    >>> label_at_random(5, 5, 3)
    (3, 'Label the 3 rows that are left, get more rows, then plan again')

    Parameters
    ----------
    about : str, optional
        How surely as many do.
    instead : str, optional
        What else would do.
    """
    asked = min(wanted, max(MOST_TIMES * n_held, FEWEST_NEXT))
    if not n_left:
        return 0, "No row without a label is left: get more rows"
    if n_left < asked:
        rest = "the row that is left" if n_left == 1 else f"the {n_left:,} rows that are left"
        return n_left, f"Label {rest}, get more rows, then plan again"
    how_many = f"{about} {asked:,}".lstrip()
    first = f"Label {how_many} more drawn at random (`labelworth next --count {asked}`)"
    return asked, f"{first}{instead}, then plan again"
