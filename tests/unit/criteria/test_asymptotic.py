import numpy as np
import pytest

from labelworth.criteria.asymptotic import CRITERIA, total_variance
from labelworth.errors import InvalidInputError
from labelworth.fisher.by_enumeration import enumerated_information
from labelworth.fisher.fraction_information import FractionInformation
from support.oracles import enumerated_sequences, oracle_figures
from support.small_models import ENUMERABLE, drawn_multinomial

FRACTIONS = np.array([1.0, 0.5, 0.1, 0.01])


@pytest.mark.parametrize(("n_classes", "n_words", "lengths"), ENUMERABLE)
def test_every_criterion_equals_the_sum_over_all_sequences(n_classes, n_words, lengths) -> None:
    model = drawn_multinomial(n_classes, n_words, lengths, seed=1)
    oracle = enumerated_sequences(model.class_probabilities, model.word_probabilities, lengths)
    row_sizes = [n_classes] + [n_words] * n_classes
    information = enumerated_information(model)
    for place, fraction in enumerate(FRACTIONS):
        expected = oracle_figures(oracle, row_sizes, 2000, fraction)
        assert set(expected) == set(CRITERIA)
        for name, criterion in CRITERIA.items():
            assert criterion(information, 2000, FRACTIONS).values[place] == pytest.approx(expected[name], rel=1e-8), (
                name
            )


def test_joint_log_loss_is_the_sum_of_conditional_and_marginal() -> None:
    information = enumerated_information(drawn_multinomial(3, 4, {3: 1.0}))
    figures = {name: criterion(information, 100, FRACTIONS).values for name, criterion in CRITERIA.items()}
    np.testing.assert_allclose(
        figures["excess_joint_log_loss"],
        figures["excess_log_loss"] + figures["excess_marginal_log_loss"],
        rtol=1e-12,
    )


def test_with_all_labels_the_joint_log_loss_counts_parameters() -> None:
    """At f = 1 the criterion is d / 2n whatever the model: trace of the identity."""
    information = enumerated_information(drawn_multinomial(3, 4, {3: 1.0}))
    joint = CRITERIA["excess_joint_log_loss"](information, 100, np.array([1.0])).values[0]
    assert joint == pytest.approx(information.n_parameters / 200, rel=1e-12)


def test_every_criterion_falls_as_more_is_labeled() -> None:
    information = enumerated_information(drawn_multinomial(3, 4, {3: 1.0}))
    for name, criterion in CRITERIA.items():
        assert np.all(np.diff(criterion(information, 100, np.linspace(0.01, 1, 20)).values) < 0), name


def test_standard_errors_scale_with_the_figure() -> None:
    exact = enumerated_information(drawn_multinomial(2, 3, {4: 1.0}))
    batches = exact.missing * np.array([0.99, 1.0, 1.01])[:, None, None]
    sampled = FractionInformation(exact.coordinates, exact.complete, exact.missing, "sampling", batches)
    for name, criterion in CRITERIA.items():
        one, many = criterion(sampled, 1, FRACTIONS), criterion(sampled, 50, FRACTIONS)
        factor = 1 if name == "log_volume" else 50
        np.testing.assert_allclose(many.standard_errors * factor, one.standard_errors, rtol=1e-12)


@pytest.mark.parametrize("n_samples", [0, -3, np.inf, np.nan])
def test_a_senseless_number_of_samples_is_refused(n_samples) -> None:
    information = enumerated_information(drawn_multinomial(2, 2, {2: 1.0}))
    with pytest.raises(InvalidInputError, match="n_samples"):
        total_variance(information, n_samples, FRACTIONS)
