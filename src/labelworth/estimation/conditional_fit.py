"""Fit a CRF to sequences of which all, some or none of the labels are known."""

from collections.abc import Hashable
from dataclasses import dataclass, replace

import numpy as np

from labelworth.arrays import BoolArray, FloatArray, IntArray
from labelworth.data.sequences import Sequences, labeled_runs
from labelworth.data.shards.passes import is_sharded
from labelworth.errors import InvalidInputError
from labelworth.estimation.fit import Fit
from labelworth.estimation.quasi_newton import Descent, Objective, minimize
from labelworth.kernels.chains.attribute_layout import make_layout, observed_features
from labelworth.kernels.chains.attribute_pass import Evidence, attribute_pass, make_workspace
from labelworth.kernels.chains.potentials import Chain, make_chain, make_tokens
from labelworth.models.chains.conditional_random_field import ConditionalRandomFieldModel
from labelworth.models.chains.crf_features import FeatureSet, Pairs, feature_set
from labelworth.models.sharded import ObjectiveOverShards, SlopeSums
from labelworth.progress import SILENT, Progress

_COARSE = 10.0
"""How much coarser the start is fitted than the end."""
_MEMORY = 20  # Steps that L-BFGS remembers: more take fewer iterations, and each two vectors as long as the weights.


class ConditionalWeights:
    """What theta is.

    The start (where there is one), the transitions that are parameters, and the weights of attributes beside labels
    in the order in which the model stores them.

    Parameters
    ----------
    model : ConditionalRandomFieldModel
        Which weights there are; their values play no part.
    """

    def __init__(self, model: ConditionalRandomFieldModel) -> None:
        self.model, self.features = model, model.features
        self.transitions = np.flatnonzero(self.features.transitions)
        self.n_start = 0 if model.start is None else model.n_classes
        self.n_head = self.n_start + len(self.transitions)

    def theta_of(self, model: ConditionalRandomFieldModel) -> FloatArray:
        """The weights of a model with the same parameters."""
        start = np.empty(0) if model.start is None else model.start
        return np.concatenate([start, model.transition.ravel()[self.transitions], model.emission.data])

    def model_of(self, theta: FloatArray) -> ConditionalRandomFieldModel:
        """The model with these weights."""
        chain = self.chain(theta)
        emission = self.model.emission.copy()
        emission.data = theta[self.n_head :].copy()
        start = None if self.model.start is None else chain.log_start
        return ConditionalRandomFieldModel(
            self.model.classes,
            start,
            chain.log_transition,
            emission,
            self.model.feature_names,
            self.model.transition_support,
        )

    def chain(self, theta: FloatArray) -> Chain:
        """Start and transitions."""
        n_labels = self.model.n_classes
        start, transition = np.zeros(n_labels), np.zeros(n_labels**2)
        start[: self.n_start] = theta[: self.n_start]
        transition[self.transitions] = theta[self.n_start : self.n_head]
        return make_chain(start, transition.reshape(n_labels, n_labels))

    def labels(self, start: FloatArray, pairs: FloatArray) -> FloatArray:
        """Counts of first labels and of pairs, in the order of theta."""
        return np.concatenate([start[: self.n_start], pairs.ravel()[self.transitions]])


class ConditionalObjective:
    r"""Minus the penalized log-likelihood, and its gradient.

    .. math:: -\sum_i \omega_i \log p_\theta(\text{evidence}_i | x_i) + c_2 |\theta|^2

    The same bits for any number of threads.

    Parameters
    ----------
    weights : ConditionalWeights
        What theta is.
    sequences : Sequences
        With the attributes of the model. Sequences of which nothing is known contribute nothing: leave them out.
    c2 : float
        The coefficient of the sum of squares, as CRFsuite calls and counts it (no factor one half).
    """

    def __init__(self, weights: ConditionalWeights, sequences: Sequences, c2: float) -> None:
        self.weights, self.c2 = weights, c2
        model, features = weights.model, weights.features
        attributes = sequences.attributes
        self._layout = make_layout(attributes, sequences.offsets, features.starts, features.labels, model.n_classes)
        self._workspace = make_workspace(self._layout)
        codes, sequence_weights = sequences.evidence.codes, sequences.sequence_weights
        is_partial = _has_unknown(sequences)
        known = np.where(np.repeat(is_partial, sequences.lengths), -1, codes)
        token_weights = np.repeat(sequence_weights, sequences.lengths)
        observed = observed_features(attributes, known, token_weights, features.starts, features.labels)
        self._observed_start, self._observed_pairs = _observed_labels(
            known, token_weights, sequences, model.n_classes
        )
        within = np.arange(sequences.n_tokens) - np.repeat(sequences.offsets[:-1], sequences.lengths)
        clamped = make_tokens(within, sequences.offsets, codes, sequences.evidence.weights, sequence_weights)
        free = clamped._replace(codes=np.full_like(clamped.codes, -1))
        self._evidence = Evidence(free, clamped, is_partial, observed)

    @property
    def size(self) -> int:
        """The length of theta."""
        return self.weights.n_head + len(self._evidence.observed)

    def __call__(self, theta: FloatArray, gradient: FloatArray) -> float:
        """The value; its gradient is written to the second argument."""
        weights, c2 = self.weights, self.c2
        head, chain = weights.n_head, weights.chain(theta)
        result = attribute_pass(
            self._layout, self._workspace, self._evidence, chain, theta[head:], c2, gradient[head:]
        )
        expected = weights.labels(result.start, result.pairs)
        observed = weights.labels(self._observed_start, self._observed_pairs)
        gradient[:head] = expected - observed + 2 * c2 * theta[:head]
        return result.value + float(theta[:head] @ (c2 * theta[:head] - observed))


