"""Do fits to answers come out as the formulas say? Realized over predicted excess log-loss, 400 experiments a setup.

Documents of two small models, whose excess is summed over every document there is. Fits begin where the product
begins them, never at the truth. In the controls what is claimed of the answers is wrong: there the two must disagree.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.channels.arm import Arm
from labelworth.channels.channel import Channel
from labelworth.criteria.design_information import design_information
from labelworth.data.answers import Answers
from labelworth.data.evidence import Evidence, from_weights
from labelworth.data.lengths import LengthDistribution
from labelworth.data.samples import Samples
from labelworth.estimation.answered_fit import fit_answered
from labelworth.fisher.documents.population import enumerate_outcomes
from labelworth.models.classes.multinomial import MultinomialFamily, MultinomialModel
from labelworth.models.classes.responsibilities import posterior
from labelworth.report.values import ComparisonPanel, Curve, Measured, Outcome, Picture, Table
from labelworth_studies.runner.study import Cell, Result, Study

N_RUNS = 400
AGREES = 0.10
"""How far realized and predicted may be apart."""
_SURE = 3.0  # standard errors by which a control must miss that
_SMOOTHING = 0.05
_TOLERANCE = 1e-8

MODELS = {
    "two": MultinomialModel(
        ("a", "b"),
        np.array([0.6, 0.4]),
        np.array([[0.34, 0.26, 0.18, 0.14, 0.08], [0.12, 0.16, 0.22, 0.20, 0.30]]),
        LengthDistribution.single(6),
    ),
    "three": MultinomialModel(
        ("a", "b", "c"),
        np.array([0.4, 0.35, 0.25]),
        np.array([[0.5, 0.25, 0.15, 0.1], [0.15, 0.5, 0.1, 0.25], [0.15, 0.1, 0.5, 0.25]]),
        LengthDistribution.single(6),
    ),
}

MACHINE = ((0.97, 0.03), (0.27, 0.73))  # right in 87 of 100 cases, and biased
CROWD = (((0.85, 0.15), (0.30, 0.70)), ((0.80, 0.20), (0.25, 0.75)), ((0.75, 0.25), (0.20, 0.80)))
WORKER = ((0.8, 0.15, 0.05), (0.1, 0.75, 0.15), (0.05, 0.2, 0.75))


@dataclass(frozen=True)
class Setup:
    """Who answers what, and what is claimed of it."""

    words: str
    model: str
    tables: dict[str, Any]  # By annotator: how often each class is meant (columns) where each is true (rows).
    rows: dict[str, int]  # How many get "nothing", "gold", "answers" of all annotators, and "both".
    claimed: dict[str, Channel] | None = None  # What fit and formula take for known; None: everything is estimated.
    predicted: dict[str, Channel] | None = None  # What the formula takes for known, where the fit does not.
    asks: tuple[int, ...] | None = None  # The codes that a yes or no question is about; None: which class it is.
    are_copies: bool = False  # Whether all annotators say what the first says.
    is_control: bool = False


def _known(tables: dict[str, Any]) -> dict[str, Channel]:
    return {name: Channel(name, table) for name, table in tables.items()}


_MACHINE, _CROWD = {"machine": MACHINE}, {f"w{index}": table for index, table in enumerate(CROWD)}
_ASIDE = {"nothing": 3200, "gold": 800, "answers": 4000, "both": 0}
_AUDITED = {"nothing": 3200, "gold": 0, "answers": 4000, "both": 800}
_ALONE = {"nothing": 4000, "gold": 0, "answers": 4000, "both": 0}

SETUPS = {
    "known": Setup("a machine whose confusion is known", "two", _MACHINE, _ASIDE, _known(_MACHINE)),
    "unknown": Setup("a machine, confusion estimated, gold elsewhere", "two", _MACHINE, _ASIDE),
    "audited": Setup("a machine, confusion estimated, gold on answered rows", "two", _MACHINE, _AUDITED),
    "votes-known": Setup("three votes, confusions known, no gold", "two", _CROWD, _ALONE, _known(_CROWD)),
    "votes-unknown": Setup("three votes, confusions estimated, gold elsewhere", "two", _CROWD, _ASIDE),
    "three-known": Setup("three classes, one worker, known", "three", {"w": WORKER}, _ASIDE, _known({"w": WORKER})),
    "three-unknown": Setup("three classes, one worker, audited", "three", {"w": WORKER}, _AUDITED),
    "question": Setup(
        "is it a? answered rightly by 90 of 100",
        "three",
        {"w": ((0.9, 0.05, 0.05), (0.1, 0.45, 0.45), (0.1, 0.45, 0.45))},
        _ASIDE,
        {"w": Channel.question("w", ["a"], accuracy=0.9)},
        asks=(0,),
    ),
    "control-wrong": Setup(
        "control: claimed to be right by 87 of 100 for each class",
        "two",
        _MACHINE,
        _ASIDE,
        {"machine": Channel("machine", accuracy=0.87)},
        is_control=True,
    ),
    "control-known": Setup(
        "control: confusion estimated, formula takes it for known",
        "two",
        _MACHINE,
        _ASIDE,
        predicted=_known(_MACHINE),
        is_control=True,
    ),
    "control-copies": Setup(
        "control: one worker's answers taken for three votes",
        "two",
        dict.fromkeys(("w0", "w1", "w2"), CROWD[0]),
        _ASIDE,
        _known(dict.fromkeys(("w0", "w1", "w2"), CROWD[0])),
        are_copies=True,
        is_control=True,
    ),
}


def cells(quick: bool, seed: int) -> list[dict[str, Any]]:
    """A cell for every setup."""
    return [{"setup": name, "n_runs": 40 if quick else N_RUNS, "seed": seed} for name in SETUPS]


def compute(cell: Cell) -> Result:
    """The excess that the formula predicts, and that of every fit."""
    setup = SETUPS[cell["setup"]]
    realized = []
    for run in range(cell["n_runs"]):
        model = fitted(setup, drawn(setup, np.random.default_rng([cell["seed"], run])))
        realized.append(excess(MODELS[setup.model], model))
    return {"predicted": predicted(setup), "realized": realized}


def drawn(setup: Setup, rng: np.random.Generator) -> Samples:
    """Documents with what is seen of them."""
    model = MODELS[setup.model]
    documents = model.sample(sum(setup.rows.values()), rng)
    truth = documents.evidence.codes
    kind = np.repeat(list(setup.rows), list(setup.rows.values()))
    answered = np.flatnonzero(np.isin(kind, ("answers", "both")))
    gold = np.isin(kind, ("gold", "both"))
    meant: list[IntArray] = []
    for table in setup.tables.values():
        ends = np.cumsum(table, axis=1)[truth[answered]]
        own = np.asarray((rng.random(len(answered))[:, None] >= ends).sum(axis=1).clip(max=len(table) - 1))
        meant.append(meant[0] if setup.are_copies and meant else own)
    n_people = len(setup.tables)
    answers = Answers(
        np.tile(answered, n_people),
        np.repeat(np.arange(n_people), len(answered)),
        tuple(setup.tables),
        from_weights(said(np.concatenate(meant), setup, model.n_classes), model.classes),
    )
    return Samples(documents.features, Evidence(np.where(gold, truth, -1), model.classes), answers=answers)


def said(meant: IntArray, setup: Setup, n_classes: int) -> FloatArray:
    """What is meant, or whether it is among what is asked about."""
    if setup.asks is None:
        return np.eye(n_classes)[meant]
    inside = np.isin(np.arange(n_classes), setup.asks)
    return np.where(inside[meant][:, None], inside, ~inside).astype(np.float64)


def fitted(setup: Setup, samples: Samples) -> MultinomialModel:
    """The model that the product would find."""
    family = MultinomialFamily.for_samples(samples, smoothing=_SMOOTHING, class_smoothing=_SMOOTHING)
    channels = () if setup.claimed is None else tuple(setup.claimed.values())
    model: MultinomialModel = fit_answered(
        family, samples, channels=channels, confusion="separate", tolerance=_TOLERANCE, max_iterations=5000
    ).model.inner
    return model


def predicted(setup: Setup) -> float:
    """Excess log-loss by the formula, in nats per document."""
    claimed = setup.predicted if setup.claimed is None else setup.claimed
    channels = [
        Channel(name, table, unknown=True) if claimed is None else claimed[name]
        for name, table in setup.tables.items()
    ]
    n_rows = sum(setup.rows.values())
    kinds = {"answers": Arm.of(*channels, name="answers"), "both": Arm.of(*channels, gold=True, name="both")}
    used = [name for name in kinds if setup.rows[name]]
    design = [setup.rows[name] / n_rows for name in ("nothing", "gold", *used)]
    table = design_information(
        MODELS[setup.model], kinds=[kinds[name] for name in used], designs=[design], n_samples=n_rows
    )
    figure = table.points[0].figures["excess_log_loss"]
    assert figure is not None
    return float(figure)


def excess(truth: MultinomialModel, found: MultinomialModel) -> float:
    """Of p(y | x), in nats per document, over all documents there are."""
    outcomes = enumerate_outcomes(truth)
    right, ours = outcomes.posterior, posterior(found, outcomes.samples)
    return float(outcomes.probabilities @ (right * np.log(right / ours)).sum(axis=1))


def summarize(pairs: Sequence[tuple[Cell, Result]]) -> Outcome:
    """Realized over predicted, setup by setup."""
    figures = {}
    for cell, result in pairs:
        realized = np.array(result["realized"])
        mean, error = float(realized.mean()), float(realized.std(ddof=1) / np.sqrt(len(realized)))
        ratio, ratio_error = mean / result["predicted"], error / result["predicted"]
        is_control = SETUPS[cell["setup"]].is_control
        figures[cell["setup"]] = {
            "predicted": result["predicted"],
            "realized": mean,
            "realized_se": error,
            "ratio": ratio,
            "ratio_se": ratio_error,
            "is_control": is_control,
            "agrees": abs(ratio - 1) <= AGREES,
            "is_refused": ratio - 1 > AGREES + _SURE * ratio_error,
        }
    return Outcome(
        figures=figures, words=_words(figures), tables=(_table(figures),), pictures={"": _picture(figures)}
    )


def _words(figures: dict[str, dict[str, Any]]) -> tuple[str, ...]:
    honest = [entry for entry in figures.values() if not entry["is_control"]]
    controls = [entry for entry in figures.values() if entry["is_control"]]
    ratios = [entry["ratio"] for entry in honest]
    return (
        f"Realized over predicted lies between {min(ratios):.3f} and {max(ratios):.3f}: within "
        f"{AGREES:.0%} in {sum(entry['agrees'] for entry in honest)} of {len(honest)} setups.",
        f"{sum(entry['is_refused'] for entry in controls)} of {len(controls)} controls are refused: they miss it by "
        f"more than {_SURE:g} standard errors.",
    )


def _table(figures: dict[str, dict[str, Any]]) -> Table:
    return Table(
        "Excess log-loss of p(y | x), 1e-5 nats",
        ("setup", "predicted", "realized", "realized / predicted", "verdict"),
        tuple(
            (
                SETUPS[name].words,
                1e5 * entry["predicted"],
                Measured(1e5 * entry["realized"], 1e5 * entry["realized_se"]),
                Measured(entry["ratio"], entry["ratio_se"]),
                "agrees" if entry["agrees"] else "refused" if entry["is_refused"] else "not sure",
            )
            for name, entry in figures.items()
        ),
    )


def _picture(figures: dict[str, dict[str, Any]]) -> Picture:
    def group(label: str, names: list[str]) -> Curve:
        predictions = 1e5 * np.array([figures[name]["predicted"] for name in names])
        means = 1e5 * np.array([figures[name]["realized"] for name in names])
        margins = 2e5 * np.array([figures[name]["realized_se"] for name in names])
        return Curve(label, predictions, means, means - margins, means + margins, style="points")

    honest = [name for name in figures if not figures[name]["is_control"]]
    known = [name for name in honest if SETUPS[name].claimed is not None]
    groups = (
        group("confusion known", known),
        group("confusion estimated", [name for name in honest if name not in known]),
        group("control: a wrong claim", [name for name in figures if figures[name]["is_control"]]),
    )
    panel = ComparisonPanel(
        "mean of experiments, two standard errors",
        "predicted excess log-loss (1e-5 nats)",
        "realized",
        tuple(curve for curve in groups if len(curve.x)),
        scale="log",
    )
    return Picture("Fits to answers against the formula", (panel,), n_columns=1)


STUDY = Study(
    name="channels",
    title="Fits to answers against the formulas: known and unknown confusion, votes, questions, wrong claims",
    cells=cells,
    compute=compute,
    summarize=summarize,
)
