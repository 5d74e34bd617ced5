"""The harm verdict from a pilot alone, against what held-out units say of the very same fits."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from labelworth.data.samples import Samples
from labelworth.estimators.pools.documents import ClassLearner
from labelworth.progress import SILENT, Progress
from labelworth.report.values import BarsPanel, Curve, Outcome, Picture, Table
from labelworth.robust.harm import Answer, combined, paired, verdict_of
from labelworth.robust.held_out import held_out_predictions
from labelworth.simulation.jobs import run_jobs
from labelworth.simulation.learner import MODES, keep_labels
from labelworth.simulation.pilot_points import labeled_units, pilot_points, point_sizes
from labelworth_studies.corpora.populations import CORPORA, READ, Population, corpora_digest, population
from labelworth_studies.forecasts.parts.forecast_cell import drawn, gaps_of, grid
from labelworth_studies.runner.study import Cell, Result, Study

N_PILOTS = 20
N_FOLDS = 5
TOLD = 1.96
"""The truth is told where the gap exceeds so many standard errors; otherwise the two fits are as good as equal."""

_SEMI_SUPERVISED = ("naive-bayes", "hidden-markov")

Agreement = Literal["right", "wrong", "open", "said of a tie", "open on a tie"]
_AGREEMENTS: tuple[Agreement, ...] = ("right", "wrong", "open", "said of a tie", "open on a tie")


def cells(quick: bool, seed: int) -> list[dict[str, Any]]:
    """The pilots of the forecast table whose learners can take unlabeled units; the quick grid has two per size."""
    names = tuple(name for name, corpus in CORPORA.items() if corpus.learners[0] in _SEMI_SUPERVISED)
    return grid(names, 2 if quick else N_PILOTS, seed)


def compute(cell: Cell) -> Result:
    """The verdict on one pilot, and the gaps on held-out units."""
    whole, n_pilot, seed = population(cell["corpus"]), int(cell["n_pilot"]), int(cell["seed"])
    units, _ = drawn(whole, n_pilot, seed, 0)
    shown = keep_labels(whole.data.take(units), np.arange(n_pilot))
    verdicts = run_jobs(lambda data: verdict(whole, data, seed), [shown], workers=1, title="verdict", progress=SILENT)
    return {**verdicts[0], "gaps": gaps_of(whole, n_pilot, seed)}


def verdict(whole: Population, shown: Any, seed: int) -> Result:
    """By cross-validation for documents; for sequences by the same rule on sentences left out of the fit."""
    if isinstance(whole.learner, ClassLearner) and isinstance(shown, Samples):
        predictions = held_out_predictions(
            whole.learner.family,
            shown,
            (0.0, 1.0),
            n_folds=N_FOLDS,
            rng=np.random.default_rng([seed, 2]),
            fitting={
                "start_smoothing": whole.learner.start_smoothing,
                "tolerance": whole.learner.tolerance,
                "max_iterations": whole.learner.max_iterations,
            },
        )
        given = verdict_of(predictions, 1.0)
        error, log_loss, answer = given.error, given.log_loss, given.answer
    else:
        points = pilot_points(
            whole.learner,
            shown,
            MODES,
            seed=seed,
            n_repeats={"labels-only": 1, "semi-supervised": 1},
            sizes=point_sizes(labeled_units(shown).size)[-1:],
        )
        alone, together = points["labels-only"], points["semi-supervised"]
        share = alone.n_labels / alone.n_labels.mean()
        error = paired("error", alone.errors[0] * share, together.errors[0] * share)
        log_loss = paired("log-loss", alone.log_losses[0] * share, together.log_losses[0] * share)
        answer = combined(error, log_loss)
    return {
        "answer": answer,
        "error": [error.difference, error.standard_error],
        "log_loss": [log_loss.difference, log_loss.standard_error],
    }


def truth_of(gaps: Sequence[Sequence[float]]) -> Answer:
    """What the held-out units say: the mean gap over pools, told where it exceeds twice its standard error.

    Held-out units of several pools overlap, so that the standard error is that of one of them.
    """
    gap, error = np.mean(np.array(gaps), axis=0)
    if abs(gap) <= TOLD * error:
        return "cannot be told"
    return "helps" if gap < 0 else "hurts"


def agreement(answer: Answer, truth: Answer) -> Agreement:
    """How a verdict compares with the truth."""
    if truth == "cannot be told":
        return "open on a tie" if answer == "cannot be told" else "said of a tie"
    if answer == "cannot be told":
        return "open"
    return "right" if answer == truth else "wrong"


def summarize(pairs: Sequence[tuple[Cell, Result]]) -> Outcome:
    """How often the verdict is right, wrong and open."""
    counts: dict[tuple[str, int], dict[Agreement, int]] = {}
    for cell, result in pairs:
        here = counts.setdefault((cell["corpus"], int(cell["n_pilot"])), dict.fromkeys(_AGREEMENTS, 0))
        here[agreement(result["answer"], truth_of(result["gaps"]))] += 1
    total = {name: sum(here[name] for here in counts.values()) for name in _AGREEMENTS}
    figures = {
        "by_corpus_and_pilot": {f"{corpus}/{size}": dict(here) for (corpus, size), here in counts.items()},
        "total": total,
        "mean_gap": _gap_figures(pairs),
    }
    return Outcome(
        figures=figures, words=_words(total), tables=(_table(counts, total),), pictures={"": _picture(counts)}
    )


def _gap_figures(pairs: Sequence[tuple[Cell, Result]]) -> dict[str, float]:
    gaps: dict[str, list[float]] = {}
    for cell, result in pairs:
        gaps.setdefault(f"{cell['corpus']}/{cell['n_pilot']}", []).append(float(np.mean(result["gaps"], axis=0)[0]))
    return {key: float(np.mean(values)) for key, values in gaps.items()}


def _words(total: Mapping[Agreement, int]) -> tuple[str, ...]:
    told = total["right"] + total["wrong"] + total["open"]
    ratio = total["right"] / total["wrong"] if total["wrong"] else None
    times = "never wrong" if ratio is None else f"right {ratio:.1f} times as often as wrong"
    return (
        f"Of {told} pilots whose truth held-out units tell, the verdict was right on {total['right']}, wrong on "
        f"{total['wrong']} and open on {total['open']}: {times}.",
        f"On {total['said of a tie'] + total['open on a tie']} pilots the two fits are as good as equal; the verdict "
        f"stayed open on {total['open on a tie']} of them.",
    )


def _table(counts: Mapping[tuple[str, int], Mapping[Agreement, int]], total: Mapping[Agreement, int]) -> Table:
    rows = [
        (CORPORA[corpus].title, str(size), *(here[name] for name in _AGREEMENTS))
        for (corpus, size), here in counts.items()
    ]
    rows.append(("all", "", *(total[name] for name in _AGREEMENTS)))
    return Table(
        "The harm verdict against the truth",
        ("corpus", "pilot", *_AGREEMENTS),
        tuple(rows),
        note="Numbers of pilots. The truth: held-out errors of the same pilot's fits with and without unlabeled "
        "examples; a tie is a difference within 1.96 standard errors.",
    )


def _picture(counts: Mapping[tuple[str, int], Mapping[Agreement, int]]) -> Picture:
    panels = []
    for corpus in dict.fromkeys(corpus for corpus, _ in counts):
        about = CORPORA[corpus]
        here = {size: counts[corpus, size] for size in about.pilots if (corpus, size) in counts}
        places = np.arange(len(here), dtype=np.float64)
        series = tuple(
            Curve(name, places, np.array([float(one[name]) for one in here.values()])) for name in _AGREEMENTS
        )
        panels.append(BarsPanel(about.title, "pilots", tuple(f"{size} labeled" for size in here), series))
    return Picture("Does unlabeled data help or hurt? The verdict against the truth", tuple(panels), n_columns=3)


def prepare(progress: Progress) -> None:
    """Say what comes first, and fail at once where a corpus is missing."""
    progress.say("Reading the corpora, once per process.")
    for name in CORPORA:
        population(name)


STUDY = Study(
    name="harm-verdict",
    title="The harm verdict from pilots against held-out errors",
    cells=cells,
    compute=compute,
    summarize=summarize,
    corpora=READ,
    data_digest=corpora_digest,
    prepare=prepare,
)
