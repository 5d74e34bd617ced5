"""The figures of the paper, measured again."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from support.page_rows.records import figures, share, spaced, table

_CORPORA = {"rcv1": "RCV1", "r52": "R52"}


def percent(value: float, digits: int = 0) -> str:
    return f"{100 * value:.{digits}f}"


def _titles() -> dict[str, str]:
    return {
        f"{corpus}-{words}-{length}": f"{title}, {words} words, {length}"
        for corpus, title in _CORPORA.items()
        for words in (500, 2000)
        for length in ("raw", "rescaled")
    }


def _labels_alone(corpus: str, words: str, size: str) -> float:
    """The error of 5 % labels without the unlabeled documents, as they are."""
    rows = [
        row
        for row in table("fig1-error")
        if (row["corpus"], row["n_words"], row["n_samples"], row["document_length"]) == (corpus, words, size, "raw")
    ]
    return float(min(rows, key=lambda row: float(row["fraction"]))["error_labels_only"])


def reuters_lines() -> Iterator[str]:
    """Rank correlations and steps that fall."""
    settings, titles = figures("fig1-theory")["settings"], _titles()
    names = ("mse", "paper_total_variance", "robust_mse", "robust_error", "simulated_mse", "simulated_error")
    correlations = np.array([[one["rank_correlations"]["error"][name] for name in names] for one in settings])
    for one, row in zip(settings, correlations, strict=True):
        yield f"| {titles[one['setting']]} | " + " | ".join(share(value, 2) for value in row) + " |"
    means = [share(value, 2) for value in correlations.mean(axis=0)]
    for place in (1, 3, 5):
        means[place] = f"**{means[place]}**"
    yield "| mean | " + " | ".join(means) + " |"
    stepped = ("error", "mse", "paper_total_variance", "robust_error", "simulated_error")
    for one in settings:
        shares = [
            f"{percent(one[f'{name}_falls_with_n'])} / {percent(one[f'{name}_falls_with_fraction'])} %"
            for name in stepped
        ]
        yield f"| {titles[one['setting']]} | " + " | ".join(shares) + " |"
    worth = {name: [one["worth_of_labels"][name] for one in settings] for name in ("mse", "paper_total_variance")}
    paper = correlations[:, 1]
    yield f"its rank correlation with error is {share(paper.min(), 2)} to {share(paper.max(), 2)}"
    factors = f"{min(worth['mse']):.0f} to {max(worth['mse']):.0f}"
    yield f"from 5 % labeled to all, the measured squared error falls by a factor of {factors}"
    (n_points,) = {len(one["n_samples"]) * len(one["fractions"]) for one in settings}
    yield f"over the grid ({n_points} points each)"
    expected = worth["paper_total_variance"]
    yield f"the formula expects {min(expected):.3f} to {max(expected):.3f}"
    error = figures("fig1-error")["settings"]
    off = [one["mean_absolute_difference_to_robust_error"] for one in error]
    yield f"its expected error is {share(min(off), 3)} to {share(max(off), 3)} off the measured one"
    (raw,) = [one for one in error if one["setting"] == "r52-500-raw"]
    few = raw["error"][0]
    yield (
        f"on R52 with 500 raw words and 5 % labeled it goes from {share(few[0])} at n = 200 down to "
        f"{share(min(few))} and up again to {share(few[-1])} at n = 4 000"
    )
    (raw,) = [one for one in settings if one["setting"] == "r52-500-raw"]
    yield f"sees that coming ({percent(raw['robust_error_falls_with_n'])} % of falling steps in n)"
    yield f"Labels alone reach {share(_labels_alone('r52', '500', '4000'), 3)} there"
    harm = [one["share_of_points_where_unlabeled_harm"] for one in error]
    for corpus, part in (("RCV1", harm[:4]), ("R52", harm[4:])):
        yield f"{percent(min(part))} to {percent(max(part))} % of them on {corpus}"


def newsgroups_lines() -> Iterator[str]:
    """Dominated designs."""
    found = figures("fig2-unachievable")
    fronts = found["frontiers"]
    yield f"By squared error {fronts['mse']['n_dominated']} of {fronts['mse']['n_points']} designs are dominated"
    yield f"By held-out error {fronts['error']['n_dominated']} are"
    agreement = found["agreement"]
    yield (
        f"both say the same of {percent(agreement['error'])} %, the paper's formula and the squared error of "
        f"{percent(agreement['paper_total_variance'])} %, the robust one of {percent(agreement['robust_mse'])} %"
    )
    for name, words in (("error", "less error at {}"), ("mse", "less squared error at {}")):
        alone, both = (np.array(found[key])[:-1] for key in (f"{name}_labels_only", name))
        yield words.format(
            f"{int((alone < both).sum())}" + (f" of the {alone.size} designs" if name == "mse" else "")
        )
    paper = np.array(found["paper_total_variance"])
    mse = np.array(found["mse"])
    cost, falls = np.median(paper[0] / paper[-1]), np.exp(np.log(mse[0] / mse[-1]).mean())
    yield f"5 % labeled cost {cost:.2f} times the variance of all"
    yield f"where the measured squared error falls {falls:.0f} times"
    robust, error = np.array(found["robust_error"]), np.array(found["error"])
    least, most = ([share(values[place, place], 2) for values in (robust, error)] for place in (0, -1))
    yield f"at n = 500 with 5 % labeled it expects an error of {least[0]} (measured {least[1]});"
    yield f"it is too hopeful ({most[0]} against {most[1]} at n = 8 000, all labeled)"


def chain_lines() -> Iterator[str]:
    """The Boltzmann chain: steps, dominated designs, both formulas."""
    panels = [figures("fig2-chunks-window"), figures("fig2-chunks-none")]
    joint = [panel["joint_findings"] for panel in panels]
    yield "| joint log-perplexity | otherwise a window of 5 | otherwise nothing |"
    yield "| | otherwise a window of 5 | otherwise nothing |"
    for direction, title in (("sentences", "falls with n"), ("share_whole", "falls with p")):
        yield f"| {title} | " + " | ".join(_steps(one["steps"][direction]) for one in joint) + " |"
    yield "| dominated designs of 24 (labels as cost) | " + " | ".join(_dominated(one) for one in joint) + " |"
    conditional = [panel["conditional_findings"] for panel in panels]
    yield "| the same by conditional log-perplexity | " + " | ".join(_dominated(one) for one in conditional) + " |"
    for formula in ("paper", "robust"):
        for loss, found in (("joint", joint), ("conditional", conditional)):
            parts = [one["agreement"][formula] for one in found]
            cells = [f"{share(part['spearman'], 2)} ({part['n_told']})" for part in parts]
            yield f"| {formula}, {loss} | " + " | ".join(cells) + " |"
    errors = [panel["token_error_findings"]["agreement"]["robust"] for panel in panels]
    yield "| robust, token error | " + " | ".join(f"{share(e['spearman'], 2)} ({e['n_told']})" for e in errors) + " |"
    for panel, title in zip(panels, ("window", "nothing"), strict=True):
        for place, whole in reversed(list(enumerate(panel["shares_whole"]))):
            if whole == 1 and title == "window":
                continue
            yield f"| {_share_whole(whole)}, {title} | {_design(panel, place)} |"


def chain_words() -> Iterator[str]:
    """What the prose about the Boltzmann chain says in numbers."""
    panels = [figures("fig2-chunks-window"), figures("fig2-chunks-none")]
    last, shares = panels[0]["n_sentences"][-1], len(panels[0]["shares_whole"])
    dominated = [sum(one["n_sentences"] == last for one in own["joint_findings"]["dominated"]) for own in panels]
    told = f"{dominated[0]} of {shares} with windows, {dominated[1]} with nothing"
    yield f"designs with n = {last} are dominated ({told})"
    n_designs = [panel["joint_findings"]["agreement"]["robust"]["n_designs"] for panel in panels]
    yield f"over how many of the {n_designs[0]} designs"
    yield f"over all {sum(n_designs)} designs"
    off = max(max(panel["joint_findings"]["agreement"]["paper"]["ratio_all_labels"]) for panel in panels)
    yield f"right within {100 * (off - 1):.0f} % with all labels"
    yield f"Excess joint log-loss in nats per sentence, n = {panels[0]['n_sentences'][0]} / {last}:"
    first = panels[1]["joint_findings"]["whole_instead"][0]
    yield f"the two are equal (+{share(first['added'])} ± {share(first['added_se'])})"
    limit, nothing = panels[1]["limit"], panels[1]
    yield f"{limit['joint']:.2f} nats joint, {limit['conditional']:.2f} conditional"
    yield f"token error {share(limit['token_error'], 3)}"
    ranges = {
        (loss, formula): _range([panel[f"{loss}_findings"]["agreement"][formula] for panel in panels])
        for loss in ("joint", "conditional")
        for formula in ("paper", "robust")
    }
    joint, conditional = ranges["joint", "paper"][1], ranges["conditional", "paper"][1]
    yield f"up to {joint:.1f} times in joint and {conditional:.1f} in conditional log-loss"
    for loss in ("joint", "conditional"):
        low, high = ranges[loss, "robust"]
        yield f"{share(low, 2)} to {high:.2f} ({loss})"
    # All labels at n = 700, over p = .1; what was measured there.
    yield f"{nothing['joint_findings']['paper_excess'][-1][-1] / 0.1:.2f} at p = .1, n = 700"
    yield f"{nothing['joint'][0][-1] - limit['joint']:.1f} was measured"
    labels, joint = nothing["labels"], nothing["joint"]
    told = f"({spaced(labels[1][-1])} labels) have an excess of {joint[1][-1] - limit['joint']:.2f}"
    yield f"here 700 sentences of which a fifth are labeled whole and the others not at all {told}"
    told = f"({spaced(labels[-1][0])} labels) {joint[-1][0] - limit['joint']:.2f}."
    yield f"100 sentences labeled whole {told}"
    added = nothing["conditional_findings"]["whole_instead"][0]
    more = f"{share(added['added'], 2)} ± {share(added['added_se'], 2)} more conditional log-loss"
    n_whole = added["n_whole"]
    yield f"And 200 sentences labeled whole or not at all with p = .5 (about {n_whole} of each) have {more}"
    yield f"than {n_whole} whole ones alone"
    tokens = [panel["token_error_findings"]["agreement"]["robust"]["spearman"] for panel in panels]
    yield f"its rank correlation is {share(tokens[0], 2)} with windows and {share(tokens[1], 2)} with nothing"


def _range(parts: list[dict[str, Any]]) -> tuple[float, float]:
    values = [value for part in parts for value in (*part["ratio_range_partial"], *part["ratio_all_labels"])]
    return min(values), max(values)


def _share_whole(whole: float) -> str:
    return "1" if whole == 1 else f"{whole:g}".replace("0.", ".")


def _steps(found: dict[str, Any]) -> str:
    n_falling = round(found["falling"] * found["n"])
    rising = f", {found['n_clearly_rising']} clear rises" if found["n_clearly_rising"] else ""
    return f"{n_falling} of {found['n']} steps{rising}"


def _dominated(found: dict[str, Any]) -> str:
    return f"{len(found['dominated'])}, clearly {sum(one['is_clear'] for one in found['dominated'])}"


def _design(panel: dict[str, Any], place: int) -> str:
    """Experiment, paper's and robust formula at the least and the most sentences."""
    found, limit = panel["joint_findings"], panel["limit"]["joint"]
    ends = (0, -1)
    measured = [
        f"{_short(panel['joint'][place][end] - limit)} ± {_short(panel['joint_se'][place][end])}" for end in ends
    ]
    formulas = [
        " / ".join("not told" if (v := found[name][place][end]) is None else _short(v) for end in ends)
        for name in ("paper_excess", "robust_excess", "robust_bias")
    ]
    return " | ".join([" / ".join(measured), *formulas])


