"""Rows chosen by worth, by uncertainty and at random: error over labels on four corpora, and forecasts of each."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.data.digest import texts_digest
from labelworth.policies.choosing import RANDOM, By, Choosing
from labelworth.progress import Progress
from labelworth.report.values import Curve, CurvesPanel, Measured, Outcome, Picture, Table
from labelworth.simulation.basis import ForecastBasis, forecast_basis
from labelworth.simulation.forecast import forecast
from labelworth.simulation.learner import Mode, code_errors, keep_labels, known_codes
from labelworth.simulation.simulator import WHOLE, chosen_units
from labelworth_studies.corpora.folder import newsgroups, short_texts
from labelworth_studies.corpora.populations import CORPORA, population
from labelworth_studies.forecasts.parts.forecast_cell import drawn
from labelworth_studies.runner.study import Cell, Result, Study

NAMES = ("sms", "trec", "subjectivity", "newsgroups")
N_DRAWS, N_PILOT = 10, 100
SIZES = (100, 200, 400)
"""Labels in all: a random start, then rounds that double them."""
LEARNERS: Mapping[str, tuple[Mode, tuple[str, ...]]] = {
    "logistic": ("labels-only", NAMES),
    "naive-bayes": ("semi-supervised", ("subjectivity", "newsgroups")),
}
"""How each learns, and on which corpora. Unlabeled rows mislead naive Bayes on SMS and TREC (see harm-verdict), and
from labels alone it must not be given chosen rows."""
N_FORECASTS: Mapping[tuple[str, str], int] = {
    ("sms", "logistic"): 10,
    ("trec", "logistic"): 10,
    ("subjectivity", "logistic"): 10,
    ("newsgroups", "logistic"): 5,
    ("subjectivity", "naive-bayes"): 10,
    ("newsgroups", "naive-bayes"): 3,
}
"""Of how many draws there is a forecast: fits to twenty classes are slow."""
WAYS: tuple[By, ...] = ("random", "uncertainty", "worth")
_SIMULATED_ONCE = ("newsgroups",)
"""Where curves are simulated once, not three times as plans do: fits to twenty classes are slow."""


def cells(quick: bool, seed: int) -> list[dict[str, Any]]:
    """Draws of a start on every corpus for its learners: what happened, and what was forecast; quick: two draws."""
    return [
        {"corpus": name, "learner": learner, "seed": seed + draw, "part": part}
        for learner, (_, names) in LEARNERS.items()
        # One corpus after the other: each is read once.
        for name in names
        for part, n_draws in (("errors", N_DRAWS), ("forecast", N_FORECASTS[name, learner]))
        for draw in range(2 if quick else n_draws)
    ]


def compute(cell: Cell) -> Result:
    """Errors on the units kept out along every way to choose; or what forecasts from the start rest on."""
    whole, seed = population(cell["corpus"], cell["learner"]), int(cell["seed"])
    mode, _ = LEARNERS[cell["learner"]]
    units, held_out = drawn(whole, N_PILOT, seed, 0)
    pool, start = whole.pool(units), np.arange(N_PILOT)
    if cell["part"] == "forecast":
        basis = forecast_basis(
            replace(whole.learner, mode=mode, modes=(mode,)),
            keep_labels(pool, start),
            SIZES[-1],
            choosings=[Choosing(by) for by in WAYS if by != RANDOM],
            seed=seed,
            has_time=lambda work: cell["corpus"] not in _SIMULATED_ONCE,
            workers=1,
        )
        return {"basis": basis.to_dict()}
    tested = whole.data.take(np.sort(held_out))
    learner, codes = whole.patient_learner.in_mode(mode), known_codes(tested)
    errors: dict[str, list[float]] = {}
    for by in WAYS:
        # One path: larger sets of labels contain smaller ones.
        path = chosen_units(learner, pool, start, SIZES[-1], Choosing(by), seed)
        fits = (learner.fit(keep_labels(pool, path[:size])) for size in SIZES)
        errors[by] = [float(code_errors(learner.predict(fitted, tested).best, codes).mean()) for fitted in fits]
    return {"errors": errors, "n_tested": tested.n_samples}


def summarize(pairs: Sequence[tuple[Cell, Result]]) -> Outcome:
    """Errors with standard errors over draws, paired differences from random, and how often intervals hold."""
    figures: dict[str, Any] = {}
    rows, held_rows, panels = [], [], []
    for learner, name in dict.fromkeys((cell["learner"], cell["corpus"]) for cell, _ in pairs):
        own_pairs = [(cell, result) for cell, result in pairs if (cell["learner"], cell["corpus"]) == (learner, name)]
        here, told = ({c["seed"]: r for c, r in own_pairs if c["part"] == part} for part in ("errors", "forecast"))
        seeds = [seed for seed in here if seed in told]
        title = f"{CORPORA[name].title}, {learner}"
        errors = {by: np.array([result["errors"][by] for result in here.values()]) for by in WAYS}
        forecasts = {by: _forecasts([told[seed] for seed in seeds], LEARNERS[learner][0], by) for by in WAYS}
        own: dict[str, Any] = {"n_draws": len(here)}
        for by in WAYS:
            gaps = errors[by] - errors[RANDOM]
            is_in, off = _held(forecasts[by], np.array([here[seed]["errors"][by] for seed in seeds]))
            own[by] = {
                "errors": errors[by].mean(axis=0).tolist(),
                "errors_se": _spread(errors[by]),
                "less_random": gaps.mean(axis=0).tolist(),
                "less_random_se": _spread(gaps),
                "coverage": float(is_in.mean()),
                "n_forecasts": int(is_in.size),
                "mean_absolute_error": float(np.abs(off).mean()),
                "bias": float(off.mean()),
            }
            for index, size in enumerate(SIZES):
                if by == RANDOM or size > N_PILOT:
                    rows.append(
                        (
                            title,
                            by if size > N_PILOT else "start",
                            size,
                            Measured(own[by]["errors"][index], own[by]["errors_se"][index]),
                            ""
                            if by == RANDOM
                            else Measured(own[by]["less_random"][index], own[by]["less_random_se"][index]),
                        )
                    )
            held_rows.append(
                (
                    title,
                    by,
                    own[by]["n_forecasts"],
                    own[by]["coverage"],
                    own[by]["mean_absolute_error"],
                    own[by]["bias"],
                )
            )
        figures[f"{name}/{learner}"] = own
        panels.append(_panel(title, own))
    figures["coverage"] = {by: _together(figures, by) for by in WAYS}
    words = [
        f"Forecasts of labels by {by}: 90 % intervals hold {own['coverage']:.1%} of {own['n_forecasts']} errors."
        for by, own in figures["coverage"].items()
    ]
    note = (
        f"Batches from a random start of {N_PILOT} labels; a quarter of each is drawn at random. Standard errors "
        "over draws; differences are paired: the same start, pool and test rows."
    )
    tables = (
        Table(
            "Error on test rows", ("corpus, learner", "rows by", "labels", "error", "less random"), tuple(rows), note
        ),
        Table(
            "Forecasts from the start",
            ("corpus, learner", "rows by", "forecasts", "held by 90 % intervals", "mean abs. error", "bias"),
            tuple(held_rows),
            "At 200 and 400 labels, against the error of one path on the test rows.",
        ),
    )
    pictures = {"": Picture("Error over labels: chosen and at random", tuple(panels), n_columns=3)}
    return Outcome(figures=figures, words=tuple(words), tables=tables, pictures=pictures)


def _panel(title: str, own: Mapping[str, Any]) -> CurvesPanel:
    """Errors over labels, a curve for every way, with two standard errors over draws to either side."""
    curves = []
    for by in WAYS:
        errors, margins = np.array(own[by]["errors"]), 2 * np.array(own[by]["errors_se"])
        curves.append(Curve(by, np.array(SIZES, float), errors, errors - margins, errors + margins))
    return CurvesPanel(title, "labels", "error on test rows", tuple(curves), x_scale="log")


def _forecasts(results: Sequence[Result], mode: Mode, by: By) -> FloatArray:
    """Forecast and the ends of its interval, at all sizes beyond the start, (n_draws, 3, n_sizes)."""
    policy = WHOLE if by == RANDOM else Choosing(by).name
    curves = [
        forecast(ForecastBasis.from_dict(result["basis"]), mode, "error", np.array(SIZES[1:]), policy=policy)
        for result in results
    ]
    return np.array([[curve.values, curve.low, curve.high] for curve in curves])


def _held(forecasts: FloatArray, errors: FloatArray) -> tuple[FloatArray, FloatArray]:
    realized = errors[:, 1:]
    is_in = (forecasts[:, 1] <= realized) & (realized <= forecasts[:, 2])
    return is_in.astype(np.float64), forecasts[:, 0] - realized


def _spread(values: FloatArray) -> list[float]:
    """Standard errors of means over draws."""
    if len(values) < 2:
        return [0.0] * values.shape[1]
    errors: list[float] = (values.std(axis=0, ddof=1) / np.sqrt(len(values))).tolist()
    return errors


def _together(figures: Mapping[str, Any], by: By) -> dict[str, Any]:
    parts = [own[by] for own in figures.values()]
    n_forecasts = sum(part["n_forecasts"] for part in parts)
    held = sum(part["coverage"] * part["n_forecasts"] for part in parts)
    return {"coverage": held / n_forecasts, "n_forecasts": n_forecasts}


def prepare(progress: Progress) -> None:
    progress.say("Reading the corpora, one after the other.")


def digest() -> str:
    return texts_digest(newsgroups("all"), *(short_texts(name) for name in NAMES if name != "newsgroups"))


STUDY = Study(
    name="chosen",
    title="Rows chosen by worth and by uncertainty against rows at random",
    cells=cells,
    compute=compute,
    summarize=summarize,
    corpora=NAMES,
    data_digest=digest,
    prepare=prepare,
)
