"""`model="auto"`: settings of our own models, and the choice between models, by cross-validation on the pilot.

Candidates are few and fixed, per kind of data; all are fitted on the same five folds. Whether samples without a label
are learned from, and how much they count, is part of the same choice. Settings were tuned on news texts: 4 words
weighted by inverse document frequency and smoothing by 0.005 on 20 Newsgroups, 20 words and smoothing by 0.1 there
and on Reuters; what is on the list was decided on corpora that `labelworth reproduce model-choice` judges the choice
on, with other pilots.
"""

import warnings
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import numpy as np

from labelworth.arrays import UNLABELED
from labelworth.data.class_counts import ClassCounts
from labelworth.data.counts import as_counts
from labelworth.data.digest import data_digest
from labelworth.data.evidence import encode_labels
from labelworth.data.kept import Checkpoint
from labelworth.data.rows import Rows, n_rows
from labelworth.data.samples import Samples
from labelworth.data.views import in_numbers, require_all_numbers, text_columns
from labelworth.errors import InvalidInputError, LabelworthWarning
from labelworth.estimators.estimator import Estimator, require_no_labels_beside
from labelworth.estimators.others.named_classifiers import NAMED
from labelworth.estimators.pools.documents import require_documents
from labelworth.estimators.pools.pool import Pool
from labelworth.progress import SILENT, Progress, Whole
from labelworth.simulation.jobs import run_jobs
from labelworth.simulation.pilot_points import FEWEST_UNITS, PilotPoints, labeled_units, pilot_points, point_sizes
from labelworth.simulation.selection import ModelChoice, Trials

_MOST_UNLABELED = 4000
"""Models are compared with so many samples without a label at most."""
_WEIGHTS = (1.0, 0.1, 0.0)
"""What a sample without a label counts."""
_EQUALLY_FREQUENT = 1e6
"""So much smoothing of class shares leaves nothing to learn of them."""
FEWEST_DOCUMENTS = 2
"""Words of fewer are left out: they tell nothing of other documents."""
_MOST_BOOSTED_CLASSES = 20
"""Boosting grows a tree per class in every round: of more classes its five fits take minutes."""
_SHARE_OF_BAR = 30
"""Percent of a plan's bar that comparing models is."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A model with its settings."""

    name: str
    model: str  # As in ``lw.plan(..., model="multinomial")``.
    estimator: Estimator[Any]
    uses_unlabeled: bool = False
    is_slow: bool = False  # Whether it is taken only where it is surely better; see `Trials`.

    @property
    def settings(self) -> dict[str, Any]:
        """What it is fitted with: the model, and what is set otherwise than usual."""
        usual = type(self.estimator)().get_params(deep=False) if self.estimator.is_ours else {}
        own = self.estimator.get_params(deep=False)
        return {"model": self.model, **{name: own[name] for name in usual if own[name] != usual[name]}}


def with_telling_features(samples: Samples) -> Samples:
    """Without words of a single document and columns that never vary: neither tells anything of other samples."""
    if samples.is_sparse:
        is_kept = np.bincount(samples.counts.indices, minlength=samples.counts.shape[1]) >= FEWEST_DOCUMENTS
    else:
        is_kept = np.ptp(samples.vectors, axis=0) > 0
    if is_kept.all() or not is_kept.any():
        return samples
    kept, names = np.flatnonzero(is_kept), samples.feature_names
    return replace(
        samples,
        features=as_counts(samples.counts[:, kept]) if samples.is_sparse else samples.vectors[:, kept],
        feature_names=None if names is None else tuple(names[index] for index in kept),
    )


def candidates(samples: Samples) -> list[Candidate]:
    """What is tried on such data, the usual model first."""
    if samples.is_sparse:
        return [*_naive_bayes(), *_named("logistic", "linear-svm")]
    trees = ("forest", "boosting") if samples.evidence.n_classes <= _MOST_BOOSTED_CLASSES else ("forest",)
    return [*_gaussian(), *_named("logistic", "linear-svm", "nearest-neighbors", "self-training", *trees)]


def _weights(kind: str, model: str, setting: str, build: Any, weights: Sequence[float]) -> list[Candidate]:
    """One model with several weights of the samples without a label."""
    tried = []
    for weight in weights:
        details = [setting] if setting else []
        if 0 < weight < 1:
            details.append(f"unlabeled count {weight:g}")
        name = (f"EM {kind}" if weight > 0 else kind) + (f" ({', '.join(details)})" if details else "")
        tried.append(Candidate(name, model, build(unlabeled_weight=weight), weight > 0))
    return tried


