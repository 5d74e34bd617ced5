"""Documents, or any rows with one label each, as plans are made from them."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Generic

import numpy as np
from scipy.special import log_softmax

from labelworth.arrays import UNLABELED, FloatArray, IntArray
from labelworth.channels.channel import Channel
from labelworth.data.rows import Rows
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError, LabelworthWarning, NotIdentifiableError
from labelworth.estimation.annotators import Annotators
from labelworth.estimation.answered import AnsweredFamily
from labelworth.estimation.fit import Fit, at_maximum, fit
from labelworth.estimators.pools.pool import Abilities, Pool, PoolKind
from labelworth.fisher.criteria import CRITERIA
from labelworth.models.classes.alike_words import AlikeWords
from labelworth.models.classes.naive_bayes import NaiveBayesFamily
from labelworth.models.protocol import AnyFamily, Family, ModelT
from labelworth.progress import SILENT, Progress
from labelworth.robust.held_out import HeldOutPredictions, held_out_predictions
from labelworth.simulation.asking import FEWEST_NEXT, label_at_random
from labelworth.simulation.learner import Learner, LearnerKind, Mode, Source
from labelworth.wording import odds_in_words

_TOLERANCE = 1e-2  # nats per row: predictions settle long before parameters do
LABELS_ONLY = (
    "Labels that were chosen by x and a model of p(x, y) that learns from labels alone do not go together: it would "
    "take the words and classes of the chosen rows for those of all (with a right model that cost 5 points of error "
    "where we tried it). Learn from unlabeled rows too, take a model of p(y | x) as logistic, or label at random."
)
_MOST_STEPS = 20  # accelerated ones; later steps changed errors by 0.013 at most on news texts


@dataclass(frozen=True, eq=False)
class ClassPrediction:
    """Predictions of rows."""

    log_joint: FloatArray  # (n, K): log p(x, y), up to a constant of x.

    @cached_property
    def best(self) -> IntArray:
        """The most probable class of every row."""
        return np.asarray(self.log_joint.argmax(axis=1))

    def log_posteriors(self, temperature: float) -> FloatArray:
        """log p(y | x) with log-odds divided by the temperature."""
        return np.asarray(log_softmax(self.log_joint / temperature, axis=1))

    def draw(self, temperature: float, rng: np.random.Generator) -> IntArray:
        """Classes drawn row by row, by inversion: one uniform number each."""
        shares = np.exp(self.log_posteriors(temperature)).cumsum(axis=1)
        uniforms = rng.random(len(shares)) * shares[:, -1]
        return np.asarray((uniforms[:, None] >= shares).sum(axis=1))


@dataclass(frozen=True, eq=False)
class ClassLearner(Learner[Samples], Generic[ModelT]):
    """EM on rows with and without labels; the closed form in the labels-only mode."""

    family: Family[ModelT]  # The kind of model and its prior.
    unlabeled_weight: float = 1.0  # What a row without label counts in the semi-supervised mode.
    start_smoothing: float = 1.0  # How many times stronger the prior is for the model EM starts from.
    # Of EM, in nats per row; forecasts need predictions, which settle long before parameters do.
    tolerance: float = _TOLERANCE
    max_iterations: int = _MOST_STEPS  # Steps of EM at most.
    channels: tuple[Channel, ...] = ()  # What is known of those who answer.

    n_other_sources: ClassVar[int] = 2

    @property
    def kind(self) -> LearnerKind:
        return "generative" if isinstance(self.family, NaiveBayesFamily) else "vectors"

    @property
    def learns_answers(self) -> bool:
        return True

    def sources(self, data: Samples, workers: int | None = 1) -> dict[str, Source]:
        from labelworth.estimators.pools.sources import row_sources

        return row_sources(self, data, workers)

    def fit_model(self, data: Samples, start: ModelT | None) -> ModelT:
        options: dict[str, Any] = {
            "start_smoothing": self.start_smoothing,
            "unlabeled_weight": self.unlabeled_weight,
            "tolerance": self.tolerance,
            "max_iterations": self.max_iterations,
        }
        if data.answers is None:
            # A given start may tell alike words apart.
            alike = AlikeWords.of(self.family, data) if start is None else None
            if alike is None:
                return fit(self.family, data, start=start, **options).model
            apart: Any = alike.apart(fit(alike.family, alike.samples, **options).model)
            fitted: ModelT = apart
            return fitted
        names = data.answers.names
        known = [channel for channel in self.channels if channel.name in names]
        annotators = Annotators.of(names, self.family.classes, channels=known)
        together: Any = AnsweredFamily(self.family, annotators)
        model: ModelT = fit(together, data, **options).model.inner
        return model

    def predict(self, model: Any, data: Samples) -> ClassPrediction:
        return ClassPrediction(model.log_joint(data.hide()))

    @property
    def worth_modes(self) -> tuple[Mode, ...]:
        """Labels alone of chosen rows would mislead it."""
        return ("semi-supervised",) if self.unlabeled_weight > 0 else ()

    def worths(self, model: Any, data: Samples) -> FloatArray:
        """At the maximum that is climbed to from `model`; the information holds nowhere else."""
        from labelworth.fisher.documents.worth import row_worth

        if self.mode == "labels-only" or self.unlabeled_weight == 0:
            raise InvalidInputError(LABELS_ONLY)
        counted = np.where(data.evidence.is_unlabeled, self.unlabeled_weight, 1.0) * data.sample_weights

        def gains(fitted: Fit[Any, Any]) -> FloatArray:
            worth = row_worth(fitted.model, fitted.family, data.weighted(counted))
            return worth.gains(np.zeros(data.n_samples))

        family: Any = self.family
        return at_maximum(gains, family, data, model, unlabeled_weight=self.unlabeled_weight)


@dataclass(frozen=True, eq=False)
class DocumentPool(Pool[Samples]):
    """Rows with and without labels, and the model fitted to them."""

    family: AnyFamily  # The kind of model and its prior.
    unlabeled_weight: float = 1.0  # Of the fit.
    start_smoothing: float = 1.0

    kind: ClassVar[PoolKind] = "documents"
    abilities: ClassVar[Abilities] = Abilities(
        formula_criteria=("error", "log_loss", "excess_error", *CRITERIA),
        most_parameters=600,
        folds=True,
        surface=True,
    )

    def search_answered(self, data: Samples) -> tuple[AnyFamily, dict[str, Any]]:
        """The family that learns from answers, and how a fit of it is found."""
        return self.family, {"unlabeled_weight": self.unlabeled_weight}

    @classmethod
    def of_family(cls, family: AnyFamily, samples: Samples, progress: Progress = SILENT) -> "DocumentPool":
        """Fit a family as it is."""
        require_documents(samples)
        fitted = fit(family, samples, progress=progress)
        return cls(samples, fitted, family, settings={"family": repr(family)})

    @property
    def n_parameters(self) -> int:
        return int(self.model.coordinates.n_free)

    @property
    def samples(self) -> str:
        return self.kind if self.data.is_sparse else "rows"

    @property
    def tokens_per_position(self) -> float | None:
        """Words per document; None for vectors."""
        return float(self.data.row_sums().sum() / self.n_samples) if self.data.is_sparse else None

    @cached_property
    def learner(self) -> ClassLearner[Any]:
        learner = ClassLearner(self.family, self.unlabeled_weight, self.start_smoothing)
        if self.choice is None or self.choice.chosen.uses_unlabeled:
            return learner
        return replace(learner, mode="labels-only", modes=("labels-only",))

    def require_anchored(self) -> None:
        """Refuse classes that no label names, and labels that cannot tell classes apart."""
        alike = self.fitted.exchangeable_classes
        if alike:
            groups = "; ".join(", ".join(repr(name) for name in group[:8]) for group in alike)
            raise NotIdentifiableError(
                f"No label tells these classes apart: {groups}. Label at least one document of each, better ten; "
                "draw them with `labelworth next`.",
                [str(name) for group in alike for name in group],
            )

    def held_out(
        self, weights: Sequence[float], *, n_folds: int, rng: np.random.Generator, progress: Progress = SILENT
    ) -> HeldOutPredictions[float]:
        """Predictions of labeled documents that were not learned from, at several weights of the unlabeled ones."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LabelworthWarning)
            return held_out_predictions(
                self.family,
                self.data,
                weights,
                n_folds=n_folds,
                rng=rng,
                fitting={"start_smoothing": self.start_smoothing},
                progress=progress,
            )

    def refit_to_resample(self, start: Fit[Any, Any], rng: np.random.Generator) -> Any:
        """The model fitted to documents drawn with replacement, labeled and unlabeled ones each among their own."""
        rows = self.resample(rng)
        with warnings.catch_warnings():
            # A resample may lack a class of few labels; the warm start keeps its name.
            warnings.simplefilter("ignore", LabelworthWarning)
            return fit(start.family, self.data.take(rows), start=start.model, tolerance=1e-7).model

    def resample(self, rng: np.random.Generator) -> Any:
        """Rows drawn with replacement, labeled and unlabeled ones each among their own."""
        groups = [np.flatnonzero(self.is_labeled), np.flatnonzero(~self.is_labeled)]
        return np.concatenate([rng.choice(group, size=len(group)) for group in groups if len(group)])


