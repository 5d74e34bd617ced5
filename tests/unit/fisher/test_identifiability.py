import numpy as np
import pytest

from labelworth.fisher.by_enumeration import enumerated_information
from labelworth.fisher.fraction_information import FractionInformation
from labelworth.fisher.identifiability import weak_directions
from labelworth.models.coordinates import Coordinates, FreeTable
from support.small_models import drawn_multinomial

TABLE = Coordinates((FreeTable("rate", [""], ["one", "two", "three"]),))


def diagonal(mu: list[float]) -> FractionInformation:
    return FractionInformation(TABLE, np.diag([1.0, 4.0, 9.0]), np.diag([1.0, 4.0, 9.0] * np.array(mu)), "")


def test_an_open_direction_is_named_by_its_parameter() -> None:
    information = diagonal([0.2, 1.0, 0.5])
    (direction,) = weak_directions(information.pencil, TABLE, 0.0)
    assert direction.parameters == ("rate[two]",)
    assert direction.relative_information == 0.0
    assert abs(direction.weights[0]) == pytest.approx(1.0)


def test_labels_make_a_direction_less_weak() -> None:
    information = diagonal([0.2, 1.0, 0.5])
    (direction,) = weak_directions(information.pencil, TABLE, 0.005)
    assert direction.relative_information == pytest.approx(0.005, rel=1e-9)
    assert weak_directions(information.pencil, TABLE, 0.02) == ()


def test_the_weakest_comes_first() -> None:
    information = diagonal([0.999, 0.2, 0.9999])
    directions = weak_directions(information.pencil, TABLE, 0.0)
    assert [direction.parameters[0] for direction in directions] == ["rate[three]", "rate[one]"]


def test_a_mixed_direction_names_what_changes_most_first() -> None:
    mixed = np.array([3.0, 1.0, 0.1]) / np.linalg.norm([3.0, 1.0, 0.1])
    missing = 0.5 * np.eye(3) + 0.5 * np.outer(mixed, mixed)
    (direction,) = weak_directions(FractionInformation(TABLE, np.eye(3), missing, "").pencil, TABLE, 0.0)
    assert direction.parameters == ("rate[one]",) or direction.parameters == ("rate[one]", "rate[two]")
    assert np.sum(np.square(direction.weights)) >= 0.9 - 1e-12


def test_the_named_direction_leaves_the_distribution_of_documents_alone() -> None:
    """Moving the parameters along it changes no probability of a document, to first order."""
    model = drawn_multinomial(2, 2, {2: 1.0})
    information = enumerated_information(model)
    (direction,) = weak_directions(information.pencil, information.coordinates, 0.0)
    assert direction.relative_information == 0.0
    names = information.coordinates.names()
    assert set(direction.parameters) <= set(names)
    vector = information.pencil.vectors[:, -1]
    marginal = information.complete - information.missing
    assert vector @ marginal @ vector == pytest.approx(0, abs=1e-12)
