"""Formulas or simulation: by what was asked, labels per parameter, and the harm verdict."""

import numpy as np
import pytest

import labelworth as lw
from labelworth.errors import InvalidInputError
from labelworth.estimators.pools.documents import DocumentPool
from labelworth.estimators.pools.sequences import SequencePool
from labelworth.planning.source import AskedSource, choose_source

HELPS, HURTS = None, "it hurts"
DOCUMENTS, SEQUENCES = DocumentPool.abilities, SequencePool.abilities


@pytest.mark.parametrize(
    ("asked", "criterion", "n_labels", "n_parameters", "distrust", "expected"),
    [
        ("auto", None, 500, 50, HELPS, ("asymptotic", "error")),
        ("auto", None, 200, 50, HELPS, ("simulated", "error")),
        ("auto", None, 500, 50, HURTS, ("simulated", "error")),
        ("auto", "log_loss", 10**6, 601, HELPS, ("simulated", "log_loss")),
        ("auto", "total_variance", 10, 50, HURTS, ("asymptotic", "total_variance")),
        ("asymptotic", None, 10, 50, HURTS, ("asymptotic", "error")),
        ("asymptotic", None, 10, 5000, HELPS, ("asymptotic", "excess_log_loss")),
        ("simulated", "log_loss", 500, 50, HELPS, ("simulated", "log_loss")),
    ],
)
def test_the_source_follows_the_data(
    asked: AskedSource,
    criterion: str | None,
    n_labels: int,
    n_parameters: int,
    distrust: str | None,
    expected: tuple[str, str],
) -> None:
    chosen = choose_source(
        asked, criterion, n_labels=n_labels, n_parameters=n_parameters, abilities=DOCUMENTS, distrust=distrust
    )
    assert (chosen.source, chosen.criterion) == expected
    assert chosen.reason


@pytest.mark.parametrize(
    ("asked", "criterion", "n_labels", "n_parameters", "distrust", "expected"),
    [
        ("auto", None, 500, 50, HELPS, ("asymptotic", "excess_log_loss")),
        ("auto", None, 500, 50, HURTS, ("asymptotic", "excess_log_loss")),
        ("auto", None, 200, 50, HELPS, ("simulated", "error")),
        ("auto", None, 10**6, 301, HELPS, ("simulated", "error")),
        ("auto", "log_loss", 500, 50, HELPS, ("simulated", "log_loss")),
        ("auto", "log_volume", 10, 5000, HELPS, ("asymptotic", "log_volume")),
        ("asymptotic", None, 10, 50, HELPS, ("asymptotic", "excess_log_loss")),
        ("simulated", None, 500, 50, HELPS, ("simulated", "error")),
    ],
)
def test_of_sequences_the_formulas_give_no_error(
    asked: AskedSource,
    criterion: str | None,
    n_labels: int,
    n_parameters: int,
    distrust: str | None,
    expected: tuple[str, str],
) -> None:
    chosen = choose_source(
        asked, criterion, n_labels=n_labels, n_parameters=n_parameters, abilities=SEQUENCES, distrust=distrust
    )
    assert (chosen.source, chosen.criterion) == expected
    with pytest.raises(InvalidInputError, match="formulas give no error"):
        choose_source("asymptotic", "error", n_labels=500, n_parameters=50, abilities=SEQUENCES)


@pytest.mark.parametrize(("asked", "criterion"), [("simulated", "log_volume"), ("auto", "f1")])
def test_what_cannot_be_had_is_refused(asked: AskedSource, criterion: str | None) -> None:
    with pytest.raises(InvalidInputError, match=r"Got|figure of the formulas"):
        choose_source(asked, criterion, n_labels=500, n_parameters=50, abilities=DOCUMENTS)


@pytest.mark.parametrize("is_right", [True, False])
def test_formulas_that_the_folds_contradict_are_not_asked(is_right: bool) -> None:
    rng = np.random.default_rng(0)
    kinds = rng.integers(2, size=1200)
    X = rng.normal(size=(1200, 2)) + kinds[:, None]
    if not is_right:
        # A line parts them without any overlap, which no two Gaussians do.
        X = rng.uniform(-1, 1, size=(1200, 2))
        kinds = (X[:, 0] > 0).astype(int)
    y = np.where(np.arange(1200) < 400, kinds, -1)
    plan = lw.plan(X, y, model="gaussian", budget=800, n_draws=0)
    assert plan.source == ("asymptotic" if is_right else "simulated")
    assert ("by its formulas the model errs" in plan.reason) == (not is_right)
    asked = lw.plan(X, y, model="gaussian", budget=800, n_draws=0, source="asymptotic")
    assert asked.source == "asymptotic"
    # Of a model that nobody named nothing is believed but what its folds show.
    assert lw.plan(X, y, budget=800, n_draws=0).source == "simulated"
