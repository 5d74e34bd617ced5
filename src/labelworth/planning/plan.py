"""`lw.plan`: how many more labels, of which kind, for what."""

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from labelworth.arrays import UNLABELED
from labelworth.data.answers import Answers
from labelworth.data.protocol import Data
from labelworth.engines.runner import working
from labelworth.errors import InfeasiblePlanError, InvalidInputError
from labelworth.estimators.reading import automatic_of, pool_of, takes_sequences
from labelworth.planning.answer import Plan
from labelworth.planning.planner import Planner
from labelworth.planning.solving import require_budget
from labelworth.planning.source import AskedSource, GivenPrices, PlanSettings, UseUnlabeled
from labelworth.planning.targets import read_target
from labelworth.policies.choosing import RANDOM, By
from labelworth.progress import SILENT, Progress, Whole, under_one_bar
from labelworth.tradeoff.costs import Prices
from labelworth.tradeoff.problem import Question, require_target


def plan(
    X: Any,
    y: Any = None,
    *,
    model: Any = "auto",
    budget: float | None = None,
    target: float | str | None = None,
    alpha: float | None = None,
    prices: GivenPrices = None,
    criterion: str | None = None,
    source: AskedSource = "auto",
    rules: Sequence[Any] | str | None = None,
    pool: float | None = None,
    use_unlabeled: UseUnlabeled = "auto",
    classes: Sequence[Hashable] | None = None,
    unlabeled: Hashable = UNLABELED,
    n_draws: int = 200,
    seed: int = 0,
    checkpoint: str | Path | None = None,
    max_time: float | None = None,
    currency: str | None = None,
    channels: Any = None,
    answers: Answers | None = None,
    by: By = RANDOM,
    engine: Any = None,
    progress: Progress = SILENT,
) -> Plan:
    """Say how many more samples to label, of which kind, and what accuracy that buys.

    Two stages and more: the labels in the data are the pilot. The model is fitted to all samples, labeled or not; its
    parameters are plugged into the trade-off; the same question at other parameters that the pilot would have allowed
    gives the intervals. Label what the plan says, and call this again with the new labels beside the old ones.

    Parameters
    ----------
    X : Samples, array-like or sparse matrix of shape (n, n_features), or a list of sequences
        Labeled samples and the pool.
    y : array-like of shape (n,), or a list of lists
        A class per row, or a label per token; `unlabeled`, None or NaN where it was not seen.
    model : str, estimator or family
        "auto": chosen by cross-validation on the pilot among our own models with several settings, logistic
        regression, a linear SVM and, for vectors, nearest neighbors, with samples without a
        label or without. Or "multinomial", "bernoulli", "gaussian", "hidden-markov", "boltzmann-chain",
        "conditional-random-field", "logistic", "linear-svm", "boosting", "forest", "nearest-neighbors",
        "self-training"; or an estimator of ours, fitted or not; or any classifier, pipeline or tagger with the
        manners of scikit-learn or sklearn-crfsuite, which takes X as it is.
    budget, target, alpha : float
        Exactly one: the least error for this much money, labels held included; the least cost for this error; or the
        least cost + alpha x error. A target may also be a sentence that names its criterion: ``"error <= 5%"``,
        ``"macro-F1 >= 0.9"``, ``"recall of spam >= 95% at precision 90%"``.
    prices : Prices, mapping or function, optional
        ``per_label``, ``per_token``, ``per_sequence``, ``per_unlabeled``, ``fixed``; a label costs 1 when absent.
        Or a function of (policy, n) that says what n samples cost in all, those held included: `policy` maps every
        rule ("everything", "nothing", ...) to its share of them. It must not fall with more samples, and may have
        steps; ``round(policy["everything"] * n)`` is the number of samples labeled whole. What it says of the labels
        held is what they have cost; a held sequence counts as labeled by the rule on the menu that asks for the
        nearest number of labels. Designs are then searched for, without a certificate.
    criterion : str, optional
        What "error" means: "error", "log_loss" (as they will be measured), "excess_error", or a name of
        `labelworth.fisher.criteria.CRITERIA`. When absent the share of wrong predictions where that is known. Or a
        metric: "macro-F1", "recall of CLASS at precision 90%", "precision of CLASS at recall 80%", the threshold on
        the scores of the class being the one that serves best. Metrics are forecast by simulation, and larger is
        better: a target is the least to reach, and errors of the plan are what is missing to one.
    source : "auto", "asymptotic" or "simulated"
        Formulas, or simulated labels on the real pool; "auto" goes by labels per parameter and the harm verdict.
    rules : sequence, optional
        For sequences: the menu of labeling rules, as ``["everything", "nothing", "window:5"]``.
    pool : float, optional
        How many samples can still be had; those without a label when absent.
    use_unlabeled : "auto", "yes" or "no"
        "auto": unless cross-validation says that they hurt.
    classes : sequence, optional
        All classes there are; found in the labels when absent.
    unlabeled : hashable
        The marker for "not seen", where `model` is a name.
    n_draws : int
        At how many other parameters the question is asked.
    seed : int
    checkpoint : path, optional
        A folder in which finished steps are kept; the same call goes on from there.
    max_time : float, optional
        About how many minutes simulated refits may take. What does not fit is left out, and said among the notes;
        where not even the least fits, that is said once the first refits were measured.
    currency : str, optional
        What amounts of money are in, as "EUR" or "$": it stands before every one of them. None when absent.
    by : "random", "uncertainty" or "worth"
        Of documents: what labels of rows chosen so would buy is told beside labels at random, which the plan is of.
        `labelworth next --by` draws such rows.
    channels : sequence, optional
        For documents: who else can be asked, beside gold labels at their own price (``per_label``), each a `Channel`
        or a line as ``"crowd: price 0.02, confusion 0.85 0.15 / 0.30 0.70, votes 1 3 5, unknown"``. The plan says how
        many documents go to nobody, to gold, to each of them by each number of votes, and to gold and an unknown one
        at once (audited), and what an answer of each is worth at most. ``per_unlabeled`` is paid for every document
        without a gold label, answered or not.
    answers : Answers, optional
        What such kinds said already of rows of X, as `labelworth.read_answers` gives it: what is unknown of them is
        estimated from these, with the model, and takes the place of guesses. An annotator is the kind of the same
        name; all others are the one kind that is no annotator's name. Answers to labeled rows tell most.
    engine : optional
        Who refits: a client of dask.distributed, "threads" or "processes". The plan is the same to the last bit.
    progress : Progress

    Returns
    -------
    Plan

    Raises
    ------
    InfeasiblePlanError
        If nothing meets what was asked, with the nearest that does; of a target, with the plan for that. Or if not
        even the least fits into `max_time`.
    NotIdentifiableError
        If labels, or the menu, cannot pin the model down.
    InvalidInputError
        If the question or an option is invalid.

    Notes
    -----
    Paper: eq:tradeoff1, eq:tradeoff2, eq:tradeoff3, and its two-stage algorithm.

    Examples
    --------
    >>> import labelworth as lw
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> classes = rng.integers(2, size=600)
    >>> X = rng.standard_normal((600, 2)) + 2 * classes[:, None]
    >>> y = np.where(np.arange(600) < 60, classes, -1)
    >>> plan = lw.plan(X, y, model="gaussian", budget=200, criterion="excess_log_loss", n_draws=20)
    >>> plan.lines()[0].startswith("Label 140 more rows")
    True
    """
    target, criterion = read_target(target, criterion)
    asked = Question.of(budget=budget, target=target, alpha=alpha, pool=pool)
    if asked.kind == "target":
        # What "auto" and a simulation take when no criterion is named is the error.
        require_target(asked.value, criterion, is_share=criterion is None and source != "asymptotic")
    settings = PlanSettings(
        prices=prices,
        criterion=criterion,
        source=source,
        rules=rules,
        use_unlabeled=use_unlabeled,
        n_draws=n_draws,
        seed=seed,
        checkpoint=checkpoint,
        max_time=max_time,
        currency=currency or "",
        channels=channels,
        answers=answers,
        by=by,
    )
    with (
        working(engine),
        planner_at_work(
            X, y, settings, model=model, classes=classes, unlabeled=unlabeled, asked=asked, progress=progress
        ) as planner,
    ):
        plan = planner.plan(asked)
    if plan.refusal is not None:
        raise InfeasiblePlanError(plan.refusal, plan.question.value, plan)
    return plan