def require_documents(samples: Rows) -> None:
    """Refuse data from which no plan can be made."""
    counts = samples.evidence.label_counts()
    if not counts.sum():
        raise NotIdentifiableError(
            "No document is labeled, so there is no pilot to plan from. Draw one with `labelworth next --count 100`."
        )
    if np.count_nonzero(counts) < 2:
        only, n_left = samples.evidence.classes[int(np.argmax(counts))], int((~samples.is_labeled).sum())
        marker = ""
        if n_left and isinstance(only, int | np.integer):
            # Where classes are names, -1 is none of them.
            marker = f" Where {UNLABELED} is a class, name another marker of rows without a label with unlabeled=."
        raise NotIdentifiableError(
            f"All labels say {only!r}: with one class there is nothing to tell apart. "
            f"{_until_two_classes(int(counts.sum()), n_left)}{marker}"
        )


def _until_two_classes(n_labels: int, n_left: int) -> str:
    """What to label next where all labels say the same, and the odds that others are among it.

    Were every share of other classes as probable as any other, n labels without one leave odds of m / (n + m + 1)
    that one is among the next m.
    """
    more, step = label_at_random(min(max(FEWEST_NEXT, n_labels), n_left), n_labels, n_left)
    if not more:
        return f"{step}."
    odds = odds_in_words(more / (n_labels + more + 1))
    return (
        f"{step}: the odds that another class is among them are {odds}, if no share of it was more probable than "
        "another before."
    )
