"""Plans as people get them, no model named: what they forecast, and what more labels then did to the chosen model.

Model, settings and the use of unlabeled rows are chosen on the pilot inside of `lw.plan`. Forecasts are the plan's
own, with the constants in use: these were chosen with other pilots of these corpora in view, so a corpus of yours is
the real test.
"""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

import labelworth as lw
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError, LabelworthWarning
from labelworth.estimators.automatic import candidates, with_telling_features
from labelworth.report.values import Outcome, Picture, Table
from labelworth.simulation.learner import Mode
from labelworth_studies.forecasts.model_choice import CORPORA, corpus_samples, digest, prepare, shown_rows
from labelworth_studies.forecasts.parts.forecast_cell import FACTORS
from labelworth_studies.forecasts.parts.forecast_scores import Score, grouped, summed_up
from labelworth_studies.forecasts.parts.forecast_shown import COLUMNS, columns_of, forecast_panel
from labelworth_studies.runner.study import Cell, Result, Study

SIZES = (100, 200, 400)
N_DRAWS = 3
N_TEST, N_POOL = 2500, 2000
_N_EXTENSIONS = 2
_LEAST_REST = 100
"""So many rows of a pool stay without a label."""


def cells(quick: bool, seed: int) -> list[dict[str, Any]]:
    """Every corpus, draw and size; the quick grid has one draw of the smallest and the largest size."""
    return [
        {"corpus": corpus, "n_pilot": size, "seed": seed + draw}
        for draw in range(1 if quick else N_DRAWS)
        for size in (SIZES[::2] if quick else SIZES)
        for corpus in CORPORA
    ]


def compute(cell: Cell) -> Result:
    """A plan from one pilot; errors of the model it chose with labels added at random, on rows that no fit saw."""
    whole, n_pilot, seed = corpus_samples(cell["corpus"]), int(cell["n_pilot"]), int(cell["seed"])
    order = np.random.default_rng([seed, n_pilot]).permutation(whole.n_samples)
    n_test = min(N_TEST, round(0.3 * whole.n_samples))
    n_pool = min(whole.n_samples - n_test, N_POOL * (2 if n_pilot >= SIZES[-1] else 1))
    rows = with_telling_features(whole.take(np.concatenate([order[n_test:][:n_pool], order[:n_test]])))
    pool = shown_rows(rows, np.arange(n_pilot))[0].take(np.arange(n_pool))
    factors = [factor for factor in FACTORS if factor * n_pilot <= n_pool - _LEAST_REST]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LabelworthWarning)
        plan = lw.plan(pool, budget=float(max(factors) * n_pilot), seed=seed)
    choice, curve = plan.models, plan.forecast
    if choice is None or curve is None:
        raise InvalidInputError(f"A pilot of {n_pilot} labels is too small to choose a model on.")
    chosen, sizes = choice.chosen, [factor * n_pilot for factor in factors]
    law = np.array(curve.power_law, dtype=np.float64)
    return {
        "chosen": chosen.name,
        "uses_unlabeled": chosen.uses_unlabeled,
        "factors": factors,
        "told": [curve.at(size) for size in sizes],
        "power_law": np.interp(np.log(sizes), np.log(curve.labels), law).tolist(),
        "realized": [_realized(rows, chosen.name, n_pilot, n_pool, seed, size) for size in sizes],
    }


def _realized(rows: Samples, name: str, n_pilot: int, n_pool: int, seed: int, size: int) -> list[float]:
    """Errors with so many labels, those of the pilot among them, for every way to add the others.

    Classes that the pilot has not are known once a label is of them.
    """
    pool, rest = np.arange(n_pool), np.arange(n_pool, rows.n_samples)
    errors = []
    for extension in range(_N_EXTENSIONS):
        added = n_pilot + np.random.default_rng([seed, n_pilot, extension, 1]).permutation(n_pool - n_pilot)
        shown, truths = shown_rows(rows, np.concatenate([pool[:n_pilot], added])[:size])
        model = next(model for model in candidates(shown) if model.name == name)
        data, learner = model.estimator.refits(shown)
        best = learner.predict(learner.fit(data.take(pool)), data.take(rest)).best
        errors.append(float(np.mean(best != truths[n_pool:])))
    return errors


def scores_of(pairs: Sequence[tuple[Cell, Result]]) -> list[Score]:
    """All forecasts beside what came true."""
    scores = []
    for cell, result in pairs:
        mode: Mode = "semi-supervised" if result["uses_unlabeled"] else "labels-only"
        columns = (result["factors"], result["told"], result["power_law"], result["realized"])
        for factor, (error, low, high), law, realized in zip(*columns, strict=True):
            came_true = float(np.mean(realized))
            scores.append(
                Score(
                    cell["corpus"],
                    "auto",
                    mode,
                    int(cell["n_pilot"]),
                    factor,
                    error,
                    low,
                    high,
                    law,
                    came_true,
                    seed=int(cell["seed"]),
                )
            )
    return scores


def summarize(pairs: Sequence[tuple[Cell, Result]]) -> Outcome:
    """Mean absolute errors and coverage, in all and by corpus, size and factor."""
    scores = scores_of(pairs)
    keys = {
        "all": lambda score: "all",
        "corpora": lambda score: score.corpus,
        "factors": lambda score: f"{score.factor}",
        "pilots": lambda score: f"{score.n_pilot}",
        "modes": lambda score: score.mode,
    }
    figures: dict[str, Any] = {
        part: {name: summed_up(own) for name, own in grouped(scores, key).items()} for part, key in keys.items()
    }
    figures["chosen"] = {
        f"{cell['corpus']}/{cell['n_pilot']}/{cell['seed']}": result["chosen"] for cell, result in pairs
    }
    every = figures["all"]["all"]
    words = (
        f"{every['n_forecasts']} forecasts of {every['n_pilots']} plans in which no model was named: mean absolute "
        f"error {every['mean_absolute_error']:.4f}, {every['ratio']:.2f} of a power law's through the same points; "
        f"90 % intervals hold {every['coverage']:.1%}.",
    )
    parts = ("all", "corpora", "factors", "pilots")
    rows = [(name, *columns_of(own)) for part in parts for name, own in figures[part].items()]
    table = Table("Forecasts of plans in which no model was named", ("of", *COLUMNS), tuple(rows))
    panel = forecast_panel("2, 4 and 8 times the labels, no model named", scores)
    picture = Picture("What plans said, and what came true", (panel,), n_columns=1)
    return Outcome(figures=figures, words=words, tables=(table,), pictures={"": picture})


STUDY = Study(
    name="default-plans",
    title="What plans forecast when no model is named, and what came true",
    cells=cells,
    compute=compute,
    summarize=summarize,
    corpora=("newsgroups", "r52", "rcv1", "sms", "webkb", "trec", "subjectivity", "reviews", "banking"),
    data_digest=digest,
    prepare=prepare,
)
