"""What the demonstration on sequences says: words, tables and one picture, all from its figures."""

from typing import Any

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.demo.policies import (
    LENGTH,
    POLICIES,
    QUICK,
    SequenceDemonstration,
    SequenceDemoSettings,
    demonstrate_policies,
)
from labelworth.demo.scenario import Story, band, over_draws
from labelworth.fisher.criteria import CRITERIA
from labelworth.policies.policy import Policy
from labelworth.policies.spec import parse_policy
from labelworth.progress import Progress
from labelworth.report.values import BarsPanel, ComparisonPanel, Curve, CurvesPanel, Outcome, Picture, Table

_LOG_LOSS = CRITERIA["excess_log_loss"]
_N_GRID = 24


def tell(quick: bool, seed: int, progress: Progress) -> Story:
    """Policies on drawn sequences: the `Scenario` of `labelworth demo --sequences`."""
    settings = QUICK if quick else SequenceDemoSettings()
    return Story(settings, outcome(demonstrate_policies(settings, seed, progress)))


def outcome(demo: SequenceDemonstration) -> Outcome:
    settings = demo.settings
    picture = Picture(
        f"Where to put {settings.n_sequences:,} labels: one per sequence of {LENGTH} tokens, spent in six ways",
        (
            _bars_panel(demo),
            _comparison_panel(demo),
            _curves_panel(demo),
            _weakness_panel(demo),
        ),
    )
    return Outcome(_figures(demo), _words(demo), (_table(demo),), {"": picture})


def _predicted(demo: SequenceDemonstration, name: str) -> tuple[FloatArray, FloatArray]:
    """Figures of the policies and their standard errors; NaN where there is none."""
    points = demo.table.points
    values = np.array([point.figures[name] for point in points], dtype=float)
    return values, np.array([point.standard_errors.get(name) for point in points], dtype=float)


def _figures(demo: SequenceDemonstration) -> dict[str, Any]:
    log_losses, log_loss_errors = over_draws(demo.log_losses)
    squared, squared_errors = over_draws(demo.squared_errors)
    return {
        "n_sequences": demo.settings.n_sequences,
        "length": LENGTH,
        "n_refits": demo.settings.n_refits,
        "truth": {name: table.tolist() for name, table in demo.truth.tables.items()},
        "information": demo.table.to_dict(),
        "policies": [
            {
                "name": name,
                "policy": policy,
                "expected_labels_per_sample": point.expected_labels,
                "identifiable": point.is_identifiable,
                "smallest_relative_information": point.smallest_share,
                "predicted_excess_log_loss": point.figures["excess_log_loss"],
                "predicted_excess_log_loss_se": point.standard_errors.get("excess_log_loss"),
                "realized_excess_log_loss": float(log_losses[index]),
                "realized_excess_log_loss_se": float(log_loss_errors[index]),
                "predicted_total_variance": point.figures["total_variance"],
                "predicted_total_variance_se": point.standard_errors.get("total_variance"),
                "realized_squared_error": float(squared[index]),
                "realized_squared_error_se": float(squared_errors[index]),
            }
            for index, ((name, policy), point) in enumerate(zip(POLICIES.items(), demo.table.points, strict=True))
        ],
    }


def _table(demo: SequenceDemonstration) -> Table:
    log_losses, _ = over_draws(demo.log_losses)
    squared, _ = over_draws(demo.squared_errors)
    rows = tuple(
        (
            name,
            _short(point.figures["excess_log_loss"]),
            _short(log_losses[index]),
            _short(point.figures["total_variance"]),
            _short(squared[index]),
            _short(point.smallest_share),
        )
        for index, (name, point) in enumerate(zip(POLICIES, demo.table.points, strict=True))
    )
    note = (
        f"Realized: mean of {demo.settings.n_refits} refits on new sequences. Log-loss is that of the labels of a "
        "sequence, squared error that of all probabilities; share is how much of what complete labels tell is told "
        "in the weakest direction."
    )
    columns = ("labels", "excess log-loss", "realized", "squared error", "realized", "share")
    return Table("The same number of labels, spent in six ways: predicted and realized", columns, rows, note)


def _short(value: float | None) -> str:
    return "-" if value is None else f"{value:.2g}"


