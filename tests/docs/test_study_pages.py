"""Tables in docs/studies and the README hold the figures of the records: every row is written anew and looked for."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


def figures(study: str) -> Any:
    return json.loads((ROOT / "results" / f"{study}.json").read_text(encoding="utf-8"))["figures"]


def share(value: float) -> str:
    """A share as these pages write it: .683, and 1.000."""
    return f"{value:.3f}".removeprefix("0")


def channels_rows() -> Iterator[str]:
    for own in figures("channels").values():
        predicted, realized, error = (1e5 * own[name] for name in ("predicted", "realized", "realized_se"))
        if not own["is_control"]:
            yield f"| {predicted:.1f} | {realized:.1f} ({error:.1f}) | {own['ratio']:.3f} ({own['ratio_se']:.3f}) |"


def crowd_calibration_rows() -> Iterator[str]:
    trusted, every = (figures("crowd-calibration")[name]["by_weight"] for name in ("trusted answers", "every answer"))

    def half(own: dict[str, float]) -> str:
        return (
            f"{share(own['accuracy'])} ({share(own['accuracy_se'])}) | {share(own['confidence'])} | "
            f"{own['log_loss']:.2f} | {share(own['features_alone'])}"
        )

    for weight in trusted:
        yield f"| {float(weight):g} | {half(trusted[weight])} | {half(every[weight])} |"


def guards_rows() -> Iterator[str]:
    """Alarms of the test of independence, in percent with standard errors; certain ones have none."""
    cells = [own for own in figures("guards")["cells"] if own["part"] == "independence"]

    def alarms(truth: str, n_audited: int) -> str:
        own = [cell for cell in cells if cell["truth"] == truth and cell["n_audited"] == n_audited]
        n_runs = sum(cell["n_runs"] for cell in own)
        rate = sum(cell["alarms"] for cell in own) / n_runs
        error = (rate * (1 - rate) / n_runs) ** 0.5
        return "100" if rate == 1 else f"{100 * rate:.1f} ({100 * error:.1f})"

    truths = ("by class", "half by x", "by x")
    for n_audited in sorted({cell["n_audited"] for cell in cells}):
        yield f"| {n_audited} | {' | '.join(alarms(truth, n_audited) for truth in truths)} |"


ROWS = {"channels": channels_rows, "crowd_calibration": crowd_calibration_rows, "guards": guards_rows}


@pytest.mark.parametrize("page", ROWS)
def test_every_row_of_a_page_is_that_of_its_record(page: str) -> None:
    text = (ROOT / "docs" / "studies" / f"{page}.md").read_text(encoding="utf-8")
    rows = list(ROWS[page]())
    assert rows
    assert [row for row in rows if row not in text] == []


def readme_claims() -> Iterator[str]:
    ratios = list(figures("channels").values())
    told = [own["ratio"] for own in ratios if not own["is_control"]]
    refused = sorted(own["ratio"] for own in ratios if own["is_control"])
    controls = ", ".join(f"{ratio:.3g}" if ratio < 2 else f"{ratio:.0f}" for ratio in refused)
    yield f"realized over predicted excess log-loss {min(told):.2f} to {max(told):.2f}"
    yield f"three wrong claims are refused ({controls})"
    trusted = figures("crowd-calibration")["trusted answers"]
    full, less = trusted["by_weight"]["1.0"], trusted["chosen_by_the_other_half"]
    yield f"{share(full['accuracy'])} of {full['n_posts']} posts, {share(less['accuracy'])} where answers count less"


def test_what_the_readme_claims_is_on_record() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [claim for claim in readme_claims() if claim not in text] == []
