"""Whether unlabeled rows help a classifier of any make, and how well a tagger does: by cross-validation."""

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from labelworth.data.folds import labeled_folds
from labelworth.data.rows import Rows
from labelworth.data.views import about_text_columns
from labelworth.errors import InvalidInputError, LabelworthWarning
from labelworth.estimators.pools.any_rows import AnyLearner
from labelworth.estimators.pools.any_tokens import TaggerLearner, TokenLists
from labelworth.progress import SILENT, Progress, tracking
from labelworth.robust.check import CheckReport, too_few
from labelworth.robust.harm import level_words, verdict_of
from labelworth.robust.held_out import HeldOutPredictions, honest_temperature
from labelworth.robust.support import RowSupport, SequenceSupport
from labelworth.simulation.learner import MODES, Mode
from labelworth.simulation.pilot_points import FEWEST_UNITS, pilot_points, point_sizes
from labelworth.wording import percent

if TYPE_CHECKING:
    from labelworth.robust.sequences.check import SequenceCheckReport


def check_rows(
    rows: Rows,
    learner: AnyLearner,
    name: str,
    *,
    n_folds: int = 5,
    seed: int = 0,
    progress: Progress = SILENT,
    **ignored: Any,
) -> CheckReport:
    """Compare learning from labels alone with learning from all rows, on labels that neither was shown.

    Parameters
    ----------
    name : str
        What the classifier is called.
    n_folds : int
        Fewer are used where labels are few.
    ignored
        ``specification`` and ``n_bootstrap``: whether such a classifier is right is not tested.

    Raises
    ------
    InvalidInputError
        If the classifier cannot be fitted to all of the rows.
    """
    _require_known(ignored)
    support = RowSupport(rows.evidence)
    failure = learner.failure(rows)
    if failure:
        raise InvalidInputError(
            f"{name} cannot be fitted to these data: {failure}.{about_text_columns(rows.features)}"
        )
    if "semi-supervised" not in learner.modes:
        return _labels_only(rows, learner, name, support, n_folds, seed, progress)
    if not support.identified:
        return CheckReport("not identified", support, None, None, None)
    if len(learner.modes) < 2:
        note = f"{name} cannot be fitted without the unlabeled rows, so there is nothing to compare it with."
        return CheckReport("cannot be told", support, None, None, None, (note,))
    if support.n_testable < 2 * len(support.label_counts):
        return CheckReport("cannot be told", support, None, None, None, (too_few(support),))
    predictions, notes = _held_out(rows, learner, min(n_folds, support.n_testable), seed, progress)
    harm = verdict_of(predictions, 1.0)
    return CheckReport(harm.answer, support, harm, None, None, notes)


def check_tokens(
    data: TokenLists, learner: TaggerLearner, name: str, *, seed: int = 0, progress: Progress = SILENT, **others: Any
) -> "SequenceCheckReport":
    """How well a tagger predicts sequences that it was not shown, by cross-validation on the labeled ones.

    Raises
    ------
    InvalidInputError
        If the tagger cannot be fitted to all of the data, or is asked what only formulas answer.
    """
    from labelworth.robust.sequences.check import SequenceCheckReport
    from labelworth.robust.sequences.identifiability import NOT_ANCHORED, NOT_KNOWN

    if others.get("policies"):
        raise InvalidInputError(
            f"What policies pin down is known of our own models, not of {name}. "
            "Use model='conditional-random-field' for policies=."
        )
    failure = learner.failure(data, learner.fit(data))
    if failure:
        raise InvalidInputError(f"{name} cannot be fitted to these data: {failure}.")
    support = SequenceSupport.of(data, is_conditional=True)
    notes = [f"{name} learns nothing from tokens without a label: they neither help nor hurt it."]
    n_labeled = int(data.is_labeled.sum())
    if n_labeled < FEWEST_UNITS:
        notes.append(f"{FEWEST_UNITS} labeled sequences are needed to cross-validate; there are {n_labeled}.")
    else:
        size = point_sizes(n_labeled)[-1:]
        mode: Mode = "labels-only"
        every = pilot_points(learner, data, (mode,), seed=seed, n_repeats={mode: 1}, sizes=size, progress=progress)
        points = every[mode]
        error, spread = points.means(points.errors)[0], np.sqrt(points.covariance(points.errors)[0, 0])
        notes.append(
            f"Its error is {percent(error, 1)} (standard error {100 * spread:.1f} points) on "
            f"{int(points.n_labels.sum()):,} held-out labels of {n_labeled:,} sequences."
        )
    return SequenceCheckReport(NOT_KNOWN if support.is_anchored else NOT_ANCHORED, support, (), tuple(notes))


def _labels_only(
    rows: Rows,
    learner: AnyLearner,
    name: str,
    support: RowSupport,
    n_folds: int,
    seed: int,
    progress: Progress,
) -> CheckReport:
    """Such a learner is identified by its labels alone, whether or not there are rows without."""
    if len(support.label_counts) < 2 or support.never_labeled:
        return CheckReport("not identified", support, None, None, None)
    notes = [f"{name} can learn nothing from unlabeled rows: they neither help nor hurt it."]
    if support.n_testable < 2 * len(support.label_counts):
        notes.append(too_few(support))
    else:
        predictions, more = _held_out(rows, learner, min(n_folds, support.n_testable), seed, progress)
        error = float(predictions.errors(0.0).mean())
        n_tested = predictions.n_tested
        notes.append(f"Its error is {percent(error, 1)} on {n_tested:,} held-out labels.")
        notes += [level_words(error, n_tested), *more]
    return CheckReport("not used", support, None, None, None, tuple(notes))


def _held_out(
    rows: Rows, learner: AnyLearner, n_folds: int, seed: int, progress: Progress
) -> tuple[HeldOutPredictions[float], tuple[str, ...]]:
    """What fits say of labels they were not shown, by weight: 0 labels alone, 1 all rows; and what went wrong."""
    learners = [learner.in_mode(mode) for mode in MODES if mode in learner.modes]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", LabelworthWarning)
        folds = labeled_folds(rows.evidence, n_folds, np.random.default_rng(seed))
    notes = [str(warning.message) for warning in caught if issubclass(warning.category, LabelworthWarning)]
    tested = np.concatenate([fold.test for fold in folds])
    codes = rows.evidence.codes[tested]
    log_posteriors = np.empty((len(learners), tested.size, rows.evidence.n_classes))
    failures: list[str] = []
    with tracking(progress, "cross-validation", len(folds) * len(learners)) as task:
        first = 0
        for fold in folds:
            train, test = rows.take(fold.train), rows.take(fold.test)
            for index, own in enumerate(learners):
                model = own.fit(train)
                failures += [model.failure] if model.failure else []
                prediction = own.predict(model, test)
                log_posteriors[index, first : first + fold.test.size] = prediction.log_posteriors(1.0)
                task.advance()
            first += fold.test.size
    if failures:
        notes.append(f"Not every fold could be fitted ({failures[0]}): there the most frequent class counts.")
    temperatures = np.array([honest_temperature(block, codes) for block in log_posteriors])
    weights = (0.0, 1.0)[: len(learners)]
    judged = rows.evidence.take(tested).judged
    return HeldOutPredictions(weights, codes, log_posteriors, temperatures, judged), tuple(notes)


def _require_known(ignored: dict[str, Any]) -> None:
    unknown = [name for name in ignored if name not in ("specification", "n_bootstrap")]
    if unknown:
        raise InvalidInputError(f"The check of such a classifier has no option {unknown[0]}=.")
