"""The exponential and the logarithm in a form that the compiler can turn into vector instructions."""

from labelworth.kernels.compilation import compiled
from labelworth.kernels.machine import bits, from_bits

_LOG2_E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10
_ROUND = 6755399441055744.0  # 1.5 * 2**52: adding it rounds to an integer, which then sits in the low bits
_LOWEST = -708.0

_MANTISSA = (1 << 52) - 1
_ONE = 1023 << 52
_INTEGER = 1075 << 52  # the bits of 2**52: an integer below it in the low bits makes 2**52 plus that integer
_SQRT2 = 1.4142135623730951
SMALLEST_NORMAL = 2.2250738585072014e-308


@compiled(fastmath={"contract"})
def exponential(number: float) -> float:
    """e to the given power, for numbers up to 700, within two units in the last place; 0 below -708.

    The power is n log 2 + r with an integer n: a polynomial in r, and n added to the exponent bits.
    """
    clipped = max(number, _LOWEST)
    shifted = clipped * _LOG2_E + _ROUND
    whole = shifted - _ROUND
    rest = clipped - whole * _LN2_HIGH - whole * _LN2_LOW
    value = 1.6059043836821613e-10
    value = value * rest + 2.08767569878681e-09
    value = value * rest + 2.505210838544172e-08
    value = value * rest + 2.755731922398589e-07
    value = value * rest + 2.7557319223985893e-06
    value = value * rest + 2.48015873015873e-05
    value = value * rest + 0.0001984126984126984
    value = value * rest + 0.001388888888888889
    value = value * rest + 0.008333333333333333
    value = value * rest + 0.041666666666666664
    value = value * rest + 0.16666666666666666
    value = value * rest + 0.5
    value = value * rest + 1.0
    value = value * rest + 1.0
    value = from_bits(bits(value) + (bits(shifted) << 52))
    return value if number > _LOWEST else 0.0


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
    rest = ratio * square * value + exponent * _LN2_LOW
    return exponent * _LN2_HIGH + (2.0 * ratio + rest)
