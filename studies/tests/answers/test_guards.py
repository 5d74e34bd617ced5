"""The study of guards: what endless answers leave is known, and its runs are those of the tests."""

import numpy as np
import pytest

from labelworth_studies.answers.guards import LLM, cells, compute, share_of, summarize, wrong_by_x

LIMITS = {
    ("by class", 0.0): [(0.064, 0.034), (0.0, 0.0), (0.0, 0.0), (0.032, 0.031)],
    ("by class", 0.1): [(0.038, 0.017), (0.0, 0.0), (0.0, 0.0), (0.027, 0.017)],
    ("by x", 0.0): [(0.064, 0.017), (0.006, 0.004), (0.031, 0.017), (0.031, 0.017)],
    ("by x", 0.02): [(0.058, 0.017), (0.006, 0.004), (0.023, 0.010), (0.029, 0.017)],
    ("by x", 0.1): [(0.040, 0.017), (0.004, 0.0), (0.012, 0.006), (0.024, 0.010)],
}
"""Excess nats and error by an EM of its own, from the truth: claimed, known, estimated, taken for gold."""


@pytest.mark.parametrize(("truth", "audited"), list(LIMITS))
def test_what_wrong_channels_leave_is_what_another_em_found(truth: str, audited: float) -> None:
    cell = next(
        cell
        for cell in cells(True, 0)
        if cell["part"] == "limit" and (cell["truth"], cell["audited"]) == (truth, audited)
    )
    found = compute(cell)
    for way, expected in zip(
        ("claimed", "known", "estimated", "taken for gold"), LIMITS[truth, audited], strict=True
    ):
        np.testing.assert_allclose(found[way], expected, atol=6e-4, err_msg=way)


def test_errors_by_x_have_the_mean_confusion() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(2, size=5000)
    posterior = rng.dirichlet([1.0, 1.0], size=5000)
    wrong = wrong_by_x(posterior, codes, np.ones(5000))
    for code in range(2):
        assert wrong[codes == code].mean() == pytest.approx(LLM[code, 1 - code], rel=1e-6)


def test_small_cells_of_every_part_are_summed_up() -> None:
    grid = [cell for cell in cells(True, 0) if cell["part"] != "limit"]
    chosen = {}
    for cell in grid:
        chosen.setdefault((cell["part"], cell.get("truth"), cell.get("copied")), {**cell, "n_runs": 2})
    pairs = [(cell, compute(cell)) for cell in chosen.values() if cell.get("truth") != "by x, more rows"]
    outcome = summarize(pairs)
    assert outcome.tables[0].title == "Answers follow x: share of alarms"
    share, n_runs = share_of(pairs, part="copies", copied=0.5)
    assert n_runs == 2
    assert 0 <= share.value <= 1
    assert len(cells(False, 0)) > len(cells(True, 0))
