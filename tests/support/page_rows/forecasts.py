"""Forecasts, plans and the choice of a model."""

from collections.abc import Iterator
from typing import Any

from labelworth.simulation.calibration import METRIC_SPREADS, TAILS, TUNED
from labelworth_studies.corpora.populations import CORPORA
from labelworth_studies.forecasts.chosen import SIZES, WAYS
from labelworth_studies.forecasts.learning_curves import PILOTS, TIMES_ALL
from labelworth_studies.forecasts.parts.forecast_constants import HELD
from support.page_rows.records import figures, record

IN_SHORT = {name: corpus.title for name, corpus in CORPORA.items()} | {"sms": "SMS", "trec": "TREC", "r52": "R52"}


def forecast() -> Iterator[str]:
    own = figures("forecast")
    asked = record("forecast")
    every, cells = own["error"]["all"]["all"], own["error"]["cells"]
    yield f"{asked['n_cells']} pilots, {every['n_forecasts']} forecasts"
    for measure in ("error", "log_loss"):
        for part, words in (
            ("all", "{}"),
            ("learners", "{}"),
            ("corpora", "{}"),
            ("factors", "at {} x"),
            ("pilots", "{} labels"),
        ):
            for name, group in own[measure][part].items():
                yield f"| {words.format(name)} | {_judged(group)} |"
    for corpus in own["error"]["corpora"]:
        told = [
            f"{cell['ratio']:.2f}, {cell['coverage']:.0%} of {cell['n_forecasts']}"
            if (cell := cells.get(f"{corpus}/{learner}"))
            else ""
            for learner in own["error"]["learners"]
        ]
        yield f"| {corpus} | {' | '.join(told)} |"
    yield "The aims are 0.6 for naive Bayes, HMM, logistic regression and linear SVM, 0.9 for the others,"
    yield "others, 85-95 % coverage overall"
    yield f"1.1 and 80 % on every corpus and learner are not reached: {_short_of(cells)}"
    used = own["error"]["in_use"]
    told = [f"{name} {part['ratio']:.2f} and {part['coverage']:.0%}" for name, part in used["learners"].items()]
    every = used["all"]["all"]
    yield f"ratio and coverage are {every['ratio']:.2f} and {every['coverage']:.0%} ({', '.join(told)})"
    yield f"With the constants in use {_short_of(used['cells'])}"
    yield from _vectors()
    yield from _default_plans()
    yield from _harm_verdicts()


def _vectors() -> Iterator[str]:
    own, n_pilots = figures("forecast-vectors"), record("forecast-vectors")["n_cells"]
    error, sure = own["error"], own["log_loss"]["all"]["all"]
    yield f"{n_pilots} pilots, {error['all']['all']['n_forecasts']} forecasts"
    for part, words in (("all", "{}"), ("learners", "{}"), ("corpora", "{}"), ("factors", "at {} x")):
        for name, group in error[part].items():
            yield f"| {words.format(name)} | {_judged(group)} |"
    used = error["in_use"]["all"]["all"]
    yield f"log-loss {sure['ratio']:.2f} and {sure['coverage']:.0%}; with the constants in use the error's are"
    yield f"{used['ratio']:.2f} and {used['coverage']:.0%}"


def _short_of(cells: dict[str, dict[str, float]]) -> str:
    above = sum(cell["ratio"] > 1.1 for cell in cells.values())
    below = sum(cell["coverage"] < 0.8 for cell in cells.values())
    return f"{above} of {len(cells)} cells are above 1.1 and {below} hold less than 80 %"


def _default_plans() -> Iterator[str]:
    own = figures("default-plans")
    n_pilots, every = record("default-plans")["n_cells"], own["all"]["all"]
    yield f"{n_pilots} pilots, {every['n_forecasts']} forecasts"
    for part, words in (("all", "{}"), ("corpora", "{}"), ("factors", "at {} x"), ("pilots", "{} labels")):
        for name, group in own[part].items():
            yield f"| {words.format(name)} | {_judged(group)} |"


def _judged(group: dict[str, float]) -> str:
    return (
        f"{group['n_forecasts']} | {group['mean_absolute_error']:.4f} | {group['power_law']:.4f} | "
        f"{group['ratio']:.2f} | {group['bias']:+.3f} | {group['coverage']:.0%}"
    )


