"""Whom to ask: gold, an expert, a crowd and a model for the same money, on documents whose truth is known."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.channels.arm import menu
from labelworth.channels.kinds import kinds_of, split_kinds
from labelworth.data.evidence import Evidence
from labelworth.data.lengths import LengthDistribution
from labelworth.data.samples import Samples
from labelworth.demo.story import Story, Trials, band
from labelworth.estimators.multinomial import MultinomialNaiveBayes
from labelworth.models.classes.multinomial import MultinomialModel
from labelworth.planning.answer import Plan
from labelworth.planning.plan import plan as make_plan
from labelworth.planning.units import in_units
from labelworth.progress import Progress, tracking
from labelworth.report.values import BarsPanel, ComparisonPanel, Curve, Measured, Outcome, Picture, Table
from labelworth.simulation.asked import AskedDesign, AskedReplicate, refit_channel
from labelworth.simulation.simulator import LabelSource
from labelworth.wording import number, percent

CLASSES = ("bill", "complaint", "praise", "question")
KINDS = (
    "expert: price 0.5, accuracy 0.95",
    "crowd: price 0.02, confusion 0.8 0.1 0.05 0.05 / 0.1 0.7 0.05 0.15 / 0.05 0.05 0.8 0.1 / 0.1 0.2 0.1 0.6, "
    "votes 1 3, unknown",
    "model: price 0.001, confusion 0.9 0.05 0 0.05 / 0.15 0.65 0 0.2 / 0 0.05 0.85 0.1 / 0.1 0.25 0.1 0.55, unknown",
)
"""How often they are right is said to the plan: of crowd and model as a guess, to be learned with the classifier."""


@dataclass(frozen=True)
class KindDemoSettings:
    """How the demonstration is set up."""

    n_words: int = 400  # Of the language.
    length: int = 12  # Words of a document.
    n_documents: int = 1500
    n_pilot: int = 100  # With gold labels.
    gold: float = 1.0  # Price of a gold label.
    money: float = 60.0  # Beside what the pilot cost.
    n_test: int = 4000  # Other documents, to see what happened.
    n_trials: int = 16  # How often every design is carried out.


QUICK = KindDemoSettings(n_documents=800, n_test=2000, n_trials=6)
"""The same story, rougher."""


@dataclass(frozen=True, eq=False)
class KnownLabels:
    """The true labels in the place of those that a simulation draws."""

    codes: IntArray

    @property
    def best(self) -> IntArray:
        return self.codes

    def log_posteriors(self, temperature: float) -> FloatArray:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.eye(len(CLASSES))[self.codes]))

    def draw(self, temperature: float, rng: np.random.Generator) -> IntArray:
        return self.codes


@dataclass(frozen=True, eq=False)
class Tried:
    """One way to spend the money."""

    name: str
    counts: tuple[int, ...]  # Documents by arm.
    cost: float
    forecast: float  # The error that the plan expects.
    is_chosen: bool = False


def tell(quick: bool, seed: int, progress: Progress) -> Story:
    """Kinds of labels on drawn documents: the `Scenario` of `labelworth demo --answers`."""
    settings = QUICK if quick else KindDemoSettings()
    truth = draw_truth(settings, np.random.default_rng([seed, 0]))
    drawn, tests = (
        truth.sample(n, np.random.default_rng([seed, 1, n])) for n in (settings.n_documents, settings.n_test)
    )
    labels = np.array(CLASSES, dtype=object)[drawn.evidence.codes]
    y = np.where(np.arange(settings.n_documents) < settings.n_pilot, labels, "")
    estimator = MultinomialNaiveBayes(unlabeled="")
    plan = make_plan(
        drawn.counts,
        y,
        model=estimator,
        classes=CLASSES,
        budget=settings.n_pilot * settings.gold + settings.money,
        prices={"per_label": settings.gold},
        channels=KINDS,
        source="simulated",
        seed=seed,
        progress=progress,
    )
    tried = ways(plan)
    errors = carried_out(
        settings, drawn, tests, estimator.pool(drawn.counts, y, classes=CLASSES), tried, seed, progress
    )
    best = float((truth.log_joint(tests).argmax(axis=1) != tests.evidence.codes).mean())
    return Story(settings, outcome(settings, plan, tried, Trials(errors), best))


def draw_truth(settings: KindDemoSettings, rng: np.random.Generator) -> MultinomialModel:
    """Classes that share most of their words: documents tell them apart, but not all of them."""
    common = rng.dirichlet(np.full(settings.n_words, 0.5))
    own = rng.dirichlet(np.full(settings.n_words, 0.3), len(CLASSES))
    shares = np.array([0.35, 0.3, 0.15, 0.2])
    return MultinomialModel(CLASSES, shares, 0.7 * common + 0.3 * own, LengthDistribution.single(settings.length))


def ways(plan: Plan) -> list[Tried]:
    """All of the money for every arm alone, and what the plan recommends."""
    alone: dict[int, Tried] = {}
    for point in plan.frontier:
        used = np.flatnonzero(point.counts)
        # Audited rows are gold rows that teach a confusion: with so little money, gold all but in name.
        if (
            len(used) == 1
            and " + " not in plan.arms[int(used[0])]
            and (int(used[0]) not in alone or point.cost > alone[int(used[0])].cost)
        ):
            arm = int(used[0])
            alone[arm] = Tried(plan.arms[arm], tuple(int(count) for count in point.counts), point.cost, point.error)
    design = plan.recommended
    counts = tuple(int(arm.count) for arm in design.arms)
    chosen = Tried("the plan", counts, design.cost, design.error, is_chosen=True)
    return [chosen, *(tried for _, tried in sorted(alone.items()) if tried.counts != counts)]


def carried_out(
    settings: KindDemoSettings,
    drawn: Samples,
    tests: Samples,
    pool: Any,
    tried: Sequence[Tried],
    seed: int,
    progress: Progress,
) -> FloatArray:
    """What happens: answers are given, model and confusions fitted, other documents predicted, (n_ways, n_trials)."""
    channels, _ = split_kinds(kinds_of(KINDS))
    arms = [arm for arm in menu(channels) if arm.name != "nothing"]
    learner = replace(pool.learner, channels=tuple(refit_channel(channel, CLASSES) for channel in channels))
    data = replace(pool.data, evidence=Evidence(drawn.evidence.codes, CLASSES))
    errors = np.empty((len(tried), settings.n_trials))
    with tracking(progress, "carrying it out", settings.n_trials) as task:
        for trial in range(settings.n_trials):
            # The pilot first; then the others, in another random order every time.
            world = AskedReplicate(
                data, LabelSource(KnownLabels(drawn.evidence.codes), 1.0), 0, seed, 100 + trial, arms
            )
            pilot = np.arange(settings.n_pilot)
            world.order = np.concatenate([pilot, world.order[world.order >= settings.n_pilot]])
            for way, own in enumerate(tried):
                model = learner.fit(world.shown(AskedDesign(settings.n_pilot, own.counts)))
                predicted = learner.predict(model, tests).best
                errors[way, trial] = (predicted != tests.evidence.codes).mean()
            task.advance()
    return errors


def outcome(settings: KindDemoSettings, plan: Plan, tried: Sequence[Tried], errors: Trials, best: float) -> Outcome:
    """Words, a table and a picture."""
    designs = [
        {
            "name": own.name,
            "counts": {arm: count for arm, count in zip(plan.arms, own.counts, strict=True) if count},
            "cost": own.cost,
            "predicted_error": own.forecast,
            "realized_error": float(errors.means[way]),
            "realized_error_se": float(errors.standard_errors[way]),
        }
        for way, own in enumerate(tried)
    ]
    figures = {
        "designs": designs,
        "error_of_today": plan.held.error,
        "best_possible_error": best,
        "plan": {"lines": plan.lines(), "kinds": plan.to_dict()["kinds"]},
    }
    return Outcome(
        figures,
        (_question(settings), _plan_said(plan), *_happened(tried, errors, best)),
        (_table(plan, tried, errors),),
        {"answers": _picture(plan, tried, errors, best)},
    )


def _question(settings: KindDemoSettings) -> str:
    return (
        f"The question. Of {settings.n_documents:,} drawn documents {settings.n_pilot} have a gold label, which cost "
        f"{number(settings.gold)} each; {number(settings.money)} more may be spent. On gold; on an expert at 0.5, "
        "right in 95 of 100 cases; on a crowd at 0.02 an answer; or on a model at 0.001? How often crowd and model "
        "err is only guessed, and has to be learned with the classifier."
    )


def _plan_said(plan: Plan) -> str:
    headline, *others = plan.lines()
    worths = [line for line in others if " do as much as " in line]
    return f"What the plan says, before any answer. {headline} {' '.join(worths)}"


def _happened(tried: Sequence[Tried], errors: Trials, best: float) -> list[str]:
    means, gold = errors.means, next((way for way, own in enumerate(tried) if own.name == "gold"), None)
    first = int(means.argmin())
    other = f"'{tried[first].name}' did better, with {percent(means[first], 1)}"
    words = (
        f"What happened. Carried out {errors.draws.shape[1]} times with real draws of answers, the plan errs on "
        f"{percent(means[0], 1)} of other documents; it expected {percent(tried[0].forecast, 1)}. Of all that was "
        f"tried {'nothing did better' if first == 0 else other}; who knows the truth would still err on "
        f"{percent(best, 1)}."
    )
    if gold is None:
        return [words]
    gaps = errors.draws[gold] - errors.draws[0]
    spread = float(gaps.std(ddof=1) / np.sqrt(len(gaps)))
    lead = f"{100 * gaps.mean():.1f} ± {100 * spread:.1f} points"
    return [words, f"As much money for gold alone errs on {percent(means[gold], 1)}: {lead} more than the plan."]


def _table(plan: Plan, tried: Sequence[Tried], errors: Trials) -> Table:
    rows = tuple(
        (
            own.name,
            ", ".join(f"{count:,} {arm}" for arm, count in zip(plan.arms, own.counts, strict=True) if count),
            f"{own.cost:.2f}",
            in_units(own.forecast, "error"),
            Measured(100 * float(errors.means[way]), 100 * float(errors.standard_errors[way])),
        )
        for way, own in enumerate(tried)
    )
    interval = plan.error_interval
    note = (
        ""
        if interval is None
        else f"Forecast of the plan: {percent(interval.low, 1)} to {percent(interval.high, 1)}. "
    )
    note += f"Happened: percent of other documents, mean of {errors.draws.shape[1]} times with its standard error."
    return Table(
        "The same money or less, spent in several ways",
        ("way", "documents", "cost", "forecast", "happened"),
        rows,
        note,
    )


def _picture(plan: Plan, tried: Sequence[Tried], errors: Trials, best: float) -> Picture:
    positions = np.arange(len(tried), dtype=float)
    forecast = 100 * np.array([own.forecast for own in tried])
    happened, spread = 100 * errors.means, 200 * errors.standard_errors
    names = tuple(own.name.replace(" x ", "\nx ").replace(" + ", "\n+ ") for own in tried)
    bars = BarsPanel(
        "Error for the same money or less: forecast and happened",
        "wrong predictions (%)",
        names,
        (Curve("forecast", positions, forecast), Curve("happened", positions, happened, *band(happened, spread))),
    )
    groups = tuple(
        Curve(
            own.name,
            forecast[way : way + 1],
            happened[way : way + 1],
            happened[way : way + 1] - spread[way],
            happened[way : way + 1] + spread[way],
            "points",
            way,
        )
        for way, own in enumerate(tried)
    )
    agree = ComparisonPanel("Forecast and what happened", "forecast (%)", "happened (%)", groups)
    return Picture("Which labels to buy", (bars, agree))
