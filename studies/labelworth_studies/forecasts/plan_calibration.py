"""Do plans keep what they promise? Synthetic documents with known truth, planned from a pilot, judged at the truth.

Fixed beforehand: the truths (words drawn from a symmetric Dirichlet with concentration 2, ``default_rng(77)``), a
pool of 5 000 documents, pilots of 400, and a target that in truth takes 800 labels more. Every seed draws documents,
labels the pilot, plans with add-one smoothing as `lw.plan` does, harm verdict included, and is judged by the
asymptotic excess log-loss at the true parameters.
"""

from functools import cache
from typing import Any

import numpy as np

from labelworth.data.kept import Checkpoint
from labelworth.data.lengths import LengthDistribution
from labelworth.estimators.pools.documents import DocumentPool
from labelworth.fisher.documents.population import enumerated_information
from labelworth.models.classes.multinomial import MultinomialFamily, MultinomialModel
from labelworth.planning.planner import Planner
from labelworth.planning.situation import Alternatives
from labelworth.planning.solving import solved
from labelworth.planning.source import PlanSettings
from labelworth.planning.uncertainty import spread
from labelworth.tradeoff.accuracy import Accuracy
from labelworth.tradeoff.asymptotic_accuracy import AsymptoticAccuracy
from labelworth_studies.forecasts.parts.plan_calibration_summary import summarize
from labelworth_studies.runner.study import Cell, Result, Study

CRITERION = "excess_log_loss"
N_DOCUMENTS = 5000
N_PILOT = 400
N_OPTIMAL = 800
"""Labels to buy beyond the pilot, in truth."""
N_DRAWS = 200
N_SEEDS = 400
QUICK_SEEDS = range(1000, 1020)
"""The quick grid looks at other seeds: nothing is tuned on those of the study."""
TRUTHS: dict[str, dict[str, Any]] = {
    "three classes, 10 words, documents of 4": {"shares": (0.5, 0.3, 0.2), "n_words": 10, "length": 4},
}


@cache
def truth(name: str) -> MultinomialModel:
    """The model that draws the documents."""
    setting = TRUTHS[name]
    n_classes = len(setting["shares"])
    words = np.random.default_rng(77).dirichlet(np.full(setting["n_words"], 2.0), size=n_classes)
    lengths = LengthDistribution.single(setting["length"])
    return MultinomialModel(tuple("abc"[:n_classes]), np.array(setting["shares"]), words, lengths)


@cache
def true_accuracy(name: str) -> AsymptoticAccuracy:
    """At the true parameters, exactly."""
    return AsymptoticAccuracy.of(enumerated_information(truth(name)), CRITERION, held={"everything": float(N_PILOT)})


def realized(accuracy: Accuracy, labels: float) -> float:
    """The criterion once so many of the pool are labeled."""
    return accuracy.error(np.array([labels, N_DOCUMENTS - N_PILOT - labels]))


def target(name: str) -> float:
    """What 800 labels more reach in truth."""
    return realized(true_accuracy(name), float(N_OPTIMAL))


def cells(quick: bool, seed: int) -> list[dict[str, Any]]:
    """One cell per truth and seed."""
    seeds = QUICK_SEEDS if quick else range(seed, seed + N_SEEDS)
    return [{"truth": name, "seed": one, "n_draws": N_DRAWS} for name in TRUTHS for one in seeds]


def compute(cell: Cell) -> Result:
    """Draw, plan, judge."""
    name, seed = cell["truth"], cell["seed"]
    samples = truth(name).sample(N_DOCUMENTS, np.random.default_rng(seed)).hide(np.arange(N_PILOT, N_DOCUMENTS))
    family = MultinomialFamily.for_samples(samples, smoothing=1.0, class_smoothing=1.0)
    settings = PlanSettings(source="asymptotic", criterion=CRITERION, n_draws=cell["n_draws"], seed=seed)
    planner = Planner(DocumentPool.of_family(family, samples), settings)
    situation, _ = planner.situation(np.inf)
    counts = solved(situation, "target", target(name)).counts
    assert isinstance(situation.doubt, Alternatives)
    around = spread(situation, situation.doubt, "target", target(name), counts, (), checkpoint=Checkpoint(None, {}))
    interval, of_error = around.labels_interval(), around.error_interval()
    labels = float(counts[0])
    left = N_DOCUMENTS - N_PILOT - labels if planner.uses_unlabeled else 0.0
    return {
        "labels": labels,
        "low": None if interval is None else interval.low,
        "high": None if interval is None else interval.high,
        "error_low": None if of_error is None else of_error.low,
        "error_high": None if of_error is None else of_error.high,
        "origin": around.origin,
        "uses_unlabeled": planner.uses_unlabeled,
        "realized": true_accuracy(name).error(np.array([labels, left])),
        "target": target(name),
    }


STUDY = Study(
    name="plan-calibration",
    title="Do plans keep what they promise: 400 pilots with known truth",
    cells=cells,
    compute=compute,
    summarize=summarize,
)
