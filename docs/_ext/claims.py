"""What labelworth claims to have measured, read from the records in results/ whenever the site is built or tested.

A claim has a sentence with figures in it; none of them is typed here. `measured` gives single figures to other pages.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


@cache
def record(name: str) -> dict[str, Any]:
    """A whole record of results/."""
    content: dict[str, Any] = json.loads((ROOT / "results" / f"{name}.json").read_text(encoding="utf-8"))
    return content


def figures(name: str) -> Any:
    """The figures of a record."""
    return record(name)["figures"]


def share(value: float, digits: int = 2) -> str:
    """A share between 0 and 1 without its leading zero."""
    return f"{value:.{digits}f}".lstrip("0")


def percent(value: float, digits: int = 0) -> str:
    return f"{100 * value:.{digits}f} %"


@dataclass(frozen=True)
class Claim:
    """A row of the table."""

    title: str
    records: tuple[str, ...]
    command: str
    says: Callable[[], str]


def _newsgroups() -> str:
    em = figures("newsgroups-em")["em"]
    sizes, accuracy = em["labels_per_class"], em["accuracy"]
    pairs = zip(accuracy, em["published_accuracy"], strict=True)
    at_or_above = sum(own >= round(published, 3) for own, published in pairs)
    return (
        f"accuracy {share(accuracy[0])} with {sizes[0]} label per class to {share(accuracy[-1])} with {sizes[-1]}; "
        "at or "
        f"above the published EM row at {at_or_above} of {len(sizes)} sizes"
    )


def _misspecification() -> str:
    found = figures("misspecification")
    n = len(found["rows"])
    return (
        f"the robust formula is within 1.35 of the measured error at {n - found['n_rows_robust_off']} of {n} "
        "places, at "
        f"worst {found['worst_factor_robust']:.2f} off; the paper's formula is off by up to "
        f"{found['worst_factor_paper']:.0f}, and the specification test refuses the model in at least "
        f"{percent(found['least_share_refused_where_paper_off'])} of the cases where it is"
    )


def _risk_curve() -> str:
    large = figures("risk-curve")["curves"][0]
    matrix_free = large["matrix_free"]
    worst = max(
        error / value
        for name in ("excess_log_loss", "total_variance")
        for value, error in zip(matrix_free[name], matrix_free[f"{name}_se"], strict=True)
    )
    return (
        f"{large['n_parameters']:,} parameters, {len(large['fractions'])} labeled fractions at once, no matrix: "
        "largest "
        f"standard error {percent(worst, 1)}"
    )


def _chunking() -> str:
    found = figures("chunking-crf")
    tutorial, richer = (100 * model["f1"] for model in found["models"][:2])
    published = found["published_f1"]
    return (
        f"F1 {tutorial:.2f} with the template of the CRFsuite tutorial (python-crfsuite "
        f"{published['python-crfsuite, tutorial template']}), {richer:.2f} with a richer one (CRF++ "
        f"{published['CRF++, all pairs of attributes in 3 tokens']})"
    )


def _plan_calibration() -> str:
    (truth,) = figures("plan-calibration")["truths"]
    return (
        f"{truth['n_seeds']} pilots: the target is met within 1.1 in {percent(truth['met'], 1)}; the 90 % interval "
        "holds the "
        f"truly best number of labels in {percent(truth['covered'], 1)}"
    )


def _forecast() -> str:
    found = figures("forecast")["error"]
    every = found["all"]["all"]
    learners = ", ".join(f"{name} {own['ratio']:.2f}" for name, own in found["learners"].items())
    worse = [f"{name} {own['ratio']:.2f}" for name, own in found["corpora"].items() if own["ratio"] > 1]
    return (
        f"{every['n_forecasts']} forecasts at 2 to 8 times the labels, tilt and spread ahead chosen without the "
        "corpus: mean absolute error "
        f"{every['mean_absolute_error']:.3f}, {every['ratio']:.2f} of a power law's ({learners}); 90 % intervals "
        "hold "
        f"{percent(every['coverage'])}. The power law was better on: {', '.join(worse) or 'none'}"
    )


def _default_plans() -> str:
    every = figures("default-plans")["all"]["all"]
    return (
        f"{every['n_pilots']} plans, {every['n_forecasts']} forecasts at 2 to 8 times the labels: mean absolute "
        f"error {every['mean_absolute_error']:.3f}, {every['ratio']:.2f} of a power law's; 90 % intervals hold "
        f"{percent(every['coverage'])}"
    )


def _model_choice() -> str:
    found = figures("model-choice")
    verdicts = found["verdicts"]
    return (
        f"{found['n_pilots']} pilots: {100 * found['mean_regret']:.2f} points worse than the best candidate in the "
        "mean, but above "
        f"3 on {found['n_above_3_points']} pilots ({100 * found['largest_regret']:.1f} at most); using unlabeled "
        "data or not "
        f"costs {100 * found['mean_unlabeled_regret']:.2f}; verdicts on it: {verdicts['wrong']} wrong, "
        f"{verdicts['right']} right, "
        f"{verdicts['open']} of {verdicts['n_told']} that could be told left open"
    )


def _metrics() -> str:
    found = figures("metrics")
    parts = [
        f"{name} {percent(own['all']['all sets']['coverage'])} (error {own['all']['all sets']['ratio']:.2f} of a "
        "power law's)"
        for name, own in found.items()
    ]
    return f"{record('metrics')['n_cells']} pilots of 50 to 400 labels; 90 % intervals hold: {'; '.join(parts)}"


def _channels() -> str:
    ratios = list(figures("channels").values())
    told = [own["ratio"] for own in ratios if not own["is_control"]]
    refused = sorted(own["ratio"] for own in ratios if own["is_control"])
    controls = ", ".join(f"{ratio:.3g}" if ratio < 2 else f"{ratio:.0f}" for ratio in refused)
    return (
        f"realized over predicted excess log-loss {min(told):.2f} to {max(told):.2f}, confusion known or estimated; "
        f"{len(refused)} wrong claims are refused ({controls})"
    )


def _crowd() -> str:
    trusted = figures("crowd-calibration")["trusted answers"]
    full, less = trusted["by_weight"]["1.0"], trusted["chosen_by_the_other_half"]
    low = trusted["by_weight"]["0.15"]
    return (
        f"{share(full['accuracy'], 3)} of {full['n_posts']} posts, {share(less['accuracy'], 3)} where answers count "
        "less (weight "
        f"chosen on other posts). Surer than right: {share(full['confidence'])} and {share(low['confidence'])} said"
    )


def _guards() -> str:
    cells = [own for own in figures("guards")["cells"] if own["part"] == "independence"]

    def rate(truth: str, n_audited: int) -> float:
        own = [cell for cell in cells if cell["truth"] == truth and cell["n_audited"] == n_audited]
        return float(sum(cell["alarms"] for cell in own) / sum(cell["n_runs"] for cell in own))

    sizes = sorted({cell["n_audited"] for cell in cells})
    false = max(rate("by class", size) for size in sizes)
    return (
        f"false alarms {percent(false, 1)} at most where 5 % are promised; errors that follow the text are seen in "
        f"{percent(rate('by x', 50))} of the cases with 50 audited rows, {percent(rate('by x', 200))} with 200"
    )


def _harm() -> str:
    total = figures("harm-verdict")["total"]
    ties = total["said of a tie"] + total["open on a tie"]
    return (
        f'right {total["right"]} times, wrong {total["wrong"]}, "cannot be told" {total["open"]}; where there is '
        "nothing to "
        f"tell, {total['said of a tie']} verdicts in {ties}"
    )


def _fig1() -> str:
    settings = figures("fig1-theory")["settings"]

    def mean(name: str) -> float:
        return sum(one["rank_correlations"]["error"][name] for one in settings) / len(settings)

    return (
        f"rank correlation with the measured error, mean of {len(settings)} settings: "
        f"{share(mean('paper_total_variance'))} for the "
        f"paper's formula, {share(mean('robust_error'))} for the robust one, {share(mean('simulated_error'))} for "
        "the simulated one"
    )


def _policies() -> str:
    policies = {
        name: own for name, own in figures("policy-ranking")["crf"]["policies"].items() if name != "everything"
    }
    worst = max(policies, key=lambda name: policies[name]["excess_conditional"])
    rest = sorted(own["excess_conditional"] for name, own in policies.items() if name != worst)
    return (
        f"CRF: excess log-loss {rest[0]:.2f} to {rest[-1]:.2f} nats per sentence, and "
        f"{policies[worst]['excess_conditional']:.2f} for {worst}, the first half of every sentence, which theory "
        "cannot tell"
    )


def _scale() -> str:
    found = figures("scale")
    ratios, largest = found["ratios"], found["sizes"][-1]["n_documents"]
    return (
        f"{largest:,} documents: a pass over shards takes {ratios['time of the largest over memory']:.1f} times the "
        "processor time per value of one in memory, "
        f"{ratios['time over partial_fit, largest']:.2f} of a supervised pass of scikit-learn's MultinomialNB, and "
        f"{ratios['memory over partial_fit, largest']:.2f} of its memory"
    )


def _cluster() -> str:
    works = figures("cluster-kills")
    killed, wrong = (sum(own["workers"][name] for own in works.values()) for name in ("kills", "wrong"))
    again = ", ".join(f"{own['scheduler']['done_again']} of {name}" for name, own in works.items())
    return (
        f"{killed} workers killed at random moments of {', '.join(works)}: {wrong} answers of other bits than one "
        f"thread's; after the scheduler was killed, steps done again: {again}"
    )


def _load() -> str:
    steady, large = figures("studio-load")["200 a second"], figures("studio-load")["large"]
    return (
        f"{steady['rate']:.0f} answers a second for {steady['seconds'] / 60:.0f} minutes: 95 % of them within "
        f"{steady['milliseconds']['95 %']:.1f} ms; with {large['n_items']:,} items and {large['n_held']:,} answers "
        f"a page takes {max(large['page_seconds'].values()):.2f} s at most"
    )


def _kills() -> str:
    cases = figures("studio-kills")
    faults = ("lost", "changed", "doubled", "leases left", "requests left")
    return "; ".join(
        f"{case}: {own['kills']} kills, {own['acknowledged']:,} answers acknowledged, "
        f"{sum(own[fault] for fault in faults)} lost, changed, doubled or left behind"
        for case, own in cases.items()
        if "kills" in own
    )


def _formats() -> str:
    formats = figures("formats").values()
    tried, failed = (sum(own[name] for own in formats) for name in ("tried", "failed"))
    return f"{tried:,} exports in {len(formats)} formats, {failed} of which came back otherwise than was told first"


def _fuzz() -> str:
    doors = figures("fuzz").values()
    tried, bad = (sum(own[name] for own in doors) for name in ("n_inputs", "answered_badly"))
    return f"{tried:,} damaged inputs, {bad} of which were not answered with a sentence, in time and in memory"


def _reproduce(name: str) -> str:
    own = record(name)
    quick = " --quick" if own["asked"].get("quick") else ""
    seed = f" --seed {own['seed']}" if own["seed"] else ""
    return f"labelworth reproduce {own['study']}{quick}{seed}"


def _claim(title: str, name: str, says: Callable[[], str]) -> Claim:
    return Claim(title, (name,), _reproduce(name), says)


CLAIMS = (
    _claim("Plans on data with known truth", "plan-calibration", _plan_calibration),
    _claim("Forecasts of the error from pilots, twelve sets", "forecast", _forecast),
    _claim("Forecasts of plans in which no model is named, twelve sets", "default-plans", _default_plans),
    _claim("Forecasts of macro-F1, and of recall and precision at a level", "metrics", _metrics),
    _claim("Does unlabeled data help? The verdict against the truth, ten corpora", "harm-verdict", _harm),
    _claim("The model that is chosen when you name none, twelve sets", "model-choice", _model_choice),
    _claim("Fits to anybody's answers against the formulas", "channels", _channels),
    _claim("Labels recovered from 187 crowd workers, no gold", "crowd-calibration", _crowd),
    _claim("Guards against answers that follow the text", "guards", _guards),
    _claim("EM on 20 Newsgroups", "newsgroups-em", _newsgroups),
    _claim("Error of a wrong model on real text", "misspecification", _misspecification),
    _claim("The paper's figure of three error measures on Reuters", "fig1-theory", _fig1),
    _claim("Theory of a naive Bayes as large as its text", "risk-curve", _risk_curve),
    _claim("CRF on CoNLL-2000", "chunking-crf", _chunking),
    _claim("Half of the tokens, labeled in seven ways", "policy-ranking", _policies),
    _claim("Data larger than the memory", "scale", _scale),
    Claim("A cluster that loses workers", ("cluster-kills",), "make cluster-chaos", _cluster),
    Claim("A studio under load", ("studio-load",), "make load", _load),
    Claim("A studio that is killed", ("studio-kills",), "make chaos", _kills),
    Claim("Formats of annotation tools, out and back", ("formats",), "make formats-test", _formats),
    Claim("Damaged files and requests", ("fuzz",), "make fuzz", _fuzz),
)


def measured(key: str) -> str:
    """A figure that pages cite: the claim of a record, by the record's name."""
    (claim,) = [claim for claim in CLAIMS if key in claim.records]
    return claim.says()
