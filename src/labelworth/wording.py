"""How figures are written wherever people read them."""


def percent(share: float, decimals: int = 0) -> str:
    """A share as people read it.

    >>> percent(0.9), percent(0.0712, 1)
    ('90 %', '7.1 %')
    """
    return f"{100 * share:.{decimals}f} %"


def exact_percent(share: float) -> str:
    """A share that somebody typed or will type, none of its digits lost.

    >>> exact_percent(0.0125), exact_percent(0.02504)
    ('1.25 %', '2.504 %')
    """
    return f"{100 * share:.12g} %"


def with_unit(figure: str, currency: str) -> str:
    """An amount of money: codes stand apart, signs do not. The page's script does the same.

    >>> with_unit("1,240", "EUR"), with_unit("1,240", "$"), with_unit("1,240", "")
    ('EUR 1,240', '$1,240', '1,240')
    """
    return f"{currency} {figure}" if currency[-1:].isalpha() else f"{currency}{figure}"
