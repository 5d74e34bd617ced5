from dataclasses import replace

import numpy as np
import pytest

from labelworth.errors import InvalidInputError
from labelworth.fisher.criteria import CRITERIA
from labelworth.fisher.documents.population import enumerated_information
from labelworth.fisher.information import over_fractions
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
        for name in CRITERIA:
            assert over_fractions(information, name, FRACTIONS, n_samples=2000).values[place] == pytest.approx(
                expected[name], rel=1e-8
            ), name


def test_joint_log_loss_is_the_sum_of_conditional_and_marginal() -> None:
    information = enumerated_information(drawn_multinomial(3, 4, {3: 1.0}))
    figures = {name: over_fractions(information, name, FRACTIONS, n_samples=100).values for name in CRITERIA}
    np.testing.assert_allclose(
        figures["excess_joint_log_loss"],
        figures["excess_log_loss"] + figures["excess_marginal_log_loss"],
        rtol=1e-12,
    )


def test_with_all_labels_the_joint_log_loss_counts_parameters() -> None:
    """At f = 1 the criterion is d / 2n whatever the model: trace of the identity."""
    information = enumerated_information(drawn_multinomial(3, 4, {3: 1.0}))
    joint = over_fractions(information, "excess_joint_log_loss", np.array([1.0]), n_samples=100).values[0]
    assert joint == pytest.approx(information.n_parameters / 200, rel=1e-12)


def test_every_criterion_falls_as_more_is_labeled() -> None:
    information = enumerated_information(drawn_multinomial(3, 4, {3: 1.0}))
    for name in CRITERIA:
        assert np.all(
            np.diff(over_fractions(information, name, np.linspace(0.01, 1, 20), n_samples=100).values) < 0
        ), name


def test_standard_errors_scale_with_the_figure() -> None:
    exact = enumerated_information(drawn_multinomial(2, 3, {4: 1.0}))
    missing = exact.missing * np.array([0.99, 1.0, 1.01])[:, None, None]
    batches = np.stack([np.broadcast_to(exact.complete, missing.shape), exact.complete - missing], axis=1)
    sampled = replace(exact, batches=batches)
    for name in CRITERIA:
        one, many = (over_fractions(sampled, name, FRACTIONS, n_samples=n) for n in (1, 50))
        factor = 1 if name == "log_volume" else 50
        np.testing.assert_allclose(many.standard_errors * factor, one.standard_errors, rtol=1e-12)


@pytest.mark.parametrize("n_samples", [0, -3, np.inf, np.nan])
def test_a_senseless_number_of_samples_is_refused(n_samples) -> None:
    information = enumerated_information(drawn_multinomial(2, 2, {2: 1.0}))
    with pytest.raises(InvalidInputError, match="n_samples"):
        over_fractions(information, "total_variance", FRACTIONS, n_samples=n_samples)
