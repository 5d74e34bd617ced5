"""The fit reaches the maximum of the objective, whatever is known of the classes."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

from labelworth.data.evidence import Evidence, encode_labels
from labelworth.data.lengths import LengthDistribution
from labelworth.data.samples import Samples
from labelworth.errors import DidNotConvergeWarning, InvalidInputError, LabelworthWarning
from labelworth.estimation import fit as fit_module
from labelworth.estimation.fit import Fit, fit
from labelworth.models.classes.gaussian import GaussianFamily, GaussianModel
from labelworth.models.classes.multinomial import MultinomialFamily, MultinomialModel
from labelworth.models.classes.responsibilities import posterior
from labelworth.progress import SilentProgress
from support.oracles import dense_evidence, enumerated_bernoulli, enumerated_multinomial
from support.small_models import CASES, Case, bernoulli, multinomial

every_model = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
RELATIVE_SLACK = 1e-12


@pytest.fixture
def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def mixed_samples(model: Any, rng: np.random.Generator, n_samples: int = 60) -> Samples:
    """A third labeled (every class at least once), a third unlabeled, a third one of two classes."""
    samples = model.sample(n_samples, rng)
    codes = samples.evidence.codes.copy()
    codes[:3] = [0, 1, 2]
    third = n_samples // 3
    weights = np.ones((n_samples - 2 * third, 3))
    for row, code in enumerate(codes[2 * third :]):
        weights[row, (code + 1 + rng.integers(2)) % 3] = 0.0
    codes[third : 2 * third] = -1
    codes[2 * third :] = -2 - np.arange(len(weights))
    return Samples(samples.features, Evidence(codes, samples.evidence.classes, weights))


def tables_equal(first: Any, second: Any, rtol: float, atol: float = 0.0) -> None:
    for name, table in first.tables.items():
        np.testing.assert_allclose(second.tables[name], table, rtol=rtol, atol=atol, err_msg=name)


SMOOTHING, CLASS_SMOOTHING, UNLABELED_WEIGHT = 0.6, 0.4, 0.7


@dataclass(frozen=True)
class BruteForce:
    """Samples with the objective of a fit to them, summed over all outcomes and up to a constant."""

    samples: Samples
    family: Any
    weights: np.ndarray
    log_likelihood: Callable[[np.ndarray], float]
    prior_tables: Callable[[np.ndarray], np.ndarray]

    @classmethod
    def of(cls, model: Any, oracle: Any, family: Any, prior_tables: Any, rng: np.random.Generator) -> "BruteForce":
        samples = mixed_samples(model, rng)
        codes = samples.evidence.codes
        rows, evidence = (
            oracle.rows_of(samples.features.toarray()),
            dense_evidence(codes, 3, samples.evidence.weights),
        )
        weights = np.where(codes == -1, UNLABELED_WEIGHT, 1.0)
        chosen = family(samples, smoothing=SMOOTHING, class_smoothing=CLASS_SMOOTHING)
        return cls(
            samples,
            chosen,
            weights,
            lambda theta: weights @ oracle.log_likelihood(theta, rows, evidence),
            prior_tables,
        )

    def objective(self, theta: np.ndarray) -> float:
        with np.errstate(invalid="ignore", divide="ignore"):
            classes = np.log(np.append(theta[:2], 1 - theta[:2].sum())).sum()
            prior = CLASS_SMOOTHING * classes + SMOOTHING * np.log(self.prior_tables(theta[2:])).sum()
            value = self.log_likelihood(theta) + prior
        return float(value) if np.isfinite(value) else -1e10

    def fitted(self, **settings: Any) -> Any:
        return fit(self.family, self.samples, unlabeled_weight=UNLABELED_WEIGHT, **settings)

    def constant(self, result: Any) -> float:
        """What the objective of a fit leaves out."""
        return self.objective(free_of(result.model)) - result.objective


def free_of(model: Any) -> np.ndarray:
    return model.coordinates.flatten(model.tables)


def multinomial_by_brute_force(rng: np.random.Generator) -> BruteForce:
    def words(free: np.ndarray) -> np.ndarray:
        head = free.reshape(3, 2)
        return np.concatenate([head, 1 - head.sum(axis=1, keepdims=True)], axis=1)

    model = multinomial(rng, n_words=3, lengths={2: 0.5, 3: 0.5})
    oracle = enumerated_multinomial(model.class_probabilities, model.word_probabilities, {2: 0.5, 3: 0.5})
    return BruteForce.of(model, oracle, MultinomialFamily.for_samples, words, rng)


def bernoulli_by_brute_force(rng: np.random.Generator) -> BruteForce:
    model = bernoulli(rng, n_features=3)
    oracle = enumerated_bernoulli(model.class_probabilities, model.feature_probabilities)
    return BruteForce.of(model, oracle, CASES[1].family, lambda free: np.stack([free, 1 - free]), rng)


by_brute_force = pytest.mark.parametrize("draw", [multinomial_by_brute_force, bernoulli_by_brute_force])


@by_brute_force
def test_em_reaches_the_brute_force_maximum(
    draw: Callable[[np.random.Generator], BruteForce], rng: np.random.Generator
) -> None:
    plain = draw(rng)
    result = plain.fitted(tolerance=1e-13)
    best = minimize(
        lambda free: -plain.objective(free),
        free_of(result.model),
        method="Nelder-Mead",
        options={"maxiter": 4000, "fatol": 1e-13, "xatol": 1e-10},
    )
    assert -best.fun - plain.constant(result) <= result.objective + 1e-9


@by_brute_force
def test_the_objective_of_any_model_is_likelihood_and_prior_up_to_one_constant(
    draw: Callable[[np.random.Generator], BruteForce], rng: np.random.Generator
) -> None:
    plain = draw(rng)
    result = plain.fitted(tolerance=1e-13)
    neutral = result.family.neutral()
    expected = result.family.prepare(plain.samples, plain.weights).expectation(neutral)
    np.testing.assert_allclose(
        expected.log_likelihood + result.family.log_prior(neutral),
        plain.objective(free_of(neutral)) - plain.constant(result),
        rtol=1e-11,
    )


@by_brute_force
def test_a_far_search_by_brute_force_finds_nothing_better_than_many_starts(
    draw: Callable[[np.random.Generator], BruteForce], rng: np.random.Generator
) -> None:
    plain = draw(rng)
    result = plain.fitted(tolerance=1e-10, n_starts=4, rng=rng)
    begin = free_of(result.family.neutral())
    far = minimize(
        lambda free: -plain.objective(free), begin + 0.05 * rng.uniform(size=len(begin)), method="L-BFGS-B"
    )
    assert -far.fun - plain.constant(result) <= result.objective + 1e-5


@every_model
@pytest.mark.parametrize("accelerated", [False, True])
def test_the_objective_never_falls(case: Case, accelerated: bool, rng: np.random.Generator) -> None:
    samples = mixed_samples(case.draw(rng), rng)
    result = fit(case.family(samples), samples, accelerated=accelerated, tolerance=1e-12)
    assert len(result.objective_path) > 3
    slack = RELATIVE_SLACK * np.abs(result.objective_path).max()
    assert np.diff(result.objective_path).min() >= -slack


@every_model
def test_acceleration_reaches_the_same_maximum_in_fewer_passes(case: Case, rng: np.random.Generator) -> None:
    samples = mixed_samples(case.draw(rng), rng, 150)
    plain, fast = (
        fit(case.family(samples), samples, accelerated=accelerated, tolerance=1e-14, max_iterations=20000)
        for accelerated in (False, True)
    )
    assert plain.converged
    assert fast.converged
    np.testing.assert_allclose(fast.objective, plain.objective, rtol=1e-11)
    tables_equal(plain.model, fast.model, rtol=1e-4, atol=1e-5)
    assert fast.n_evaluations <= plain.n_evaluations


@every_model
def test_a_tight_fit_is_a_fixed_point(case: Case, rng: np.random.Generator) -> None:
    samples = mixed_samples(case.draw(rng), rng)
    result = fit(case.family(samples), samples, tolerance=1e-16, max_iterations=20000)
    family = result.family
    step = family.maximize(family.prepare(samples, np.ones(60)).expectation(result.model).statistics)
    assert result.converged
    # Half the squared step in nats per sample; 1e-16 times the 60 samples is far below rounding of the objective.
    assert result.model.divergence(step) < 1e-15


@every_model
def test_labeled_data_is_fitted_in_closed_form(case: Case, rng: np.random.Generator) -> None:
    samples = case.draw(rng).sample(50, rng)
    result = fit(case.family(samples), samples)
    step = result.family.maximize(result.family.prepare(samples, np.ones(50)).expectation(result.model).statistics)
    tables_equal(result.model, step, rtol=1e-12)
    assert result.converged
    assert result.n_iterations == 1
    assert result.objective == pytest.approx(result.log_likelihood + result.family.log_prior(result.model))


def test_labeled_counts_give_smoothed_shares() -> None:
    counts = np.array([[3.0, 1.0, 0.0], [0.0, 2.0, 2.0], [1.0, 0.0, 0.0]])
    samples = Samples(sp.csr_array(counts), encode_labels(["a", "b", "a"]))
    model = fit(MultinomialFamily.for_samples(samples, smoothing=0.5, class_smoothing=0.25), samples).model
    np.testing.assert_allclose(
        model.word_probabilities, [[4.5 / 6.5, 1.5 / 6.5, 0.5 / 6.5], [0.5 / 5.5, 2.5 / 5.5, 2.5 / 5.5]]
    )
    np.testing.assert_allclose(model.class_probabilities, [2.25 / 3.5, 1.25 / 3.5])


@every_model
def test_weight_two_equals_the_row_twice(case: Case, rng: np.random.Generator) -> None:
    samples = mixed_samples(case.draw(rng), rng)
    weights = rng.integers(0, 3, size=60).astype(float)
    weights[:3] = 2.0
    repeated = samples.take(np.repeat(np.arange(60), weights.astype(int)))
    weighted = fit(case.family(samples), samples.weighted(weights), tolerance=1e-13)
    duplicated = fit(case.family(samples), repeated, tolerance=1e-13)
    np.testing.assert_allclose(weighted.objective, duplicated.objective, rtol=1e-11)
    tables_equal(weighted.model, duplicated.model, rtol=1e-5, atol=1e-6)


@every_model
def test_unlabeled_weight_zero_uses_the_labels_only(case: Case, rng: np.random.Generator) -> None:
    samples = mixed_samples(case.draw(rng), rng)
    ignoring = fit(case.family(samples), samples, unlabeled_weight=0.0, tolerance=1e-13)
    without = fit(case.family(samples), samples.labeled_only(), tolerance=1e-13)
    assert ignoring.objective == without.objective
    tables_equal(ignoring.model, without.model, rtol=1e-14)


@every_model
def test_relabeling_the_classes_permutes_the_fit(case: Case, rng: np.random.Generator) -> None:
    samples = mixed_samples(case.draw(rng), rng)
    order = np.array([2, 0, 1])
    evidence = samples.evidence
    codes = np.where(evidence.codes >= 0, np.argsort(order)[np.maximum(evidence.codes, 0)], evidence.codes)
    names = tuple(evidence.classes[place] for place in order)
    permuted = Samples(samples.features, Evidence(codes, names, evidence.weights[:, order]))
    first = fit(case.family(samples), samples, tolerance=1e-14).model
    second = fit(case.family(permuted), permuted, tolerance=1e-14).model
    for name, table in first.tables.items():
        moved = table[:, order] if name == "class_probabilities" else table[order] if len(table) == 3 else table
        np.testing.assert_allclose(second.tables[name], moved, rtol=1e-6, atol=1e-7)


@every_model
def test_stopping_early_is_told(case: Case, rng: np.random.Generator) -> None:
    samples = mixed_samples(case.draw(rng), rng)
    with pytest.warns(DidNotConvergeWarning, match="allow more steps"):
        result = fit(case.family(samples), samples, max_iterations=1, tolerance=1e-13)
    assert not result.converged
    assert result.n_iterations == 1


@every_model
def test_nothing_labeled_is_told_and_clusters_are_found(case: Case, rng: np.random.Generator) -> None:
    samples = case.draw(rng).sample(200, rng).hide()
    with pytest.warns(LabelworthWarning, match="arbitrary"):
        result = fit(case.family(samples), samples, n_starts=3, rng=rng, max_iterations=3000)
    assert result.exchangeable_classes == (("ham", "spam", "other"),)
    assert len(result.starts) == 3
    assert result.objective == result.starts.max()
    # EM did not stay at the point where all classes are alike.
    alike = result.family.maximize(
        result.family.prepare(samples, np.ones(200)).expectation(result.family.neutral()).statistics
    )
    expectation = result.family.prepare(samples, np.ones(200)).expectation(alike)
    assert result.objective > expectation.log_likelihood + result.family.log_prior(alike) + 1e-3


@every_model
def test_one_class_works(case: Case, rng: np.random.Generator) -> None:
    model = case.draw(rng)
    samples = model.sample(30, rng)
    alone = Samples(samples.features, Evidence(np.where(np.arange(30) < 10, 0, -1), ("only",)))
    result = fit(case.family(alone), alone)
    assert result.converged
    np.testing.assert_array_equal(result.model.tables["class_probabilities"], [[1.0]])


@pytest.mark.parametrize("kind", ["multinomial", "gaussian"])
def test_a_class_without_labels_is_found_by_elimination(kind: str, rng: np.random.Generator) -> None:
    if kind == "multinomial":
        words = np.full((3, 6), 0.02) + 0.44 * np.kron(np.eye(3), np.ones(2))
        model: Any = MultinomialModel(("a", "b", "c"), [0.3, 0.3, 0.4], words, LengthDistribution.single(12))
        family: Any = MultinomialFamily.for_samples
    else:
        means = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]])
        model = GaussianModel(("a", "b", "c"), [0.3, 0.3, 0.4], means, np.eye(2)[None], "shared")
        family = GaussianFamily.for_samples
    samples = model.sample(300, rng)
    labels = samples.evidence.codes
    codes = np.where((labels < 2) & (np.arange(300) < 100), labels, -1)
    # Begun from random rows, so several starts.
    result = fit(family(samples), Samples(samples.features, Evidence(codes, model.classes)), n_starts=6, rng=rng)
    assert result.exchangeable_classes == ()
    found = posterior(result.model, samples.hide()).argmax(axis=1)
    assert np.mean(found == labels) > 0.95


def test_a_given_start_is_where_it_begins(rng: np.random.Generator) -> None:
    model = multinomial(rng)
    samples = mixed_samples(model, rng)
    family = MultinomialFamily.for_samples(samples)
    result = fit(family, samples, start=model)
    adapted = family.adapted(samples, np.ones(60))
    expectation = adapted.prepare(samples, np.ones(60)).expectation(model)
    assert result.objective_path[0] == pytest.approx(expectation.log_likelihood + adapted.log_prior(model))


def test_a_given_start_is_the_first_of_several(rng: np.random.Generator) -> None:
    model = multinomial(rng)
    samples = mixed_samples(model, rng)
    family = MultinomialFamily.for_samples(samples)
    alone, among = (fit(family, samples, start=model, n_starts=n_starts) for n_starts in (1, 3))
    assert among.starts[0] == alone.objective
    assert len(among.starts) == 3
    assert among.objective == among.starts.max()


def test_a_diffuse_start_begins_from_a_smoother_model(rng: np.random.Generator) -> None:
    samples = mixed_samples(multinomial(rng), rng)
    family = MultinomialFamily.for_samples(samples)
    first, diffuse = (fit(family, samples, start_smoothing=factor, tolerance=1e-13) for factor in (1.0, 50.0))
    assert first.objective_path[0] != diffuse.objective_path[0]
    np.testing.assert_allclose(first.objective, diffuse.objective, rtol=1e-3)


def test_zero_smoothing_works_with_words_only_unlabeled_rows_have() -> None:
    counts = sp.csr_array(np.array([[2.0, 0, 0], [0, 2, 0], [1, 0, 1], [0, 1, 1], [0, 0, 3]]))
    samples = Samples(counts, encode_labels(["a", "b", -1, -1, -1]))
    result = fit(MultinomialFamily.for_samples(samples, smoothing=0, class_smoothing=0), samples)
    assert np.isfinite(result.objective)
    np.testing.assert_allclose(result.model.word_probabilities.sum(axis=1), 1.0)


def test_a_start_that_rules_a_row_out_is_refused() -> None:
    counts = sp.csr_array(np.array([[2.0, 0, 0], [0, 2, 0], [0, 1, 1]]))
    samples = Samples(counts, encode_labels(["a", "b", -1]))
    family = MultinomialFamily.for_samples(samples, smoothing=0, class_smoothing=0)
    labeled = fit(family, samples.take(np.array([0, 1]))).model
    with pytest.raises(InvalidInputError, match="row 2"):
        fit(family, samples, start=labeled)


def test_a_start_of_other_classes_is_refused(rng: np.random.Generator) -> None:
    model = multinomial(rng)
    samples = mixed_samples(model, rng)
    other = Samples(samples.features, Evidence(samples.evidence.codes, ("x", "y", "z"), samples.evidence.weights))
    with pytest.raises(InvalidInputError, match="same classes"):
        fit(MultinomialFamily.for_samples(other), other, start=model)


@pytest.mark.parametrize(
    "argument",
    [
        {"tolerance": 0.0},
        {"tolerance": float("nan")},
        {"max_iterations": 0},
        {"unlabeled_weight": -1.0},
        {"unlabeled_weight": float("inf")},
        {"n_starts": 0},
        {"start_smoothing": 0.0},
    ],
    ids=str,
)
def test_arguments_that_make_no_sense_are_named(argument: dict[str, Any], rng: np.random.Generator) -> None:
    samples = mixed_samples(multinomial(rng), rng)
    with pytest.raises(InvalidInputError, match=next(iter(argument))):
        fit(MultinomialFamily.for_samples(samples), samples, **argument)


def test_labels_only_without_labels_names_the_cure(rng: np.random.Generator) -> None:
    samples = multinomial(rng).sample(20, rng).hide()
    with pytest.raises(InvalidInputError, match="give some labels"):
        fit(MultinomialFamily.for_samples(samples), samples, unlabeled_weight=0.0)


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
def test_bad_sample_weights_are_refused(weight: float, rng: np.random.Generator) -> None:
    samples = multinomial(rng).sample(3, rng)
    with pytest.raises(InvalidInputError, match="weights"):
        fit(MultinomialFamily.for_samples(samples), samples.weighted(np.array([1.0, weight, 1.0])))


def test_huge_counts_are_refused_with_a_cure() -> None:
    samples = Samples(sp.csr_array(np.array([[1e200, 1.0], [1.0, 2.0]])), encode_labels(["a", "b"]))
    with pytest.raises(InvalidInputError, match="rescale"):
        fit(MultinomialFamily.for_samples(samples), samples)


def test_tiny_smoothing_stays_finite(rng: np.random.Generator) -> None:
    samples = mixed_samples(multinomial(rng), rng)
    result = fit(MultinomialFamily.for_samples(samples, smoothing=1e-300, class_smoothing=1e-300), samples)
    assert np.isfinite(result.objective)


def test_smoothing_that_doubles_cannot_resolve_is_refused_with_a_cure() -> None:
    samples = Samples(sp.csr_array(np.array([[1e14, 0.0], [1.0, 2.0]])), encode_labels(["a", "b"]))
    with pytest.raises(InvalidInputError, match="use 0, or 1e-10"):
        fit(MultinomialFamily.for_samples(samples, smoothing=1e-315), samples)


def test_progress_is_told(rng: np.random.Generator) -> None:
    told: list[str] = []

    class Listener:
        def start(self, title: str, total: int | None) -> "Listener":
            told.append(title)
            return self

        def advance(self, steps: int = 1, note: str = "", seconds: float | None = None) -> None:
            told.append(note)

        def finish(self, task: Any) -> None:
            told.append("done")

        def say(self, message: str) -> None:
            told.append(message)

    samples = mixed_samples(multinomial(rng), rng)
    result: Fit[Any, Any] = fit(MultinomialFamily.for_samples(samples), samples, progress=Listener())
    assert told[0] == "EM"
    assert told[-1] == "done"
    assert sum(note.startswith("objective") for note in told) == result.n_iterations


@pytest.mark.parametrize(("per_step", "expected"), [(2.0, 1), (0.01, 0)])
def test_long_steps_say_first_how_long_a_fit_takes(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, per_step: float, expected: int
) -> None:
    said: list[str] = []

    class Listener(SilentProgress):
        def say(self, message: str) -> None:
            said.append(message)

    now = itertools.count(step=per_step)
    monkeypatch.setattr(fit_module.time, "monotonic", lambda: next(now))
    samples = mixed_samples(multinomial(rng), rng)
    fit(MultinomialFamily.for_samples(samples), samples, progress=Listener())
    assert said == ["A step of EM takes about 2 s, and all of it 20 seconds to 2 minutes as a rule."] * expected