def _words(demo: SequenceDemonstration) -> tuple[str, ...]:
    names = list(POLICIES)
    predicted, _ = _predicted(demo, "excess_log_loss")
    realized, _ = over_draws(demo.log_losses)
    promised, best = int(np.nanargmin(predicted)), int(realized.argmin())
    worst = int(realized.argmax())
    gaps = demo.log_losses[worst] - demo.log_losses[promised]
    change = f"{gaps.mean():.3f} ± {gaps.std(ddof=1) / np.sqrt(len(gaps)):.3f}"
    kept = "so it was" if best == promised else f"'{names[best]}' came first"
    agreement = (
        f"Who wins. Before any fit the theory puts '{names[promised]}' first; over {len(gaps)} refits {kept}, with "
        f"an excess log-loss of {realized[best]:.3f} nats per sequence. '{names[worst]}' comes last with "
        f"{realized[worst]:.3f}, {change} more than '{names[promised]}'. Predicted and realized order agree for "
        f"{_agreeing(predicted, realized)} of {len(names) * (len(names) - 1) // 2} pairs of policies."
    )
    return (_question(demo), agreement, *_warnings(demo))


def _question(demo: SequenceDemonstration) -> str:
    settings = demo.settings
    return (
        f"The question. {settings.n_sequences:,} sequences of {LENGTH} tokens, drawn from a hidden Markov model with "
        f"{settings.n_labels} labels and {settings.n_words} words, and as many labels to spend: on a few whole "
        "sequences, on windows, on single tokens?"
    )


def _agreeing(predicted: FloatArray, realized: FloatArray) -> int:
    """How many pairs of policies come in the same order."""
    first, second = np.triu_indices(len(predicted), 1)
    same = np.sign(predicted[first] - predicted[second]) == np.sign(realized[first] - realized[second])
    return int(same.sum())


def _warnings(demo: SequenceDemonstration) -> tuple[str, ...]:
    warnings = []
    for name, point in zip(POLICIES, demo.table.points, strict=True):
        if not point.is_identifiable:
            warnings.append(f"Warning. '{name}' does not pin the model down.")
        for direction in (point.weak_directions or ())[:1]:
            warnings.append(
                f"Warning. '{name}' is weak: of {', '.join(direction.parameters[:4])} it tells "
                f"{direction.relative_information:.2g} of what complete labels would."
            )
    return tuple(warnings)


def _bars_panel(demo: SequenceDemonstration) -> BarsPanel:
    predicted, predicted_errors = _predicted(demo, "excess_log_loss")
    realized, realized_errors = over_draws(demo.log_losses)
    positions = np.arange(len(POLICIES), dtype=float)
    return BarsPanel(
        "Price of estimation, predicted and realized",
        "excess log-loss (nats per sequence)",
        tuple("\n".join(name.rsplit(" ", 1)) for name in POLICIES),
        (
            Curve("predicted", positions, predicted, *band(predicted, predicted_errors)),
            Curve("realized", positions, realized, *band(realized, realized_errors)),
        ),
    )


def _comparison_panel(demo: SequenceDemonstration) -> ComparisonPanel:
    predicted, _ = _predicted(demo, "total_variance")
    realized, errors = over_draws(demo.squared_errors)
    groups = tuple(
        Curve(
            name,
            predicted[index : index + 1],
            realized[index : index + 1],
            *band(realized[index : index + 1], errors[index : index + 1]),
            "points",
            index,
        )
        for index, name in enumerate(POLICIES)
    )
    return ComparisonPanel(
        "Squared error of all probabilities", "predicted (total variance)", "realized", groups, scale="log"
    )


def _curves_panel(demo: SequenceDemonstration) -> CurvesPanel:
    """Any number of labels from the same table of rules: a policy with more or less of nothing in it."""
    whole = demo.log_losses[0]
    curves = []
    for index, (name, point) in enumerate(zip(POLICIES, demo.table.points, strict=True)):
        if index == 0:
            continue
        curves.append(Curve(name, *_beside_whole(demo, parse_policy(point.policy)), color=index))
        ratio = demo.log_losses[index].mean() / whole.mean()
        spread = (demo.log_losses[index] - ratio * whole).std(ddof=1) / np.sqrt(len(whole)) / whole.mean()
        labels, realized = np.array([point.expected_labels]), np.array([ratio])
        curves.append(Curve("", labels, realized, *band(realized, spread), "points", index))
    return CurvesPanel(
        "Against whole sequences at the same number of labels",
        "labels per sequence",
        "times the loss of whole sequences",
        tuple(curves),
        x_scale="log",
        y_scale="log",
    )


def _beside_whole(demo: SequenceDemonstration, policy: Policy) -> tuple[FloatArray, FloatArray]:
    """Labels per sequence, and the predicted loss over that of whole sequences with as many labels."""
    rules = demo.table.dense
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


def _weakness_panel(demo: SequenceDemonstration) -> BarsPanel:
    shares = np.array([point.smallest_share for point in demo.table.points], dtype=float)
    return BarsPanel(
        "How far the weakest direction is pinned down",
        "share of what complete labels tell",
        tuple("\n".join(name.rsplit(" ", 1)) for name in POLICIES),
        (Curve("", np.arange(len(POLICIES), dtype=float), shares),),
    )
