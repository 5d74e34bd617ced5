"""Targets as sentences: what is read, what is refused."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

import labelworth as lw
from labelworth.errors import InvalidInputError
from labelworth.planning.targets import read_target
from labelworth.simulation.metrics import metric_of

RECALL = "recall of spam at precision 0.9"


@pytest.mark.parametrize(
    ("target", "criterion", "expected"),
    [
        (0.05, None, (0.05, None)),
        ("0.05", None, (0.05, None)),
        ("5%", None, (0.05, None)),
        ("5 %", "error", (0.05, "error")),
        ("error <= 5%", None, (0.05, "error")),
        ("Error at most .05", None, (0.05, "error")),
        ("error < 5%", None, (0.05, "error")),
        ("5 percent", None, (0.05, None)),
        ("error at most 5 per cent", None, (0.05, "error")),
        ("accuracy > 95%", None, (0.05, "error")),
        ("log-loss <= 0.3", None, (0.3, "log_loss")),
        ("log_loss ≤ 1.2", None, (1.2, "log_loss")),
        ("macro-F1 >= 90%", None, (0.1, "macro_f1")),
        ("macro F1 of at least 0.9", "macro-F1", (0.1, "macro_f1")),
        (0.9, "macro-F1", (0.1, "macro_f1")),
        ("90%", "macro_f1", (0.1, "macro_f1")),
        ("recall of spam >= 95% at precision 90%", None, (0.05, RECALL)),
        ("recall of spam at least .95 at precision .9", None, (0.05, RECALL)),
        ("recall of spam at precision 90% >= 95%", None, (0.05, RECALL)),
        ("recall of spam >= 95% at precision at least 90 %", None, (0.05, RECALL)),
        ("recall of spam at precision >= 90% at least 95 percent", None, (0.05, RECALL)),
        ("Recall of 'spam' ≥ 95 % at precision 90 %", RECALL, (0.05, RECALL)),
        ("precision of a >= b at least 95% at recall 80%", None, (0.05, "precision of a >= b at recall 0.8")),
        (None, "recall of spam at precision 90%", (None, RECALL)),
        (float("inf"), "macro-F1", (float("inf"), "macro_f1")),
    ],
)
def test_targets_are_read(
    target: float | str | None, criterion: str | None, expected: tuple[float | None, str | None]
) -> None:
    assert read_target(target, criterion) == expected


@pytest.mark.parametrize("spec", ["macro_f1", RECALL, "precision of a b at recall 0.25"])
def test_what_a_message_says_of_a_target_can_be_typed(spec: str) -> None:
    metric = metric_of(spec)
    assert metric is not None
    assert read_target(metric.at_least("87.125 %"), None) == (0.12875, spec)


@pytest.mark.parametrize(
    ("target", "criterion", "message"),
    [
        ("many", None, "must be a number, or say what is to be reached"),
        ("macro-F1 <= 90%", None, "macro-F1 at least so much"),
        ("error >= 5%", None, "error at most so much"),
        ("log-loss <= 5%", None, "'log-loss <= 0.05' asks for 0.05 nats. Got 'log-loss <= 5%'"),
        ("macro-F1 >= 90", None, "written 90% or 0.9"),
        ("macro-F1 >= 100%", None, "above 0 % and below 100 %"),
        (1.5, "macro-F1", "above 0 % and below 100 %"),
        ("macro-F1 >= 90%", "log_loss", "of macro-F1, and criterion='log_loss'"),
        ("recall >= 90%", None, "at a level of the other"),
        ("recall of spam >= 95%", None, "at a level of the other"),
        ("recall of spam >= 95% at recall 90%", None, "at a level of the other"),
        ("recall of spam >= 1.2.3% at precision 90%", None, "not a number"),
    ],
)
def test_other_targets_are_refused(target: float | str, criterion: str | None, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        read_target(target, criterion)


class OnlyPredicts(ClassifierMixin, BaseEstimator):
    """The class of the nearest mean, without scores."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> "OnlyPredicts":
        self.classes_ = np.unique(y)
        self.means_ = np.stack([X[y == code].mean(axis=0) for code in self.classes_])
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        gaps = ((X[:, None, :] - self.means_) ** 2).sum(axis=2)
        return np.asarray(self.classes_[gaps.argmin(axis=1)])


def test_a_threshold_needs_scores() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(2, size=60)
    rows = rng.normal(size=(60, 2)) + 2 * codes[:, None]
    labels = np.where(np.arange(60) < 30, codes, -1)
    with pytest.raises(InvalidInputError, match=r"needs a threshold on scores, and .* gives none"):
        lw.plan(rows, labels, model=OnlyPredicts(), target="recall of 1 >= 90% at precision 90%")
    # The predicted classes are enough for macro-F1.
    plan = lw.plan(rows, labels, model=OnlyPredicts(), budget=40, criterion="macro-F1", currency="EUR")
    assert plan.criterion_words == "macro-F1"
    assert "EUR 40" in "\n".join(plan.lines())