def _harm_verdicts() -> Iterator[str]:
    found = figures("harm-verdict")
    kinds = ("right", "wrong", "open", "said of a tie", "open on a tie")
    for name, own in found["by_corpus_and_pilot"].items():
        corpus, _, size = name.partition("/")
        yield f"| {CORPORA[corpus].title}, {size} | {' | '.join(str(own[kind]) for kind in kinds)} |"
    total = found["total"]
    yield f"| all | {' | '.join(str(total[kind]) for kind in kinds)} |"
    ties = total["said of a tie"] + total["open on a tie"]
    told = f"Right {total['right']} times, wrong {total['wrong']} times, open {total['open']} times"
    yield f"{told} where there is a truth to tell; of {ties} ties the verdict stays open on {total['open on a tie']}."


def plan_calibration() -> Iterator[str]:
    (own,) = figures("plan-calibration")["truths"]
    met = round(own["met"] * own["n_seeds"])
    n_optimal = figures("plan-calibration")["n_optimal"]
    covered, error_covered = (
        f"{100 * own[name]:.1f} % (standard error {100 * own[f'{name}_se']:.1f} %)"
        for name in ("covered", "error_covered")
    )
    yield (
        "| true excess log-loss at the planned design at most 1.1 x the target | 90 % or more | "
        f"{100 * own['met']:.1f} % ({met} of {own['n_seeds']}; the worst {own['largest_ratio']:.3f}) |"
    )
    yield f"| 90 % interval of the number of labels holds the true optimum, {n_optimal} | 86-94 % | {covered} |"
    yield f"| 90 % interval of the error at the planned design holds the true one | | {error_covered} |"
    yield f"Plans ask for {own['labels_mean']:.0f} labels on average (standard error {own['labels_mean_se']:.1f})"
    yield f"standard deviation of {own['labels_sd']:.0f}; their intervals are {own['mean_width']:.0f} wide"
    yield f"which is {own['mean_width'] / own['labels_sd']:.1f} standard deviations"
    assert own["without_unlabeled"] == 0
    yield "The harm verdict never refused the unlabeled documents"


def model_choice() -> Iterator[str]:
    own = figures("model-choice")
    for size, part in own["by_size"].items():
        yield f"| {size} | {part['n_pilots']} | {100 * part['mean']:.2f} | {100 * part['largest']:.1f} |"
    mean, error = 100 * own["mean_regret"], 100 * own["mean_regret_se"]
    largest, n_large = 100 * own["largest_regret"], own["n_above_3_points"]
    told = f"{mean:.2f} (standard error {error:.2f}) | {largest:.1f}; above 3 on {n_large} pilots"
    yield f"| all | {own['n_pilots']} | {told} |"
    yield f"{own['n_pilots']} in all, drawn after candidates and rule were fixed"
    yield f"tuned on the other corpora only: {100 * own['mean_regret_left_out']:.2f}"
    yield '"Never above 3 points" is not reached'
    worst_cell = max(own["cells"], key=lambda cell: cell["regret"])
    yield f"In the mean over five pilots of a set and size it is at most {100 * worst_cell['regret']:.1f}"
    named = own["named"]
    assert named["mean"] < 0
    yield (
        f"| every model that one can name | **{-100 * named['mean']:.2f} points less** (standard error "
        f"{100 * named['mean_se']:.2f}) | {100 * named['largest_of_a_cell']:.1f} more | "
        f"{100 * named['largest']:.1f} more; above 3 on {named['n_above_3_points']} of {own['n_pilots']} |"
    )
    yield (
        f"| every candidate, settings included | {mean:.2f} points more (standard error {error:.2f}) | "
        f"{100 * worst_cell['regret']:.1f} more | {largest:.1f} more; above 3 on {n_large} of {own['n_pilots']} |"
    )
    fixed = own["fixed"]
    svm, bayes = fixed["linear SVM"], min((v for k, v in fixed.items() if "naive Bayes" in k), key=lambda one: one[0])
    yield (
        f"linear SVM {100 * svm[0]:.1f} points in the mean and {100 * svm[1]:.0f} at most, the best naive Bayes "
        f"{100 * bayes[0]:.1f} and {100 * bayes[1]:.0f}"
    )
    worst = max(own["unlabeled"], key=lambda one: one["regret"])
    yield (
        f"| regret against the better of the two sides | mean {100 * own['mean_unlabeled_regret']:.2f}; worst set "
        f"({worst['corpus']}) {100 * worst['regret']:.2f}; worst pilot {100 * own['largest_unlabeled_regret']:.1f} |"
    )
    told = own["verdicts"]
    assert told["wrong"] == 0
    yield (
        f"| verdict, {told['n_told']} pilots whose truth the test rows tell | right on {told['right']}, open on "
        f"{told['open']}, wrong on none |"
    )
    assert max(one["cost_of_open"] for one in own["unlabeled"]) <= 0
    less = (
        f"{-100 * told['cost_of_open']:.1f} points less than what labels alone would have chosen, and in no set more"
    )
    yield f'| "cannot be told" ({told["n_open"]} pilots) | what is chosen errs {less} |'
    shown = ("sms", "newsgroups", "subjectivity", "webkb", "r52", "reviews")
    uses = {name: _uses(own["cells"], name) for name in shown}
    yield ", ".join(f"{IN_SHORT[name]} {n_used} of {n_pilots}" for name, (n_used, n_pilots) in uses.items())
    plain, corrected = (f"{100 * own['level_bias'][kind]:.1f}" for kind in ("plain", "corrected"))
    yield f"On the {own['n_pilots']} pilots the cross-validated error of the chosen model lies {plain} points above"
    yield f"above its test error as it is, and {corrected} once corrected"


