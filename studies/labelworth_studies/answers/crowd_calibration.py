"""How far recovered labels can be believed: answers of crowd workers about newsgroup posts, counting less and less.

Workers err together on posts that look like others, so each answer at its full weight makes a fit surer than right.
What an answer should count is chosen on posts that take no part in the figure: one half judges what the other half
chose, or a hundred gold posts choose for all others.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelworth.arrays import FloatArray, IntArray
from labelworth.data.counts import as_counts, inverse_document_weights, rescale_documents
from labelworth.data.evidence import Evidence
from labelworth.data.samples import Samples
from labelworth.estimation.answered_fit import fit_answered, truth_posteriors
from labelworth.evaluation.calibration import Calibration, calibration
from labelworth.models.classes.multinomial import MultinomialFamily
from labelworth.progress import Progress
from labelworth.report.annotator_panels import CalibrationPanel
from labelworth.report.values import Measured, Outcome, Picture, Table
from labelworth_studies.corpora.crowd import CrowdPosts, crowd_digest, crowd_posts
from labelworth_studies.runner.study import Cell, Result, Study

WEIGHTS = (0.15, 0.3, 0.6, 1.0)
"""What an answer counts."""
ENOUGH = 3
"""A post with so many answers is judged."""
N_GOLD, N_DRAWS = 100, 3
# Chosen by `reproduce newsgroups-em-tuning`, on newsgroups and not on answers.
DOCUMENT_LENGTH, SMOOTHING, EQUAL_CLASSES = 4.0, 0.005, 1e6


def cells(quick: bool, seed: int) -> list[dict[str, Any]]:
    """Every weight without gold, on trusted answers and on all; on trusted ones also with draws of gold."""
    alone = [
        {"all": every, "weight": weight, "draw": None, "seed": seed} for every in (False, True) for weight in WEIGHTS
    ]
    if quick:
        return alone[: len(WEIGHTS)]
    with_gold = [
        {"all": False, "weight": weight, "draw": draw, "seed": seed} for draw in range(N_DRAWS) for weight in WEIGHTS
    ]
    return [*alone, *with_gold]


def compute(cell: Cell) -> Result:
    """What the fit says of every post that is judged; and how often features alone are right, elsewhere too."""
    posts = crowd_posts()
    answers = posts.every_answer if cell["all"] else posts.answers
    judged = judged_posts(posts, every=cell["all"])
    codes = np.full(len(posts.truth), -1)
    if cell["draw"] is not None:
        gold = judged[gold_of(cell["draw"], cell["seed"], len(judged))]
        codes[gold] = posts.truth[gold]
    counts = posts.samples.counts
    weighted = as_counts(counts @ sp.diags_array(inverse_document_weights(counts)))
    known = Evidence(codes, posts.samples.evidence.classes)
    samples = Samples(rescale_documents(weighted, DOCUMENT_LENGTH), known, answers=answers)
    family = MultinomialFamily.for_samples(samples, smoothing=SMOOTHING, class_smoothing=EQUAL_CLASSES)
    fitted = fit_answered(family, samples, answer_weight=cell["weight"])
    guessed = fitted.model.inner.log_joint(samples).argmax(axis=1) == posts.truth
    nobody = np.setdiff1d(np.arange(len(posts.truth)), posts.every_answer.rows)
    return {
        "shares": truth_posteriors(fitted.model, samples)[judged].tolist(),
        "features_alone": float(guessed[judged].mean()),
        "unasked": float(guessed[nobody].mean()),
    }


def judged_posts(posts: CrowdPosts, *, every: bool) -> IntArray:
    """Those with three answers or more."""
    answers = posts.every_answer if every else posts.answers
    return np.flatnonzero(np.bincount(answers.rows, minlength=len(posts.truth)) >= ENOUGH)


def gold_of(draw: int, seed: int, n_judged: int) -> IntArray:
    """The posts that have gold, among those that are judged."""
    return np.random.default_rng([seed, draw]).permutation(n_judged)[:N_GOLD]


def summarize(pairs: Sequence[tuple[Cell, Result]]) -> Outcome:
    posts = crowd_posts()
    figures: dict[str, Any] = {}
    pictures = {}
    for every in (False, True):
        alone = {c["weight"]: r for c, r in pairs if c["all"] == every and c["draw"] is None}
        if not alone:
            continue
        truth = posts.truth[judged_posts(posts, every=every)]
        found = {weight: calibration(np.array(result["shares"]), truth) for weight, result in alone.items()}
        by_weight = {
            str(weight): {
                **told(found[weight]),
                "features_alone": alone[weight]["features_alone"],
                "unasked": alone[weight]["unasked"],
            }
            for weight in alone
        }
        name = "every answer" if every else "trusted answers"
        halves = chosen_by_halves({weight: np.array(r["shares"]) for weight, r in alone.items()}, truth)
        figures[name] = {"by_weight": by_weight, "chosen_by_the_other_half": halves}
        panel = {f"an answer counts {weight:g}": found[weight] for weight in (WEIGHTS[0], WEIGHTS[1], WEIGHTS[-1])}
        pictures["" if not every else "every"] = Picture(
            "Labels recovered from a crowd", (CalibrationPanel(panel),), n_columns=1
        )
    drawn = _with_gold(pairs, posts)
    if drawn:
        figures["with 100 gold"] = drawn
    return Outcome(figures=figures, words=_words(figures), tables=tuple(_tables(figures)), pictures=pictures)


def told(found: Calibration) -> dict[str, float]:
    """The figures of the record."""
    return {
        "n_posts": found.n_rows,
        "accuracy": found.accuracy,
        "accuracy_se": found.accuracy_se,
        "confidence": found.confidence,
        "log_loss": found.log_loss,
        "log_loss_se": found.log_loss_se,
    }


def losses(shares: FloatArray, truth: IntArray) -> FloatArray:
    """In nats."""
    return np.asarray(-np.log(shares[np.arange(len(truth)), truth]))


def chosen_by_halves(shares: Mapping[float, FloatArray], truth: IntArray) -> dict[str, Any]:
    """Each half of the posts is judged at the weight of least log-loss on the other."""
    half = np.random.default_rng(0).permutation(len(truth)) % 2 == 0
    right, weights = np.empty(len(truth), dtype=bool), []
    loss = np.empty(len(truth))
    for own in (half, ~half):
        best = min(shares, key=lambda weight: float(losses(shares[weight], truth)[~own].mean()))
        weights.append(best)
        right[own] = (shares[best].argmax(axis=1) == truth)[own]
        loss[own] = losses(shares[best], truth)[own]
    return {
        "weights": weights,
        "accuracy": float(right.mean()),
        "accuracy_se": float(right.std() / np.sqrt(len(right))),
        "log_loss": float(loss.mean()),
    }


def _with_gold(pairs: Sequence[tuple[Cell, Result]], posts: CrowdPosts) -> dict[str, Any]:
    """A hundred gold posts choose the weight by what fits without them said of them; all others are judged."""
    truth = posts.truth[judged_posts(posts, every=False)]
    alone = {c["weight"]: np.array(r["shares"]) for c, r in pairs if not c["all"] and c["draw"] is None}
    accuracies, whole, unasked, weights = [], [], [], []
    for draw in sorted({c["draw"] for c, _ in pairs if c["draw"] is not None}):
        own = {c["weight"]: r for c, r in pairs if c["draw"] == draw}
        seed = next(c["seed"] for c, _ in pairs if c["draw"] == draw)
        gold = gold_of(draw, seed, len(truth))
        rest = np.setdiff1d(np.arange(len(truth)), gold)
        best = min(alone, key=lambda weight: float(losses(alone[weight], truth)[gold].mean()))
        weights.append(best)
        right = {weight: np.array(own[weight]["shares"]).argmax(axis=1) == truth for weight in (best, 1.0)}
        accuracies.append(float(right[best][rest].mean()))
        whole.append(float(right[1.0][rest].mean()))
        unasked.append(own[best]["unasked"])
    if not accuracies:
        return {}
    return {
        "weights": weights,
        **_mean("accuracy", accuracies),
        **_mean("accuracy_at_weight_1", whole),
        **_mean("unasked", unasked),
    }


def _mean(name: str, values: list[float]) -> dict[str, float]:
    return {name: float(np.mean(values)), f"{name}_se": float(np.std(values, ddof=1) / np.sqrt(len(values)))}


def _words(figures: Mapping[str, Any]) -> tuple[str, ...]:
    own = figures["trusted answers"]
    whole, chosen = own["by_weight"]["1.0"], own["chosen_by_the_other_half"]
    return (
        f"Without any gold label, {100 * whole['accuracy']:.1f} % of {whole['n_posts']} posts are recovered where "
        f"every answer counts whole, and said to be so with {100 * whole['confidence']:.1f} %; with the weight "
        f"that the other half of the posts chooses ({', '.join(f'{weight:g}' for weight in chosen['weights'])}), "
        f"{100 * chosen['accuracy']:.1f} % (standard error {100 * chosen['accuracy_se']:.1f}).",
    )


def _tables(figures: Mapping[str, Any]) -> list[Table]:
    tables = []
    for name in ("trusted answers", "every answer"):
        if name in figures:
            rows = tuple(
                (
                    float(weight),
                    Measured(own["accuracy"], own["accuracy_se"]),
                    own["confidence"],
                    own["log_loss"],
                    own["features_alone"],
                    own["unasked"],
                )
                for weight, own in figures[name]["by_weight"].items()
            )
            columns = ("an answer counts", "recovered", "said", "log-loss", "by words alone", "posts nobody answered")
            tables.append(
                Table(f"No gold, {name}", columns, rows, note="Shares of right ones; standard error over posts.")
            )
    return tables


def prepare(progress: Progress) -> None:
    progress.say("Reading and counting the newsgroup posts, once per process.")
    crowd_posts()


STUDY = Study(
    name="crowd-calibration",
    title="How far labels recovered from a crowd can be believed, and what an answer should count",
    cells=cells,
    compute=compute,
    summarize=summarize,
    corpora=("newsgroups", "crowd"),
    data_digest=crowd_digest,
    prepare=prepare,
)
