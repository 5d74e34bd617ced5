"""Answers without matrices: products against the dense information, figures against it within their errors."""

import numpy as np
import pytest

import labelworth as lw
from labelworth.channels.arm import Arm
from labelworth.channels.channel import Channel
from labelworth.data.lengths import LengthDistribution
from labelworth.errors import InvalidInputError, MoreSamplesNeededError
from labelworth.fisher.criteria import CRITERIA
from labelworth.fisher.dense import DenseInformation
from labelworth.fisher.documents.answered_documents import AnsweredDocuments
from labelworth.fisher.documents.channels import ArmSet, enumerated_channels
from labelworth.fisher.documents.count_whitening import CountWhitening
from labelworth.fisher.documents.population import enumerate_outcomes
from labelworth.fisher.documents.probed_channels import ProbedChannels, drawn_channels
from labelworth.fisher.whitened import without_nuisance
from labelworth.models.classes.bernoulli import BernoulliModel
from labelworth.models.classes.multinomial import MultinomialModel
from support.small_models import drawn_multinomial

MODEL = drawn_multinomial(3, 5, {4: 0.5, 5: 0.5}, 3)
TRACES = ("total_variance", "excess_log_loss", "excess_joint_log_loss", "excess_marginal_log_loss")


def confusion(seed: int, n: int = 3) -> np.ndarray:
    table = 0.4 * np.random.default_rng(seed).dirichlet(np.ones(n), n)
    return np.asarray(table + 0.6 * np.eye(n))


def arms_of(model: MultinomialModel) -> ArmSet:
    crowd, llm = Channel("crowd", confusion(0)), Channel("llm", confusion(1), unknown=True)
    asked = Channel.question("asked", [model.classes[0]], accuracy=0.9)
    arms = [Arm.of(crowd), Arm.of(llm), Arm.of(llm, votes=3), Arm.of(llm, gold=True), Arm.of(asked)]
    return ArmSet.of([*arms, Arm.of(llm, crowd)], model.classes)


DESIGNS = [
    [0.5, 0.1, 0.1, 0.1, 0.1, 0.05, 0.05, 0.0],
    [0.3, 0.2, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0],
    [0.0, 0.0, 0.0, 0.5, 0.5, 0.0, 0.0, 0.0],
    [0.4, 0.0, 0.0, 0.1, 0.2, 0.1, 0.1, 0.1],
]


@pytest.fixture(scope="module")
def both() -> tuple[DenseInformation, ProbedChannels]:
    """All documents there are, so that nothing but the probes is random."""
    arms, outcomes = arms_of(MODEL), enumerate_outcomes(MODEL)
    documents = AnsweredDocuments.of(
        CountWhitening.of_population(MODEL), arms, outcomes.samples, outcomes.probabilities
    )
    return enumerated_channels(MODEL, arms), ProbedChannels(documents, seed=1, n_probes=100)


def whitened_basis(model: MultinomialModel) -> np.ndarray:
    """From rows of probabilities without their last entry, classes first, to whitened vectors, word by word."""
    n_classes, n_words = model.word_probabilities.shape
    full = [np.vstack([np.eye(n - 1), -np.ones(n - 1)]) for n in (n_classes, *[n_words] * n_classes)]
    priors, totals = model.class_probabilities, model.class_probabilities * model.lengths.mean
    basis = np.zeros((n_classes * (n_words + 1), n_classes - 1 + n_classes * (n_words - 1)))
    basis[n_classes * n_words :, : n_classes - 1] = full[0] / np.sqrt(priors)[:, None]
    for code in range(n_classes):
        first = n_classes - 1 + code * (n_words - 1)
        scaled = full[code + 1] * np.sqrt(totals[code] / model.word_probabilities[code])[:, None]
        basis[code : n_classes * n_words : n_classes, first : first + n_words - 1] = scaled
    return basis


@pytest.mark.parametrize("design", DESIGNS)
def test_products_are_those_of_the_matrices(
    both: tuple[DenseInformation, ProbedChannels], design: list[float]
) -> None:
    dense, probed = both
    basis, counts = whitened_basis(MODEL), 100 * np.array(design)
    told, _ = without_nuisance(np.tensordot(counts, dense.matrices, axes=1), dense.n_parameters)
    product = basis.T @ probed.product(counts, basis)
    assert np.abs(product - told).max() <= 1e-8 * np.abs(told).max()


def test_another_confusion_is_another_product(both: tuple[DenseInformation, ProbedChannels]) -> None:
    """The control: confusion taken for another one is seen by far more than rounding."""
    dense, probed = both
    other = ArmSet.of([Arm.of(Channel("crowd", confusion(5)))], MODEL.classes)
    wrong = enumerated_channels(MODEL, other).matrices[2]
    n, basis = dense.n_parameters, whitened_basis(MODEL)
    counts = np.eye(len(dense.rules))[2]
    product = basis.T @ probed.product(counts, basis)
    assert np.abs(product - dense.matrices[2][:n, :n]).max() <= 1e-8 * np.abs(product).max()
    assert np.abs(product - wrong).max() > 1e-3 * np.abs(product).max()