def _short(value: float) -> str:
    return f"{value:.1f}" if abs(value) >= 10 else share(value, 2)


def crf_lines() -> Iterator[str]:
    """The CRF: steps, dominated designs, both formulas."""
    panels = [figures("fig3-crf")[rule] for rule in ("window:5", "nothing")]
    found = [panel["conditional_findings"] for panel in panels]
    limit = panels[0]["limit"]
    yield f"limit is {limit['conditional']:.2f} nats conditional, token error {share(limit['token_error'])}"
    yield "| conditional log-perplexity | otherwise a window of 5 | otherwise nothing |"
    (n_designs,) = {one["agreement"]["robust"]["n_designs"] for one in found}
    yield f"how many of the {n_designs} designs are told"
    chain = [figures(f"fig2-chunks-{name}")["conditional_findings"]["dominated"] for name in ("window", "none")]
    (n_dominated,) = {len(one) for one in chain}
    yield f"there {n_dominated} of {n_designs} designs are dominated by conditional log-perplexity"
    for direction, title in (("sentences", "falls with n"), ("share_whole", "falls with p")):
        yield f"| CRF {title} | " + " | ".join(_steps(one["steps"][direction]) for one in found) + " |"
    yield "| CRF dominated designs of 24 | " + " | ".join(_dominated(one) for one in found) + " |"
    for formula in ("paper", "robust"):
        parts = [one["agreement"][formula] for one in found]
        cells = [f"{share(part['spearman'], 2)} ({part['n_told']})" for part in parts]
        yield f"| CRF, rank correlation with the {formula} formula | " + " | ".join(cells) + " |"
        ratios = [f"{share(low, 2)} to {share(high, 2)}" for low, high in (_range([part]) for part in parts)]
        yield f"| CRF, experiment over {formula} formula | " + " | ".join(ratios) + " |"
    errors = [panel["token_error_findings"]["agreement"]["robust"] for panel in panels]
    yield (
        "| CRF, rank correlation, token error | "
        + " | ".join(f"{share(e['spearman'], 2)} ({e['n_told']})" for e in errors)
        + " |"
    )


