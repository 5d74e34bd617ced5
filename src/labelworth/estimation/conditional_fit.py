"""Fit a CRF to sequences of which all, some or none of the labels are known."""

from dataclasses import dataclass

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.data.labeled_runs import labeled_runs
from labelworth.data.sequences import Sequences
from labelworth.errors import InvalidInputError
from labelworth.estimation.conditional_objective import ConditionalObjective
from labelworth.estimation.quasi_newton import Descent, minimize
from labelworth.models.chains.conditional_random_field import ConditionalRandomFieldModel
from labelworth.models.chains.crf_features import FeatureSet, Pairs, feature_set
from labelworth.progress import SILENT, Progress

_COARSE = 10.0
"""How much coarser the start is fitted than the end."""


@dataclass(frozen=True, eq=False)
class ConditionalFit:
    """A fitted CRF and how it was reached."""

    model: ConditionalRandomFieldModel  # theta_hat.
    objective_path: FloatArray  # Penalized log-likelihood at the start and after every iteration; it never falls.
    log_likelihood: float  # Weighted sum of log p(evidence | x) at `model`; the objective is this less the penalty.
    converged: bool  # Whether little was left to gain.
    n_iterations: int  # Those of the start counted in.
    n_evaluations: int
    n_skipped: int  # How many sequences had no label at all: a CRF learns nothing from them.

    @property
    def objective(self) -> float:
        """Log-likelihood less the penalty at `model`."""
        return float(self.objective_path[-1])


def fit_conditional(
    sequences: Sequences,
    *,
    c2: float = 1.0,
    pairs: Pairs | FeatureSet = "observed",
    with_start: bool = False,
    start: ConditionalRandomFieldModel | None = None,
    tolerance: float = 1e-5,
    max_iterations: int = 1000,
    memory: int = 20,
    progress: Progress = SILENT,
) -> ConditionalFit:
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
    tolerance : float
        Stop when ten iterations gained less than this many nats per unit of weight of the sequences.
    max_iterations : int
        Of L-BFGS.
    memory : int
        How many steps L-BFGS remembers: more take fewer iterations, and each two vectors as long as the weights.
    progress : Progress
        Hears how far the work is.

    Warns
    -----
    DidNotConvergeWarning
        If `max_iterations` was reached.

    Raises
    ------
    InvalidInputError
        If no label is known at all, or an argument makes no sense.
    """
    if not (np.isfinite(c2) and c2 >= 0):
        raise InvalidInputError(f"c2 must be a finite number of at least 0. Got {c2!r} instead.")
    sequences, n_skipped = _informed(sequences, progress)
    model = start if start is not None else _empty_model(sequences, pairs, with_start)
    sequences, _ = model.aligned(sequences)
    total_weight = float(sequences.sequence_weights.sum())

    def descend(objective: ConditionalObjective, theta: FloatArray, coarseness: float, title: str) -> Descent:
        return minimize(
            objective,
            theta,
            tolerance=coarseness * tolerance * total_weight,
            max_iterations=max_iterations,
            memory=memory,
            title=title,
            progress=progress,
        )

    objective = ConditionalObjective(model, sequences, c2)
    theta, n_iterations, n_evaluations = objective.theta_of(model), 0, 0
    runs = None if start is not None or sequences.evidence.is_gold.all() else _concave_part(sequences)
    if runs is not None:
        begun = descend(ConditionalObjective(model, runs, c2), theta, _COARSE, "Training on the runs of labels")
        theta, n_iterations, n_evaluations = begun.theta, begun.n_iterations, begun.n_evaluations
    descent = descend(objective, theta, 1.0, "Training the CRF")
    fitted = objective.model_of(descent.theta)
    return ConditionalFit(
        fitted,
        -descent.value_path,
        -descent.value + c2 * float(descent.theta @ descent.theta),
        descent.converged,
        n_iterations + descent.n_iterations,
        n_evaluations + descent.n_evaluations,
        n_skipped,
    )


def _concave_part(sequences: Sequences) -> Sequences | None:
    """The runs of tokens whose labels are known for certain, each as a sequence of its own; None without any."""
    runs = labeled_runs(sequences.hide(sequences.evidence.is_ambiguous))
    return None if runs is None else runs.weighted(sequences.sequence_weights).sequences


def _informed(sequences: Sequences, progress: Progress) -> tuple[Sequences, int]:
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
    return (sequences if kept.all() else sequences.take(kept)), n_skipped


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
