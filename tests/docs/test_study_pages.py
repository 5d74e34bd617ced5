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


POLICIES = {
    "half of the sentences": "0.5*everything + 0.5*nothing",
    "every other token": "every-other",
    "random tokens": "random:0.5",
    "windows of 5": "windows-of-5",
    "the first half of every sentence": "prefix:0.5",
    "whole, or one window of 5": "0.3678*everything + 0.6322*window:5",
    "whole, or the first token": "0.478*everything + 0.522*prefix:1",
    "all labels, at twice the cost": "everything",
}


def policy_ranking_rows() -> Iterator[str]:
    chain, crf = (figures("policy-ranking")[name] for name in ("boltzmann-chain", "crf"))

    def told(value: float | None, is_short: bool = True) -> str:
        return "not told" if value is None else share(value) if is_short else f"{value:.3f}"

    def measured(own: Any, name: str, is_short: bool = True) -> str:
        return f"{told(own[name], is_short)} ± {told(own[f'{name}_se'], is_short)}"

    for words, name in POLICIES.items():
        own, other = chain["policies"][name], crf["policies"][name]
        parts = [
            f"{told(own[f'predicted_excess_{loss}'])} | {share(own[f'robust_excess_{loss}'])} | "
            f"{measured(own, f'excess_{loss}')}"
            for loss in ("joint", "conditional")
        ]
        yield f"| {words} | {' | '.join(parts)} |"
        if words.startswith(("the first half", "whole")):
            both = [
                f"{told(model[f'predicted_excess_{loss}'], False)} | {measured(model, f'excess_{loss}', False)}"
                for model, loss in ((other, "conditional"), (own, "joint"))
            ]
            yield f"| {words} | {' | '.join(both)} |"
            continue
        f1 = f"{100 * other['f1']:.2f} ± {share(100 * other['f1_se'], 2)}"
        yield f"{measured(other, 'excess_conditional')} | {f1} |"
        f1 = f"{100 * own['f1']:.2f} ± {share(100 * own['f1_se'], 2)}"
        theory = [measured(own, f"predicted_excess_{loss}") for loss in ("joint", "conditional")]
        seen = [measured(own, f"excess_{loss}") for loss in ("joint", "conditional")]
        yield f"| {words} | {theory[0]} | {seen[0]} | {theory[1]} | {seen[1]} | {f1} |"
    ranks = [crf["rankings"]["conditional"], chain["rankings"]["joint"], chain["rankings"]["conditional"]]
    alike = [f"{own['n_pairs_alike']} of {own['n_pairs_compared']}" for own in ranks]
    yield f"orders {alike[0]} pairs that the experiment tells apart alike for the CRF,"
    yield f"for the Boltzmann chain {alike[1]} (joint) and {alike[2]} (conditional)."
    robust = chain["robust_rankings"]
    alike = [f"{robust[loss]['n_pairs_alike']} of {robust[loss]['n_pairs_compared']}" for loss in robust]
    yield f"It orders {alike[0]} pairs alike by joint log-perplexity and {alike[1]} by conditional"


def paper_figures_rows() -> Iterator[str]:
    yield from _reuters_rows()
    yield from _chunks_rows()
    yield from _two_stage_rows()


def _reuters_rows() -> Iterator[str]:
    settings = figures("fig1-theory")["settings"]
    named = {"rcv1": "RCV1", "r52": "R52"}
    for own in settings:
        corpus, words, kind = own["setting"].split("-")
        row = f"| {named[corpus]}, {words} words, {kind}"
        ranks = {name: value for name, value in own["rank_correlations"]["error"].items() if "log_loss" not in name}
        yield f"{row} | {' | '.join(share(value, 2) for value in ranks.values())} |"
        falls = [
            f"{100 * own[f'{name}_falls_with_n']:.0f} / {100 * own[f'{name}_falls_with_fraction']:.0f} %"
            for name in ("error", "mse", "paper_total_variance", "robust_error", "simulated_error")
        ]
        yield f"{row} | {' | '.join(falls)} |"


def _chunks_rows() -> Iterator[str]:
    for name, words in (("window", "window"), ("none", "nothing")):
        own = figures(f"fig2-chunks-{name}")
        found, limit = own["joint_findings"], own["limit"]["joint"]
        for place, whole in enumerate(own["shares_whole"]):
            if whole == 1 and words == "window":
                continue  # The same as whole or nothing.
            excess = [f"{own['joint'][place][n] - limit:#.3g}" for n in (0, -1)]
            paper = [found["paper_excess"][place][n] for n in (0, -1)]
            told = " / ".join("not told" if value is None else share(value, 2) for value in paper)
            errors = [share(own["joint_se"][place][n], 2) for n in (0, -1)]
            seen = " / ".join(
                f"{share(float(value), 2) if float(value) < 10 else value} ± {error}"
                for value, error in zip(excess, errors, strict=True)
            )
            yield f"| {share(whole, 2).rstrip('0').rstrip('.')}, {words} | {seen} | {told} |"


def _two_stage_rows() -> Iterator[str]:
    kinds = {
        "total_variance": "",
        "robust_variance": ", robust",
        "total_variance_labels_only": ", labels alone",
        "robust_variance_labels_only": ", labels alone, robust",
    }
    for own in figures("fig3-two-stage")["plug_in"]:
        is_shown = own["n_words"] == 2000 or "labels_only" not in own["criterion"]
        if own["fraction"] == 1 and own["criterion"] in kinds and is_shown:
            row = f"| {own['n_words']} words{kinds[own['criterion']]}"
            within = " | ".join(f"{100 * value:.0f} %" for value in own["share_within_5_percent"])
            yield f"{row}, within 5 % | {within} |"
            cells = [
                f"{_percents(middle, is_signed=True)} % ({_percents(low)} to {_percents(high)})"
                for middle, (low, high) in zip(own["relative_median"], own["relative_quartiles"], strict=True)
            ]
            yield f"{row} | {' | '.join(cells)} |"


def _percents(value: float, *, is_signed: bool = False) -> str:
    """A tenth where there are less than ten of them."""
    text = f"{100 * abs(value):.1f}".removeprefix("0") if abs(value) < 0.0995 else f"{100 * abs(value):.0f}"
    sign = "-" if value < 0 and text != ".0" else "+" if is_signed else ""
    return f"{sign}{text}"


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
    "studies/paper_figures": paper_figures_rows,
    "studies/plan_calibration": plan_calibration_rows,
    "studies/policy_ranking": policy_ranking_rows,
    "scale": scale_rows,
}


@pytest.mark.parametrize("page", ROWS)
def test_every_row_of_a_page_is_that_of_its_record(page: str) -> None:
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    text = " ".join(text.split())  # Sentences may be broken anywhere.
    rows = [" ".join(row.split()) for row in ROWS[page]()]
    assert rows
    assert [row for row in rows if row not in text] == []
