"""Tables of pages hold the figures of the records: every row is written anew and looked for."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


def figures(study: str) -> Any:
    return json.loads((ROOT / "results" / f"{study}.json").read_text(encoding="utf-8"))["figures"]


def share(value: float, digits: int = 3) -> str:
    """A share as these pages write it: .683, and 1.000."""
    return f"{value:.{digits}f}".removeprefix("0")


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


def forecast_rows() -> Iterator[str]:
    for measure in ("error", "log_loss"):
        own = figures("forecast-quick")[measure]
        for part in ("all", "learners", "corpora", "factors", "pilots"):
            for group in own[part].values():
                yield (
                    f"| {group['n_forecasts']} | {group['mean_absolute_error']:.4f} | {group['power_law']:.4f} | "
                    f"{group['ratio']:.2f} | {group['bias']:+.3f} | {group['coverage']:.0%} |"
                )
    for cell in figures("forecast-quick")["error"]["cells"].values():
        yield f"| {cell['ratio']:.2f}, {cell['coverage']:.0%} of {cell['n_forecasts']} |"


def newsgroups_em_rows() -> Iterator[str]:
    em, alone = figures("newsgroups-em")["em"], figures("newsgroups-em")["supervised"]

    def cell(own: Any, name: str, place: int) -> str:
        value, error = own[name][place], own[f"{name}_se"][place]
        digits = 4 if error < 0.0005 else 3
        return f"{share(value, digits)} ± {share(error, digits)}"

    for place, size in enumerate(em["labels_per_class"]):
        lead = em["lead_in_joint_standard_errors"][place]
        ours, published = cell(em, "accuracy", place), cell(em, "published_accuracy", place)
        labels = f"{cell(alone, 'accuracy', place)} | {cell(alone, 'published_accuracy', place)}"
        yield f"| {size} | {ours} | {published} | {lead:.1f} | {labels} |"


def chunking_rows() -> Iterator[str]:
    for model, is_best in zip(figures("chunking-crf")["models"], (True, True, False, False), strict=True):
        f1 = f"{100 * model['f1']:.2f}"
        yield f"| {model['n_parameters']:,} | {f'**{f1}**' if is_best else f1} |".replace(",", " ")


def plan_calibration_rows() -> Iterator[str]:
    (own,) = figures("plan-calibration")["truths"]
    met = round(own["met"] * own["n_seeds"])
    yield f"{100 * own['met']:.1f} % ({met} of {own['n_seeds']}; the worst {own['largest_ratio']:.3f})"
    yield f"| 86-94 % | {100 * own['covered']:.1f} % (standard error {100 * own['covered_se']:.1f} %) |"
    yield f"Plans ask for {own['labels_mean']:.0f} labels on average (standard error {own['labels_mean_se']:.1f})"
    yield f"standard deviation of {own['labels_sd']:.0f}; their intervals are {own['mean_width']:.0f} wide"


def model_choice_rows() -> Iterator[str]:
    own = figures("model-choice")
    for size, part in own["by_size"].items():
        largest = f"{100 * part['largest']:.1f}"
        bold = f"**{largest}**" if part["largest"] == own["largest_regret"] else largest
        yield f"| {size} | {part['n_pilots']} | {100 * part['mean']:.2f} | {bold} |"
    mean, error = 100 * own["mean_regret"], 100 * own["mean_regret_se"]
    largest = 100 * own["largest_regret"]
    yield (
        f"| all | {own['n_pilots']} | **{mean:.2f}** (standard error {error:.2f}) | **{largest:.1f}**; above 3 on "
        f"{own['n_above_3_points']} pilots |"
    )
    yield f"tuned on the other corpora only: {100 * own['mean_regret_left_out']:.2f}"
    told = own["verdicts"]
    yield f"| verdict, {told['n_told']} pilots whose truth the test rows tell | right on {told['right']},"
    yield f"open on {told['open']},"


def metrics_rows() -> Iterator[str]:
    for place, (name, own) in enumerate(figures("metrics-quick").items()):
        every, fitted, other = own["all"]["all sets"], own["fitted"]["fitted on"], own["fitted"]["took no part"]
        error = f"{100 * every['mean_absolute_error']:.1f}{' points' if place == 0 else ''}"
        ratio, holds = f"{every['ratio']:.2f}", f"{100 * every['coverage']:.1f} %"
        if every["ratio"] > 1:
            ratio, holds = f"**{ratio}**", f"**{holds}**"
        parts = [f"{100 * part['coverage']:.0f} % of {part['n_forecasts']}" for part in (fitted, other)]
        yield f"| {name} | {every['n_forecasts']} | {error} | {ratio} | {holds} | {parts[0]} | {parts[1]} |"


def misspecification_rows() -> Iterator[str]:
    found = figures("misspecification")
    for row in found["rows"]:
        if row["fraction"] in (1.0, 0.3, 0.05):
            refused = "" if row["share_refused"] is None else f"{100 * row['share_refused']:.0f}%"
            yield (
                f"| {row['cut']} | {row['n_samples']} | {row['fraction']:g} | {row['realized']:.2f} ± "
                f"{row['realized_se']:.2f} | {row['realized_near_truth']:.2f} | {row['robust']:.2f} | "
                f"{row['paper']:.2f} | {refused} |"
            )
    yield f"off by {found['worst_factor_robust']:.2f}"
    yield f"off by more than 2.5 at {found['n_rows_paper_off']} places"
    yield f"refuses {100 * found['share_refused_when_right']:.1f} %"


def scale_rows() -> Iterator[str]:
    who = {
        "shards, 1 worker": "shards, 1 worker",
        "shards, 2 workers": "shards, 2 workers",
        "memory, 1 worker": "in memory",
        "partial_fit, 1 worker": "`MultinomialNB.partial_fit`",
    }
    for size, power in zip(figures("scale")["sizes"], (5, 6), strict=True):
        for key, words in who.items():
            own = size[key]
            each = 1e9 * own["pass_processor_seconds"] / size["shard"]["n_stored"]
            memory = f"{own['peak_bytes'] / 2**20:,.0f}"
            yield f"| 10^{power} | {words} | {own['pass_processor_seconds']:.2f} | {each:.0f} | {memory} |"


ROWS = {
    "studies/channels": channels_rows,
    "studies/forecast": forecast_rows,
    "studies/chunking": chunking_rows,
    "studies/crowd_calibration": crowd_calibration_rows,
    "studies/guards": guards_rows,
    "studies/metrics": metrics_rows,
    "studies/misspecification": misspecification_rows,
    "studies/model_choice": model_choice_rows,
    "studies/newsgroups_em": newsgroups_em_rows,
    "studies/plan_calibration": plan_calibration_rows,
    "scale": scale_rows,
}


@pytest.mark.parametrize("page", ROWS)
def test_every_row_of_a_page_is_that_of_its_record(page: str) -> None:
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    text = " ".join(text.split())  # Sentences may be broken anywhere.
    rows = [" ".join(row.split()) for row in ROWS[page]()]
    assert rows
    assert [row for row in rows if row not in text] == []
