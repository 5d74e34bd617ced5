"""`lw.check`: does the unlabeled data help, and do the labels pin the model down?"""

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from labelworth.arrays import UNLABELED
from labelworth.engines.runner import working
from labelworth.errors import InvalidInputError
from labelworth.estimators.reading import automatic_of, estimator_of, is_family, samples_of_family, seeded
from labelworth.progress import SILENT, Progress

if TYPE_CHECKING:
    from labelworth.channels.channel import Channel
    from labelworth.data.answers import Answers
    from labelworth.robust.answers.check import AnsweredCheckReport
    from labelworth.robust.check import CheckReport
    from labelworth.robust.sequences.check import SequenceCheckReport


def check(
    X: Any,
    y: Any = None,
    *,
    model: Any = "auto",
    classes: Sequence[Hashable] | None = None,
    unlabeled: Hashable = UNLABELED,
    answers: "Answers | None" = None,
    channels: "Sequence[Channel]" = (),
    seed: int = 0,
    engine: Any = None,
    progress: Progress = SILENT,
    **options: Any,
) -> "CheckReport | SequenceCheckReport | AnsweredCheckReport":
    """Say whether unlabeled data helps prediction, hurts it, or whether that cannot be told.

    Of sequences: whether their labels pin the model down, and which directions they leave open. Of answers: whose to
    use and whose to leave out.

    Parameters
    ----------
    X : Samples, array-like or sparse matrix of shape (n, n_features), or a list of sequences
        With labels and without.
    y : array-like of shape (n,), or a list of lists
        A class per row, or a label per token; `unlabeled`, None or NaN where it was not seen.
    model : str, estimator or family
        As in `labelworth.plan`; "auto" is our own model of such data with the settings that predict the pilot best.
    classes : sequence, optional
        All classes there are; one that no label names is then reported as missing.
    unlabeled : hashable
        The marker for "not seen", where `model` is a name.
    answers : Answers, optional
        What annotators said, as `labelworth.read_answers` gives it; y holds gold alone then, and may be left out.
        Where answers were given to rows with gold, they are tried on these: whether wrong ones follow x, whether
        annotators err together, and whether predictions get better or worse with them.
    channels : sequence of Channel
        What is known of annotators of these names.
    seed : int
        Deals the folds and drives simulations and permutations.
    engine : optional
        Who refits, as in `labelworth.plan`.
    progress : Progress
    options
        For rows, of `labelworth.robust.check.check_samples`: ``n_folds``, ``n_bootstrap``, ``specification``. For
        sequences, of `labelworth.robust.sequences.check.check_sequences`: ``policies``, ``max_parameters``.

    Returns
    -------
    CheckReport or SequenceCheckReport; with answers AnsweredCheckReport, which begins with them

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> classes = rng.integers(2, size=400)
    >>> X = rng.standard_normal((400, 3)) + 2 * classes[:, None]
    >>> y = np.where(rng.random(400) < 0.1, classes, -1)
    >>> check(X, y, model="gaussian", specification=False).verdict
    'cannot be told'
    """
    options = {"seed": seed, "progress": progress, **options}
    if answers is not None:
        options = {"answers": answers, "channels": channels, **options}
    elif channels:
        raise InvalidInputError("channels= say who answers; there are no answers=.")
    if is_family(model):
        if answers is not None:
            raise InvalidInputError("Answers are checked with an estimator or a name as model=. Got a family.")
        from labelworth.robust.check import check_samples

        with working(engine):
            return check_samples(samples_of_family(X, y), model, **options)
    automatic = automatic_of(model, unlabeled)
    chosen = seeded(estimator_of(model, unlabeled), seed) if automatic is None else replace(automatic, seed=seed)
    with working(engine):
        report: CheckReport | SequenceCheckReport | AnsweredCheckReport
        report = chosen.check(X, y, classes=classes, **options)
    return report
