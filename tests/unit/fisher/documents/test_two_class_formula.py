"""The two-class formula against brute force: all bags of words, and for extreme models all of it in 60 digits."""

from decimal import Decimal, localcontext
from itertools import combinations_with_replacement
from math import factorial, prod

import numpy as np
import pytest

from labelworth.data.lengths import LengthDistribution
from labelworth.errors import InvalidInputError
from labelworth.fisher.criteria import Weight
from labelworth.fisher.documents.two_class_formula import TwoClassInformation, two_class_information
from labelworth.fisher.documents.two_class_moments import missing_moments
from labelworth.models.classes.multinomial import MultinomialModel
from support.oracles import Enumeration, enumerated_multinomial

FRACTIONS = np.array([1.0, 0.5, 0.1, 0.01])


def curve_of(priors: np.ndarray, words: np.ndarray, lengths: dict[int, float]) -> TwoClassInformation:
    return two_class_information(
        MultinomialModel(("a", "b"), priors, words, LengthDistribution.from_mapping(lengths))
    )


def drawn(seed: int, n_words: int, concentration: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.dirichlet([2.0, 2.0]), rng.dirichlet(np.full(n_words, concentration), 2)


def jacobian(n_words: int) -> np.ndarray:
    def row(size: int) -> np.ndarray:
        return np.vstack([np.eye(size - 1), -np.ones((1, size - 1))])

    matrix = np.zeros((2 + 2 * n_words, 2 * n_words - 1))
    matrix[:2, :1] = row(2)
    for code in (0, 1):
        start, column = 2 + code * n_words, 1 + code * (n_words - 1)
        matrix[start : start + n_words, column : column + n_words - 1] = row(n_words)
    return matrix


def weights_of(complete: np.ndarray, missing: np.ndarray) -> dict[Weight, np.ndarray]:
    named = jacobian((len(complete) + 1) // 2)
    return {
        Weight.NAMED: named.T @ named,
        Weight.COMPLETE: complete,
        Weight.MISSING: missing,
        Weight.MARGINAL: complete - missing,
    }


def assert_figures_are_those_of(
    curve: TwoClassInformation, complete: np.ndarray, missing: np.ndarray, rtol: float
) -> None:
    inverses = [np.linalg.inv(complete - (1 - fraction) * missing) for fraction in FRACTIONS]
    losses = [inverse @ missing @ inverse for inverse in inverses]
    # The marginal slope is zero where directions are seen wholly or not at all: only its parts have digits.
    rounding = 1e-11 * max(np.sum(complete * loss) for loss in losses)
    for weight, matrix in weights_of(complete, missing).items():
        traces = [np.sum(matrix * inverse) for inverse in inverses]
        slopes = [-np.sum(matrix * loss) for loss in losses]
        np.testing.assert_allclose(curve.trace(weight, FRACTIONS).values, traces, rtol=rtol)
        np.testing.assert_allclose(curve.trace_slope(weight, FRACTIONS).values, slopes, rtol=rtol, atol=rounding)
    named = jacobian(curve.n_words)
    worst = [np.linalg.eigvalsh(named @ inverse @ named.T)[-1] for inverse in inverses]
    volumes = [np.linalg.slogdet(inverse)[1] for inverse in inverses]
    np.testing.assert_allclose(curve.worst_direction(FRACTIONS).values, worst, rtol=rtol)
    np.testing.assert_allclose(curve.log_volume(FRACTIONS).values, volumes, rtol=rtol, atol=rtol)


def assert_equals_enumeration(curve: TwoClassInformation, exact: Enumeration, rtol: float = 1e-9) -> None:
    complete, missing = exact.complete_information, exact.missing_information
    np.testing.assert_allclose(curve.complete_dense(), complete, rtol=rtol, atol=rtol * np.abs(complete).max())
    np.testing.assert_allclose(curve.missing_dense(), missing, rtol=rtol, atol=rtol * np.abs(missing).max())
    assert_figures_are_those_of(curve, complete, missing, rtol)


@pytest.mark.parametrize("n_words", [2, 3, 4, 5])
@pytest.mark.parametrize("lengths", [{1: 1.0}, {2: 1.0}, {4: 1.0}, {6: 1.0}, {1: 0.2, 3: 0.3, 5: 0.5}])
def test_every_figure_equals_enumeration(n_words: int, lengths: dict[int, float], seed: int) -> None:
    priors, words = drawn(seed + n_words, n_words)

    assert_equals_enumeration(curve_of(priors, words, lengths), enumerated_multinomial(priors, words, lengths))


def test_enumeration_refuses_another_model(seed: int) -> None:
    priors, words = drawn(seed, 3)
    exact = enumerated_multinomial(priors, words, {4: 1.0})

    with pytest.raises(AssertionError):
        assert_equals_enumeration(curve_of(priors, words, {5: 1.0}), exact)
    with pytest.raises(AssertionError):
        assert_equals_enumeration(curve_of(priors, words[::-1], {4: 1.0}), exact)


def test_classes_that_are_alike_leave_all_their_differences_to_the_labels(seed: int) -> None:
    priors, words = drawn(seed, 3)
    alike = np.stack([words[0], words[0]])
    curve = curve_of(priors, alike, {4: 1.0})

    assert_equals_enumeration(curve, enumerated_multinomial(priors, alike, {4: 1.0}))
    np.testing.assert_allclose(curve.largest_missing_share, 1.0, rtol=1e-12)


def test_classes_that_are_nearly_alike_have_no_rounding_trouble() -> None:
    words = np.array([[0.2, 0.3, 0.5], [0.2 + 1e-15, 0.3 - 1e-15, 0.5]])
    priors = np.array([0.3, 0.7])

    assert_equals_enumeration(curve_of(priors, words, {4: 1.0}), enumerated_multinomial(priors, words, {4: 1.0}))


@pytest.mark.parametrize(("n_words", "length"), [(2, 80), (3, 30)])
def test_long_documents_leave_a_tiny_missing_part_with_all_its_digits(n_words: int, length: int) -> None:
    words = np.array([[0.9, 0.06, 0.04], [0.05, 0.35, 0.6]])[:, :n_words]
    words = words / words.sum(axis=1, keepdims=True)
    priors = np.array([0.3, 0.7])
    curve = curve_of(priors, words, {length: 1.0})

    assert curve.moments.zeroth < 1e-6
    assert_equals_enumeration(curve, enumerated_multinomial(priors, words, {length: 1.0}))


def decimal_information(
    priors: np.ndarray, words: np.ndarray, length: int
) -> tuple[list[list[Decimal]], list[list[Decimal]]]:
    """Complete and missing information in free coordinates, summed over all bags of words with 60 digits."""
    first, second = (Decimal(float(prior)) for prior in priors)
    table = [[Decimal(float(word)) for word in row] for row in words]
    n_words = len(table[0])
    size = 2 * n_words - 1
    zero = Decimal(0)
    complete, missing = ([[zero] * size for _ in range(size)] for _ in range(2))
    for bag in combinations_with_replacement(range(n_words), length):
        counts = [bag.count(word) for word in range(n_words)]
        ways = Decimal(factorial(length) // prod(factorial(count) for count in counts))
        joint = [
            prior * ways * prod((row[w] ** counts[w] for w in range(n_words)), start=Decimal(1))
            for prior, row in zip((first, second), table, strict=True)
        ]
        scores = []
        for code, row in enumerate(table):
            score = [zero] * size
            score[0] = 1 / first if code == 0 else -1 / second
            for w in range(n_words - 1):
                score[1 + code * (n_words - 1) + w] = counts[w] / row[w] - counts[-1] / row[-1]
            scores.append(score)
        spread = joint[0] * joint[1] / (joint[0] + joint[1])
        for a in range(size):
            for b in range(size):
                for code in (0, 1):
                    complete[a][b] += joint[code] * scores[code][a] * scores[code][b]
                missing[a][b] += spread * (scores[0][a] - scores[1][a]) * (scores[0][b] - scores[1][b])
    return complete, missing


def decimal_inverse(matrix: list[list[Decimal]]) -> list[list[Decimal]]:
    size = len(matrix)
    work = [[*row, *(Decimal(int(a == b)) for b in range(size))] for a, row in enumerate(matrix)]
    for pivot in range(size):
        work[pivot] = [value / work[pivot][pivot] for value in work[pivot]]
        for row in range(size):
            if row != pivot:
                factor = work[row][pivot]
                work[row] = [value - factor * other for value, other in zip(work[row], work[pivot], strict=True)]
    return [row[size:] for row in work]


@pytest.mark.parametrize(
    ("priors", "words"),
    [
        ([0.4, 0.6], [[1e-12, 0.3, 0.7], [0.5, 0.5 - 1e-9, 1e-9]]),
        ([0.4, 0.6], [[1e-25, 0.3, 0.7], [0.5, 0.5, 1e-18]]),
        ([1e-9, 1 - 1e-9], [[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]]),
        ([1 - 1e-6, 1e-6], [[0.2, 0.3, 0.5], [1e-8, 0.9 - 1e-8, 0.1]]),
    ],
)
def test_extreme_probabilities_keep_ten_digits(priors: list[float], words: list[list[float]]) -> None:
    table = np.array(words) / np.sum(words, axis=1, keepdims=True)
    curve = curve_of(np.array(priors), table, {4: 1.0})
    named = jacobian(3)
    named_weight = (named.T @ named).astype(int).tolist()
    with localcontext() as context:
        context.prec = 60
        complete, missing = decimal_information(
            curve.classes.class_probabilities, curve.classes.word_probabilities, 4
        )
        for fraction in (0.5, 0.01):
            lost = 1 - Decimal(fraction)
            inverse = decimal_inverse(
                [[c - lost * m for c, m in zip(*rows, strict=True)] for rows in zip(complete, missing, strict=True)]
            )

            def exact(weight: list[list[Decimal]], inverse: list[list[Decimal]] = inverse) -> float:
                return float(sum(weight[a][b] * inverse[b][a] for a in range(5) for b in range(5)))

            at = np.array([fraction])
            np.testing.assert_allclose(curve.trace(Weight.NAMED, at).values[0], exact(named_weight), rtol=1e-10)
            np.testing.assert_allclose(curve.trace(Weight.COMPLETE, at).values[0], exact(complete), rtol=1e-10)
            np.testing.assert_allclose(curve.trace(Weight.MISSING, at).values[0], exact(missing), rtol=1e-10)


def test_large_vocabulary_equals_the_dense_matrices_of_all_documents(seed: int) -> None:
    priors, words = drawn(seed, 200, concentration=5.0)
    curve = curve_of(priors, words, {1: 0.4, 2: 0.6})

    # E[p(1-p) (1, c)(1, c)'] over all words and all ordered pairs of words.
    singles = 0.4 * harmonic(priors[:, None] * words)
    pairs = 0.6 * harmonic(priors[:, None, None] * words[:, :, None] * words[:, None, :])
    first = singles + pairs.sum(axis=0) + pairs.sum(axis=1)
    second = np.zeros((201, 201))
    second[0, 0], second[0, 1:], second[1:, 0] = singles.sum() + pairs.sum(), first, first
    second[1:, 1:] = np.diag(first) + pairs + pairs.T
    difference = np.zeros((399, 201))
    difference[0, 0] = 1 / priors.prod()
    complete = np.zeros((399, 399))
    complete[0, 0] = 1 / priors.prod()
    for sign, prior, row, start in zip((1, -1), priors, words, (1, 200), strict=True):
        block = slice(start, start + 199)
        difference[block, 1:-1] = sign * np.diag(1 / row[:-1])
        difference[block, -1] = -sign / row[-1]
        complete[block, block] = 1.6 * prior * (np.diag(1 / row[:-1]) + 1 / row[-1])

    assert_figures_are_those_of(curve, complete, difference @ second @ difference.T, rtol=1e-8)


def harmonic(joint: np.ndarray) -> np.ndarray:
    """p(x) p (1 - p) from the joint probabilities of the two classes."""
    return joint[0] * joint[1] / (joint[0] + joint[1])


def test_random_lengths_average_the_missing_information_of_each(seed: int) -> None:
    priors, words = drawn(seed, 4)
    mixed = curve_of(priors, words, {2: 0.25, 7: 0.75}).missing_dense()

    parts = [curve_of(priors, words, {length: 1.0}).missing_dense() for length in (2, 7)]
    np.testing.assert_allclose(mixed, 0.25 * parts[0] + 0.75 * parts[1], rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("length", [2, 20, 100, 1000])
def test_half_the_step_changes_nothing(length: int, seed: int) -> None:
    priors, words = drawn(seed, 50, concentration=5.0)
    curve = curve_of(priors, words, {length: 1.0})

    fine = missing_moments(curve.classes, refinement=2)

    np.testing.assert_allclose(curve.moments.zeroth, fine.zeroth, rtol=1e-11)
    np.testing.assert_allclose(curve.moments.first, fine.first, rtol=1e-11)
    coarse_pairs, fine_pairs = (
        moments.pair_factor @ moments.pair_core @ moments.pair_factor.T for moments in (curve.moments, fine)
    )
    np.testing.assert_allclose(coarse_pairs, fine_pairs, atol=1e-11 * np.abs(fine_pairs).max())


def test_counts_add_up_to_the_length(seed: int) -> None:
    priors, words = drawn(seed, 300, concentration=5.0)
    curve = curve_of(priors, words, {50: 1.0})
    moments, classes = curve.moments, curve.classes

    weights = classes.whitening / np.sqrt(words.prod(axis=0))
    pairs = (moments.pair_factor / weights[:, None]) @ moments.pair_core @ (moments.pair_factor.T @ (1 / weights))

    np.testing.assert_allclose(moments.first.sum(), 50 * moments.zeroth, rtol=1e-11)
    np.testing.assert_allclose(pairs, 49 * moments.first, rtol=1e-9)


def test_without_labels_figures_are_given_only_if_documents_tell_the_classes_apart(seed: int) -> None:
    priors, words = drawn(seed, 3)
    none = np.array([0.0])
    telling, mute = curve_of(priors, words, {6: 1.0}), curve_of(priors, words, {1: 1.0})

    exact = enumerated_multinomial(priors, words, {6: 1.0})
    expected = np.trace(np.linalg.inv(exact.marginal_information) @ exact.complete_information)
    np.testing.assert_allclose(telling.trace(Weight.COMPLETE, none).values, expected, rtol=1e-6)
    assert telling.identified(none).tolist() == [True]
    assert mute.identified(np.array([0.0, 0.5])).tolist() == [False, True]
    for figures in (
        mute.trace(Weight.NAMED, none),
        mute.trace_slope(Weight.MISSING, none),
        mute.log_volume(none),
        mute.worst_direction(none),
    ):
        assert np.isnan(figures.values).all()


def test_documents_too_long_for_doubles_miss_nothing() -> None:
    priors, words = np.array([0.5, 0.5]), np.array([[0.9, 0.1], [0.1, 0.9]])
    curve = curve_of(priors, words, {5000: 1.0})

    assert curve.trace(Weight.MISSING, FRACTIONS).values.tolist() == [0.0] * 4
    np.testing.assert_allclose(curve.trace(Weight.COMPLETE, FRACTIONS).values, 3.0, rtol=1e-12)


def test_doors_refuse_what_the_formula_is_not_for(seed: int) -> None:
    single = LengthDistribution.single(3)
    three = MultinomialModel(("a", "b", "c"), [0.2, 0.3, 0.5], np.full((3, 2), 0.5), single)
    zero = MultinomialModel(("a", "b"), [0.5, 0.5], [[1.0, 0.0], [0.5, 0.5]], single)
    one_word = MultinomialModel(("a", "b"), [0.5, 0.5], [[1.0], [1.0]], single)
    for model, message in ((three, "two classes"), (zero, "at least 1e-150"), (one_word, "two words")):
        with pytest.raises(InvalidInputError, match=message):
            two_class_information(model)
    with pytest.raises(InvalidInputError, match="labeled fraction"):
        curve_of(*drawn(seed, 3), {3: 1.0}).trace(Weight.NAMED, np.array([1.5]))
