"""Do the guards of answers hold? Sizes and powers of their tests, verdicts on channels, and what wrong ones cost.

Documents of four words of two classes, of which a fifth is closer to the other class; a language model that is right
on 97 % of the one class and 73 % of the other. Its errors know x by the class alone, or are where x looks like the
other class, with the same confusion on average, or half of either. Settings that took no part when the test was
made, and corpora: a fifth of the answers to every class is wrong, anywhere, or where the row looks like another class
(to the model it was drawn from; of corpora, to a naive Bayes of other folds).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelworth.arrays import FloatArray, IntArray
from labelworth.channels.channel import Channel
from labelworth.data.answers import Answers
from labelworth.data.digest import texts_digest
from labelworth.data.evidence import Evidence
from labelworth.data.folds import labeled_folds
from labelworth.data.lengths import LengthDistribution
from labelworth.data.samples import Samples
from labelworth.errors import DataUnavailableError
from labelworth.estimation.answered_fit import fit_answered
from labelworth.estimation.fit import fit
from labelworth.fisher.documents.population import enumerate_outcomes
from labelworth.models.classes.gaussian import GaussianFamily
from labelworth.models.classes.multinomial import MultinomialFamily, MultinomialModel
from labelworth.models.classes.responsibilities import condition
from labelworth.report.values import Measured, Outcome, Table
from labelworth.robust.answers.audits import Audits
from labelworth.robust.answers.copies import copies_test
from labelworth.robust.answers.harm import answered_predictions
from labelworth.robust.answers.independence import independence_test, model_directions, rows_directions
from labelworth.robust.held_out import honest_temperature, predictions_of, tempered
from labelworth_studies.corpora.folder import short_texts
from labelworth_studies.corpora.populations import population
from labelworth_studies.runner.study import Cell, Result, Study

WORDS = np.array([[0.45, 0.30, 0.15, 0.10], [0.20, 0.20, 0.25, 0.35]])
LLM = np.array([[0.97, 0.03], [0.27, 0.73]])
TRUTHS = {"by class": 0.0, "half by x": 0.5, "by x": 1.0}
"""The share of errors that are where x is ambiguous."""
AUDITED = (25, 50, 100, 200, 400)
N_UNLABELED = 400
OTHER_SETTINGS = ("two classes", "three classes")
OTHER_AUDITED = (25, 100, 400)
CORPORA = ("trec", "subjectivity", "sms")
CORPUS_AUDITED = (100, 400)
COPIED = (0.0, 0.25, 0.5)
VERDICTS = {
    "by class": (4000, 400),
    "noise": (4000, 400),
    "by x": (4000, 400),
    "by x, more rows": (20_000, 1000),
    "another question": (1500, 200),
}
"""Rows with answers, and how many of them have gold."""
LIMITS_AUDITED = (0.0, 0.02, 0.1)
_MANY = 1e7  # rows of a population
_RUNS_PER_CELL = 100


def model() -> MultinomialModel:
    """Bayes error 0.20."""
    return MultinomialModel(("a", "b"), np.array([0.6, 0.4]), WORDS, LengthDistribution.single(4))


def other_model(setting: str) -> MultinomialModel:
    """Two classes of which one is rare, or three; documents are longer than those of `model`."""
    if setting == "two classes":
        words, shares = np.array([[0.4, 0.2, 0.2, 0.1, 0.1], [0.15, 0.15, 0.2, 0.2, 0.3]]), np.array([0.8, 0.2])
    else:
        words = np.array([[0.35, 0.2, 0.15, 0.1, 0.1, 0.1], [0.1, 0.1, 0.35, 0.2, 0.15, 0.1], [0.1] * 4 + [0.2, 0.4]])
        shares = np.array([0.5, 0.3, 0.2])
    return MultinomialModel(("a", "b", "c")[: len(words)], shares, words, LengthDistribution.single(6))


def cells(quick: bool, seed: int) -> list[dict[str, Any]]:
    """Many runs of what should stay silent, fewer of what should not; the quick grid has one cell of each kind."""
    grid: list[dict[str, Any]] = []

    def add(n_runs: int, **asked: Any) -> None:
        n_cells = 1 if quick else max(1, n_runs // _RUNS_PER_CELL)
        n_runs = min(n_runs, 40) if quick else n_runs // n_cells
        grid.extend({**asked, "n_runs": n_runs, "seed": seed, "block": block} for block in range(n_cells))

    for truth in TRUTHS:
        for size in AUDITED:
            add(4000 if truth == "by class" else 200, part="independence", truth=truth, n_audited=size)
    for truth, n_runs in (("by class", 1000), ("by x", 200)):
        for setting, size in product(OTHER_SETTINGS, OTHER_AUDITED):
            add(n_runs, part="other setting", setting=setting, truth=truth, n_audited=size)
    for truth, n_runs in (("by class", 200), ("by x", 100)):
        for corpus, size in product(() if quick else CORPORA, CORPUS_AUDITED):
            add(n_runs, part="corpus", corpus=corpus, truth=truth, n_audited=size)
    for copied in COPIED:
        for size in (50, 200):
            add(4000 if copied == 0 else 200, part="copies", copied=copied, n_audited=size)
    for truth in VERDICTS:
        add(10 if quick else 100 if truth in ("by class", "noise") else 50, part="harm", truth=truth)
    for truth in ("by class", "by x"):
        for share in LIMITS_AUDITED:
            add(1, part="limit", truth=truth, audited=share)
    return grid


def compute(cell: Cell) -> Result:
    return dict(_PARTS[cell["part"]](cell))


def answered(rng: np.random.Generator, codes: IntArray, posterior: FloatArray, share: float) -> IntArray:
    """What the language model says, its errors following x on that share of them."""
    wrong = wrong_by_x(posterior, codes, np.ones(len(codes)))
    by_class = LLM[codes, 1 - codes]
    return np.where(rng.random(len(codes)) < share * wrong + (1 - share) * by_class, 1 - codes, codes)


def wrong_by_x(posterior: FloatArray, codes: IntArray, weights: FloatArray) -> FloatArray:
    """The probability of an error, proportional to that of the other class, with the mean of its class."""
    wrong = posterior[np.arange(len(codes)), 1 - codes].copy()
    for code in range(2):
        own = codes == code
        share = weights[own] / weights[own].sum() if own.any() else weights[own]
        for _ in range(200):
            wrong[own] = np.minimum(wrong[own] * LLM[code, 1 - code] / max(share @ wrong[own], 1e-300), 0.98)
    return wrong


def _independence(cell: Cell) -> Result:
    drawn_from, alarms = model(), 0
    for run in range(cell["n_runs"]):
        rng = _generator(cell, run)
        samples = drawn_from.sample(cell["n_audited"] + N_UNLABELED, rng)
        said = answered(rng, samples.evidence.codes, _posterior(drawn_from, samples), TRUTHS[cell["truth"]])
        alarms += _follows(samples, said, cell["n_audited"], MultinomialFamily.for_samples, rng)
    return {"alarms": alarms}


def _other_setting(cell: Cell) -> Result:
    drawn_from, alarms = other_model(cell["setting"]), 0
    for run in range(cell["n_runs"]):
        rng = _generator(cell, run)
        samples = drawn_from.sample(cell["n_audited"] + N_UNLABELED, rng)
        posterior = _posterior(drawn_from, samples)
        said = _said_of(rng, samples.evidence.codes, posterior, by_x=cell["truth"] == "by x")
        alarms += _follows(samples, said, cell["n_audited"], MultinomialFamily.for_samples, rng)
    return {"alarms": alarms}


def _corpus(cell: Cell) -> Result:
    whole, family = population(cell["corpus"]), _family_of(cell["corpus"])
    alarms = 0
    for run in range(cell["n_runs"]):
        rng = _generator(cell, run)
        n_audited = cell["n_audited"]
        rows = rng.choice(whole.data.n_samples, size=n_audited + 2 * N_UNLABELED, replace=False)
        samples = whole.data.take(rows)
        truth = _corpus_posterior(cell["corpus"])[rows]
        said = _said_of(rng, samples.evidence.codes, truth, by_x=cell["truth"] == "by x")
        alarms += _follows(samples, said, n_audited, lambda _: family, rng)
    return {"alarms": alarms}


def _follows(
    samples: Samples, said: IntArray, n_audited: int, family: Callable[[Samples], Any], rng: np.random.Generator
) -> bool:
    """Whether the test fires, as `check` runs it: by a model that saw neither the labels nor the answers."""
    data = samples.hide(np.arange(n_audited, samples.n_samples))
    classes, kind = samples.evidence.classes, family(data)
    log_posterior = np.full((samples.n_samples, len(classes)), np.nan)
    counts = data.evidence.label_counts()
    if (counts[counts > 0] > 1).all():
        folds = labeled_folds(data.evidence, 5, rng)
        found = predictions_of(data, folds, {"": lambda train: fit(kind, train, tolerance=1e-4).model})
        log_posterior[np.concatenate([fold.test for fold in folds])] = found.log_posteriors[0]
    directions = rows_directions(data)
    if np.isfinite(log_posterior).any():
        directions = [*model_directions(log_posterior, data.evidence.codes), *directions]
    answers = Answers(
        np.arange(n_audited), np.zeros(n_audited, dtype=np.int64), ("llm",), Evidence(said[:n_audited], classes)
    )
    return independence_test(Audits.of(answers, data.evidence), directions, rng).answer == "follow x"


@lru_cache(maxsize=1)
def _corpus_posterior(corpus: str) -> FloatArray:
    """What naive Bayes fitted to all labels takes the rows for, no surer than it is right on folds."""
    whole, family = population(corpus), _family_of(corpus)
    folds = labeled_folds(whole.data.evidence, 5, np.random.default_rng(0))
    found = predictions_of(whole.data, folds, {"": lambda train: fit(family, train).model})
    order = np.concatenate([fold.test for fold in folds])
    posterior = np.full((whole.data.n_samples, whole.data.evidence.n_classes), 1 / whole.data.evidence.n_classes)
    temperature = honest_temperature(found.log_posteriors[0], found.codes)
    posterior[order] = np.exp(tempered(found.log_posteriors[0], temperature))
    return posterior


def _family_of(corpus: str) -> Any:
    learner: Any = population(corpus).learner
    return learner.family


def _said_of(rng: np.random.Generator, codes: IntArray, posterior: FloatArray, *, by_x: bool) -> IntArray:
    """A fifth of the answers to every class is wrong: any other class alike, or where and what x looks like."""
    n_classes = posterior.shape[1]
    others = posterior if by_x else np.ones_like(posterior)
    others = np.where(np.arange(n_classes) == codes[:, None], 0.0, others)
    totals = others.sum(axis=1)
    wrong = np.full(len(codes), 0.2)
    if by_x:
        for code in np.unique(codes):
            own = np.flatnonzero(codes == code)
            rate = totals[own]
            for _ in range(200):
                rate = np.minimum(rate * 0.2 / max(rate.mean(), 1e-300), 0.98)
            wrong[own] = rate
    shares = np.divide(others, totals[:, None], out=np.full_like(others, 1 / n_classes), where=totals[:, None] > 0)
    return np.where(rng.random(len(codes)) < wrong, _drawn(rng, shares), codes)


def _drawn(rng: np.random.Generator, probabilities: FloatArray) -> IntArray:
    """A code per row of probabilities."""
    return np.asarray((rng.random((len(probabilities), 1)) > np.cumsum(probabilities, axis=1)[:, :-1]).sum(axis=1))


def _copies(cell: Cell) -> Result:
    alarms, size = 0, cell["n_audited"]
    for run in range(cell["n_runs"]):
        rng = _generator(cell, run)
        codes = rng.integers(3, size=(size,))
        tables = [0.3 * rng.dirichlet(np.ones(3), size=3) + 0.7 * np.eye(3) for _ in range(2)]
        first, second = (_drawn(rng, table[codes]) for table in tables)
        both = np.append(first, np.where(rng.random(size) < cell["copied"], first, second)).astype(np.int64)
        classes = ("a", "b", "c")
        answers = Answers(
            np.tile(np.arange(size), 2),
            np.repeat([0, 1], size),
            ("w0", "w1"),
            Evidence(both, classes),
        )
        alarms += copies_test(Audits.of(answers, Evidence(codes, classes)), rng).answer == "err together"
    return {"alarms": alarms}


def _harm(cell: Cell) -> Result:
    counts = {"helps": 0, "hurts": 0, "cannot be told": 0}
    losses = []
    n_rows, n_gold = VERDICTS[cell["truth"]]
    for run in range(cell["n_runs"]):
        rng = _generator(cell, run)
        samples, said, kind = _verdict_case(cell["truth"], n_rows, rng)
        answers = Answers(
            np.arange(n_rows), np.zeros(n_rows, dtype=np.int64), ("llm",), Evidence(said, samples.evidence.classes)
        )
        data = replace(samples.hide(np.arange(n_gold, n_rows)), answers=answers)
        verdict = answered_predictions(kind(data), data, rng=rng).verdicts()[0]
        counts[verdict.answer] += 1
        losses.append(verdict.log_loss.difference)
    return {**counts, "log_losses": losses}


def _verdict_case(truth: str, n_rows: int, rng: np.random.Generator) -> tuple[Samples, IntArray, Any]:
    if truth == "another question":
        codes = rng.integers(2, size=n_rows)
        vectors = rng.normal(size=(n_rows, 2)) + np.outer(codes, [1.5, 0.0])
        right = np.where(rng.random(n_rows) < LLM[codes, 1 - codes], 1 - codes, codes)
        said = np.where(rng.random(n_rows) < 0.6, (vectors[:, 1] > 0).astype(np.int64), right)
        return Samples(vectors, Evidence(codes, ("a", "b"))), said, GaussianFamily.for_samples
    drawn_from = model()
    samples = drawn_from.sample(n_rows, rng)
    codes = samples.evidence.codes
    if truth == "noise":
        return samples, rng.integers(2, size=n_rows), MultinomialFamily.for_samples
    share = 0.0 if truth == "by class" else 1.0
    return samples, answered(rng, codes, _posterior(drawn_from, samples), share), MultinomialFamily.for_samples


def _limit(cell: Cell) -> Result:
    """What endless answers leave: every document, class and answer counts by its probability."""
    truth = model()
    outcomes = enumerate_outcomes(truth)
    documents, posterior = outcomes.samples.hide(), outcomes.posterior
    counts, joint = documents.counts.toarray(), np.exp(outcomes.log_joint)
    errors = np.empty_like(joint)
    for code in range(2):
        codes = np.full(len(counts), code)
        by_x = wrong_by_x(posterior, codes, joint[:, code])
        errors[:, code] = by_x if cell["truth"] == "by x" else LLM[code, 1 - code]
    # Rows: every document, class and answer; first those with gold, then those without, classes summed over.
    said = np.stack(
        [np.where(np.arange(2) == code, 1 - errors[:, [code]], errors[:, [code]]) for code in range(2)], 1
    )
    whole = joint[:, :, None] * said  # (x, y, z)
    index = np.indices(whole.shape).reshape(3, -1)
    audited = cell["audited"]
    rows = np.concatenate([index[0], np.repeat(np.arange(len(counts)), 2)])
    gold = np.concatenate([index[1], np.full(2 * len(counts), -1)])
    answers = np.concatenate([index[2], np.tile([0, 1], len(counts))])
    weights = _MANY * np.concatenate([audited * whole.ravel(), (1 - audited) * whole.sum(axis=1).ravel()])
    kept = weights > 0
    data = Samples(
        _sparse(counts[rows[kept]]),
        Evidence(gold[kept], truth.classes),
        weights[kept],
        answers=Answers(
            np.arange(kept.sum()),
            np.zeros(kept.sum(), dtype=np.int64),
            ("llm",),
            Evidence(answers[kept], truth.classes),
        ),
    )
    family = MultinomialFamily.for_samples(data, smoothing=1e-3, class_smoothing=1e-3)
    result: Result = {}
    claimed = Channel("llm", [[0.85, 0.15], [0.15, 0.85]])
    for name, channels in (("claimed", [claimed]), ("known", [Channel("llm", LLM)]), ("estimated", [])):
        fitted = fit_answered(family, data, channels=channels, tolerance=1e-12, max_iterations=20_000).model.inner
        result[name] = _excess(truth, fitted, documents, joint)
    taken = replace(data, evidence=Evidence(np.where(gold[kept] >= 0, gold[kept], answers[kept]), truth.classes))
    result["taken for gold"] = _excess(truth, fit(family, replace(taken, answers=None)).model, documents, joint)
    return result


def _excess(truth: MultinomialModel, fitted: Any, documents: Samples, joint: FloatArray) -> list[float]:
    """Of conditional log-loss, and of error."""
    told, known = (condition(one.log_joint(documents), documents.evidence)[0] for one in (fitted, truth))
    loss = float((joint * (np.log(known) - np.log(told))).sum())
    best = joint.max(axis=1) - joint[np.arange(len(joint)), told.argmax(axis=1)]
    return [loss, float(best.sum())]


def _sparse(counts: FloatArray) -> Any:
    return sp.csr_array(counts)


def _posterior(drawn_from: MultinomialModel, samples: Samples) -> FloatArray:
    hidden = samples.hide()
    return condition(drawn_from.log_joint(hidden), hidden.evidence)[0]


def _generator(cell: Cell, run: int) -> np.random.Generator:
    return np.random.default_rng([int(cell["seed"]), int(cell["block"]), run])


_PARTS: Mapping[str, Callable[[Cell], Result]] = {
    "independence": _independence,
    "other setting": _other_setting,
    "corpus": _corpus,
    "copies": _copies,
    "harm": _harm,
    "limit": _limit,
}


def summarize(pairs: Sequence[tuple[Cell, Result]]) -> Outcome:
    """Shares of alarms with standard errors, verdicts, and the limits."""
    tables = [
        _shares(pairs, "independence", "Answers follow x: share of alarms", "truth"),
        _shares(pairs, "other setting", "The same in settings that took no part", "setting", "truth"),
        _shares(pairs, "corpus", "The same on pilots of corpora", "corpus", "truth"),
        _shares(pairs, "copies", "Annotators err together: share of alarms", "copied"),
        _verdicts(pairs),
        _limits(pairs),
    ]
    figures = {"cells": [{**cell, **result} for cell, result in pairs]}
    return Outcome(figures=figures, words=_words(pairs), tables=tuple(table for table in tables if table.rows))


def share_of(pairs: Sequence[tuple[Cell, Result]], **asked: Any) -> tuple[Measured, int]:
    """The share of alarms among all runs of such cells, and how many runs there are."""
    own = [(cell, result) for cell, result in pairs if all(cell.get(name) == value for name, value in asked.items())]
    n_runs = sum(cell["n_runs"] for cell, _ in own)
    share = sum(result["alarms"] for _, result in own) / n_runs
    return Measured(share, float(np.sqrt(share * (1 - share) / n_runs))), n_runs


def _words(pairs: Sequence[tuple[Cell, Result]]) -> tuple[str, ...]:
    size, n_runs = share_of(pairs, part="independence", truth="by class")
    copies, n_copies = share_of(pairs, part="copies", copied=0.0)
    return (
        f"Answers that know x by the class alone: {size.value:.1%} of {n_runs:,} runs are said to follow x "
        f"(standard error {size.standard_error:.1%}; 5 % or less is promised).",
        f"Independent annotators: {copies.value:.1%} of {n_copies:,} runs are said to err together "
        f"(standard error {copies.standard_error:.1%}).",
    )


def _shares(pairs: Sequence[tuple[Cell, Result]], part: str, title: str, *named: str) -> Table:
    kinds = {
        tuple((name, cell[name]) for name in (*named, "n_audited")): None for cell, _ in pairs if cell["part"] == part
    }
    rows = []
    for kind in kinds:
        share, n_runs = share_of(pairs, part=part, **dict(kind))
        rows.append((*(value for _, value in kind), n_runs, share))
    return Table(title, (*named, "audited rows", "runs", "alarms"), tuple(rows))


def _verdicts(pairs: Sequence[tuple[Cell, Result]]) -> Table:
    rows = []
    for truth, (n_rows, n_gold) in VERDICTS.items():
        own = [result for cell, result in pairs if cell["part"] == "harm" and cell["truth"] == truth]
        losses = np.concatenate([result["log_losses"] for result in own]) if own else np.empty(0)
        if losses.size:
            counts = [sum(result[name] for result in own) for name in ("helps", "hurts", "cannot be told")]
            loss = Measured(float(losses.mean()), float(losses.std(ddof=1) / np.sqrt(losses.size)))
            rows.append((truth, n_rows, n_gold, *counts, loss))
    columns = ("errors", "rows answered", "with gold", "helps", "hurts", "cannot be told", "log-loss, with - without")
    return Table("Verdicts on a channel", columns, tuple(rows))


def _limits(pairs: Sequence[tuple[Cell, Result]]) -> Table:
    ways = ("claimed", "known", "estimated", "taken for gold")
    rows = [
        (cell["truth"], cell["audited"], *(f"{result[way][0]:.4f} / {result[way][1]:.4f}" for way in ways))
        for cell, result in pairs
        if cell["part"] == "limit"
    ]
    columns = ("errors", "share audited", "claimed 85 %", "mean confusion known", "estimated", "taken for gold")
    return Table("What endless answers leave: excess nats / excess error", columns, tuple(rows))


def _digest() -> str | None:
    """Which texts the cells on corpora read; the quick grid has none and needs none."""
    try:
        return texts_digest(*(short_texts(corpus) for corpus in CORPORA))
    except DataUnavailableError:
        return None


STUDY = Study(
    name="guards",
    title="Guards of answers: sizes, powers, verdicts on channels, and what wrong channels cost",
    cells=cells,
    compute=compute,
    summarize=summarize,
    corpora=CORPORA,
    quick_reads_corpora=False,
    version=2,
    data_digest=_digest,
)
