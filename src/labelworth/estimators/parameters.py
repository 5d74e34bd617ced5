"""Parameters of estimators: what may be given, and how a wrong one is refused."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, InvalidParameterError

from labelworth.errors import InvalidInputError

AT_LEAST_ZERO = Interval(Real, 0, None, closed="left")
"""What scikit-learn checks of a strength or a weight; infinity is outside."""
ABOVE_ZERO = Interval(Real, 0, None, closed="neither")
AT_LEAST_ONE = Interval(Integral, 1, None, closed="left")


class CheckedParameters(BaseEstimator):
    """An estimator whose parameters are checked when they are used, as scikit-learn wants it."""

    def require_parameters(self) -> None:
        """Refuse parameters that make no sense, by the names they were given under.

        Raises
        ------
        InvalidInputError
        """
        try:
            self._validate_params()
        except InvalidParameterError as error:
            raise InvalidInputError(str(error)) from error


def generator(random_state: Any) -> np.random.Generator:
    """Scikit-learn's three ways to name a source of chance, as a generator."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(check_random_state(random_state).randint(2**31))
