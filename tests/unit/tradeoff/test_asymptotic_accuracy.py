"""The error of a design is that of the inverse of the information of all its samples."""

import numpy as np
import pytest

from labelworth.criteria.policy_information import policy_information
from labelworth.data.lengths import LengthDistribution
from labelworth.errors import InvalidInputError, NotIdentifiableError
from labelworth.fisher.criteria import CRITERIA
from labelworth.fisher.documents.population import enumerated_information
from labelworth.fisher.information import over_fractions
from labelworth.models.chains.boltzmann_chain import BoltzmannChainModel
from labelworth.models.chains.hidden_markov import HiddenMarkovModel
from labelworth.models.classes.multinomial import MultinomialModel
from labelworth.tradeoff.asymptotic_accuracy import AsymptoticAccuracy
from support.menus import accuracy_of, crossed_menu, plain_error, random_menu

COUNTS = np.array([12.0, 30.0, 7.0, 100.0])


@pytest.fixture
def menu():
    return random_menu(np.random.default_rng(3), 4, 5, n_blind=2)


def differences(accuracy: AsymptoticAccuracy, counts, step: float = 1e-5) -> np.ndarray:
    units = step * np.eye(len(counts))
    return np.array([(accuracy.error(counts + unit) - accuracy.error(counts - unit)) / (2 * step) for unit in units])


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("is_held", [False, True])
def test_the_error_is_that_of_plain_linear_algebra(menu, criterion: str, is_held: bool) -> None:
    held = 25 * menu.matrices[1] if is_held else None
    accuracy = accuracy_of(menu, criterion, held=held)
    assert accuracy.error(COUNTS) == pytest.approx(plain_error(menu, criterion, COUNTS, held), rel=1e-10)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_slope_is_that_of_finite_differences(menu, criterion: str) -> None:
    accuracy = accuracy_of(menu, criterion, held=3 * menu.matrices[2])
    np.testing.assert_allclose(accuracy.slope(COUNTS), differences(accuracy, COUNTS), rtol=1e-6)


def lies_below(accuracy: AsymptoticAccuracy, slope: np.ndarray, counts, rng) -> bool:
    """Whether the plane with this slope lies below the error everywhere it is tried."""
    others = counts * np.exp(rng.choice([0.01, 0.1, 1.0], (300, 1)) * rng.standard_normal((300, len(counts))))
    planes = accuracy.error(counts) + (others - counts) @ slope
    return all(accuracy.error(other) >= plane - 1e-12 for other, plane in zip(others, planes, strict=True))


def test_where_the_largest_eigenvalue_is_multiple_the_slope_is_a_subgradient() -> None:
    menu, rng = crossed_menu(3), np.random.default_rng(0)
    accuracy = accuracy_of(menu, "worst_direction")
    counts = np.array([1.0, 20.0, 20.0, 20.0])
    eigenvalues = np.linalg.eigvalsh(np.linalg.inv(np.tensordot(counts, menu.matrices, axes=1)))
    assert eigenvalues[0] == pytest.approx(eigenvalues[-1], rel=1e-12)
    slope = accuracy.slope(counts)
    assert lies_below(accuracy, slope, counts, rng)
    assert not lies_below(accuracy, 1.2 * slope, counts, rng)
    assert not lies_below(accuracy, slope[::-1], counts, rng)


def test_a_menu_takes_some_of_the_rules(menu) -> None:
    chosen = ("nothing", "everything")
    accuracy = accuracy_of(menu, "total_variance", arms=chosen)
    assert accuracy.arms == chosen
    np.testing.assert_array_equal(accuracy.labels_per_sample, [0.0, 10.0])
    assert accuracy.error(np.array([50.0, 5.0])) == pytest.approx(
        plain_error(menu, "total_variance", np.array([5.0, 0, 0, 50.0])), rel=1e-10
    )


def test_a_design_that_leaves_something_open_has_an_infinite_error_and_says_what(menu) -> None:
    accuracy = accuracy_of(menu, "total_variance")
    blind = np.array([0.0, 0.0, 0.0, 1000.0])
    assert accuracy.error(blind) == np.inf
    assert accuracy.open_directions(blind)
    assert set(accuracy.open_directions(blind)) <= set(menu.coordinates.names())
    assert accuracy.open_directions(COUNTS) == ()
    with pytest.raises(NotIdentifiableError):
        accuracy.slope(blind)
    held = accuracy_of(menu, "total_variance", held=menu.matrices[0])
    assert np.isfinite(held.error(blind))