def two_stage_lines() -> Iterator[str]:
    """The plug-in against pilot size."""
    found = {(one["n_words"], one["criterion"], one["fraction"]): one for one in figures("fig3-two-stage")["plug_in"]}
    rows = (
        ("500 words", (500, "total_variance", 1.0)),
        ("500 words, robust", (500, "robust_variance", 1.0)),
        ("2000 words", (2000, "total_variance", 1.0)),
        ("2000 words, robust", (2000, "robust_variance", 1.0)),
        ("2000 words, labels alone", (2000, "total_variance_labels_only", 1.0)),
        ("2000 words, labels alone, robust", (2000, "robust_variance_labels_only", 1.0)),
    )
    pilots = found[500, "total_variance", 1.0]["pilots"]
    yield f"| pilot r | {' | '.join(str(pilot) for pilot in pilots)} |"
    for title, key in rows:
        one = found[key]
        cells = [
            f"{_signed(median)} % ({_number(low)} to {_number(high)})"
            for median, (low, high) in zip(one["relative_median"], one["relative_quartiles"], strict=True)
        ]
        yield f"| {title} | " + " | ".join(cells) + " |"
        close = [f"{percent(share)} %" for share in one["share_within_5_percent"]]
        yield f"| {title}, within 5 % | " + " | ".join(close) + " |"
    for key, words in (
        ((500, "total_variance", 1.0), "within 5 % in nine draws of ten from r = {} on with 500 words"),
        ((2000, "total_variance", 1.0), "from r = {} on with 2000"),
        ((2000, "total_variance_labels_only", 1.0), "is within 5 % from r = {} on"),
    ):
        yield words.format(found[key]["within_5_percent_from"])
    yield "With 500 words the paper is confirmed"
    alone, both = (
        found[2000, name, 1.0]["relative_median"][0] for name in ("total_variance_labels_only", "total_variance")
    )
    yield f"off by {percent(alone)} % instead of {percent(both)} % at r = {pilots[0]}"
    low = [found[500, "excess_log_loss", fraction]["relative_median"] for fraction in (1.0, 0.5)]
    ends = [f"{-100 * low[0][place]:.0f} to {-100 * low[1][place]:.0f} %" for place in (-1, pilots.index(1000))]
    yield f"log-loss is {ends[0]} too low at r = {pilots[-1]} and {ends[1]} at r = 1000"
    above, below = (
        found[words, "robust_variance", 1.0]["truth"] / found[words, "total_variance", 1.0]["truth"] - 1
        for words in (500, 2000)
    )
    yield f"is {percent(above)} % above the paper's with 500 words"
    yield f"and {percent(-below)} % below it with 2000"


