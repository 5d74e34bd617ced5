"""How figures are written wherever people read them."""


def percent(share: float, decimals: int = 0) -> str:
    """A share as people read it.

    >>> percent(0.9), percent(0.0712, 1)
    ('90 %', '7.1 %')
    """
    return f"{100 * share:.{decimals}f} %"
