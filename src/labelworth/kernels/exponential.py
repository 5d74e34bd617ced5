"""The exponential and the logarithm in a form that the compiler can turn into vector instructions."""

from labelworth.kernels.compilation import compiled
from labelworth.kernels.machine import bits, from_bits

_LOG2_E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10
_ROUND = 6755399441055744.0  # 1.5 * 2**52: adding it rounds to an integer, which then sits in the low bits
_LOWEST = -708.0


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
