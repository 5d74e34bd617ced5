"""What workers said of newsgroup posts: labels recovered from it, and what it teaches a classifier for the money."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelworth.arrays import BoolArray, FloatArray, IntArray
from labelworth.channels.channel import Channel
from labelworth.data.answers import Answers
from labelworth.data.counts import as_counts, inverse_document_weights, rescale_documents
from labelworth.data.evidence import Evidence
from labelworth.data.samples import Samples
from labelworth.estimation.annotators import ConfusionKind
from labelworth.estimation.answered import AnsweredModel
from labelworth.estimation.answered_fit import fit_answered, truth_posteriors
from labelworth.estimation.fit import fit
from labelworth.estimators.multinomial import MultinomialNaiveBayes
from labelworth.models.classes.multinomial import MultinomialFamily, MultinomialModel
from labelworth.planning.plan import plan
from labelworth.progress import Progress
from labelworth.report.values import Curve, CurvesPanel, Measured, Outcome, Picture, Table
from labelworth_studies.answers.parts import crowd_kit
from labelworth_studies.corpora.crowd import CrowdPosts, crowd_digest, crowd_posts
from labelworth_studies.runner.study import Cell, Result, Study

DOCUMENT_LENGTH, SMOOTHING, CLASS_SMOOTHING = 4.0, 0.005, 1e6
"""The candidate of `model="auto"` for many classes; these settings were tuned on 20 Newsgroups, not on answers."""
N_TESTED, N_UNLABELED = 4000, 6000
N_HELD = 100
"""Posts with gold labels before anything is bought; workers have answered them too."""
GOLD_ANSWERS = 5.0
"""What a gold label costs, in mean answers of a worker: nobody timed the gold."""
BUDGETS = (5, 15, 30)
"""In hours: an answer costs the seconds that it took."""
N_DRAWS = 5
DESIGNS: Mapping[str, tuple[float, float, float]] = {
    "gold": (1.0, 0.0, 0.0),
    "one answer": (0.0, 1.0, 0.0),
    "three answers": (0.0, 0.0, 1.0),
    "half gold, half one answer": (0.5, 0.5, 0.0),
    "half gold, half three answers": (0.5, 0.0, 0.5),
    "answers alone": (0.0, 0.0, 1.0),
}
"""Shares of the money: gold labels, posts with one answer, posts with three. "Answers alone" has no gold at all."""

PLANNED = "as planned"
"""What `labelworth.plan` says, from the posts held with the workers' answers to them."""
N_PLANS = 3

WAYS = ("majority", "Dawid-Skene", "accuracies, no words", "words and accuracies", "words and confusions")


def cells(quick: bool, seed: int) -> list[dict[str, Any]]:
    """Every way to recover labels, and every design at every budget; the quick grid has two draws."""
    ways = (*WAYS, *(crowd_kit.WAYS if crowd_kit.is_installed() else ()))
    recovered = [{"way": way, "all": every, "seed": seed} for every in (False, True) for way in ways]
    bought = [
        {"design": design, "budget": budget, "seed": seed + draw}
        for draw in range(2 if quick else N_DRAWS)
        for budget in BUDGETS
        for design in DESIGNS
    ]
    planned = [
        {"design": PLANNED, "budget": budget, "seed": seed + draw}
        for draw in range(1 if quick else N_PLANS)
        for budget in BUDGETS
    ]
    return [*recovered, *bought, *planned]


def compute(cell: Cell) -> Result:
    """Whether the label of each post was recovered; or the test error of what was bought, and what it took."""
    posts = crowd_posts()
    if "way" in cell:
        return _recovered(posts, cell["way"], posts.every_answer if cell["all"] else posts.answers, cell["seed"])
    rng = np.random.default_rng([cell["seed"], 1])
    held, rest = _held(posts, rng)
    if cell["design"] == PLANNED:
        money = planned_money(posts, held, 3600.0 * cell["budget"], cell["seed"])
    else:
        money = [3600 * share * cell["budget"] for share in DESIGNS[cell["design"]]]
    # Gold comes first, then posts with one answer, then those with three.
    gold = min(int(money[0] / gold_seconds(posts) + 1e-9), len(rest))
    single, ones = bought_answers(posts, rest[gold:], 1, money[1], rng)
    triple, threes = bought_answers(posts, rest[gold + single :], 3, money[2], rng)
    bought = np.concatenate([ones, threes])
    answers = posts.answers.take(
        np.isin(posts.answers.rows, held) | np.isin(np.arange(posts.answers.n_answers), bought)
    )
    told = np.concatenate([held, rest[:gold]]) if cell["design"] != "answers alone" else held[:0]
    is_gold = np.isin(np.arange(posts.samples.n_samples), told)
    return {
        "error": bought_error(posts, is_gold, answers, cell["seed"]),
        "counts": [gold, single, triple],
        "hours": float(posts.seconds[bought].sum() + gold_seconds(posts) * gold) / 3600,
    }