def _uses(cells: list[dict[str, Any]], corpus: str) -> tuple[int, int]:
    """On how many pilots unlabeled data was used, and of how many."""
    own = [cell for cell in cells if cell["corpus"] == corpus]
    return sum(cell["uses"] for cell in own), sum(cell["n_pilots"] for cell in own)


def metrics() -> Iterator[str]:
    found = figures("metrics")
    yield f"{record('metrics')['n_cells']} pilots ("
    for name, own in figures("metrics-quick").items():
        every = own["all"]["all sets"]
        yield f"| {name} | {every['n_forecasts']} | {every['ratio']:.2f} | {100 * every['coverage']:.1f} % |"
    for place, (name, own) in enumerate(found.items()):
        every, fitted, other = own["all"]["all sets"], own["fitted"]["fitted on"], own["fitted"]["took no part"]
        error = f"{100 * every['mean_absolute_error']:.1f}{' points' if place == 0 else ''}"
        ratio, holds = f"{every['ratio']:.2f}", f"{100 * every['coverage']:.1f} %"
        parts = [f"{100 * part['coverage']:.0f} % of {part['n_forecasts']}" for part in (fitted, other)]
        yield f"| {name} | {every['n_forecasts']} | {error} | {ratio} | {holds} | {parts[0]} | {parts[1]} |"
    sets = [one for own in found.values() for one in own["corpora"].values()]
    yield f"a power law was the better one {sum(one['ratio'] > 1 for one in sets)} times of {len(sets)}"


def planned() -> Iterator[str]:
    (own,) = figures("plan-calibration")["truths"]
    yield f"{own['n_seeds']} pilots, coverage {100 * own['covered']:.1f} %"


