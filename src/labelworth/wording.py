"""How figures are written wherever people read them."""

import math


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


def number(value: float | None) -> str:
    """A figure as people read it.

    >>> number(412.0), number(0.14312), number(1.2e-6), number(None)
    ('412', '0.1431', '1.2e-06', '-')
    """
    if value is None or not math.isfinite(value):
        return "-"
    if float(value).is_integer() and abs(value) < 1e9:
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def money(amount: float | str | None, currency: str) -> str:
    """An amount, or the figure of one, with its unit: codes stand apart, signs do not.

    >>> money(1240.0, "EUR"), money(1240.0, "$"), money(2.1, "EUR"), money(4.508, ""), money(49 - 1e-9, "")
    ('EUR 1,240', '$1,240', 'EUR 2.10', '4.51', '49')
    """
    if isinstance(amount, str):
        return with_unit(amount, currency)
    # Hundredths, as of most currencies; less than one of them is told by its digits.
    if amount is not None and 0.01 <= abs(amount) < 1000:
        amount = round(float(amount), 2)
        return with_unit(number(amount) if amount.is_integer() else f"{amount:.2f}", currency)
    return with_unit(number(amount), currency)


def count(amount: float, one: str, many: str | None = None) -> str:
    """So many of them.

    >>> count(1, "document"), count(1200, "document")
    ('1 document', '1,200 documents')
    """
    return f"{number(amount)} {one if amount == 1 else many or one + 's'}"


def odds_in_words(odds: float) -> str:
    """As people say them.

    >>> odds_in_words(0.31), odds_in_words(0.02), odds_in_words(0.97)
    ('about 3 in 10', 'less than 1 in 20', 'better than 19 in 20')
    """
    if odds < 0.05:
        return "less than 1 in 20"
    if odds > 0.95:
        return "better than 19 in 20"
    return f"about {min(max(round(10 * odds), 1), 9)} in 10"
