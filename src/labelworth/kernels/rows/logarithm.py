"""The logarithm in a form that the compiler can turn into vector instructions."""

from labelworth.kernels.machine.compilation import compiled
from labelworth.kernels.machine.instructions import bits, from_bits

LN2_HIGH, LN2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10
"""log 2 in two parts, the first with so few digits that its products with small integers are exact."""

SMALLEST_NORMAL = 2.2250738585072014e-308

_MANTISSA = (1 << 52) - 1
_ONE = 1023 << 52
_INTEGER = 1075 << 52  # the bits of 2**52: an integer below it in the low bits makes 2**52 plus that integer
_SQRT2 = 1.4142135623730951


@compiled(fastmath={"contract"})
def logarithm(number: float) -> float:
    """The natural logarithm of a positive normal double, within two units in the last place.

    The number is m 2^n with m within a factor sqrt(2) of 1, and log m = 2 artanh(s), s = (m - 1) / (m + 1).
    """
    pattern = bits(number)
    exponent = from_bits(((pattern >> 52) & 2047) + _INTEGER) - (4503599627370496.0 + 1023.0)
    mantissa = from_bits((pattern & _MANTISSA) + _ONE)
    large = mantissa > _SQRT2
    mantissa = 0.5 * mantissa if large else mantissa
    exponent = exponent + 1.0 if large else exponent
    ratio = (mantissa - 1.0) / (mantissa + 1.0)
    square = ratio * ratio
    value = 2.0 / 21.0
    value = value * square + 2.0 / 19.0
    value = value * square + 2.0 / 17.0
    value = value * square + 2.0 / 15.0
    value = value * square + 2.0 / 13.0
    value = value * square + 2.0 / 11.0
    value = value * square + 2.0 / 9.0
    value = value * square + 2.0 / 7.0
    value = value * square + 2.0 / 5.0
    value = value * square + 2.0 / 3.0
    rest = ratio * square * value + exponent * LN2_LOW
    return exponent * LN2_HIGH + (2.0 * ratio + rest)
