import numpy as np
import pytest
from scipy.optimize import approx_fprime

from labelworth.data.sequences import Sequences
from labelworth.errors import InvalidInputError, LabelworthWarning
from labelworth.estimation.boltzmann_chain_fit import fit_boltzmann_chain
from labelworth.models.chains.boltzmann_chain import BoltzmannChainFamily, BoltzmannChainObjective
from support.small_chains import LABELS, boltzmann_chain, partly_labeled


def sequences_of(seed: int, n_sequences: int = 40, **choices: float) -> Sequences:
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 7, size=n_sequences).tolist()
    return partly_labeled(boltzmann_chain(rng), lengths, rng, **choices)


@pytest.mark.parametrize("with_start", [True, False])
def test_gradient_is_that_of_the_value(seed: int, with_start: bool) -> None:
    sequences = sequences_of(seed, without_word=0.2, weighted=True)
    family = BoltzmannChainFamily.for_sequences(sequences, penalty=0.3, with_start=with_start)
    objective = BoltzmannChainObjective(family, sequences, sequences.sequence_weights)
    theta, gradient = np.random.default_rng(seed).standard_normal(objective.size), np.empty(objective.size)
    value = objective(theta, gradient)
    numerical = approx_fprime(theta, lambda weights: objective(weights, np.empty(objective.size)), 1e-7)
    np.testing.assert_allclose(gradient, numerical, rtol=1e-4, atol=1e-3)
    model = objective.model(theta)
    likelihood = sequences.sequence_weights @ model.log_evidence(sequences)
    assert value == pytest.approx(0.3 * theta @ theta - likelihood, rel=1e-12)
    scores = sequences.sequence_weights @ model.scores(sequences)
    np.testing.assert_allclose(gradient, 0.6 * theta - scores, rtol=1e-9, atol=1e-9)


def test_supervised_fit_matches_expected_counts_to_observed_ones(seed: int) -> None:
    sequences = sequences_of(seed, 300, hidden=0.0, ambiguous=0.0)
    family = BoltzmannChainFamily.for_sequences(sequences, penalty=1e-4)
    fitted = fit_boltzmann_chain(family, sequences, tolerance=1e-12)
    model = fitted.model
    expected, _ = model.reference_counts(sequences.lengths, np.ones(300))
    observed = np.bincount(sequences.evidence.codes * 4 + sequences.words, minlength=12).reshape(3, 4)
    np.testing.assert_allclose(expected.emission, observed, rtol=0, atol=0.05)
    assert fitted.converged
    assert (np.diff(fitted.objective_path) >= 0).all()
    assert fitted.objective == pytest.approx(fitted.log_likelihood + family.log_prior(model), rel=1e-12)


def test_partial_labels_end_where_the_gradient_vanishes(seed: int) -> None:
    sequences = sequences_of(seed, 80, hidden=0.5, without_word=0.1)
    family = BoltzmannChainFamily.for_sequences(sequences, penalty=0.1)
    fitted = fit_boltzmann_chain(family, sequences, tolerance=1e-13, n_starts=2)
    theta = fitted.model.coordinates.flatten(fitted.model.tables)
    gradient = fitted.model.scores(sequences).sum(axis=0) - 0.2 * theta
    assert np.abs(gradient).max() < 1e-3
    assert np.abs(fitted.model.scores(sequences).sum(axis=0)).max() > 1e-2, "without the prior it is no maximum"
    assert len(fitted.starts) == 2
    assert fitted.objective == pytest.approx(fitted.starts.max())


def test_given_start_is_used_and_checked(seed: int) -> None:
    sequences = sequences_of(seed, hidden=0.5)
    family = BoltzmannChainFamily.for_sequences(sequences)
    first = fit_boltzmann_chain(family, sequences, tolerance=1e-9)
    again = fit_boltzmann_chain(family, sequences, start=first.model, tolerance=1e-9)
    assert again.objective >= first.objective - 1e-9
    assert again.n_iterations < first.n_iterations
    with pytest.raises(InvalidInputError, match="starting model"):
        fit_boltzmann_chain(family, sequences, start=boltzmann_chain(np.random.default_rng(0), with_start=False))


def test_labels_that_nothing_names_are_told_of(seed: int) -> None:
    sequences = sequences_of(seed).hide()
    family = BoltzmannChainFamily.for_sequences(sequences)
    with pytest.warns(LabelworthWarning, match="No label tells these classes apart"):
        fitted = fit_boltzmann_chain(family, sequences)
    assert fitted.exchangeable_classes == (LABELS,)
    with pytest.raises(InvalidInputError, match="unlabeled_weight"):
        fit_boltzmann_chain(family, sequences, unlabeled_weight=0.0)


def test_penalty_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="penalty"):
        BoltzmannChainFamily(LABELS, 4, penalty=-1.0)
