"""Which tokens to label: policies of equal cost on synthetic sequences whose truth is known, predicted and tried."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.criteria.policy_information import policy_information
from labelworth.criteria.table import InformationPoint, InformationTable
from labelworth.data.evidence import Evidence
from labelworth.data.lengths import LengthDistribution
from labelworth.data.sequences import Sequences
from labelworth.demo.story import Story, Trials, band, standard_error
from labelworth.estimation.fit import fit
from labelworth.fisher.criteria import CRITERIA
from labelworth.models.chains.hidden_markov import HiddenMarkovFamily, HiddenMarkovModel
from labelworth.policies.policy import Policy
from labelworth.policies.spec import parse_policy
from labelworth.progress import SILENT, Progress, tracking
from labelworth.report.values import BarsPanel, ComparisonPanel, Curve, CurvesPanel, Outcome, Picture, Table

POLICIES = MappingProxyType(
    {
        "a few whole": "0.1*everything + 0.9*nothing",
        "every other": "0.2*every-other + 0.8*nothing",
        "windows of 5": "0.2*window:5 + 0.8*nothing",
        "first half": "0.2*prefix:5 + 0.8*nothing",
        "random tokens": "random:0.1",
        "first only": "prefix:1",
    }
)
"""One label per sequence of ten tokens each, spent in six ways."""

LENGTH = 10
_N_GRID = 24
_SMOOTHING = 0.01
"""So little that a probability of zero is ruled out and nothing else changes."""


@dataclass(frozen=True)
class SequenceDemoSettings:
    """How the demonstration is set up."""

    n_labels: int = 3  # Of the hidden Markov model that is the truth.
    n_words: int = 12
    n_sequences: int = 1500  # Sequences to learn from, as many labels.
    n_test: int = 1000  # Sequences to test on, new ones for every refit.
    n_refits: int = 40  # How often every policy is tried, each time on new sequences.
    relative_error: float = 0.03  # Standard error of the predicted figures, relative to each.


QUICK = SequenceDemoSettings(n_refits=8, n_test=500, relative_error=0.1)
"""The same story, rougher."""


@dataclass(frozen=True, eq=False)
class SequenceDemonstration:
    """What the demonstration measured."""

    settings: SequenceDemoSettings
    truth: HiddenMarkovModel
    # What the theory says of every policy, given the truth; the points are in the order of `POLICIES`.
    table: InformationTable
    # What happened, (n_policies, n_refits): excess conditional log-loss per sequence on test data, and the sum
    # of the squared errors of all probabilities.
    log_losses: Trials
    squared_errors: Trials

    def named_points(self) -> Iterator[tuple[str, InformationPoint]]:
        return zip(POLICIES, self.table.points, strict=True)

    def predicted(self, name: str) -> tuple[FloatArray, FloatArray]:
        """Figures of the policies and their standard errors; NaN where there is none."""
        values = [point.figures[name] for point in self.table.points]
        errors = [point.standard_errors.get(name) for point in self.table.points]
        return np.array(values, dtype=float), np.array(errors, dtype=float)


def tell(quick: bool, seed: int, progress: Progress) -> Story:
    """Policies on drawn sequences: the `Scenario` of `labelworth demo --sequences`."""
    settings = QUICK if quick else SequenceDemoSettings()
    return Story(settings, outcome(demonstrate_policies(settings, seed, progress)))


def draw_truth(n_labels: int, n_words: int, rng: np.random.Generator) -> HiddenMarkovModel:
    """A hidden Markov model that is neither trivial nor at the edge: every row has a part that is uniform."""

    def rows(count: int, size: int, concentration: float) -> FloatArray:
        drawn: FloatArray = 0.7 * rng.dirichlet(np.full(size, concentration), count) + 0.3 / size
        return drawn

    return HiddenMarkovModel(
        tuple("ABCDEFGH"[:n_labels]),
        rows(1, n_labels, 1.0)[0],
        rows(n_labels, n_labels, 0.5),
        rows(n_labels, n_words, 0.4),
        lengths=LengthDistribution.single(LENGTH),
    )


def demonstrate_policies(
    settings: SequenceDemoSettings, seed: int = 0, progress: Progress = SILENT
) -> SequenceDemonstration:
    """Run the demonstration; everything left to chance follows from `seed`."""
    rng = np.random.default_rng(seed)
    truth = draw_truth(settings.n_labels, settings.n_words, rng)
    table = policy_information(
        truth,
        policies=list(POLICIES.values()),
        n_samples=settings.n_sequences,
        lengths=truth.lengths,
        seed=int(rng.integers(2**32)),
        relative_error=settings.relative_error,
        progress=progress,
    )
    log_losses, squared_errors = _tried(truth, settings, rng, progress)
    return SequenceDemonstration(settings, truth, table, log_losses, squared_errors)


def _tried(
    truth: HiddenMarkovModel, settings: SequenceDemoSettings, rng: np.random.Generator, progress: Progress
) -> tuple[Trials, Trials]:
    """Fit under every policy, each time to new sequences, all policies to the same ones."""
    family = HiddenMarkovFamily(
        truth.classes, truth.n_features, _SMOOTHING, _SMOOTHING, truth.lengths, truth.feature_names
    )
    shape = (len(POLICIES), settings.n_refits)
    log_losses, squared_errors = np.empty(shape), np.empty(shape)
    with tracking(progress, "Trying the policies", shape[0] * shape[1]) as task:
        for refit in range(settings.n_refits):
            labeled = truth.sample(blank(truth, settings.n_sequences), rng)
            test = truth.sample(blank(truth, settings.n_test), rng)
            floor = conditional(truth, test)
            for index, policy in enumerate(POLICIES.values()):
                seen, _ = parse_policy(policy).apply(labeled, int(rng.integers(2**32)))
                model = fit(family, seen, rng=rng).model
                log_losses[index, refit] = (floor - conditional(model, test)).mean()
                gaps = (model.tables[name] - table for name, table in truth.tables.items())
                squared_errors[index, refit] = sum(np.square(gap).sum() for gap in gaps)
                task.advance()
    return Trials(log_losses), Trials(squared_errors)


def blank(model: HiddenMarkovModel, n_sequences: int) -> Sequences:
    """Sequences of which nothing is known but their length."""
    offsets: IntArray = LENGTH * np.arange(n_sequences + 1)
    n_tokens = int(offsets[-1])
    evidence = Evidence(np.full(n_tokens, -1), model.classes)
    return Sequences(np.zeros(n_tokens, dtype=np.int64), offsets, evidence, model.feature_names)


def conditional(model: HiddenMarkovModel, sequences: Sequences) -> FloatArray:
    """log p(y | x) of every sequence."""
    return model.log_evidence(sequences) - model.log_evidence(sequences.hide())


def outcome(demo: SequenceDemonstration) -> Outcome:
    settings = demo.settings
    title = f"Where to put {settings.n_sequences:,} labels: one per sequence of {LENGTH} tokens, spent in six ways"
    panels = (_bars_panel(demo), _comparison_panel(demo), _curves_panel(demo), _weakness_panel(demo))
    question = (
        f"The question. {settings.n_sequences:,} sequences of {LENGTH} tokens, drawn from a hidden Markov model with "
        f"{settings.n_labels} labels and {settings.n_words} words, and as many labels to spend: on a few whole "
        "sequences, on windows, on single tokens?"
    )
    figures = {
        "n_sequences": settings.n_sequences,
        "length": LENGTH,
        "n_refits": settings.n_refits,
        "truth": {name: table.tolist() for name, table in demo.truth.tables.items()},
        "information": demo.table.to_dict(),
        "policies": _policies(demo),
    }
    words = (question, _who_wins(demo), *_warnings(demo))
    return Outcome(figures, words, (_table(demo),), {"": Picture(title, panels)})


def _policies(demo: SequenceDemonstration) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "policy": POLICIES[name],
            "expected_labels_per_sample": point.expected_labels,
            "identifiable": point.is_identifiable,
            "smallest_relative_information": point.smallest_share,
            "predicted_excess_log_loss": point.figures["excess_log_loss"],
            "predicted_excess_log_loss_se": point.standard_errors.get("excess_log_loss"),
            "realized_excess_log_loss": demo.log_losses.means[index],
            "realized_excess_log_loss_se": demo.log_losses.standard_errors[index],
            "predicted_total_variance": point.figures["total_variance"],
            "predicted_total_variance_se": point.standard_errors.get("total_variance"),
            "realized_squared_error": demo.squared_errors.means[index],
            "realized_squared_error_se": demo.squared_errors.standard_errors[index],
        }
        for index, (name, point) in enumerate(demo.named_points())
    ]


def _table(demo: SequenceDemonstration) -> Table:
    shown = (
        "predicted_excess_log_loss",
        "realized_excess_log_loss",
        "predicted_total_variance",
        "realized_squared_error",
        "smallest_relative_information",
    )
    rows = tuple(
        (row["name"], *("-" if row[name] is None else f"{row[name]:.2g}" for name in shown))
        for row in _policies(demo)
    )
    note = (
        f"Realized: mean of {demo.settings.n_refits} refits on new sequences. Log-loss is that of the labels of a "
        "sequence, squared error that of all probabilities; share is how much of what complete labels tell is told "
        "in the weakest direction."
    )
    columns = ("labels", "excess log-loss", "realized", "squared error", "realized", "share")
    return Table("The same number of labels, spent in six ways: predicted and realized", columns, rows, note)


def _who_wins(demo: SequenceDemonstration) -> str:
    names = list(POLICIES)
    (predicted, _), realized = demo.predicted("excess_log_loss"), demo.log_losses.means
    promised, best, worst = int(np.nanargmin(predicted)), int(realized.argmin()), int(realized.argmax())
    gaps = demo.log_losses.draws[worst] - demo.log_losses.draws[promised]
    kept = "so it was" if best == promised else f"'{names[best]}' came first"
    first, second = np.triu_indices(len(names), 1)
    agree = np.sign(predicted[first] - predicted[second]) == np.sign(realized[first] - realized[second])
    return (
        f"Who wins. Before any fit the theory puts '{names[promised]}' first; over {len(gaps)} refits {kept}, with "
        f"an excess log-loss of {realized[best]:.3f} nats per sequence. '{names[worst]}' comes last with "
        f"{realized[worst]:.3f}, {gaps.mean():.3f} ± {standard_error(gaps):.3f} more than '{names[promised]}'. "
        f"Predicted and realized order agree for {agree.sum()} of {len(agree)} pairs of policies."
    )


def _warnings(demo: SequenceDemonstration) -> tuple[str, ...]:
    warnings = []
    for name, point in demo.named_points():
        if not point.is_identifiable:
            warnings.append(f"Warning. '{name}' does not pin the model down.")
        for direction in (point.weak_directions or ())[:1]:
            warnings.append(
                f"Warning. '{name}' is weak: of {', '.join(direction.parameters[:4])} it tells "
                f"{direction.relative_information:.2g} of what complete labels would."
            )
    return tuple(warnings)


def _bars_panel(demo: SequenceDemonstration) -> BarsPanel:
    title = "Price of estimation, predicted and realized"
    realized = (demo.log_losses.means, demo.log_losses.standard_errors)
    bars = {"predicted": demo.predicted("excess_log_loss"), "realized": realized}
    return _over_policies(title, "excess log-loss (nats per sequence)", bars)


def _weakness_panel(demo: SequenceDemonstration) -> BarsPanel:
    title = "How far the weakest direction is pinned down"
    shares = np.array([point.smallest_share for point in demo.table.points], dtype=float)
    return _over_policies(title, "share of what complete labels tell", {"": (shares, None)})


def _over_policies(title: str, y_label: str, bars: Mapping[str, tuple[FloatArray, FloatArray | None]]) -> BarsPanel:
    """Bars by their name: figures, and standard errors where there are some."""
    positions = np.arange(len(POLICIES), dtype=float)
    series = [
        Curve(name, positions, values, *(() if errors is None else band(values, errors)))
        for name, (values, errors) in bars.items()
    ]
    return BarsPanel(title, y_label, tuple("\n".join(name.rsplit(" ", 1)) for name in POLICIES), tuple(series))


def _comparison_panel(demo: SequenceDemonstration) -> ComparisonPanel:
    predicted, _ = demo.predicted("total_variance")
    groups = [
        demo.squared_errors.points(name, predicted[index], index, color=index) for index, name in enumerate(POLICIES)
    ]
    title = "Squared error of all probabilities"
    return ComparisonPanel(title, "predicted (total variance)", "realized", tuple(groups), scale="log")


def _curves_panel(demo: SequenceDemonstration) -> CurvesPanel:
    """Any number of labels from the same table of rules: a policy with more or less of nothing in it."""
    whole, *others = demo.log_losses.draws
    _, *named = demo.named_points()
    curves = []
    for color, ((name, point), losses) in enumerate(zip(named, others, strict=True), start=1):
        curves.append(Curve(name, *_beside_whole(demo, parse_policy(point.policy)), color=color))
        ratio = losses.mean() / whole.mean()
        labels, realized = np.array([point.expected_labels]), np.array([ratio])
        spread = standard_error(losses - ratio * whole) / whole.mean()
        curves.append(Curve("", labels, realized, *band(realized, spread), "points", color))
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
        point = rules.point(CRITERIA["excess_log_loss"], weights)
        return np.inf if point is None else point.value

    return labels, np.array([loss(own, count / per_use) / loss(rules.everything, count / LENGTH) for count in labels])
