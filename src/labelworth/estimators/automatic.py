"""`model="auto"`: settings of our own models, and the choice between models, by cross-validation on the pilot.

Candidates are few and fixed, per kind of data; all are fitted on the same five folds. Whether samples without a label
are learned from, and how much they count, is part of the same choice. Documents of 20 words, smoothing by 0.1 and
weights of words by inverse document frequency were tuned on news texts (20 Newsgroups, Reuters); what settings are on
the list was decided on corpora that `labelworth reproduce model-choice` judges the choice on, with other pilots.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from labelworth.arrays import UNLABELED
from labelworth.data.counts import as_counts
from labelworth.data.evidence import encode_labels
from labelworth.data.rows import Rows
from labelworth.data.samples import Samples
from labelworth.data.views import in_numbers
from labelworth.errors import InvalidInputError
from labelworth.estimators.estimator import Estimator, require_no_labels_beside
from labelworth.estimators.others.named_classifiers import NAMED
from labelworth.estimators.pools.documents import require_documents
from labelworth.estimators.pools.pool import Pool, Rival
from labelworth.progress import SILENT, Progress
from labelworth.simulation.jobs import run_jobs
from labelworth.simulation.pilot_points import FEWEST_UNITS, PilotPoints, labeled_units, pilot_points, point_sizes
from labelworth.simulation.selection import ModelChoice, Trials

_MOST_UNLABELED = 4000
"""Models are compared with so many samples without a label at most."""
_WEIGHTS = (1.0, 0.1, 0.0)
"""What a sample without a label counts."""
_FEWEST_DOCUMENTS = 2


@dataclass(frozen=True, eq=False)
class Candidate:
    """A model with its settings."""

    name: str
    estimator: Estimator[Any]
    uses_unlabeled: bool = False
    weighs_words: bool = False  # Whether words count by inverse document frequency.

    def read(self, samples: Samples) -> Samples:
        """The samples with features as this model wants them."""
        return replace(samples, features=weighted(samples.counts)) if self.weighs_words else samples


def weighted(counts: sp.csr_array) -> sp.csr_array:
    """Counts times log(documents / documents with the word); a word of every document tells nothing."""
    holding = np.bincount(counts.indices, minlength=counts.shape[1])
    weights = np.log(counts.shape[0] / np.maximum(holding, 1))
    return as_counts(sp.csr_array(counts @ sp.diags_array(weights)))


def with_telling_features(samples: Samples) -> Samples:
    """Without words of a single document and columns that never vary: neither tells anything of other samples."""
    if samples.is_sparse:
        is_kept = np.bincount(samples.counts.indices, minlength=samples.counts.shape[1]) >= _FEWEST_DOCUMENTS
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
    return [*_gaussian(), *_named("logistic", "linear-svm", "nearest-neighbors")]


def _weights(kind: str, setting: str, build: Any, weights: Sequence[float], **settings: Any) -> list[Candidate]:
    """One model with several weights of the samples without a label."""
    tried = []
    for weight in weights:
        details = [setting] if setting else []
        if 0 < weight < 1:
            details.append(f"unlabeled count {weight:g}")
        name = (f"EM {kind}" if weight > 0 else kind) + (f" ({', '.join(details)})" if details else "")
        tried.append(Candidate(name, build(unlabeled_weight=weight), weight > 0, **settings))
    return tried


def _naive_bayes() -> list[Candidate]:
    from labelworth.estimators.multinomial import MultinomialNaiveBayes

    kind = "naive Bayes"
    short = partial(MultinomialNaiveBayes, document_length=20.0, alpha=0.1)
    return [
        *_weights(kind, "", MultinomialNaiveBayes, (1.0, 0.0)),
        *_weights(kind, "smoothing 0.1", partial(MultinomialNaiveBayes, alpha=0.1), (0.1,)),
        *_weights(kind, "20 words", short, _WEIGHTS),
        *_weights(kind, "20 weighted words", partial(short, start_smoothing=10.0), _WEIGHTS, weighs_words=True),
    ]


def _gaussian() -> list[Candidate]:
    from labelworth.estimators.gaussian import GaussianClasses

    kind, diagonal = "Gaussian classes", partial(GaussianClasses, covariance="diagonal")
    return [*_weights(kind, "", GaussianClasses, _WEIGHTS), *_weights(kind, "own variances", diagonal, _WEIGHTS)]


def _named(*names: str) -> list[Candidate]:
    from labelworth.estimators.others.any_classifier import AnyClassifier

    return [Candidate(NAMED[name].words, AnyClassifier(name, name=NAMED[name].words)) for name in names]


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
    """

    unlabeled: Hashable = UNLABELED
    use_unlabeled: Literal["auto", "yes", "no"] = "auto"
    is_plain: bool = False
    seed: int = 0

    def pool(
        self, X: Any, y: Any = None, *, classes: Sequence[Hashable] | None = None, progress: Progress = SILENT
    ) -> Pool[Any]:
        """As `Estimator.pool`, of the model that was chosen; it knows how."""
        samples = self.read(X, y, classes)
        require_documents(samples)
        if not self.is_plain:
            samples = with_telling_features(samples)
        best, choice = self.choose(samples, candidates(samples), progress)
        pool = best.estimator.pool(best.read(samples), progress=progress)
        return replace(pool, choice=choice, rival=self._rival(samples, choice))

    def _rival(self, samples: Samples, choice: ModelChoice | None) -> Rival | None:
        if choice is None or not choice.rivals:
            return None
        name = choice.rivals[0].name
        candidate = next(one for one in candidates(samples) if one.name == name)
        data, learner = candidate.estimator.refits(candidate.read(samples))
        return Rival(name, data, replace(learner, modes=(learner.mode,)))

    def check(self, X: Any, y: Any = None, *, classes: Sequence[Hashable] | None = None, **options: Any) -> Any:
        """As `Estimator.check`, of our own model with the settings that predict the pilot best."""
        samples = self.read(X, y, classes)
        own = _naive_bayes() if samples.is_sparse else _gaussian()
        if not samples.evidence.label_counts().sum():
            return own[0].estimator.check(samples, **options)
        best, _ = self.choose(samples, own, options.get("progress", SILENT))
        return best.estimator.check(best.read(samples), **options)

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
        samples = in_numbers(rows)
        if samples is None:
            raise InvalidInputError(
                "A model can be chosen for texts, counts, vectors and tables. Name one for these data with model=."
            )
        return samples

    def choose(
        self, samples: Samples, tried: Sequence[Candidate], progress: Progress = SILENT
    ) -> tuple[Candidate, ModelChoice | None]:
        """The best candidate, and how it was found; the first of them, and None, where nothing can be compared."""
        if self.is_plain or int((samples.evidence.codes >= 0).sum()) < FEWEST_UNITS:
            return tried[0], None
        if self.use_unlabeled != "auto":
            tried = [one for one in tried if one.uses_unlabeled == (self.use_unlabeled == "yes")]
        elif samples.is_labeled.all():
            tried = [one for one in tried if not one.uses_unlabeled]
        # What varies among all samples may not among those compared.
        shown = with_telling_features(samples.take(compared_rows(samples, self.seed)))

        def points(candidate: Candidate) -> PilotPoints:
            data, learner = candidate.estimator.refits(candidate.read(shown))
            mode = learner.mode
            n_pilot = labeled_units(data).size
            return pilot_points(
                learner, data, [mode], seed=self.seed, n_repeats={mode: 1}, sizes=point_sizes(n_pilot)[-1:]
            )[mode]

        compared = run_jobs(points, tried, workers=None, title="comparing models", progress=progress)
        trials = Trials.of(compared)
        names, uses = [one.name for one in tried], [one.uses_unlabeled for one in tried]
        return tried[trials.chosen], trials.choice(names, uses, self.seed)


def compared_rows(samples: Samples, seed: int) -> Any:
    """All samples with a label, and some thousand without."""
    rest = np.flatnonzero(~samples.is_labeled)
    drawn = np.random.default_rng([seed, 13]).permutation(rest)[:_MOST_UNLABELED]
    return np.sort(np.concatenate([np.flatnonzero(samples.is_labeled), drawn]))
