"""What the demonstration on sequences says: words, tables and one picture, all from its figures."""

from typing import Any

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.demo.policies import LENGTH, POLICIES, SequenceDemonstration
from labelworth.fisher.criteria import CRITERIA
from labelworth.policies.policy import Policy
from labelworth.policies.spec import parse_policy
from labelworth.report.values import (
    BarsPanel,
    ComparisonPanel,
    Curve,
    CurvesPanel,
    Measured,
    Outcome,
    Picture,
    Table,
)

_LOG_LOSS = CRITERIA["excess_log_loss"]
_N_GRID = 24


def outcome(found: SequenceDemonstration) -> Outcome:
    """Everything for people and for the record."""
    settings = found.settings
    picture = Picture(
        f"Where to put {settings.n_sequences:,} labels: one per sequence of {LENGTH} tokens, spent in six ways",
        (_bars_panel(found), _comparison_panel(found), _curves_panel(found), _weakness_panel(found)),
    )
    return Outcome(_figures(found), _words(found), (_table(found),), {"": picture})


def _mean(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Over the refits, with standard errors."""
    return values.mean(axis=1), values.std(axis=1, ddof=1) / np.sqrt(values.shape[1])


def _predicted(found: SequenceDemonstration, name: str) -> tuple[FloatArray, FloatArray]:
    points = found.table.points
    values = [_or_nan(point.figures[name]) for point in points]
    return np.array(values), np.array([_or_nan(point.standard_errors.get(name)) for point in points])


def _or_nan(value: float | None) -> float:
    return float("nan") if value is None else value


def _figures(found: SequenceDemonstration) -> dict[str, Any]:
    log_losses, log_loss_errors = _mean(found.log_losses)
    squared, squared_errors = _mean(found.squared_errors)
    return {
        "n_sequences": found.settings.n_sequences,
        "length": LENGTH,
        "n_refits": found.settings.n_refits,
        "truth": {name: table.tolist() for name, table in found.truth.tables.items()},
        "information": found.table.to_dict(),
        "policies": [
            {
                "name": name,
                "policy": policy,
                "expected_labels_per_sample": point.expected_labels,
                "identifiable": point.is_identifiable,
                "smallest_relative_information": point.smallest_share,
                "predicted_excess_log_loss": point.figures["excess_log_loss"],
                "predicted_excess_log_loss_se": point.standard_errors.get("excess_log_loss"),
                "realized_excess_log_loss": float(log_losses[place]),
                "realized_excess_log_loss_se": float(log_loss_errors[place]),
                "predicted_total_variance": point.figures["total_variance"],
                "predicted_total_variance_se": point.standard_errors.get("total_variance"),
                "realized_squared_error": float(squared[place]),
                "realized_squared_error_se": float(squared_errors[place]),
            }
            for place, ((name, policy), point) in enumerate(zip(POLICIES.items(), found.table.points, strict=True))
        ],
    }


def _table(found: SequenceDemonstration) -> Table:
    log_losses, log_loss_errors = _mean(found.log_losses)
    squared, squared_errors = _mean(found.squared_errors)
    rows = tuple(
        (
            name,
            point.figures["excess_log_loss"],
            Measured(float(log_losses[place]), float(log_loss_errors[place])),
            point.figures["total_variance"],
            Measured(float(squared[place]), float(squared_errors[place])),
            point.smallest_share,
        )
        for place, (name, point) in enumerate(zip(POLICIES, found.table.points, strict=True))
    )
    settings = found.settings
    specs = ", ".join(f"{name} = {policy}" for name, policy in POLICIES.items())
    note = (
        f"The truth is a hidden Markov model with {settings.n_labels} labels and {settings.n_words} words, drawn "
        f"from the seed; {settings.n_sequences:,} sequences of {LENGTH} tokens and as many labels in each row. "
        f"Realized: mean of {settings.n_refits} refits on new sequences. Log-loss is that of the labels of a "
        "sequence, squared error that of all probabilities; share is how much of what complete labels tell is told "
        f"in the weakest direction. {specs}."
    )
    columns = ("labels", "excess log-loss, predicted", "realized", "squared error, predicted", "realized", "share")
    return Table("The same number of labels, spent in six ways", columns, rows, note)


def _words(found: SequenceDemonstration) -> tuple[str, ...]:
    names = list(POLICIES)
    predicted, _ = _predicted(found, "excess_log_loss")
    realized, _ = _mean(found.log_losses)
    promised, best = int(np.nanargmin(predicted)), int(realized.argmin())
    worst = int(realized.argmax())
    gaps = found.log_losses[worst] - found.log_losses[promised]
    change = f"{gaps.mean():.3f} ± {gaps.std(ddof=1) / np.sqrt(len(gaps)):.3f}"
    kept = "so it was" if best == promised else f"'{names[best]}' came first"
    agreement = (
        f"Who wins. Before any fit the theory puts '{names[promised]}' first; over {len(gaps)} refits {kept}, with "
        f"an excess log-loss of {realized[best]:.3f} nats per sequence. '{names[worst]}' comes last with "
        f"{realized[worst]:.3f}, {change} more than '{names[promised]}'. Predicted and realized order agree for "
        f"{_agreeing(predicted, realized)} of {len(names) * (len(names) - 1) // 2} pairs of policies."
    )
    return (agreement, *_warnings(found))


def _agreeing(predicted: FloatArray, realized: FloatArray) -> int:
    """How many pairs of policies come in the same order."""
    first, second = np.triu_indices(len(predicted), 1)
    same = np.sign(predicted[first] - predicted[second]) == np.sign(realized[first] - realized[second])
    return int(same.sum())


def _warnings(found: SequenceDemonstration) -> tuple[str, ...]:
    warnings = []
    for name, point in zip(POLICIES, found.table.points, strict=True):
        if not point.is_identifiable:
            warnings.append(f"Warning. '{name}' does not pin the model down.")
        for direction in (point.weak_directions or ())[:1]:
            warnings.append(
                f"Warning. '{name}' is weak: of {', '.join(direction.parameters[:4])} it tells "
                f"{direction.relative_information:.2g} of what complete labels would."
            )
    return tuple(warnings)


def _band(values: FloatArray, width: FloatArray) -> tuple[FloatArray, FloatArray]:
    return values - width, values + width


def _bars_panel(found: SequenceDemonstration) -> BarsPanel:
    predicted, predicted_errors = _predicted(found, "excess_log_loss")
    realized, realized_errors = _mean(found.log_losses)
    places = np.arange(len(POLICIES), dtype=float)
    return BarsPanel(
        "Price of estimation, predicted and realized",
        "excess log-loss (nats per sequence)",
        tuple("\n".join(name.rsplit(" ", 1)) for name in POLICIES),
        (
            Curve("predicted", places, predicted, *_band(predicted, predicted_errors)),
            Curve("realized", places, realized, *_band(realized, realized_errors)),
        ),
    )


def _comparison_panel(found: SequenceDemonstration) -> ComparisonPanel:
    predicted, _ = _predicted(found, "total_variance")
    realized, errors = _mean(found.squared_errors)
    groups = tuple(
        Curve(
            name,
            predicted[place : place + 1],
            realized[place : place + 1],
            *_band(realized[place : place + 1], errors[place : place + 1]),
            "points",
            place,
        )
        for place, name in enumerate(POLICIES)
    )
    return ComparisonPanel(
        "Squared error of all probabilities", "predicted (total variance)", "realized", groups, scale="log"
    )


def _curves_panel(found: SequenceDemonstration) -> CurvesPanel:
    """Any number of labels from the same table of rules: a policy with more or less of nothing in it."""
    whole = found.log_losses[0]
    curves = []
    for place, (name, point) in enumerate(zip(POLICIES, found.table.points, strict=True)):
        if place == 0:
            continue
        curves.append(Curve(name, *_beside_whole(found, parse_policy(point.policy)), color=place))
        ratio = found.log_losses[place].mean() / whole.mean()
        spread = (found.log_losses[place] - ratio * whole).std(ddof=1) / np.sqrt(len(whole)) / whole.mean()
        at, there = np.array([point.expected_labels]), np.array([ratio])
        curves.append(Curve("", at, there, there - spread, there + spread, "points", place))
    return CurvesPanel(
        "Against whole sequences at the same number of labels",
        "labels per sequence",
        "times the loss of whole sequences",
        tuple(curves),
        x_scale="log",
        y_scale="log",
    )


def _beside_whole(found: SequenceDemonstration, policy: Policy) -> tuple[FloatArray, FloatArray]:
    """Labels per sequence, and the predicted loss over that of whole sequences with as many labels."""
    rules = found.table.dense
    own = rules.rules.index(next(rule.spec for rule in policy.rules if rule.spec != "nothing"))
    per_use = float(rules.expected_labels[own])
    labels = np.geomspace(0.05, 1.0, _N_GRID) * per_use

    def loss(index: int, share: float) -> float:
        weights = np.zeros(len(rules.rules))
        weights[index] += share
        weights[rules.nothing] += 1 - share
        point = rules.point(_LOG_LOSS, weights)
        return np.inf if point is None else point.value

    return labels, np.array([loss(own, count / per_use) / loss(rules.everything, count / LENGTH) for count in labels])


def _weakness_panel(found: SequenceDemonstration) -> BarsPanel:
    shares = np.array([_or_nan(point.smallest_share) for point in found.table.points])
    return BarsPanel(
        "How far the weakest direction is pinned down",
        "share of what complete labels tell",
        tuple("\n".join(name.rsplit(" ", 1)) for name in POLICIES),
        (Curve("", np.arange(len(POLICIES), dtype=float), shares),),
    )