def _naive_bayes() -> list[Candidate]:
    from labelworth.estimators.multinomial import MultinomialNaiveBayes

    plain, variants = MultinomialNaiveBayes, partial(_weights, "naive Bayes", "multinomial")
    weighted = partial(plain, word_weights="inverse-document")
    # Few words and next to no smoothing: what EM wants where there are many classes and few labels.
    bold = partial(weighted, class_smoothing=_EQUALLY_FREQUENT, start_smoothing=10.0)
    return [
        *variants("", plain, (1.0, 0.0)),
        *variants("smoothing 0.1", partial(plain, alpha=0.1), (0.1,)),
        *variants("20 words", partial(plain, document_length=20.0, alpha=0.1), (0.1,)),
        *variants("20 weighted words", partial(weighted, document_length=20.0, alpha=0.1), (0.0,)),
        *variants("4 weighted words, equal classes", partial(bold, document_length=4.0, alpha=0.005), (1.0,)),
        *variants("6 weighted words, equal classes", partial(bold, document_length=6.0, alpha=0.02), (1.0,)),
    ]


def _gaussian() -> list[Candidate]:
    from labelworth.estimators.gaussian import GaussianClasses

    variants = partial(_weights, "Gaussian classes", "gaussian")
    diagonal = partial(GaussianClasses, covariance="diagonal")
    return [*variants("", GaussianClasses, _WEIGHTS), *variants("own variances", diagonal, _WEIGHTS)]


def _named(*names: str) -> list[Candidate]:
    from labelworth.estimators.others.any_classifier import AnyClassifier
    from labelworth.estimators.pools.any_rows import learns_from_unlabeled

    listed = []
    for one in (NAMED[name] for name in names):
        # Loads what it needs before threads do: two that import modules which import each other may meet half of one.
        uses_unlabeled = learns_from_unlabeled(one.build(True))
        listed.append(
            Candidate(one.words, one.name, AnyClassifier(one.name, name=one.words), uses_unlabeled, one.is_slow)
        )
    return listed


@dataclass(frozen=True, eq=False)
class Comparison:
    """Candidates, and how they did on the pilot's own folds."""

    tried: tuple[Candidate, ...]
    trials: Trials
    seed: int

    def candidate(self, name: str) -> Candidate:
        return next(candidate for candidate in self.tried if candidate.name == name)

    def choice(self, planned: str | None = None) -> ModelChoice:
        """The best of them beside the others; or the one of that name, which is planned with for its forecast."""
        names = [candidate.name for candidate in self.tried]
        choice = self.trials.choice(names, self.seed, None if planned is None else names.index(planned))
        return replace(choice, settings=self.candidate(choice.chosen.name).settings)