@dataclass(frozen=True, eq=False)
class ConditionalLayout:
    """Sequences laid out for passes of a CRF, without its penalty; see `labelworth.data.shards.passes.Layout`."""

    features: FeatureSet
    classes: tuple[Hashable, ...]
    with_start: bool

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Numbers: how attributes are called plays no part in a pass, and does not travel."""
        return tuple(map(str, range(self.features.n_attributes)))

    def prepare(self, sequences: Sequences, weights: FloatArray, /) -> SlopeSums:
        names = sequences.feature_names
        model = ConditionalRandomFieldModel.zeros(self.features, self.classes, names, with_start=self.with_start)
        return SlopeSums(ConditionalObjective(ConditionalWeights(model), replace(sequences, weights=weights), 0.0))


def _objective(weights: ConditionalWeights, sequences: Sequences, c2: float) -> Objective:
    """What is minimized, wherever the sequences lie."""
    model = weights.model
    if not is_sharded(sequences):
        return ConditionalObjective(weights, sequences, c2)
    layout = ConditionalLayout(weights.features, model.classes, model.start is not None)
    return ObjectiveOverShards(layout, sequences, sequences.sequence_weights, c2)


def _has_unknown(sequences: Sequences) -> BoolArray:
    """In which sequences some label is not known, (n_sequences,)."""
    unknown = np.concatenate([[0], np.cumsum(~sequences.evidence.is_gold)])
    partial: BoolArray = unknown[sequences.offsets[1:]] > unknown[sequences.offsets[:-1]]
    return partial


def _observed_labels(
    known: IntArray, token_weights: FloatArray, sequences: Sequences, n_labels: int
) -> tuple[FloatArray, FloatArray]:
    """Weighted counts of known first labels (K,) and pairs of neighboring labels (K, K)."""
    first = sequences.offsets[:-1]
    is_first = np.zeros(sequences.n_tokens, dtype=bool)
    is_first[first] = True
    begins = first[known[first] >= 0]
    start = np.bincount(known[begins], weights=token_weights[begins], minlength=n_labels)
    later = np.flatnonzero(~is_first & (known >= 0))
    keys = known[later - 1] * n_labels + known[later]
    pairs = np.bincount(keys, weights=token_weights[later], minlength=n_labels**2)
    return start.astype(np.float64), pairs.astype(np.float64).reshape(n_labels, n_labels)


def fit_conditional(
    sequences: Sequences,
    *,
    c2: float = 1.0,
    pairs: Pairs | FeatureSet = "observed",
    with_start: bool = False,
    start: ConditionalRandomFieldModel | None = None,
    tolerance: float = 1e-5,
    max_iterations: int = 1000,
    progress: Progress = SILENT,
) -> Fit[ConditionalRandomFieldModel, FeatureSet]:
    r"""Maximize the penalized conditional likelihood of whatever is known of the labels.

    .. math:: \sum_i \omega_i \log p_\theta(\text{evidence}_i | x_i) - c_2 |\theta|^2

    Concave where sequences are labeled whole. Otherwise it need not be, and the climb begins at the maximum of a
    concave problem: the runs of labeled tokens, each as a sequence of its own.

    Parameters
    ----------
    sequences : Sequences
        Attributes (or words, one attribute each) and any mixture of gold, ambiguous and missing labels. Sequences
        without any label teach a CRF nothing; they are skipped, and this is said.
    c2 : float
        The coefficient of the sum of squares, in the convention of CRFsuite: no factor one half.
    pairs : "observed", "all" or FeatureSet
        Which weights there are; see `feature_set`.
    with_start : bool
        Whether first labels have weights of their own; CRFsuite has none.
    start : ConditionalRandomFieldModel, optional
        Where to begin; its weights are the parameters then, and `pairs` and `with_start` are not looked at.
    tolerance, max_iterations
        As in `labelworth.estimation.boltzmann_chain_fit.fit_boltzmann_chain`.

    Returns
    -------
    Fit
        Its family is the set of weights. Iterations of the start are counted in.

    Raises
    ------
    InvalidInputError
        If no label is known at all, or an argument makes no sense.
    """
    if not (np.isfinite(c2) and c2 >= 0):
        raise InvalidInputError(f"c2 must be a finite number of at least 0. Got {c2!r} instead.")
    sequences = _informed(sequences, progress)
    model = start if start is not None else _empty_model(sequences, pairs, with_start)
    sequences, _ = model.aligned(sequences)
    total_weight = float(sequences.sequence_weights.sum())

    def descend(objective: Objective, theta: FloatArray, coarseness: float, title: str) -> Descent:
        return minimize(
            objective,
            theta,
            tolerance=coarseness * tolerance * total_weight,
            max_iterations=max_iterations,
            memory=_MEMORY,
            title=title,
            progress=progress,
        )

    weights = ConditionalWeights(model)
    theta, n_iterations, n_evaluations = weights.theta_of(model), 0, 0
    runs = None if start is not None or sequences.evidence.is_gold.all() else _concave_part(sequences)
    if runs is not None:
        begun = descend(_objective(weights, runs, c2), theta, _COARSE, "Training on the runs of labels")
        theta, n_iterations, n_evaluations = begun.theta, begun.n_iterations, begun.n_evaluations
    descent = descend(_objective(weights, sequences, c2), theta, 1.0, "Training the CRF")
    fitted = weights.model_of(descent.theta)
    return Fit(
        fitted,
        fitted.features,
        -descent.value_path,
        -descent.value + c2 * float(descent.theta @ descent.theta),
        descent.converged,
        n_iterations + descent.n_iterations,
        n_evaluations + descent.n_evaluations,
        np.array([-descent.value]),
        0.0,
    )


@dataclass(frozen=True)
class ConditionalFamily:
    """A CRF as `labelworth.estimation.turns` fits it together with those who answer."""

    classes: tuple[Hashable, ...]
    c2: float
    pairs: Pairs
    with_start: bool
    tolerance: float
    max_iterations: int
    climbs = True

    def stepped(
        self, sequences: Sequences, weights: FloatArray, before: ConditionalRandomFieldModel | None, /
    ) -> ConditionalRandomFieldModel:
        """The maximum given the confusions of today, of which soft evidence in the clamped recursion knows."""
        return fit_conditional(
            replace(sequences, weights=weights),
            c2=self.c2,
            pairs=self.pairs,
            with_start=self.with_start,
            start=before,
            tolerance=self.tolerance,
            max_iterations=self.max_iterations,
        ).model

    def log_likelihood(
        self, model: ConditionalRandomFieldModel, sequences: Sequences, weights: FloatArray, /
    ) -> float:
        return float(weights @ model.log_evidence(sequences))

    def log_prior(self, model: ConditionalRandomFieldModel, /) -> float:
        start = np.empty(0) if model.start is None else model.start
        weights = np.concatenate([start, model.transition.ravel(), model.emission.data])
        return -self.c2 * float(weights @ weights)


def _concave_part(sequences: Sequences) -> Sequences | None:
    """The runs of tokens whose labels are known for certain, each as a sequence of its own; None without any."""
    runs = labeled_runs(sequences.hide(sequences.evidence.is_ambiguous))
    return None if runs is None else runs.weighted(sequences.sequence_weights).sequences


def _informed(sequences: Sequences, progress: Progress) -> Sequences:
    """The sequences that have a label and a weight."""
    informed = sequences.is_labeled
    n_skipped = int((~informed).sum())
    if n_skipped:
        progress.say(
            f"{n_skipped} of {sequences.n_sequences} sequences have no label at all. A CRF learns nothing from them; "
            "they are skipped."
        )
    kept = informed & (sequences.sequence_weights > 0)
    if not kept.any():
        raise InvalidInputError(
            "No sequence has both a label and a weight above 0: a CRF learns nothing from unlabeled sequences. "
            "Label some tokens."
        )
    return sequences if kept.all() else sequences.take(kept)


def _empty_model(sequences: Sequences, pairs: Pairs | FeatureSet, with_start: bool) -> ConditionalRandomFieldModel:
    features = pairs if isinstance(pairs, FeatureSet) else feature_set(sequences, pairs)
    if features.n_attributes != sequences.n_features or features.n_labels != sequences.evidence.n_classes:
        raise InvalidInputError(
            f"The weights are those of {features.n_attributes} attributes and {features.n_labels} labels; the "
            f"sequences have {sequences.n_features} and {sequences.evidence.n_classes}."
        )
    return ConditionalRandomFieldModel.zeros(
        features, sequences.evidence.classes, sequences.feature_names, with_start=with_start
    )
