"""Which directions the labels leave open or weak, by the names of the parameters."""

from dataclasses import dataclass

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.fisher.spectral_sums import relative_information
from labelworth.linalg.pencil import Pencil
from labelworth.models.coordinates import Coordinates

WEAK = 0.01
"""A direction is weak if one sample tells less of it than this share of what a labeled sample tells."""

_NAMED_SHARE = 0.9
_MOST_NAMES = 6
_MOST_DIRECTIONS = 20


@dataclass(frozen=True)
class WeakDirection:
    """A change of the parameters that samples hardly notice.

    Attributes
    ----------
    relative_information : float
        v' I(f) v / v' I_XY v: the share of what complete labels would tell; 0: open.
    parameters : tuple of str
        The parameters that change most, most first.
    weights : tuple of float
        By how much each, in a direction of unit length in free coordinates.
    """

    relative_information: float
    parameters: tuple[str, ...]
    weights: tuple[float, ...]


def most_changed(coordinates: Coordinates, directions: FloatArray) -> tuple[str, ...]:
    """The parameter that changes most along each direction, by name, each once.

    Parameters
    ----------
    coordinates : Coordinates
    directions : array of shape (d, n_directions)
        In free coordinates.
    """
    places = np.argmax(np.abs(directions), axis=0)
    return tuple(dict.fromkeys(coordinates.name(int(place)) for place in places))


def weak_directions(
    pencil: Pencil, coordinates: Coordinates, fraction: float, threshold: float = WEAK
) -> tuple[WeakDirection, ...]:
    """Directions with 1 - (1-f) mu below `threshold`, weakest first, at most twenty.

    Parameters
    ----------
    pencil : Pencil
        Missing against complete information.
    coordinates : Coordinates
    fraction : float
        The labeled fraction f.
    threshold : float
    """
    relative = relative_information(pencil.values, fraction)
    weakest_first = np.argsort(relative)
    chosen = [place for place in weakest_first if relative[place] < threshold][:_MOST_DIRECTIONS]
    return tuple(
        _named(float(relative[place]), pencil.vectors[:, place], coordinates, pencil.tolerance) for place in chosen
    )


def _named(relative: float, vector: FloatArray, coordinates: Coordinates, tolerance: float) -> WeakDirection:
    unit = vector / np.linalg.norm(vector)
    order = np.argsort(-np.abs(unit))
    covered = np.cumsum(np.square(unit[order]))
    n_names = min(int(np.searchsorted(covered, _NAMED_SHARE)) + 1, _MOST_NAMES)
    entries = order[:n_names]
    return WeakDirection(
        0.0 if abs(relative) <= tolerance else relative,
        tuple(coordinates.name(int(entry)) for entry in entries),
        tuple(float(unit[entry]) for entry in entries),
    )
