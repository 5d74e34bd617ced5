"""Settings for CoNLL-2000, chosen on the training sentences alone: fit to the first four fifths, test on the last."""

from collections.abc import Sequence
from typing import Any

from labelworth.progress import Progress
from labelworth.report.values import Outcome, Table
from labelworth_studies.chains.parts.chunking_fit import Settings, cell_of, compute
from labelworth_studies.corpora.chunking_data import conll2000_digest, divided_tokens
from labelworth_studies.runner.study import Cell, Result, Study

CRF_CHOICES = (
    *(Settings("crf", c2, 1, "rich", "observed") for c2 in (0.25, 0.5, 1.0, 2.0)),
    Settings("crf", 1.0, 1, "tutorial", "observed"),
    Settings("crf", 0.5, 3, "marked", "all"),
)
HIDDEN_MARKOV_CHOICES = tuple(
    Settings("hidden-markov", smoothing, min_count) for smoothing in (0.01, 0.1, 1.0) for min_count in (2, 5)
)
BOLTZMANN_CHOICES = tuple(
    Settings("boltzmann-chain", penalty, min_count) for penalty in (0.01, 0.1, 1.0) for min_count in (2, 5)
)
CHOICES = {"crf": CRF_CHOICES, "hidden-markov": HIDDEN_MARKOV_CHOICES, "boltzmann-chain": BOLTZMANN_CHOICES}


def cells(quick: bool, seed: int) -> list[dict[str, Any]]:
    """Every choice; the quick grid leaves out the CRF, half of the vocabularies and the weakest penalty.

    Nothing is drawn, so the seed plays no part.
    """
    chosen = [settings for choices in CHOICES.values() for settings in choices]
    if quick:
        chosen = [*HIDDEN_MARKOV_CHOICES[1::2], *BOLTZMANN_CHOICES[3::2]]
    return [cell_of("later", settings) for settings in chosen]


def summarize(pairs: Sequence[tuple[Cell, Result]]) -> Outcome:
    """Rank the choices of every model by F1."""
    ranked: dict[str, list[dict[str, Any]]] = {}
    for cell, result in pairs:
        ranked.setdefault(cell["settings"]["kind"], []).append({"settings": cell["settings"], **result})
    for rows in ranked.values():
        rows.sort(key=lambda row: -row["f1"])
    winners = {kind: rows[0] for kind, rows in ranked.items()}
    return Outcome(
        figures={"chosen": winners, **ranked},
        words=tuple(
            f"Chosen: {Settings(**row['settings']).in_words}, strength of the prior {row['settings']['strength']:g}."
            for row in winners.values()
        ),
        tables=(_table([row for rows in ranked.values() for row in rows]),),
    )


def _table(rows: Sequence[dict[str, Any]]) -> Table:
    return Table(
        "CoNLL-2000: the last fifth of the training sentences",
        ("model", "strength", "parameters", "F1", "accuracy", "log-perplexity of labels per token"),
        tuple(
            (
                Settings(**row["settings"]).in_words,
                row["settings"]["strength"],
                row["n_parameters"],
                100 * row["f1"],
                row["accuracy"],
                row["conditional_log_perplexity"],
            )
            for row in rows
        ),
        note="Rare words share an entry by what they look like. The test set is not read.",
    )


def prepare(progress: Progress) -> None:
    """Say what comes first, and fail at once where the corpus is missing."""
    progress.say("Reading 8 936 sentences, once per process. A CRF takes a minute or more to fit.")
    divided_tokens("later")


STUDY = Study(
    name="chunking-tuning",
    title="CoNLL-2000: settings chosen on the training sentences alone",
    cells=cells,
    compute=compute,
    summarize=summarize,
    corpora=("conll2000",),
    data_digest=conll2000_digest,
    prepare=prepare,
)
