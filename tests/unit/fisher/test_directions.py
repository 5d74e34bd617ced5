import numpy as np
import pytest

from labelworth.fisher.dense import DenseInformation
from labelworth.fisher.directions import name_of_entry, weak_direction
from labelworth.fisher.documents.population import enumerated_information
from labelworth.fisher.information import of_fraction
from labelworth.models.coordinates import Coordinates, FreeTable, SimplexRows, SymmetricMatrices
from support.small_models import drawn_multinomial

TABLE = Coordinates((FreeTable("rate", [""], ["one", "two", "three"]),))


def diagonal(mu: list[float]) -> DenseInformation:
    return DenseInformation.of_labels(TABLE, np.diag([1.0, 4.0, 9.0]), np.diag([1.0, 4.0, 9.0] * np.array(mu)), "")


def test_an_open_direction_is_named_by_its_parameter() -> None:
    information = diagonal([0.2, 1.0, 0.5])
    (direction,) = information.weak_directions(of_fraction(0.0))
    assert direction.parameters == ("rate[two]",)
    assert direction.relative_information == 0.0
    assert abs(direction.weights[0]) == pytest.approx(1.0)


def test_labels_make_a_direction_less_weak() -> None:
    information = diagonal([0.2, 1.0, 0.5])
    (direction,) = information.weak_directions(of_fraction(0.005))
    assert direction.relative_information == pytest.approx(0.005, rel=1e-9)
    assert information.weak_directions(of_fraction(0.02)) == ()


def test_the_weakest_comes_first() -> None:
    information = diagonal([0.999, 0.2, 0.9999])
    directions = information.weak_directions(of_fraction(0.0))
    assert [direction.parameters[0] for direction in directions] == ["rate[three]", "rate[one]"]


def test_a_mixed_direction_names_what_changes_most_first() -> None:
    mixed = np.array([3.0, 1.0, 0.1]) / np.linalg.norm([3.0, 1.0, 0.1])
    missing = 0.5 * np.eye(3) + 0.5 * np.outer(mixed, mixed)
    (direction,) = DenseInformation.of_labels(TABLE, np.eye(3), missing, "").weak_directions(of_fraction(0.0))
    assert direction.parameters == ("rate[one]",) or direction.parameters == ("rate[one]", "rate[two]")
    assert np.sum(np.square(direction.weights)) >= 0.9 - 1e-12


def test_the_named_direction_leaves_the_distribution_of_documents_alone() -> None:
    """Moving the parameters along it changes no probability of a document, to first order."""
    model = drawn_multinomial(2, 2, {2: 1.0})
    information = enumerated_information(model)
    (direction,) = information.weak_directions(of_fraction(0.0))
    assert direction.relative_information == 0.0
    names = [name_of_entry(information.coordinates, entry) for entry in range(information.coordinates.n_named)]
    assert set(direction.parameters) <= set(names)
    assert set(information.coordinates.names()) < set(names)
    vector = information.whitened.shares(of_fraction(0.0))[1][:, 0]
    marginal = information.complete - information.missing
    assert vector @ marginal @ vector == pytest.approx(0, abs=1e-12)


def test_the_entry_that_changes_most_is_shown_to_rise_and_the_dropped_one_is_named_too() -> None:
    """Along a row of probabilities what one gains the others lose, the last as well."""
    row = Coordinates((SimplexRows("share", [""], ["a", "b", "c"]),))
    for sign in (1.0, -1.0):
        direction = weak_direction(row, 0.0, sign * np.array([0.1, 0.3]))
        assert direction.parameters == ("share[c]", "share[b]")
        np.testing.assert_allclose(direction.weights, np.array([0.4, -0.3]) / np.sqrt(0.26), rtol=1e-12)


def test_covariances_are_named_by_their_lower_triangle_each_once() -> None:
    matrices = Coordinates((SymmetricMatrices("covariance", ["a", "b"], ["x", "y", "z"]),))
    names = [name_of_entry(matrices, entry) for entry in range(matrices.n_named)]
    assert len(set(names)) == matrices.n_free
    assert set(names) == set(matrices.names())
    vector = np.zeros(matrices.n_free)
    vector[matrices.names().index(names[1])] = 1.0
    direction = weak_direction(matrices, 0.0, vector)
    assert direction.parameters == (names[1],)
