"""Macro-F1, and recall and precision of a class at a level of the other, forecast from pilots and then realized."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from labelworth.errors import InvalidInputError
from labelworth.progress import Progress
from labelworth.report.values import Measured, Outcome, Table
from labelworth.simulation.basis import ForecastBasis, forecast_basis
from labelworth.simulation.calibration import constants_of, power_law_of, regression_of
from labelworth.simulation.learner import Mode, keep_labels, known_codes
from labelworth.simulation.metrics import MacroF1, Metric, RateAtLevel, pilot_units
from labelworth_studies.corpora.populations import CORPORA, READ, Population, corpora_digest, corpus_of, population
from labelworth_studies.forecasts.parts.forecast_cell import cell_of, drawn, factors_of
from labelworth_studies.forecasts.parts.forecast_constants import corpus_group
from labelworth_studies.forecasts.parts.forecast_scores import Curve, Score, grouped, scores_of, summed_up
from labelworth_studies.runner.study import Cell, Result, Study

N_PILOTS = 3
N_EXTENSIONS = 2
LEARNERS = ("naive-bayes", "logistic")
FITTED_ON = ("r52", "reviews", "sms", "subjectivity", "trec", "webkb")
"""Corpora on which `labelworth.simulation.calibration.METRIC_SPREADS` were fitted, with other pilots."""
_CORPORA = (*(name for name, own in CORPORA.items() if "logistic" in own.learners), "drawn-7", "drawn-8", "drawn-9")
KINDS: Mapping[str, Any] = {
    "macro-F1": lambda name: MacroF1(),
    "precision at recall 80 %": lambda name: RateAtLevel("precision", name, 0.8),
    "recall at precision 70 %": lambda name: RateAtLevel("recall", name, 0.7),
    "recall at precision 90 %": lambda name: RateAtLevel("recall", name, 0.9),
}
"""What is forecast, of one class of every corpus."""


def cells(quick: bool, seed: int) -> list[dict[str, Any]]:
    """The smallest and the largest pilots of every corpus; the quick grid has one of the smallest of each."""
    return [
        cell_of(name, corpus_of(name).pilots[end], seed + draw, learner)
        for draw in range(1 if quick else N_PILOTS)
        for end in ((0,) if quick else (0, -1))
        for name in _CORPORA
        for learner in LEARNERS
        if learner in corpus_of(name).learners
    ]


def compute(cell: Cell) -> Result:
    """Forecast basis of the pilot with the metrics it can speak of, and what they became when labels were added."""
    whole, n_pilot, seed = population(cell["corpus"], cell["learner"]), int(cell["n_pilot"]), int(cell["seed"])
    factors = factors_of(cell["corpus"], n_pilot, whole.gold.size)
    units, _ = drawn(whole, n_pilot, seed, 0)
    shown = keep_labels(whole.pool(units), np.arange(n_pilot))
    metrics = metrics_of(shown, named_class(whole))
    learner = whole.learner
    basis = forecast_basis(
        learner, shown, max(factors) * n_pilot, seed=seed, workers=1, metrics=list(metrics.values())
    )
    realized = {
        f"{mode}/{factor}": [
            _realized(whole, n_pilot, seed, extension, mode, factor, metrics) for extension in range(N_EXTENSIONS)
        ]
        for mode in learner.modes
        for factor in factors
    }
    specs = {kind: metric.spec for kind, metric in metrics.items()}
    return {"basis": basis.to_dict(), "metrics": specs, "realized": realized}


def named_class(whole: Population) -> str:
    """The one whose recall and precision are asked for: spam, or the second most frequent."""
    classes = [str(name) for name in whole.data.evidence.classes]
    codes = known_codes(whole.data)
    counts = np.bincount(codes[codes >= 0], minlength=len(classes))
    return "spam" if "spam" in classes else classes[int(np.argsort(-counts, kind="stable")[1])]


def metrics_of(pilot: Any, name: str) -> dict[str, Metric]:
    """Those that a plan would not refuse for want of labels of the class."""
    codes, classes = known_codes(pilot), pilot.evidence.classes
    metrics = {}
    for kind, make in KINDS.items():
        metric = make(name)
        try:
            pilot_units(metric, codes, np.arange(len(codes)), classes)
        except InvalidInputError:
            continue
        metrics[kind] = metric
    return metrics


def _realized(
    whole: Population, n_pilot: int, seed: int, extension: int, mode: Mode, factor: int, metrics: Mapping[str, Metric]
) -> dict[str, float]:
    """What is missing to one on held-out units after a fit to the extended pilot."""
    learner = whole.patient_learner.in_mode(mode)
    units, held_out = drawn(whole, n_pilot, seed, extension)
    fitted = learner.fit(keep_labels(whole.data.take(units), np.arange(factor * n_pilot)))
    tested = whole.data.take(np.sort(held_out))
    prediction, codes = learner.predict(fitted, tested), known_codes(tested)
    return {kind: metric.shortfall(prediction, codes, tested.evidence.classes) for kind, metric in metrics.items()}


def curves_of(pairs: Sequence[tuple[Cell, Result]], kind: str) -> list[Curve]:
    """Every pilot in every mode that has the metric."""
    curves = []
    for cell, result in pairs:
        if kind not in result["metrics"]:
            continue
        basis, spec = ForecastBasis.from_dict(result["basis"]), result["metrics"][kind]
        for mode in basis.modes:
            factors = tuple(int(key.split("/")[1]) for key in result["realized"] if key.startswith(f"{mode}/"))
            sizes = np.array(factors) * int(cell["n_pilot"])
            realized = [np.mean([own[kind] for own in result["realized"][f"{mode}/{factor}"]]) for factor in factors]
            curves.append(
                Curve(
                    cell["corpus"],
                    cell["learner"],
                    basis.kind,
                    mode,
                    int(cell["n_pilot"]),
                    factors,
                    regression_of(basis, mode, spec, sizes),
                    power_law_of(basis, mode, spec).at(sizes),
                    np.array(realized),
                )
            )
    return curves


def summarize(pairs: Sequence[tuple[Cell, Result]]) -> Outcome:
    """Mean absolute errors and coverage by metric, where widths were fitted and where they were not."""
    figures: dict[str, Any] = {}
    words, rows = [], []
    for kind in KINDS:
        scores = scores_of(curves_of(pairs, kind), lambda curve: constants_of(curve.kind, curve.regression.measure))
        if not scores:
            continue
        parts = {
            "all": lambda score: "all sets",
            "fitted": lambda score: "fitted on" if score.corpus in FITTED_ON else "took no part",
            "learners": lambda score: score.learner,
            "pilots": lambda score: f"{score.n_pilot} labels",
            "corpora": lambda score: corpus_group(score.corpus),
        }
        figures[kind] = {
            part: {name: summed_up(group) for name, group in grouped(scores, key).items()}
            for part, key in parts.items()
        }
        words.append(_words(kind, scores))
        rows += [(kind, name, *_columns(figure)) for part in parts for name, figure in figures[kind][part].items()]
    table = Table(
        "Forecasts of metrics",
        ("metric", "pilots of", "forecasts", "mean abs. error", "ratio to power law", "bias", "coverage of 90 %"),
        tuple(rows),
        note="Of what is missing to one, at 2, 4 and 8 times the labels of a pilot, against the mean over two "
        "extensions of it. Standard errors over forecasts; those of one pilot are not independent.",
    )
    return Outcome(figures=figures, words=tuple(words), tables=(table,))


def _words(kind: str, scores: Sequence[Score]) -> str:
    all_, fresh = (
        [score for score in scores if not (is_fresh and score.corpus in FITTED_ON)] for is_fresh in (False, True)
    )
    told = summed_up(all_)
    outside = f", {summed_up(fresh)['coverage']:.1%} of {len(fresh)} on sets that took no part" if fresh else ""
    return (
        f"{kind}: mean absolute error {told['ratio']:.2f} of the power law's; 90 % intervals hold "
        f"{told['coverage']:.1%} of {told['n_forecasts']} realized values{outside}."
    )


def _columns(figure: Mapping[str, Any]) -> tuple[Any, ...]:
    return (
        figure["n_forecasts"],
        Measured(figure["mean_absolute_error"], figure["mean_absolute_error_se"]),
        round(figure["ratio"], 3),
        figure["bias"],
        Measured(figure["coverage"], figure["coverage_se"]),
    )


def prepare(progress: Progress) -> None:
    """Say what comes first, and fail at once where a corpus is missing."""
    progress.say("Reading the corpora, once per process.")
    for name in _CORPORA:
        population(name)


STUDY = Study(
    name="metrics",
    title="Macro-F1, recall and precision forecast from pilots, against what they became",
    cells=cells,
    compute=compute,
    summarize=summarize,
    corpora=READ,
    data_digest=corpora_digest,
    prepare=prepare,
)
