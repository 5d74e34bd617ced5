"""Plans over what the store holds, and what came true of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sqlalchemy as sa

from labelworth.arrays import FloatArray
from labelworth.campaign import held
from labelworth.campaign.assigning import mean_prices
from labelworth.campaign.held import StandingAnswer, allowed
from labelworth.campaign.values import GOLD, Item, PlanJob, Realised, Settings
from labelworth.data.answers import Answers
from labelworth.data.drawn import DrawnLabels
from labelworth.data.evidence import from_weights
from labelworth.data.readers.raw import RawTexts
from labelworth.data.text import count_words
from labelworth.errors import InfeasiblePlanError, InvalidInputError
from labelworth.estimators.kinds import AUTO, kind_named
from labelworth.estimators.others.named_classifiers import NAMED
from labelworth.planning.landscape import ForecastCurve
from labelworth.planning.next import row_scores
from labelworth.policies.choosing import By
from labelworth.progress import Progress
from labelworth.report.record import Record, Stopwatch
from labelworth.simulation.metrics import metric_of
from labelworth.simulation.pilot_points import labeled_units, pilot_points, point_sizes

_USUAL = {"documents": AUTO, "sequences": "hidden-markov"}
OPTIONS = (
    "budget", "target", "alpha", "model", "prices", "criterion", "source", "rules", "pool", "use_unlabeled",
    "n_draws", "seed", "max_time", "kinds", "by",
)  # fmt: skip
"""What can be asked of a plan: JSON values, so that another process can go on with it."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """One state of a campaign, as data."""

    settings: Settings
    items: Sequence[Item]
    given: Sequence[StandingAnswer]
    prices: Mapping[str, float]  # Of a label, by kind.

    @classmethod
    def of(cls, connection: sa.Connection, settings: Settings) -> "Snapshot":
        return cls(settings, held.all_items(connection), held.all_standing(connection), mean_prices(connection))

    @cached_property
    def raw(self) -> Any:
        """Texts or tokens with their gold labels."""
        return held.raw_of(self.items, held.gold_labels(self.given, self.settings.classes), self.settings)

    @cached_property
    def X(self) -> Any:
        """As `labelworth plan` takes a file: words counted, or tokens."""
        return count_words(self.raw.texts)[1] if isinstance(self.raw, RawTexts) else self.raw

    @property
    def y(self) -> Any:
        """Labels of documents, with how they were drawn where that is known."""
        if not isinstance(self.raw, RawTexts):
            return None
        log = held.drawn_log(self.items, self.given)
        return list(self.raw.labels) if log is None else DrawnLabels(self.raw.labels, *log)

    @cached_property
    def answers(self) -> Answers | None:
        """What other kinds than gold said of documents or tokens, a kind for an annotator; None: nothing."""
        said = [answer for answer in self.given if answer.channel != GOLD]
        if not said:
            return None
        is_tokens = self.settings.kind == "sequences"
        starts = held.offsets_of(self.items) if is_tokens else np.arange(len(self.items))
        start_of = {item.id: int(start) for item, start in zip(self.items, starts, strict=False)}
        names = tuple(dict.fromkeys(answer.channel for answer in said))
        classes = self.settings.classes
        units = [(answer, token, unit) for answer in said for token, unit in answer.units]
        weights = np.array(
            [[name in allowed(answer.question, unit, classes) for name in classes] for answer, _, unit in units],
            dtype=np.float64,
        )
        # The time and the price of a sequence are those of its tokens together.
        seconds = [np.nan if one.seconds is None else one.seconds / len(one.said) for one, _, _ in units]
        return Answers(
            np.array([start_of[answer.item_id] + token for answer, token, _ in units]),
            np.array([names.index(answer.channel) for answer, _, _ in units]),
            names,
            from_weights(weights, classes),
            np.array(seconds),
            np.array([answer.price / len(answer.said) for answer, _, _ in units]),
        )

    def kinds(self) -> list[str]:
        """The kinds of labels that people give here beside gold, and that something is known of."""
        known = () if self.answers is None else self.answers.names
        return [f"{name}: price {self.prices[name]:g}, unknown" for name in known if name in self.prices]

    def arguments(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """What `labelworth.plan` takes."""
        from labelworth.channels.kinds import kinds_of

        options = {name: value for name, value in asked.items() if value is not None and name != "kinds"}
        options.setdefault("model", _USUAL[self.settings.kind])
        price = self.prices.get(GOLD, 0.0)
        options.setdefault("prices", {"per_label": price if price > 0 else 1.0})
        kinds = asked.get("kinds")
        kinds = self.kinds() if kinds is None else list(kinds)
        if kinds:
            options["channels"] = kinds_of(kinds)
            if self.answers is not None:
                options["answers"] = self.answers
        return {
            "X": self.X,
            "y": self.y,
            "classes": list(self.settings.classes),
            "currency": self.settings.currency or None,
            **options,
        }


def planned(snapshot: Snapshot, asked: Mapping[str, Any], checkpoint: Any, progress: Progress) -> dict[str, Any]:
    """Make a plan: its record, as JSON values."""
    from labelworth.planning.plan import plan as make_plan

    watch = Stopwatch()
    with watch.timing("plan"):
        try:
            plan = make_plan(**snapshot.arguments(asked), checkpoint=checkpoint, progress=progress)
        except InfeasiblePlanError as refused:
            if refused.plan is None:
                raise
            plan = refused.plan
    figures = plan.to_dict()
    seed = figures.pop("seed")
    question = {name: asked.get(name) for name in ("budget", "target", "alpha")}
    typed = {"path": snapshot.settings.name, **asked, **question}
    record = Record("plan", typed, figures, seed, _digest(snapshot), watch.durations)
    return record.document()


def scores(snapshot: Snapshot, by: By, model: Any, seed: int) -> dict[int, float]:
    """By what documents are chosen, by item."""
    pool = _pool(snapshot, {"model": model or AUTO}, seed)
    values = row_scores(pool, by)
    return {item.id: float(value) for item, value in zip(snapshot.items, values.tolist(), strict=True)}


def guesses(snapshot: Snapshot, asked: Mapping[str, Any], record: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """What a model fitted to all labels says of every document and token: a class, and how probable it is."""
    pool = _pool(snapshot, _model(asked, record, snapshot.settings), int(asked.get("seed") or 0))
    learner = pool.learner
    log_posteriors = learner.predict(learner.fit(pool.data), pool.data).log_posteriors(1.0)
    best, classes = log_posteriors.argmax(axis=1), pool.data.evidence.classes
    probable = np.exp(log_posteriors.max(axis=1))
    said = [[str(classes[code]), round(float(share), 4)] for code, share in zip(best, probable, strict=True)]
    ends = np.arange(len(snapshot.items) + 1)
    if snapshot.settings.kind == "sequences":
        ends = held.offsets_of(snapshot.items)
    return [
        {"item_id": item.id, "said": said[start:stop]}
        for item, start, stop in zip(snapshot.items, ends[:-1].tolist(), ends[1:].tolist(), strict=True)
    ]


def came_true(snapshot: Snapshot, job: PlanJob, *, now: float) -> Realised | None:
    """What the planned model does with the labels that there are now, beside what the plan said of as many.

    Its error is cross-validated: every label is predicted from those of the other four folds, so the model has
    learned from four fifths of the labels, and that is the number at which the forecast is read. None: the plan is of
    a criterion that no labels tell, or there are too few of them.
    """
    if job.record is None:
        return None
    criterion = str(job.record["question"]["criterion"])
    metric = metric_of(criterion)
    if metric is None and criterion not in ("error", "log_loss"):
        return None
    seed = int(job.record["seed"])
    pool = _pool(snapshot, _model(job.asked, job.record, snapshot.settings), seed)
    learner, data = pool.learner, pool.data
    mode = learner.mode
    if mode in learner.modes and not job.record["uses_unlabeled"] and "labels-only" in learner.modes:
        mode = "labels-only"
    n_units = labeled_units(data).size
    points = pilot_points(
        learner,
        data,
        [mode],
        seed=seed,
        n_repeats={mode: 1},
        sizes=point_sizes(n_units)[-1:],
        metrics=() if metric is None else (metric,),
    )[mode]
    if metric is not None:
        error = float(points.shortfalls[metric.spec][0, 0])
        variance = float(points.shortfall_covariance(metric.spec)[0, 0])
    else:
        losses: FloatArray = points.errors if criterion == "error" else points.log_losses
        error, variance = float(points.means(losses)[0]), float(points.covariance(losses)[0, 0])
    labels = float(points.sizes[-1]) * float((data.evidence.codes >= 0).sum()) / n_units
    forecast = _forecast(job.record, labels)
    return Realised(now, labels, error, float(np.sqrt(max(variance, 0.0))), *forecast)


def _forecast(record: Mapping[str, Any], labels: float) -> tuple[float | None, float | None, float | None]:
    """What a plan said of so many labels, and its interval."""
    curve = record.get("forecast")
    if not curve or labels < curve["labels"][0] * 0.5:
        return None, None, None
    known = ForecastCurve(
        tuple(curve["labels"]), tuple(curve["error"]), tuple(curve["low"]), tuple(curve["high"])
    ).at(labels)
    return (None, None, None) if known is None else known


def _digest(snapshot: Snapshot) -> str:
    from labelworth.data.digest import data_digest, texts_digest

    raw = snapshot.raw
    return texts_digest(raw) if isinstance(raw, RawTexts) else data_digest(raw.sequences())


def _pool(snapshot: Snapshot, settings: Mapping[str, Any], seed: int) -> Any:
    from labelworth.estimators.reading import pool_of

    model = settings["model"]
    if model == AUTO or model in NAMED:
        estimator: Any = model
    else:
        own = {name: value for name, value in settings.items() if name != "model"}
        estimator = kind_named(model).estimator(**own)
    return pool_of(snapshot.X, snapshot.y, estimator, classes=list(snapshot.settings.classes), seed=seed)


def _model(asked: Mapping[str, Any], record: Mapping[str, Any] | None, settings: Settings) -> dict[str, Any]:
    """What a plan was made with: as it was chosen, or named."""
    chosen = None if record is None else (record.get("models") or {}).get("settings")
    return dict(chosen) if chosen else {"model": asked.get("model") or _USUAL[settings.kind]}


def require_options(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Refuse what no plan takes, before anything is computed."""
    from labelworth.planning.targets import read_target
    from labelworth.tradeoff.problem import Question

    unknown = [name for name in asked if name not in OPTIONS]
    if unknown:
        raise InvalidInputError(f"A plan takes {', '.join(OPTIONS)}. Got {unknown[0]!r}.")
    model = asked.get("model")
    if model is not None and not isinstance(model, str):
        raise InvalidInputError("The plan of a campaign names its model: another process may go on with it.")
    target, _ = read_target(asked.get("target"), asked.get("criterion"))
    Question.of(budget=asked.get("budget"), target=target, alpha=asked.get("alpha"), pool=asked.get("pool"))
    return {name: value for name, value in asked.items() if value is not None}
