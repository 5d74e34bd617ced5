"""The model that a pilot chooses against every model it could have chosen, on rows that no fit has seen."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from labelworth.arrays import UNLABELED, IntArray
from labelworth.data.digest import texts_digest
from labelworth.data.evidence import Evidence
from labelworth.data.samples import Samples
from labelworth.data.text import count_words
from labelworth.errors import InvalidInputError
from labelworth.estimators.automatic import AutomaticModel, Candidate, candidates, with_telling_features
from labelworth.progress import SILENT, Progress
from labelworth.report.values import BarsPanel, Curve, Outcome, Picture, Table
from labelworth.simulation.jobs import run_jobs
from labelworth.simulation.selection import LOG_LOSS_WEIGHT
from labelworth_studies.corpora.folder import SHORT_CORPORA, digits, newsgroups, rcv1_tokens, reuters_r52, short_texts
from labelworth_studies.corpora.populations import WORLDS
from labelworth_studies.runner.study import Cell, Result, Study

SIZES = (100, 400, 1600)
N_PILOTS = 5
N_POOL, N_TEST = 4000, 2500
WEIGHTS = (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
"""Of the log-loss beside the error: what was tried."""
_N_DRAWN = 6000
_LEAST_REST = 200
"""So many rows of a pool stay without a label."""

_TEXTS: Mapping[str, Callable[[], Any]] = {
    "newsgroups": lambda: newsgroups("all"),
    "r52": reuters_r52,
    "rcv1": rcv1_tokens,
    **{name: partial(short_texts, name) for name in SHORT_CORPORA},
}
_DRAWN = ("drawn-5", "drawn-6")
CORPORA = (*_TEXTS, "digits", *_DRAWN)


def cells(quick: bool, seed: int) -> list[dict[str, Any]]:
    """Every corpus at three sizes; the quick grid has one pilot each."""
    return [
        {"corpus": corpus, "n_pilot": size, "seed": [seed, pilot]}
        for pilot in range(1 if quick else N_PILOTS)
        for corpus in CORPORA
        for size in SIZES
    ]


@lru_cache(maxsize=1)
def corpus_samples(name: str) -> Samples:
    """All rows of a corpus that have a class; words of two texts or more, labels playing no part."""
    if name in _DRAWN:
        return WORLDS[name].draw(_N_DRAWN)
    if name == "digits":
        raw = digits()
        return Samples(raw.features, raw.evidence())
    texts = _TEXTS[name]()
    samples = Samples(count_words(texts.texts, min_df=2)[1], texts.evidence())
    return samples.take(samples.evidence.is_gold)


def compute(cell: Cell) -> Result:
    """Cross-validated figures of all candidates on one pilot, and what each errs on rows that no fit has seen."""
    whole = corpus_samples(cell["corpus"])
    rng = np.random.default_rng([*cell["seed"], int(cell["n_pilot"])])
    order = rng.permutation(whole.n_samples)
    n_pool = min(N_POOL, round(0.7 * whole.n_samples))
    n_pilot = min(int(cell["n_pilot"]), n_pool - _LEAST_REST)
    rows, truths = _shown(whole.take(order[: n_pool + N_TEST]), n_pilot)
    pool, rest = np.arange(n_pool), np.arange(n_pool, rows.n_samples)
    models = candidates(rows)
    _, choice = AutomaticModel(seed=int(cell["seed"][1])).choose(rows.take(pool), models)
    if choice is None:
        raise InvalidInputError(f"A pilot of {n_pilot} labels is too small to choose on.")
    figures = {model.name: model for model in (choice.chosen, *choice.others)}

    def tested(model: Candidate) -> float:
        # Features are made of all rows, labels play no part in it.
        data, learner = model.estimator.refits(model.read(rows))
        best = learner.predict(learner.fit(data.take(pool)), data.take(rest)).best
        return float((best != truths[n_pool:]).mean())

    return {
        "names": [model.name for model in models],
        "uses_unlabeled": [model.uses_unlabeled for model in models],
        "errors": [figures[model.name].error for model in models],
        "log_losses": [figures[model.name].log_loss for model in models],
        "tested": run_jobs(tested, models, workers=1, title="testing", progress=SILENT),
        "chosen": choice.chosen.name,
        "shift": choice.optimism["error"].shift,
    }


def _shown(rows: Samples, n_pilot: int) -> tuple[Samples, IntArray]:
    """The rows with the labels of the first few, whose classes are all that is known; and the classes of all.

    A class that the pilot has no label of is -1, which nobody predicts.
    """
    codes = rows.evidence.codes
    known = np.unique(codes[:n_pilot])
    renamed = np.full(rows.evidence.n_classes, UNLABELED)
    renamed[known] = np.arange(len(known))
    truths = renamed[codes]
    shown = np.where(np.arange(len(codes)) < n_pilot, truths, UNLABELED)
    classes = tuple(rows.evidence.classes[code] for code in known)
    return with_telling_features(rows.with_evidence(Evidence(shown, classes))), truths


def chosen(result: Mapping[str, Any], weight: float, among: Sequence[int] | None = None) -> int:
    """Which candidate is chosen with that weight of the log-loss."""
    scores = np.array(result["errors"]) + weight * np.array(result["log_losses"])
    kept = range(len(scores)) if among is None else among
    return min(kept, key=lambda index: scores[index])


def regret(result: Mapping[str, Any], weight: float = LOG_LOSS_WEIGHT) -> float:
    """By how much the chosen model errs more than the best candidate."""
    tested = result["tested"]
    return float(tested[chosen(result, weight)] - min(tested))


def unlabeled_regret(result: Mapping[str, Any], weight: float = LOG_LOSS_WEIGHT) -> float:
    """By how much the chosen model errs more than the better of the two that would have been chosen with samples
    without a label, and without.
    """
    tested, uses = result["tested"], result["uses_unlabeled"]
    sides = [[index for index, own in enumerate(uses) if own == side] for side in (True, False)]
    return float(tested[chosen(result, weight)] - min(tested[chosen(result, weight, side)] for side in sides))


def left_out_weight(pairs: Sequence[tuple[Cell, Result]], corpus: str) -> float:
    """The weight of least mean regret on all other corpora."""
    others = [result for cell, result in pairs if cell["corpus"] != corpus]
    if not others:
        return LOG_LOSS_WEIGHT
    return min(WEIGHTS, key=lambda weight: np.mean([regret(result, weight) for result in others]))


def summarize(pairs: Sequence[tuple[Cell, Result]]) -> Outcome:
    """Regrets by corpus and size: as it is, and with the weight of the log-loss tuned on the other corpora."""
    weights = {
        corpus: left_out_weight(pairs, corpus) for corpus in dict.fromkeys(cell["corpus"] for cell, _ in pairs)
    }
    cells_of: dict[tuple[str, int], list[tuple[str, Result]]] = {}
    for cell, result in pairs:
        cells_of.setdefault((cell["corpus"], int(cell["n_pilot"])), []).append((cell["corpus"], result))
    rows = []
    for (corpus, size), results in cells_of.items():
        own = [result for _, result in results]
        uses = [dict(zip(result["names"], result["uses_unlabeled"], strict=True))[result["chosen"]] for result in own]
        rows.append(
            {
                "corpus": corpus,
                "size": size,
                "n_pilots": len(own),
                "best": float(np.mean([min(result["tested"]) for result in own])),
                "regret": float(np.mean([regret(result) for result in own])),
                "largest": max(regret(result) for result in own),
                "left_out": float(np.mean([regret(result, weights[corpus]) for result in own])),
                "unlabeled": float(np.mean([unlabeled_regret(result) for result in own])),
                "uses": int(sum(uses)),
            }
        )
    every = [result for _, result in pairs]
    fixed = fixed_regrets(every)
    total = {
        "n_pilots": len(every),
        "mean_regret": float(np.mean([regret(result) for result in every])),
        "largest_regret": max(regret(result) for result in every),
        "mean_regret_left_out": float(np.mean([regret(result, weights[cell["corpus"]]) for cell, result in pairs])),
        "mean_unlabeled_regret": float(np.mean([unlabeled_regret(result) for result in every])),
        "by_weight": {
            str(weight): float(np.mean([regret(result, weight) for result in every])) for weight in WEIGHTS
        },
        "left_out_weights": weights,
        "fixed": fixed,
        "level_bias": level_bias(every),
    }
    return Outcome(
        figures={"cells": rows, **total},
        words=_words(total),
        tables=(_table(rows), _fixed_table(fixed)),
        pictures={"": _picture(rows)},
    )


def fixed_regrets(results: Sequence[Result]) -> dict[str, list[float]]:
    """Mean regret, largest regret and number of pilots of every candidate, were it always taken."""
    regrets: dict[str, list[float]] = {}
    for result in results:
        for name, error in zip(result["names"], result["tested"], strict=True):
            regrets.setdefault(name, []).append(error - min(result["tested"]))
    return {name: [float(np.mean(own)), max(own), len(own)] for name, own in regrets.items()}


def level_bias(results: Sequence[Result]) -> dict[str, float]:
    """Cross-validated error of the chosen model less its error on other rows, as it is and corrected.

    Folds learn from four fifths of the pilot, so that a part of it is what the last fifth buys.
    """
    plain = [
        result["errors"][result["names"].index(result["chosen"])]
        - result["tested"][result["names"].index(result["chosen"])]
        for result in results
    ]
    corrected = [gap + result["shift"] for gap, result in zip(plain, results, strict=True)]
    return {"plain": float(np.mean(plain)), "corrected": float(np.mean(corrected))}


def _words(total: Mapping[str, Any]) -> tuple[str, ...]:
    points = {name: f"{100 * value:.2f}" for name, value in total.items() if isinstance(value, float)}
    return (
        f"Over {total['n_pilots']} pilots the chosen model errs {points['mean_regret']} points more than the best "
        f"candidate in the mean, {points['largest_regret']} at most; {points['mean_regret_left_out']} with the "
        "weight of the log-loss tuned on the other corpora.",
        f"Using samples without a label or not costs {points['mean_unlabeled_regret']} points against the better of "
        "the two.",
    )


def _table(rows: Sequence[Mapping[str, Any]]) -> Table:
    return Table(
        "What the choice of a model costs, in points",
        ("corpus", "labels", "pilots", "best error", "regret", "largest", "left out", "unlabeled", "uses unlabeled"),
        tuple(
            (
                row["corpus"],
                str(row["size"]),
                row["n_pilots"],
                round(100 * row["best"], 1),
                *(round(100 * row[name], 2) for name in ("regret", "largest", "left_out", "unlabeled")),
                f"{row['uses']} of {row['n_pilots']}",
            )
            for row in rows
        ),
        note="Error on rows that no fit has seen, less that of the best candidate; with the weight of the log-loss "
        "tuned on the other corpora (left out); and less that of the better of the two models that would be chosen "
        "with samples without a label and without (unlabeled).",
    )


def _fixed_table(fixed: Mapping[str, Sequence[float]]) -> Table:
    rows = sorted(fixed.items(), key=lambda item: item[1][0])
    return Table(
        "What it costs to take always the same model, in points",
        ("model", "mean regret", "largest", "pilots"),
        tuple((name, round(100 * mean, 2), round(100 * most, 1), int(n)) for name, (mean, most, n) in rows),
    )


def _picture(rows: Sequence[Mapping[str, Any]]) -> Picture:
    panels = []
    for size in SIZES:
        here = [row for row in rows if row["size"] == size]
        positions = np.arange(len(here), dtype=np.float64)
        bars = (Curve("regret", positions, np.array([100 * row["regret"] for row in here])),)
        panels.append(BarsPanel(f"{size} labels", "points", tuple(row["corpus"] for row in here), bars))
    return Picture("The chosen model against the best candidate", tuple(panels), n_columns=1)


def digest() -> str:
    """Which texts and labels the study reads."""
    return texts_digest(*(read() for read in _TEXTS.values()))


def prepare(progress: Progress) -> None:
    """Say what comes first, and fail at once where a corpus is missing."""
    progress.say("Reading the corpora, once per process.")
    for read in _TEXTS.values():
        read()


STUDY = Study(
    name="model-choice",
    title="The model that a pilot chooses, against the best of the candidates",
    cells=cells,
    compute=compute,
    summarize=summarize,
    data_digest=digest,
    prepare=prepare,
)
