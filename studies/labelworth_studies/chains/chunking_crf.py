"""CoNLL-2000 chunking: the CRF with the tutorial template and with a richer one, beside HMM and Boltzmann chain."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from labelworth.progress import Progress
from labelworth.report.values import BarsPanel, Curve, Measured, Outcome, Picture, Table
from labelworth_studies.chains.parts.chunking_fit import Settings, cell_of, compute
from labelworth_studies.corpora.chunking_data import conll2000_digest, divided_tokens
from labelworth_studies.runner.study import Cell, Result, Study

TUTORIAL = Settings("crf", 1.0, 1, "tutorial", "observed")
"""The template, the weights and the penalty of CRFsuite's tutorial."""

# Chosen by `labelworth reproduce chunking-tuning`, which never reads the test sentences.
RICH = Settings("crf", 0.5, 1, "rich", "observed")
HIDDEN_MARKOV = Settings("hidden-markov", 0.1, 2)
BOLTZMANN_CHAIN = Settings("boltzmann-chain", 0.1, 2)

PUBLISHED_F1 = {"python-crfsuite, tutorial template": 93.6, "CRF++, all pairs of attributes in 3 tokens": 93.74}
_NAMES = {TUTORIAL: "CRF, tutorial", RICH: "CRF, richer", HIDDEN_MARKOV: "HMM", BOLTZMANN_CHAIN: "Boltzmann chain"}


def cells(quick: bool, seed: int) -> list[dict[str, Any]]:
    """One cell per model; the quick grid leaves out the richer template. Nothing is drawn: no seed."""
    chosen = (TUTORIAL, HIDDEN_MARKOV, BOLTZMANN_CHAIN) if quick else tuple(_NAMES)
    return [cell_of("test", settings) for settings in chosen]


def summarize(pairs: Sequence[tuple[Cell, Result]]) -> Outcome:
    """F1 as conlleval counts, beside the published ones."""
    rows = [(Settings(**cell["settings"]), result) for cell, result in pairs]
    return Outcome(
        figures={
            "models": [{"settings": cell["settings"], **result} for cell, result in pairs],
            "published_f1": PUBLISHED_F1,
        },
        words=_words(rows),
        tables=(_table(rows),),
        pictures={"": _picture(rows)},
    )


def _words(rows: Sequence[tuple[Settings, Result]]) -> tuple[str, ...]:
    published = ", ".join(f"{name} {f1:g}" for name, f1 in PUBLISHED_F1.items())
    sentences = [
        f"{_NAMES[settings]}: F1 {100 * result['f1']:.2f} on the test sentences, {result['n_parameters']} weights, "
        f"{result['n_evaluations']} passes."
        for settings, result in rows
    ]
    unfinished = [_NAMES[settings] for settings, result in rows if not result["converged"]]
    if unfinished:
        sentences.append(f"Stopped before it converged: {', '.join(unfinished)}.")
    return (" ".join(sentences), f"Published F1: {published}.")


def _table(rows: Sequence[tuple[Settings, Result]]) -> Table:
    return Table(
        "CoNLL-2000 test sentences",
        ("model", "strength", "weights", "precision", "recall", "F1", "token accuracy", "-log p(y | x) per token"),
        tuple(
            (
                settings.in_words,
                settings.strength,
                result["n_parameters"],
                100 * result["precision"],
                100 * result["recall"],
                100 * result["f1"],
                result["accuracy"],
                Measured(result["conditional_log_perplexity"], result["conditional_log_perplexity_se"]),
            )
            for settings, result in rows
        ),
        note="Chunks as conlleval counts them. Words below the count share an entry by what they look like; the two "
        "generative models see words alone, the CRFs parts of speech too. Two test tokens have a label that no "
        "training sentence has; they are wrong for every model, and their sentence is left out of the last column.",
    )


def _picture(rows: Sequence[tuple[Settings, Result]]) -> Picture:
    names = tuple(_NAMES[settings] for settings, _ in rows)
    positions = np.arange(len(rows), dtype=np.float64)
    missing = np.array([100 * (1 - result["f1"]) for _, result in rows])
    loss = np.array([result["conditional_log_perplexity"] for _, result in rows])
    margin = 2 * np.array([result["conditional_log_perplexity_se"] for _, result in rows])
    return Picture(
        "CoNLL-2000 chunking, test sentences",
        (
            BarsPanel("chunks missed or made up", "100 - F1", names, (Curve("100 - F1", positions, missing),)),
            BarsPanel(
                "surprise at the labels, two standard errors",
                "-log p(y | x) per token, nats",
                names,
                (Curve("log-perplexity", positions, loss, loss - margin, loss + margin),),
            ),
        ),
    )


def prepare(progress: Progress) -> None:
    """Say what comes first, and fail at once where the corpus is missing."""
    progress.say("Reading 10 948 sentences, once per process. A CRF takes a minute or more to fit.")
    divided_tokens("test")


STUDY = Study(
    name="chunking-crf",
    title="CoNLL-2000: CRF with two templates, HMM and Boltzmann chain",
    cells=cells,
    compute=compute,
    summarize=summarize,
    corpora=("conll2000",),
    data_digest=conll2000_digest,
    prepare=prepare,
)