def gold_seconds(posts: CrowdPosts) -> float:
    """The price of a gold label."""
    return GOLD_ANSWERS * float(posts.seconds.mean())


def _held(posts: CrowdPosts, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Posts with gold before anything is bought, drawn again until they name every group; and all other posts."""
    asked = np.unique(posts.answers.rows)
    while True:
        order = rng.permutation(asked)
        if len(np.unique(posts.truth[order[:N_HELD]])) == posts.samples.evidence.n_classes:
            return order[:N_HELD], order[N_HELD:]


def planned_money(posts: CrowdPosts, held: IntArray, budget: float, seed: int) -> list[float]:
    """Seconds that a plan sets aside for gold, for posts with one answer and for posts with three.

    It knows the posts held, and of the workers as one crowd what they said of those posts and how long it took.
    Gold labels beside which a worker is asked too count as gold.
    """
    is_own = np.isin(posts.answers.rows, held)
    gold_price, price = gold_seconds(posts), float(posts.seconds[is_own].mean())
    learned, _ = _divided(posts, seed)
    own = posts.answers.take(is_own)
    crowd = replace(own, annotators=np.zeros(own.n_answers, dtype=np.int64), names=("crowd",))
    is_gold = np.isin(np.arange(posts.samples.n_samples), held)
    features = _features(posts.samples.counts, learned)
    asked_anew = [Channel("crowd", "unknown", independent=True)]
    confusions = _joint(posts, features, learned, is_gold, crowd, "separate", asked_anew)[0].confusions
    classes = posts.samples.evidence.classes
    advice = plan(
        posts.samples.counts[learned],
        [classes[posts.truth[row]] if is_gold[row] else None for row in learned],
        classes=classes,
        model=MultinomialNaiveBayes(
            alpha=SMOOTHING,
            class_smoothing=CLASS_SMOOTHING,
            word_weights="inverse-document",
            document_length=DOCUMENT_LENGTH,
        ),
        use_unlabeled="yes",
        budget=gold_price * len(held) + budget,
        prices={"per_label": gold_price},
        channels=[Channel("crowd", confusions[0], unknown=True, price=price, votes=(1, 3))],
        seed=seed,
    )
    counts = {each.arm: round(each.count) for each in advice.recommended.arms}
    gold = counts.get("gold", 0) + counts.get("gold + crowd", 0)
    return [gold_price * gold, price * counts.get("crowd", 0), 3 * price * counts.get("crowd x 3", 0)]


def bought_answers(
    posts: CrowdPosts, rows: IntArray, votes: int, money: float, rng: np.random.Generator
) -> tuple[int, IntArray]:
    """To how many of the posts, in their order, the seconds buy so many answers each; and which, whoever gave them.

    A post that fewer workers answered gets all of their answers; money that finds no post any more is not spent.
    """
    place = np.full(posts.samples.n_samples, len(rows))
    place[rows] = np.arange(len(rows))
    drawn = rng.permutation(posts.answers.n_answers)
    drawn = drawn[np.argsort(place[posts.answers.rows[drawn]], kind="stable")]
    places = place[posts.answers.rows[drawn]]
    is_wanted = (places < len(rows)) & (np.arange(len(places)) - np.searchsorted(places, places) < votes)
    drawn, places = drawn[is_wanted], places[is_wanted]
    costs = np.cumsum(np.bincount(places, posts.seconds[drawn], minlength=len(rows)))
    n_posts = int(np.searchsorted(costs, money, side="right"))
    return n_posts, drawn[places < n_posts]


def bought_error(posts: CrowdPosts, is_gold: BoolArray, answers: Answers, seed: int) -> float:
    """Learn from gold, answers and posts of which nothing is known; err on posts that nobody was asked about."""
    learned, tested = _divided(posts, seed)
    features = _features(posts.samples.counts, learned)
    model = _fitted(posts, features, learned, is_gold, answers, "shared")[0]
    unknown = Evidence(np.full(len(tested), -1), posts.samples.evidence.classes)
    guessed = model.log_joint(Samples(features[tested], unknown)).argmax(axis=1)
    return float((guessed != posts.truth[tested]).mean())


def _recovered(posts: CrowdPosts, way: str, answers: Answers, seed: int) -> Result:
    votes = np.bincount(answers.rows, minlength=posts.samples.n_samples)
    judged = np.flatnonzero(votes >= 3)
    if way in crowd_kit.WAYS:
        right = (crowd_kit.labels_of(way, answers, judged) == posts.truth[judged]).astype(np.float64)
    elif way == "majority":
        right = _majority(posts, answers, judged, seed)
    else:
        learned, _ = _divided(posts, seed)
        if way.startswith("words"):
            features = _features(posts.samples.counts, learned)
        else:
            # One word that every post has once: a model without features, so Dawid and Skene's.
            learned, features = np.unique(answers.rows), sp.csr_array(np.ones((posts.samples.n_samples, 1)))
        confusion: ConfusionKind = (
            "accuracy" if "accuracies" in way else "separate" if way == "Dawid-Skene" else "shared"
        )
        no_gold = np.zeros(posts.samples.n_samples, dtype=bool)
        _, posteriors = _fitted(posts, features, learned, no_gold, answers, confusion)
        guessed = posteriors[np.searchsorted(learned, judged)].argmax(axis=1)
        right = (guessed == posts.truth[judged]).astype(np.float64)
    peer = {"crowd_kit": crowd_kit.version()} if way in crowd_kit.WAYS else {}
    return {"right": right.tolist(), "n_answers": int(answers.n_answers), **peer}


def _majority(posts: CrowdPosts, answers: Answers, judged: IntArray, seed: int) -> FloatArray:
    """A set is a vote for each of its members, shared; the expected share of right ones where ties are drawn."""
    said = answers.evidence.dense()
    votes = np.zeros((posts.samples.n_samples, said.shape[1]))
    np.add.at(votes, answers.rows, said / said.sum(axis=1, keepdims=True))
    own = votes[judged]
    is_first = np.isclose(own, own.max(axis=1, keepdims=True))
    return np.asarray(is_first[np.arange(len(judged)), posts.truth[judged]] / is_first.sum(axis=1))


def _divided(posts: CrowdPosts, seed: int) -> tuple[IntArray, IntArray]:
    """Posts to learn from, with answers or without, in order; and posts to test on."""
    asked = np.unique(posts.every_answer.rows)
    others = np.random.default_rng([seed, 0]).permutation(np.setdiff1d(np.arange(posts.samples.n_samples), asked))
    return np.sort(np.concatenate([asked, others[N_TESTED:][:N_UNLABELED]])), others[:N_TESTED]


def _features(counts: sp.csr_array, learned: IntArray) -> sp.csr_array:
    weights = inverse_document_weights(as_counts(counts[learned]))
    return rescale_documents(as_counts(counts @ sp.diags_array(weights)), DOCUMENT_LENGTH)


def _fitted(
    posts: CrowdPosts,
    features: sp.csr_array,
    learned: IntArray,
    is_gold: BoolArray,
    answers: Answers,
    confusion: ConfusionKind,
) -> tuple[MultinomialModel, FloatArray]:
    """The model, and what it says of the posts learned from together with their answers."""
    if not answers.n_answers:
        samples = _samples(posts, features, learned, is_gold)
        model = fit(_family(samples), samples).model
        return model, model.log_joint(samples)
    fitted, samples = _joint(posts, features, learned, is_gold, answers, confusion)
    return fitted.inner, truth_posteriors(fitted, samples)


def _joint(
    posts: CrowdPosts,
    features: sp.csr_array,
    learned: IntArray,
    is_gold: BoolArray,
    answers: Answers,
    confusion: ConfusionKind,
    channels: Sequence[Channel] = (),
) -> tuple[AnsweredModel[MultinomialModel], Samples]:
    moved = replace(answers, rows=np.searchsorted(learned, answers.rows))
    samples = replace(_samples(posts, features, learned, is_gold), answers=moved)
    fitted = fit_answered(_family(samples), samples, channels=channels, confusion=confusion)
    return fitted.model, samples


def _samples(posts: CrowdPosts, features: sp.csr_array, learned: IntArray, is_gold: BoolArray) -> Samples:
    codes = np.where(is_gold, posts.truth, -1)[learned]
    return Samples(features[learned], Evidence(codes, posts.samples.evidence.classes))


def _family(samples: Samples) -> MultinomialFamily:
    return MultinomialFamily.for_samples(samples, smoothing=SMOOTHING, class_smoothing=CLASS_SMOOTHING)


def summarize(pairs: Sequence[tuple[Cell, Result]]) -> Outcome:
    recovered = [(cell, result) for cell, result in pairs if "way" in cell]
    bought = [(cell, result) for cell, result in pairs if "design" in cell]
    figures: dict[str, Any] = {"recovered": _ways(recovered), "bought": _designs(bought)}
    peers = {result["crowd_kit"] for _, result in recovered if "crowd_kit" in result}
    told = f"crowd-kit {', '.join(sorted(peers))}" if peers else "crowd-kit is not installed and was left out"
    return Outcome(
        figures={**figures, "crowd_kit": sorted(peers)},
        words=(f"Labels recovered: {told}.",),
        tables=(_ways_table(figures["recovered"]), _designs_table(figures["bought"])),
        pictures={"": _picture(figures["bought"])},
    )


def _ways(pairs: Sequence[tuple[Cell, Result]]) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    best = {cell["all"]: np.array(result["right"]) for cell, result in pairs if cell["way"] == WAYS[-1]}
    for cell, result in pairs:
        right = np.array(result["right"])
        root = np.sqrt(len(right))
        behind = best[cell["all"]] - right
        figures[f"{'every answer' if cell['all'] else 'trusted answers'}/{cell['way']}"] = {
            "n_posts": len(right),
            "n_answers": result["n_answers"],
            "accuracy": float(right.mean()),
            "accuracy_se": float(right.std() / root),
            "behind_best": float(behind.mean()),
            "behind_best_se": float(behind.std() / root),
        }
    return figures


def _ways_table(figures: Mapping[str, Any]) -> Table:
    rows = [
        (
            *name.split("/"),
            own["n_posts"],
            Measured(own["accuracy"], own["accuracy_se"]),
            Measured(own["behind_best"], own["behind_best_se"]),
        )
        for name, own in figures.items()
    ]
    return Table(
        "Labels recovered from answers alone",
        ("answers", "way", "posts", "share right", "behind words and confusions"),
        tuple(rows),
        note="Posts with three answers or more; standard errors over posts, paired. No gold label is used.",
    )


def _designs(pairs: Sequence[tuple[Cell, Result]]) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    for budget in BUDGETS:
        errors: dict[str, dict[int, float]] = {design: {} for design in (*DESIGNS, PLANNED)}
        counts: dict[str, list[list[int]]] = {design: [] for design in errors}
        hours: dict[str, list[float]] = {design: [] for design in errors}
        for cell, result in pairs:
            if cell["budget"] == budget:
                errors[cell["design"]][cell["seed"]] = result["error"]
                counts[cell["design"]].append(result["counts"])
                hours[cell["design"]].append(result["hours"])
        planned = errors[PLANNED]
        best = min(float(np.mean([errors[design][seed] for seed in planned])) for design in DESIGNS)
        for design, own in errors.items():
            values = np.array(list(own.values()))
            figures[f"{budget}/{design}"] = {
                "counts": np.round(np.mean(counts[design], axis=0)).astype(int).tolist(),
                "n_draws": len(values),
                "hours": float(np.mean(hours[design])),
                "error": float(values.mean()),
                "error_se": float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None,
                # Of the best design tried, on the same draws.
                "over_best": float(np.mean([own[seed] for seed in planned]) / best),
            }
    return figures


def _designs_table(figures: Mapping[str, Any]) -> Table:
    rows = [
        (
            int(name.split("/")[0]),
            name.split("/")[1],
            *own["counts"],
            round(own["hours"], 2),
            Measured(own["error"], own["error_se"]),
            round(own["over_best"], 3),
        )
        for name, own in figures.items()
    ]
    return Table(
        "What money buys beside 100 audited posts",
        (
            "budget, hours",
            "design",
            "gold",
            "one answer",
            "three answers",
            "hours spent",
            "test error",
            "over the best",
        ),
        tuple(rows),
        note=f"An answer costs the seconds it took, a gold label as much as {GOLD_ANSWERS:g} mean answers. Standard "
        f"errors over draws ({N_DRAWS}, of plans {N_PLANS}). Over the best: of those tried, on the draws for which "
        "there is a plan.",
    )


def _picture(figures: Mapping[str, Any]) -> Picture:
    curves = []
    for design in (*DESIGNS, PLANNED):
        own = [figures[f"{budget}/{design}"] for budget in BUDGETS]
        errors = np.array([each["error"] for each in own])
        margins = np.array([2 * (each["error_se"] or 0.0) for each in own])
        curves.append(Curve(design, np.array(BUDGETS, float), errors, errors - margins, errors + margins))
    panel = CurvesPanel("", "money, in hours", "test error", tuple(curves), x_scale="log")
    return Picture("20 Newsgroups: gold or workers?", (panel,))


def prepare(progress: Progress) -> None:
    progress.say("Reading and counting the newsgroup posts, once per process.")
    crowd_posts()


STUDY = Study(
    name="crowd",
    title="Answers of 187 crowd workers about newsgroup posts: labels recovered, and what money buys",
    cells=cells,
    compute=compute,
    summarize=summarize,
    version=3,
    corpora=("newsgroups", "crowd"),
    data_digest=crowd_digest,
    prepare=prepare,
)