@dataclass(frozen=True, eq=False)
class AutomaticModel:
    """The model is chosen when the data is there.

    Parameters
    ----------
    unlabeled : hashable
        The marker for "not seen" in y.
    use_unlabeled : "auto", "yes" or "no"
        Whether models learn from samples without a label; "auto" leaves it to the choice.
    is_plain : bool
        No choice: the usual model of such data, as formulas take it.
    learns_answers : bool
        Only models that learn from answers which may be wrong: our own.
    has_worth : bool
        Only models of which the worth of a row's label is known: those of our own that learn from unlabeled rows,
        and logistic regression.
    checkpoint : path, optional
        A folder in which what was compared is kept.
    when_read : function, optional
        Called with the data before models are compared: refuses what no model can do.
    """

    unlabeled: Hashable = UNLABELED
    use_unlabeled: Literal["auto", "yes", "no"] = "auto"
    is_plain: bool = False
    learns_answers: bool = False
    has_worth: bool = False
    seed: int = 0
    checkpoint: str | Path | None = None
    when_read: Callable[[Samples], None] | None = None

    def pool(
        self, X: Any, y: Any = None, *, classes: Sequence[Hashable] | None = None, progress: Progress = SILENT
    ) -> Pool[Any]:
        """As `Estimator.pool`, of the model that was chosen; it knows how."""
        samples = self.read(X, y, classes)
        require_documents(samples)
        if self.when_read is not None:
            self.when_read(samples)
        if not self.is_plain:
            samples = with_telling_features(samples)
        listed = candidates(samples)
        if self.learns_answers:
            listed = _naive_bayes() if samples.is_sparse else _gaussian()
        if self.has_worth:
            listed = [
                one for one in listed if one.model == "logistic" or (one.uses_unlabeled and one.estimator.is_ours)
            ]
        compared = self.compare(samples, listed, progress)
        if compared is None:
            return listed[0].estimator.pool(samples, progress=progress)
        choice = compared.choice()
        pool = compared.candidate(choice.chosen.name).estimator.pool(samples, progress=progress)

        beside = choice.rival

        def rival(name: str) -> Pool[Any]:
            pool = compared.candidate(name).estimator.pool(samples)
            return replace(pool, choice=compared.choice(planned=name))

        return replace(pool, choice=choice, rival=None if beside is None else partial(rival, beside.name))

    def check(self, X: Any, y: Any = None, *, classes: Sequence[Hashable] | None = None, **options: Any) -> Any:
        """As `Estimator.check`, of our own model with the settings that predict the pilot best."""
        if y is None and options.get("answers") is not None and not isinstance(X, Rows):
            y = [None] * n_rows(X)
        samples = self.read(X, y, classes)
        own = _naive_bayes() if samples.is_sparse else _gaussian()
        if not samples.evidence.label_counts().sum():
            return own[0].estimator.check(samples, **options)
        best, _ = self.choose(samples, own, options.get("progress", SILENT))
        return best.estimator.check(samples, **options)

    def read(self, X: Any, y: Any, classes: Sequence[Hashable] | None) -> Samples:
        """Counts of texts and sparse matrices, vectors of dense ones.

        Raises
        ------
        InvalidInputError
            If X is nothing of the kind.
        """
        if isinstance(X, Rows):
            require_no_labels_beside(y, "Samples")
            rows = X
        elif y is None:
            raise InvalidInputError("Give y, one entry per row, with a marker for the rows whose class was not seen.")
        else:
            rows = Rows(X, encode_labels(y, classes=classes, unlabeled=self.unlabeled))
        require_all_numbers(rows.features)
        samples = in_numbers(rows)
        texts = text_columns(rows.features)
        if samples is not None and texts and len(rows.features.columns) > 1:
            warnings.warn(
                f"All {len(rows.features.columns)} columns of the table are read as words of one text, as "
                f"{', '.join(map(repr, texts))} {'is' if len(texts) == 1 else 'are'} not numbers. Encode "
                f"{'it' if len(texts) == 1 else 'them'} for models of numbers, as with pandas.get_dummies.",
                LabelworthWarning,
                stacklevel=2,
            )
        if samples is None:
            if np.ndim(rows.features) == 1 and all(isinstance(text, str) for text in rows.features):
                raise InvalidInputError(
                    "No word stands in two of the texts, so that nothing can be learned from their words. Are these "
                    "the texts? Give more of them, or name a model that looks at something else with model=."
                )
            raise InvalidInputError(
                "A model can be chosen for texts, counts, vectors and tables. Name one for these data with model=."
            )
        return samples

    def choose(
        self, samples: Samples, tried: Sequence[Candidate], progress: Progress = SILENT
    ) -> tuple[Candidate, ModelChoice | None]:
        """The best candidate, and how it was found; the first of them, and None, where nothing can be compared."""
        compared = self.compare(samples, tried, progress)
        if compared is None:
            return tried[0], None
        choice = compared.choice()
        return compared.candidate(choice.chosen.name), choice

    def compare(self, samples: Samples, tried: Sequence[Candidate], progress: Progress = SILENT) -> Comparison | None:
        """Cross-validate all of them on the same folds; None where nothing can be compared."""
        if self.is_plain or int((samples.evidence.codes >= 0).sum()) < FEWEST_UNITS:
            return None
        if self.use_unlabeled != "auto":
            tried = [candidate for candidate in tried if candidate.uses_unlabeled == (self.use_unlabeled == "yes")]
        elif samples.is_labeled.all():
            tried = [candidate for candidate in tried if not candidate.uses_unlabeled]
        # What varies among all samples may not among those compared.
        shown = with_telling_features(samples.take(compared_rows(samples, self.seed)))
        keep = self._kept(shown)

        def points(candidate: Candidate) -> PilotPoints:
            data, learner = candidate.estimator.refits(shown)
            mode, settings = learner.mode, repr(candidate.estimator.get_params(deep=False))
            return pilot_points(
                learner,
                data,
                [mode],
                seed=self.seed,
                n_repeats={mode: 1},
                sizes=point_sizes(labeled_units(data).size)[-1:],
                keep=lambda name, compute: keep.step([candidate.name, settings, name], compute),
            )[mode]

        if isinstance(progress, Whole):
            what = f"Comparing {len(tried)} models, before the plan,"
            progress.expect(len(tried), until=_SHARE_OF_BAR, what=what)
        compared = run_jobs(points, tried, workers=None, title="comparing models", progress=progress)
        trials = Trials.of(
            compared,
            [candidate.uses_unlabeled for candidate in tried],
            [candidate.is_slow for candidate in tried],
            lacks_classes=ClassCounts.of(samples).lacks_classes,
        )
        return Comparison(tuple(tried), trials, self.seed)

    def _kept(self, shown: Samples) -> Checkpoint:
        if self.checkpoint is None:
            return Checkpoint(None, {})
        context = {"comparing": data_digest(shown), "seed": self.seed, "labelworth": version("labelworth")}
        return Checkpoint(Path(self.checkpoint), context)


def compared_rows(samples: Samples, seed: int) -> Any:
    """All samples with a label, and some thousand without."""
    rest = np.flatnonzero(~samples.is_labeled)
    drawn = np.random.default_rng([seed, 13]).permutation(rest)[:_MOST_UNLABELED]
    return np.sort(np.concatenate([np.flatnonzero(samples.is_labeled), drawn]))