@pytest.mark.parametrize("criterion", CRITERIA)
def test_classification_is_everything_and_nothing(criterion: str) -> None:
    model = MultinomialModel(
        ("ham", "spam"),
        np.array([0.4, 0.6]),
        np.array([[0.5, 0.3, 0.2], [0.2, 0.2, 0.6]]),
        LengthDistribution.single(4),
    )
    information = enumerated_information(model)
    accuracy = AsymptoticAccuracy.of(information, criterion, held={"everything": 10, "nothing": 40})
    expected = over_fractions(information, criterion, np.array([0.2]), n_samples=150.0).values[0]
    assert accuracy.error(np.array([20.0, 80.0])) == pytest.approx(expected, rel=1e-9)
    assert accuracy.is_convex
    assert accuracy.standard_error(np.array([20.0, 80.0])) is None


def test_an_over_complete_chain_is_judged_on_what_can_be_estimated() -> None:
    rng = np.random.default_rng(2)
    model = BoltzmannChainModel(("A", "B"), None, rng.normal(size=(2, 2)), rng.normal(size=(2, 3)))
    rules = ["everything", "window:2", "nothing"]
    table = policy_information(model, policies=rules, rules=rules, n_samples=1, lengths={3: 0.5, 4: 0.5})
    information = table.information
    accuracy = accuracy_of(information, "total_variance", arms=rules)
    counts = np.array([5.0, 30.0, 50.0])
    order = [information.rules.index(rule) for rule in rules]
    total = np.tensordot(counts, information.matrices[order], axes=1)
    jacobian = information.coordinates.jacobian()
    expected = np.trace(jacobian @ np.linalg.pinv(total, rcond=1e-10, hermitian=True) @ jacobian.T)
    assert np.linalg.matrix_rank(total, tol=1e-8) < len(total)
    assert accuracy.error(counts) == pytest.approx(expected, rel=1e-7)


def test_sampled_information_carries_its_standard_error() -> None:
    model = HiddenMarkovModel(("A", "B"), [0.6, 0.4], [[0.7, 0.3], [0.4, 0.6]], [[0.5, 0.3, 0.2], [0.2, 0.2, 0.6]])
    rules = ["everything", "nothing"]
    information = policy_information(
        model, policies=[[0.5, 0.5]], rules=rules, n_samples=1, lengths={4: 1.0}, method="sampling", max_draws=4000
    ).information
    weights = np.array([0.5 if rule in rules else 0.0 for rule in information.rules])
    expected = information.figures(weights)
    for criterion in CRITERIA:
        accuracy = accuracy_of(information, criterion, arms=rules)
        scale = 1.0 if criterion == "log_volume" else 200.0
        error = accuracy.standard_error(np.array([100.0, 100.0]))
        assert error == pytest.approx(expected.errors[criterion] / scale, rel=1e-4), criterion
        assert accuracy.is_convex


def test_an_indefinite_weight_is_not_called_convex(menu) -> None:
    matrices = menu.matrices.copy()
    matrices[-1] = 1.5 * matrices[0]
    wrong = type(menu)(menu.coordinates, menu.rules, matrices, 0, 3, menu.expected_labels, "sampling")
    assert not accuracy_of(wrong, "excess_log_loss").is_convex
    assert accuracy_of(wrong, "total_variance").is_convex


def test_bad_input_is_told(menu) -> None:
    with pytest.raises(InvalidInputError, match="criterion must be one of total_variance"):
        accuracy_of(menu, "accuracy")
    with pytest.raises(InvalidInputError, match="A menu takes its rules from"):
        accuracy_of(menu, "total_variance", arms=["prefix:1"])
    with pytest.raises(InvalidInputError, match="A menu takes its rules from"):
        accuracy_of(menu, "total_variance", arms=[])
    with pytest.raises(InvalidInputError, match="matrix must have shape"):
        accuracy_of(menu, "total_variance", held=np.eye(2))
    with pytest.raises(InvalidInputError, match="a name of its own"):
        AsymptoticAccuracy(menu, "total_variance", menu.rules[:1] * 2)
    with pytest.raises(InvalidInputError, match="counts must have shape"):
        accuracy_of(menu, "total_variance").error(np.ones(2))