def priors() -> Iterator[str]:
    """What LCDB says of slopes and of what stays, and the constants that are in use."""
    curves = figures("learning-curves")
    start, missed, classes, both = curves["stays"]["fitted"]
    first, second, last = PILOTS
    yield (
        f"How much of it stays was measured on LCDB 1.1: {curves['stays']['n_sets']} data sets with curves that "
        f"reach {TIMES_ALL} times a pilot of {first}, {second} or {last}"
    )
    yield f"log-odds of the mean {start:.2f} + {missed:.2f} e / h - {-classes:.2f} log(1 / share of the largest"
    yield f"parameters that sum to {both:.2f}"
    slopes = {kind: f"{curves[kind]['before']:.2f} +- {curves[kind]['before_sd']:.2f}" for kind in TUNED}
    yield f"slope: {slopes['generative']} for models of p(x, y) of words, {slopes['vectors']} for those of vectors,"
    yield f"{slopes['linear']} for linear classifiers,"
    yield f"{slopes['local']} for neighbors and trees"
    # Gaussian naive Bayes is among both kinds of models of p(x, y).
    n_curves = sum(curves[kind]["n_curves"] for kind in TUNED if kind not in ("sequences", "vectors"))
    yield f"as measured on {n_curves:,} learning curves of LCDB 1.1"
    yield f"and {slopes['sequences']}, that of all its learners,"
    yield f"(from {curves['linear']['before']:.3f} to {curves['linear']['after']:.3f})"
    error = {kind: own["error"] for kind, own in TUNED.items()}
    usual, metric = error["linear"], TUNED["linear"]["metric"]
    yield f"level a ~ N({usual.level_mean:g}, {usual.level_sd:g}^2)"
    tilts = {kind: f"{own.tilt_mean:g}" for kind, own in error.items()}
    yield f"tilt b with standard deviation {usual.tilt_sd:g} around {tilts['linear']} for linear classifiers,"
    yield f"{tilts['generative']} for models of p(x, y) of documents or sequences,"
    yield f"{tilts['vectors']} for those of vectors,"
    yield f"{tilts['local']} for neighbors, trees and all else; drift d"
    drifts = {kind: f"{own.drift_sd:g}^2" for kind, own in error.items()}
    assert drifts["linear"] == drifts["vectors"]
    yield f"{drifts['linear']} per unit for linear classifiers and models of vectors,"
    yield f"{drifts['local']} for neighbors, trees and all else"
    yield f"and {drifts['generative']} for models of p(x, y) of documents or sequences:"
    kinds = ("linear", "vectors", "local", "generative")
    linear, vectors, local, generative = (f"{error[kind].ahead_sd:g}^2" for kind in kinds)
    yield f"Ahead it spreads by {linear}, {vectors}, {local} and {generative}"
    assert error["sequences"] == error["generative"]
    yield f"with which 90 % intervals hold {100 * HELD:.0f} % of what was realized"
    yield f"Spreads of metrics are multiples of {metric.level_sd:g}, {metric.tilt_sd:g} and {metric.drift_sd:g}"
    yield f"squares of all spreads grow by the factor 1 + {usual.growth:g} v"
    yield f"misses have log-odds {usual.source_scale:g} above those of the best"
    yield f"share p of the law is {usual.law:g}, {error['local'].law:g} for neighbors and trees"
    (wider, widest), (often, seldom) = zip(*list(TAILS.items())[1:], strict=True)
    times = f"{wider:g} and {widest:g} times those"
    yield f"With probability {often:g} and {seldom:g} the spreads of level, tilt and drift are {times}"
    spreads = {kind: f"{times:g}" for kind, times in METRIC_SPREADS.items()}
    yield (
        f"level, tilt and drift are {spreads['macro_f1']} (macro-F1), {spreads['precision']} (precision at a recall) "
        f"and {spreads['recall']} (recall at a precision) times as wide"
    )


def chosen() -> Iterator[str]:
    """Errors of chosen rows beside random ones, and how often intervals hold."""
    found = figures("chosen")
    for name, learner in [key.split("/") for key in found if "/" in key]:
        own, title = found[f"{name}/{learner}"], IN_SHORT[name]
        for index, size in list(enumerate(SIZES))[1:]:
            cells = [f"{100 * own['random']['errors'][index]:.1f}"]
            for by in ("uncertainty", "worth"):
                error, gap, spread = (
                    100 * own[by][key][index] for key in ("errors", "less_random", "less_random_se")
                )
                cells.append(f"{error:.1f} ({gap:+.1f}, {spread:.1f})")
            yield f"| {title}, {learner} | {size} | {' | '.join(cells)} |"
        held = [f"{100 * own[by]['coverage']:.0f} % of {own[by]['n_forecasts']}" for by in WAYS]
        off = [f"{100 * own[by]['bias']:+.1f}" for by in WAYS]
        yield f"| {title}, {learner} | {' | '.join(held)} | {' | '.join(off)} |"
    whole = [f"{100 * own['coverage']:.0f} % of {own['n_forecasts']}" for own in map(found["coverage"].get, WAYS)]
    yield f"| all | {' | '.join(whole)} |"
