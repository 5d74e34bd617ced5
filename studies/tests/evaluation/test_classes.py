import numpy as np
import pytest
from sklearn import metrics

from labelworth.data.evidence import Evidence, encode_labels
from labelworth.errors import InvalidInputError
from labelworth_studies.evaluation.classes import evaluate


def drawn(n_rows: int = 200, n_classes: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.ones(n_classes), size=n_rows), rng.integers(n_classes, size=n_rows)


def test_every_score_equals_that_of_scikit_learn() -> None:
    posterior, truth = drawn()
    scores = evaluate(posterior, Evidence(truth, tuple("abcd")))
    predicted = posterior.argmax(axis=1)
    assert scores.error == pytest.approx(1 - metrics.accuracy_score(truth, predicted), rel=1e-12)
    assert scores.log_loss == pytest.approx(metrics.log_loss(truth, posterior), rel=1e-12)
    assert scores.macro_f1 == pytest.approx(metrics.f1_score(truth, predicted, average="macro"), rel=1e-12)
    precision, recall, f1, support = metrics.precision_recall_fscore_support(truth, predicted)
    for code, row in enumerate(scores.classes):
        assert (row.precision, row.recall, row.f1) == pytest.approx((precision[code], recall[code], f1[code]))
        assert (row.name, row.n_rows) == ("abcd"[code], support[code])


def test_only_rows_with_a_known_class_count() -> None:
    posterior, truth = drawn()
    codes = truth.copy()
    codes[:50] = -1
    codes[50] = -2
    mixed = Evidence(codes, tuple("abcd"), np.array([[1.0, 1.0, 0.0, 0.0]]))
    alone = evaluate(posterior[51:], Evidence(truth[51:], tuple("abcd")))
    assert evaluate(posterior, mixed) == alone
    assert alone.n_rows == 149


def test_standard_errors_are_those_of_a_mean() -> None:
    posterior, truth = drawn()
    scores = evaluate(posterior, Evidence(truth, tuple("abcd")))
    losses = -np.log(posterior[np.arange(200), truth])
    assert scores.log_loss_se == pytest.approx(losses.std(ddof=1) / np.sqrt(200), rel=1e-12)
    spread = np.sqrt(scores.error * (1 - scores.error) / 199)
    assert scores.error_se == pytest.approx(spread, rel=1e-12)


def test_a_class_that_is_neither_there_nor_predicted_is_left_out_of_the_mean() -> None:
    posterior = np.array([[0.9, 0.1, 0.0], [0.2, 0.8, 0.0]])
    scores = evaluate(posterior, Evidence(np.array([0, 1]), ("a", "b", "c")))
    assert scores.macro_f1 == 1.0
    assert scores.classes[2].f1 == 0.0


def test_a_class_that_is_predicted_but_never_there_counts() -> None:
    posterior = np.array([[0.0, 0.1, 0.9], [0.2, 0.8, 0.0]])
    scores = evaluate(posterior, Evidence(np.array([0, 1]), ("a", "b", "c")))
    assert scores.macro_f1 == pytest.approx(1 / 3)


def test_ruling_out_the_true_class_costs_infinitely_much() -> None:
    scores = evaluate(np.array([[0.0, 1.0], [0.5, 0.5]]), Evidence(np.array([0, 0]), ("a", "b")))
    assert scores.log_loss == np.inf
    assert scores.log_loss_se == np.inf


def test_a_single_row_has_no_standard_error() -> None:
    scores = evaluate(np.array([[0.5, 0.5]]), Evidence(np.array([0]), ("a", "b")))
    assert np.isnan(scores.log_loss_se)


def test_nothing_to_evaluate_on_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="no row has a known class"):
        evaluate(np.full((2, 2), 0.5), encode_labels([-1, -1], classes=["a", "b"]))


@pytest.mark.parametrize("row", [[0.5, 0.6], [-0.5, 1.5], [np.nan, 1.0]])
def test_what_is_not_a_probability_is_refused(row) -> None:
    with pytest.raises(InvalidInputError, match="probabilities"):
        evaluate(np.array([row]), Evidence(np.array([0]), ("a", "b")))
