"""The surface of a simulated plan: forecasts at two edges, and between them as far along as simulated refits."""

import numpy as np
import pytest
from scipy.special import expit

from labelworth.planning.simulated.surface import simulated_surface
from labelworth.simulation.basis import Comparison, ForecastBasis, Points, Simulated
from labelworth.simulation.forecast import forecast
from labelworth.simulation.learner import MODES, Mode
from labelworth.simulation.pool_use import SHARES, PoolUse
from labelworth.simulation.simulator import WHOLE

NODES, AT, N_UNITS = np.array([12, 50, 200, 800]), np.array([12, 25, 50, 80]), 2000


def curve(sizes: np.ndarray, mode: Mode) -> np.ndarray:
    return np.asarray(expit(-0.5 - 0.4 * np.log(sizes / 12) - (0.8 if mode == "semi-supervised" else 0.0)))


@pytest.fixture(scope="module")
def basis() -> ForecastBasis:
    measures = ("error", "log_loss")
    points = {
        (mode, measure): Points(AT, curve(AT, mode), 1e-4 * np.eye(4)) for mode in MODES for measure in measures
    }
    simulated = {
        (source, mode, WHOLE, measure): Simulated(NODES, np.tile(curve(NODES, mode), (2, 1)))
        for source in MODES
        for mode in MODES
        for measure in measures
    }
    return ForecastBasis(100, N_UNITS, points, simulated, {"log_loss": Comparison(-0.1, 0.05)})


def use(*fractions: float) -> PoolUse:
    whole = np.full((2, len(NODES)), 0.1)
    gains = whole[:, :, None] * np.array(fractions)
    return PoolUse("semi-supervised", NODES, {"error": gains}, {"error": whole})


def error_at(basis: ForecastBasis, labels: float, mode: Mode) -> float:
    return float(forecast(basis, mode, "error", [round(labels)]).values[0])


@pytest.mark.parametrize("fractions", [(0.1, 0.9), (2.0, -1.0)])
def test_edges_are_the_forecasts_whatever_lies_between(basis: ForecastBasis, fractions: tuple[float, float]) -> None:
    found = simulated_surface(basis, use(*fractions), "error")
    assert found.source == "simulated"
    for size, error in list(zip(found.n_samples, found.error[-1], strict=True))[::4]:
        assert error == pytest.approx(error_at(basis, size, "labels-only"), rel=0.01)
    for fraction, row in list(zip(found.labeled_fractions, found.error, strict=True))[:-1:4]:
        assert row[-1] == pytest.approx(error_at(basis, fraction * N_UNITS, "semi-supervised"), rel=0.01)


def test_between_the_edges_it_goes_as_far_as_refits_do(basis: ForecastBasis) -> None:
    found = simulated_surface(basis, use(0.1, 0.9), "error")
    met = 0
    for fraction, row in zip(found.labeled_fractions, found.error, strict=True):
        for size, error in zip(found.n_samples, row, strict=True):
            labels = fraction * size
            share = np.log(size / labels) / np.log(N_UNITS / labels) if labels < N_UNITS - 1 else 0.0
            for at, expected in zip(SHARES, (0.1, 0.9), strict=True):
                if error is not None and abs(share - at) < 0.01:
                    ends = error_at(basis, labels, "labels-only"), error_at(basis, labels, "semi-supervised")
                    assert (error - ends[0]) / (ends[1] - ends[0]) == pytest.approx(expected, abs=0.06)
                    met += 1
    assert met >= 5


def test_fewer_labels_than_were_learned_from_are_not_known(basis: ForecastBasis) -> None:
    found = simulated_surface(basis, use(0.3, 0.7), "error")
    for fraction, row in zip(found.labeled_fractions, found.error, strict=True):
        for size, error in zip(found.n_samples, row, strict=True):
            assert (error is None) == (fraction * size < AT[0])
    assert "forecast from labels alone" in found.words