def _number(value: float) -> str:
    text = f"{100 * value:.0f}" if abs(value) >= 0.095 else share(100 * value, 1)
    return ".0" if text == "-.0" else text


def _signed(value: float) -> str:
    return ("+" if value >= 0 else "") + _number(value)


def theory_lines() -> Iterator[str]:
    """What one label in a hundred costs."""
    ratios: dict[str, list[str]] = {"total_variance": [], "excess_log_loss": []}
    for panel in figures("fig3-theory")["panels"]:
        if panel["n_words"] == 1000:
            for name, texts in ratios.items():
                values = panel["per_sample"][name]
                ratio = values[0] / values[-1]
                texts.append(f"{ratio:.3f}" if ratio < 1.1 else f"{ratio:.2f}" if ratio < 2 else f"{ratio:.1f}")
    variance, loss = ratios["total_variance"], ratios["excess_log_loss"]
    short, middle, long = variance
    yield f"a factor of {short} in total variance with 5 words, {middle} with 20 and {long} with 100"
    yield f"{loss[0]}, {loss[1]} and {loss[2]}"


def paper_figures() -> Iterator[str]:
    """Of all panels."""
    yield from reuters_lines()
    yield from newsgroups_lines()
    yield from chain_lines()
    yield from chain_words()
    yield from crf_lines()
    yield from theory_lines()
    yield from two_stage_lines()