@contextmanager
def planner_at_work(
    X: Any, y: Any, settings: PlanSettings, *, progress: Progress = SILENT, **reading: Any
) -> Iterator[Planner]:
    """A planner of these data, under one bar; arguments as in `planner_of`."""
    with under_one_bar(progress, "planning", settings.max_time) as whole:
        planner = planner_of(X, y, settings, progress=whole, **reading)
        # Thousands of small products: threads would wait for each other, and add up in an order of their own.
        with threadpool_limits(limits=1, user_api="blas"):
            yield planner


def planner_of(
    X: Any,
    y: Any,
    settings: PlanSettings,
    *,
    model: Any = "auto",
    classes: Sequence[Hashable] | None = None,
    unlabeled: Hashable = UNLABELED,
    asked: Question | None = None,
    progress: Progress = SILENT,
) -> Planner:
    """Read the data and fit the model; arguments as in `plan`."""
    if settings.rules is not None and not takes_sequences(model):
        raise InvalidInputError("Documents are labeled or not: rules= is for sequences.")
    automatic = automatic_of(model, unlabeled)
    if automatic is not None:
        model = replace(
            automatic,
            use_unlabeled=settings.use_unlabeled,
            is_plain=settings.asks_formulas,
            learns_answers=bool(settings.channels),
            seed=settings.seed,
            checkpoint=settings.checkpoint,
            when_read=partial(_require_budget, settings, asked),
        )
    pool = pool_of(X, y, model, classes=classes, unlabeled=unlabeled, seed=settings.seed, progress=progress)
    planner = Planner(pool, settings, progress if isinstance(progress, Whole) else Whole(progress, "planning"))
    planner.require_metrics()
    planner.require_mode()
    return planner


def _require_budget(settings: PlanSettings, asked: Question | None, data: Data) -> None:
    """Refuse a budget below what the labels held have cost, where that is known before words are counted."""
    if asked is not None and asked.kind == "budget" and isinstance(settings.costs, Prices):
        n_labels = int(data.is_labeled.sum())
        prices = settings.costs
        held = prices.fixed + (prices.per_label + prices.per_sequence) * n_labels + settings.paid_for_answers
        if not prices.per_token:
            require_budget(asked.value, n_labels, held, settings.currency, n_answers=settings.n_answers)
