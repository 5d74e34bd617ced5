"""The model that a pilot chooses against every model it could have chosen, on rows that no fit has seen."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from labelworth.arrays import UNLABELED, BoolArray, IntArray
from labelworth.data.digest import texts_digest
from labelworth.data.evidence import Evidence
from labelworth.data.samples import Samples
from labelworth.data.text import count_words
from labelworth.errors import InvalidInputError
from labelworth.estimators.automatic import AutomaticModel, Candidate, candidates, with_telling_features
from labelworth.estimators.bernoulli import BernoulliNaiveBayes
from labelworth.estimators.others.any_classifier import AnyClassifier
from labelworth.estimators.others.named_classifiers import NAMED
from labelworth.planning.trust.verdict import verdict_by_choice
from labelworth.progress import SILENT, Progress
from labelworth.report.values import BarsPanel, Curve, Outcome, Picture, Table
from labelworth.simulation.jobs import run_jobs
from labelworth.simulation.selection import WRONG_PROBABILITY_WEIGHT
from labelworth_studies.corpora.folder import SHORT_CORPORA, digits, newsgroups, rcv1_tokens, reuters_r52, short_texts
from labelworth_studies.corpora.populations import WORLDS
from labelworth_studies.runner.study import Cell, Result, Study

SIZES = (100, 400, 1600)
N_PILOTS = 5
N_POOL, N_TEST = 4000, 2500
WEIGHTS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)
"""Of the probability given to wrong classes beside the error: what was tried."""
TOLD = 1.96
"""The truth is told where a difference on rows that no fit has seen exceeds so many standard errors."""
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
    rows = with_telling_features(whole.take(order[: n_pool + N_TEST]))
    rows, truths = shown_rows(rows, np.arange(n_pilot))
    pool, rest = np.arange(n_pool), np.arange(n_pool, rows.n_samples)
    models = candidates(rows)
    others = also_named(rows, models)
    _, choice = AutomaticModel(seed=int(cell["seed"][1])).choose(rows.take(pool), models)
    if choice is None:
        raise InvalidInputError(f"A pilot of {n_pilot} labels is too small to choose on.")
    figures = {model.name: model for model in (choice.chosen, *choice.others)}

    def is_wrong(model: Candidate) -> BoolArray:
        # Features are made of all rows, labels play no part in it.
        data, learner = model.estimator.refits(rows)
        best = learner.predict(learner.fit(data.take(pool)), data.take(rest)).best
        return np.asarray(best != truths[n_pool:])

    wrong = run_jobs(is_wrong, [*models, *others], workers=1, title="testing", progress=SILENT)
    names = [model.name for model in models]
    sides = [choice.best(uses_unlabeled=uses) for uses in (True, False)]
    together, alone = (np.zeros(0) if side is None else wrong[names.index(side.name)] for side in sides)
    gaps = together.astype(float) - alone
    return {
        "names": names,
        "uses_unlabeled": [model.uses_unlabeled for model in models],
        "errors": [figures[name].error for name in names],
        "doubts": [figures[name].wrong_probability for name in names],
        "tested": [float(own.mean()) for own in wrong[: len(models)]],
        # Of every model that one can name instead, with its usual settings.
        "named": {
            model.name: float(own.mean())
            for model, own in zip([*models, *others], wrong, strict=True)
            if model.settings.keys() <= {"model", "unlabeled_weight"}
            and model.settings.get("unlabeled_weight", 1.0) in (0.0, 1.0)
        },
        "chosen": choice.chosen.name,
        "sides": ["" if side is None else side.name for side in sides],
        # With less without samples without a label, on rows that no fit has seen, with its standard error.
        "gap": [float(gaps.mean()), float(gaps.std() / np.sqrt(len(gaps)))],
        "answer": verdict_by_choice(choice).answer,
        "is_wary": choice.lacks_classes,
        "shift": choice.optimism["error"].shift,
    }


def also_named(rows: Samples, models: Sequence[Candidate]) -> list[Candidate]:
    """What one can name for such rows and is no candidate."""
    others = [
        Candidate(one.words, name, AnyClassifier(name, name=one.words, random_state=0))
        for name, one in NAMED.items()
        if name not in {model.model for model in models}
    ]
    if rows.is_sparse:
        others += [
            Candidate(name, "bernoulli", BernoulliNaiveBayes(unlabeled_weight=weight), weight > 0)
            for name, weight in (("EM Bernoulli naive Bayes", 1.0), ("Bernoulli naive Bayes", 0.0))
        ]
    return others


def shown_rows(rows: Samples, labeled: IntArray) -> tuple[Samples, IntArray]:
    """The rows with these labels, whose classes are all that is known; and the classes of all.

    A class that no label is of is -1, which nobody predicts.
    """
    codes = rows.evidence.codes
    known = np.unique(codes[labeled])
    renamed = np.full(rows.evidence.n_classes, UNLABELED)
    renamed[known] = np.arange(len(known))
    truths = renamed[codes]
    shown = np.full(len(codes), UNLABELED)
    shown[labeled] = truths[labeled]
    classes = tuple(rows.evidence.classes[code] for code in known)
    return rows.with_evidence(Evidence(shown, classes)), truths


def tested(result: Mapping[str, Any], name: str) -> float:
    """The error of one candidate on rows that no fit has seen."""
    return float(result["tested"][result["names"].index(name)])


def chosen(result: Mapping[str, Any], weight: float) -> str:
    """Which candidate is chosen with that weight of the doubt; as it is, where the pilot lacks classes. With another
    weight than the usual one slow candidates need not be surely better.
    """
    if result["is_wary"] or weight == WRONG_PROBABILITY_WEIGHT:
        return str(result["chosen"])
    scores = np.array(result["errors"]) + weight * np.array(result["doubts"])
    return str(result["names"][int(scores.argmin())])


def regret(result: Mapping[str, Any], weight: float = WRONG_PROBABILITY_WEIGHT) -> float:
    """By how much the chosen model errs more than the best candidate."""
    return float(tested(result, chosen(result, weight)) - min(result["tested"]))


def named_regret(result: Mapping[str, Any]) -> float:
    """By how much the chosen model errs more than the best of those that one can name instead; less than none where
    settings or unlabeled samples make it better than all of them.
    """
    return float(tested(result, result["chosen"]) - min(result["named"].values()))


def unlabeled_regret(result: Mapping[str, Any]) -> float:
    """By how much the chosen model errs more than the better of the two that would have been chosen with samples
    without a label, and without.
    """
    return tested(result, result["chosen"]) - min(tested(result, side) for side in result["sides"])


def cost_of_doubt(result: Mapping[str, Any]) -> float:
    """By how much the chosen model errs more than the one that the labels alone would have chosen."""
    return tested(result, result["chosen"]) - tested(result, result["sides"][1])


def truth(result: Mapping[str, Any]) -> str:
    """What the rows that no fit has seen say of samples without a label."""
    gap, error = result["gap"]
    if abs(gap) <= TOLD * error:
        return "cannot be told"
    return "helps" if gap < 0 else "hurts"


def left_out_weight(pairs: Sequence[tuple[Cell, Result]], corpus: str) -> float:
    """The weight of least mean regret on all other corpora."""
    others = [result for cell, result in pairs if cell["corpus"] != corpus]
    if not others:
        return WRONG_PROBABILITY_WEIGHT
    return min(WEIGHTS, key=lambda weight: np.mean([regret(result, weight) for result in others]))


def verdicts(results: Sequence[Result]) -> dict[str, Any]:
    """How the harm verdict compares with the truth, and what it costs where it stays open."""
    told = [result for result in results if truth(result) != "cannot be told"]
    answers = [result["answer"] for result in told]
    open_ones = [result for result in results if result["answer"] == "cannot be told"]
    return {
        "n_pilots": len(results),
        "n_told": len(told),
        "right": sum(answer == truth(result) for answer, result in zip(answers, told, strict=True)),
        "open": answers.count("cannot be told"),
        "wrong": sum(
            answer not in (truth(result), "cannot be told") for answer, result in zip(answers, told, strict=True)
        ),
        "n_open": len(open_ones),
        "cost_of_open": float(np.mean([cost_of_doubt(result) for result in open_ones])) if open_ones else 0.0,
    }


def summarize(pairs: Sequence[tuple[Cell, Result]]) -> Outcome:
    """Regrets by corpus and size: as it is, and with the weight of the doubt tuned on the other corpora."""
    corpora = tuple(dict.fromkeys(cell["corpus"] for cell, _ in pairs))
    weights = {corpus: left_out_weight(pairs, corpus) for corpus in corpora}
    cells_of: dict[tuple[str, int], list[Result]] = {}
    for cell, result in pairs:
        cells_of.setdefault((cell["corpus"], int(cell["n_pilot"])), []).append(result)
    rows = []
    for (corpus, size), own in cells_of.items():
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
                "named": float(np.mean([named_regret(result) for result in own])),
                "named_largest": max(named_regret(result) for result in own),
                "unlabeled": float(np.mean([unlabeled_regret(result) for result in own])),
                "uses": int(sum(uses)),
            }
        )
    of_corpus = {corpus: [result for cell, result in pairs if cell["corpus"] == corpus] for corpus in corpora}
    unlabeled = [
        {
            "corpus": corpus,
            "regret": float(np.mean([unlabeled_regret(result) for result in own])),
            "largest": max(unlabeled_regret(result) for result in own),
            **verdicts(own),
        }
        for corpus, own in of_corpus.items()
    ]
    every = [result for _, result in pairs]
    regrets = np.array([regret(result) for result in every])
    named = np.array([named_regret(result) for result in every])
    fixed = fixed_regrets(every)
    total = {
        "n_pilots": len(every),
        "mean_regret": float(regrets.mean()),
        "mean_regret_se": float(regrets.std() / np.sqrt(len(regrets))),
        "largest_regret": float(regrets.max()),
        "n_above_3_points": int((regrets > 0.03).sum()),
        "named": {
            "mean": float(named.mean()),
            "mean_se": float(named.std() / np.sqrt(len(named))),
            "largest": float(named.max()),
            "largest_of_a_cell": float(np.max([row["named"] for row in rows])),
            "n_above_3_points": int((named > 0.03).sum()),
        },
        "by_size": {
            str(size): _summary([regret(result) for cell, result in pairs if cell["n_pilot"] == size])
            for size in dict.fromkeys(cell["n_pilot"] for cell, _ in pairs)
        },
        "mean_regret_left_out": float(np.mean([regret(result, weights[cell["corpus"]]) for cell, result in pairs])),
        "mean_unlabeled_regret": float(np.mean([unlabeled_regret(result) for result in every])),
        "largest_unlabeled_regret_of_a_corpus": max(row["regret"] for row in unlabeled),
        "largest_unlabeled_regret": max(row["largest"] for row in unlabeled),
        "verdicts": verdicts(every),
        "by_weight": {
            str(weight): float(np.mean([regret(result, weight) for result in every])) for weight in WEIGHTS
        },
        "left_out_weights": weights,
        "fixed": fixed,
        "level_bias": level_bias(every),
    }
    return Outcome(
        figures={"cells": rows, "unlabeled": unlabeled, **total},
        words=_words(total),
        tables=(_table(rows), _unlabeled_table(unlabeled), _fixed_table(fixed)),
        pictures={"": _picture(rows)},
    )


def _summary(regrets: Sequence[float]) -> dict[str, float]:
    return {"n_pilots": len(regrets), "mean": float(np.mean(regrets)), "largest": max(regrets)}


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
    own, named = total["verdicts"], total["named"]
    return (
        f"Over {total['n_pilots']} pilots the chosen model errs {points['mean_regret']} points more than the best "
        f"candidate in the mean (standard error {points['mean_regret_se']}), {points['largest_regret']} at most, "
        f"more than 3 on {total['n_above_3_points']}; {points['mean_regret_left_out']} in the mean where the weight "
        "of the doubt is tuned on the other corpora.",
        f"Against the best of all models that one can name instead, in their usual settings, it errs "
        f"{100 * abs(named['mean']):.2f} points {'less' if named['mean'] < 0 else 'more'} in the mean (standard "
        f"error {100 * named['mean_se']:.2f}), {100 * named['largest_of_a_cell']:.2f} in the mean of the worst "
        f"corpus and size, more than 3 on {named['n_above_3_points']} pilots ({100 * named['largest']:.2f} at most).",
        f"Using samples without a label or not costs {points['mean_unlabeled_regret']} points against the better of "
        f"the two, {points['largest_unlabeled_regret_of_a_corpus']} in the mean of the worst corpus, "
        f"{points['largest_unlabeled_regret']} on the worst pilot.",
        f"Of {own['n_told']} pilots whose truth is told, the verdict on samples without a label was right on "
        f"{own['right']}, open on {own['open']} and wrong on {own['wrong']}. Where it is open ({own['n_open']} "
        f"pilots), what is chosen errs {100 * own['cost_of_open']:+.2f} points more than what labels alone would "
        "have chosen.",
    )


def _table(rows: Sequence[Mapping[str, Any]]) -> Table:
    return Table(
        "What the choice of a model costs, in points",
        (
            "corpus",
            "labels",
            "pilots",
            "best error",
            "regret",
            "largest",
            "left out",
            "named",
            "unlabeled",
            "uses unlabeled",
        ),
        tuple(
            (
                row["corpus"],
                str(row["size"]),
                row["n_pilots"],
                round(100 * row["best"], 1),
                *(round(100 * row[name], 2) for name in ("regret", "largest", "left_out", "named", "unlabeled")),
                f"{row['uses']} of {row['n_pilots']}",
            )
            for row in rows
        ),
        note="Error on rows that no fit has seen, less that of the best candidate; with the weight of the doubt "
        "tuned on the other corpora (left out); less that of the best model that one can name instead, in its "
        "usual settings (named); and less that of the better of the two models that would be chosen "
        "with samples without a label and without (unlabeled).",
    )


def _unlabeled_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    return Table(
        "Samples without a label: what using them or not costs, in points, and the verdict on them",
        ("corpus", "pilots", "regret", "largest", "told", "right", "open", "wrong", "all open", "cost of open"),
        tuple(
            (
                row["corpus"],
                row["n_pilots"],
                round(100 * row["regret"], 2),
                round(100 * row["largest"], 2),
                *(row[name] for name in ("n_told", "right", "open", "wrong", "n_open")),
                round(100 * row["cost_of_open"], 2),
            )
            for row in rows
        ),
        note="Regret against the better of the models chosen with them and without. Told: pilots on which rows that "
        "no fit has seen tell the two apart (1.96 standard errors). Cost of open: where the verdict cannot be told, "
        "the error of what is chosen less that of what labels alone would have chosen.",
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
    corpora=("newsgroups", "r52", "rcv1", *SHORT_CORPORA),
    data_digest=digest,
    prepare=prepare,
)