@pytest.mark.parametrize("design", DESIGNS)
def test_figures_and_slopes_are_those_of_the_matrices_within_their_errors(
    both: tuple[DenseInformation, ProbedChannels], design: list[float]
) -> None:
    """Six standard errors: a false alarm once in 1e8 figures."""
    dense, probed = both
    counts = 100 * np.array(design)
    for name in (*TRACES, "log_volume"):
        criterion = CRITERIA[name]
        exact, found = dense.point(criterion, counts), probed.point(criterion, counts)
        error = probed.standard_error(criterion, counts)
        assert abs(found.value - exact.value) <= 6 * error
        scale = exact.value if name != "log_volume" else dense.n_parameters
        assert error < 0.1 * abs(scale)
        assert np.abs(found.slope - exact.slope).max() <= 0.2 * np.abs(exact.slope).max()


def test_what_is_optimized_is_convex_with_its_own_slope(both: tuple[DenseInformation, ProbedChannels]) -> None:
    _, probed = both
    rng = np.random.default_rng(0)
    criterion = CRITERIA["excess_log_loss"]
    for _ in range(3):
        first, second = 50 + 50 * rng.random((2, len(probed.rules)))
        here, there = (probed.point(criterion, counts) for counts in (first, second))
        middle = probed.point(criterion, (first + second) / 2)
        assert middle.value <= (here.value + there.value) / 2 + 1e-9
        assert there.value >= here.value + here.slope @ (second - first) - 1e-9
        step = 1e-4 * (second - first)
        near = [probed.point(criterion, first + sign * step) for sign in (1, -1)]
        assert (near[0].value - near[1].value) / 2 == pytest.approx(here.slope @ step, rel=1e-4)


def test_gold_alone_is_exact(both: tuple[DenseInformation, ProbedChannels]) -> None:
    dense, probed = both
    counts = 10 * np.eye(len(dense.rules))[1]
    for name in (*TRACES, "log_volume"):
        exact, found = dense.point(CRITERIA[name], counts), probed.point(CRITERIA[name], counts)
        assert found.value == pytest.approx(exact.value, rel=1e-9)
    with pytest.raises(InvalidInputError, match="there is no worst_direction"):
        probed.point(CRITERIA["worst_direction"], counts)


def test_drawn_documents_give_figures_within_their_errors_and_too_few_are_refused() -> None:
    arms = arms_of(MODEL)
    dense = enumerated_channels(MODEL, arms)
    probed = drawn_channels(MODEL, arms, np.random.default_rng(2), n_draws=40_000)
    for design in DESIGNS:
        for name in ("total_variance", "excess_log_loss"):
            value, error = probed.estimate(CRITERIA[name], np.array(design))
            exact, _ = dense.estimate(CRITERIA[name], np.array(design))
            # Six times, of which few probes know the noise roughly: 8 probes are 7 degrees of freedom.
            assert abs(value - exact) <= 12 * error
    few = drawn_channels(MODEL, arms, np.random.default_rng(2), n_draws=30)
    with pytest.raises(MoreSamplesNeededError, match="draw"):
        few.estimate(CRITERIA["excess_log_loss"], np.array(DESIGNS[1]))


def test_large_models_of_many_classes_are_asked_without_matrices() -> None:
    rng = np.random.default_rng(0)
    words = 0.7 * rng.dirichlet(np.full(600, 1.0)) + 0.3 * rng.dirichlet(np.full(600, 1.0), 3)
    words = np.maximum(words, 1e-5)
    model = MultinomialModel(
        ("a", "b", "c"), [0.3, 0.3, 0.4], words / words.sum(axis=1, keepdims=True), LengthDistribution.single(30)
    )
    kinds = [Channel("crowd", accuracy=0.8), Channel("llm", confusion(1), unknown=True)]
    designs = [[0.8, 0.2, 0, 0], [0.3, 0.2, 0.5, 0], [0.3, 0.2, 0, 0.5], [0, 1, 0, 0]]
    table = lw.information(model, kinds=kinds, designs=designs, n_samples=5000, max_draws=20_000)
    assert table.method == "matrix-free"
    assert "1,805 parameters" in table.reason
    nothing, known, unknown, gold = (point.figures["excess_log_loss"] for point in table.points)
    assert gold < known < unknown < nothing
    bernoulli = BernoulliModel(("a", "b"), [0.5, 0.5], [[0.2, 0.3], [0.4, 0.6]])
    with pytest.raises(InvalidInputError, match="needs a multinomial model"):
        lw.information(bernoulli, kinds=[], designs=[[0.5, 0.5]], n_samples=10, method="matrix-free")


def test_designs_on_the_directions_of_others_have_the_figures_of_their_own(
    both: tuple[DenseInformation, ProbedChannels],
) -> None:
    """Whoever asks many designs pays for few, and is told the same."""
    _, probed = both
    criterion, rng = CRITERIA["excess_log_loss"], np.random.default_rng(4)
    for _ in range(12):
        counts = 100 * rng.dirichlet(np.ones(len(probed.rules)))
        alone = ProbedChannels(probed.documents, seed=1, n_probes=100)
        found, exact = probed.point(criterion, counts), alone.point(criterion, counts)
        assert found.value == pytest.approx(exact.value, rel=1e-8)
        assert found.slope == pytest.approx(exact.slope, rel=1e-4)
