"""The grid of the document panels: which corpora, vocabularies, sizes and labeled fractions, and what a cell answers.

The panels of one figure share their cells: error and squared error come from the same fits.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np

from labelworth.progress import Progress
from labelworth_studies.corpora.panel_documents import RESCALED_LENGTH, panel_samples
from labelworth_studies.paper.parts.panel_experiment import experiment, with_drawn_labels
from labelworth_studies.paper.parts.panel_theory import paper_formula, robust_formula
from labelworth_studies.runner.study import Cell, Result

Part = Literal["experiment", "simulation", "formula", "robust"]
N_FOLDS = 5
N_SIMULATED_FOLDS = 2
VERSION = 1


@dataclass(frozen=True)
class Setting:
    """How documents are counted."""

    corpus: str
    n_words: int
    document_length: float | None

    @property
    def title(self) -> str:
        """For people."""
        length = "raw" if self.document_length is None else f"rescaled to {self.document_length:g}"
        return f"{_TITLES[self.corpus]}, {self.n_words} words, {length}"

    @property
    def name(self) -> str:
        """For records."""
        return f"{self.corpus}-{self.n_words}-{'raw' if self.document_length is None else 'rescaled'}"


_TITLES = {"rcv1": "RCV1", "r52": "R52 (8 classes)", "newsgroups": "20 Newsgroups"}


@dataclass(frozen=True)
class Design:
    """The places at which one setting is looked at."""

    setting: Setting
    sizes: list[int]  # n, all documents.
    fractions: list[float]  # Labeled fractions, rising to 1.
    folds: list[int]  # Which of the five folds are tested on; simulations have the first `N_SIMULATED_FOLDS` of them.
    # How many documents the paper's formula is computed from: so many, and twice as many.
    n_documents: list[int] = field(default_factory=lambda: [20_000, 40_000])


def spaced(low: int, high: int, count: int) -> list[int]:
    """Sizes evenly spaced in logarithms."""
    return [round(value) for value in np.geomspace(low, high, count).tolist()]


def spaced_fractions(low: float, count: int) -> list[float]:
    """Fractions evenly spaced in logarithms, up to 1."""
    return [round(value, 4) for value in np.geomspace(low, 1.0, count).tolist()]


def reuters_designs(quick: bool) -> list[Design]:
    """Both Reuters corpora with 500 and 2000 words, raw and rescaled; the quick grid has RCV1 with 500 words."""
    if quick:
        return [
            Design(Setting("rcv1", 500, length), spaced(200, 1500, 3), spaced_fractions(0.05, 4), [0, 1], [10_000])
            for length in (None, RESCALED_LENGTH)
        ]
    return [
        Design(Setting(corpus, n_words, length), spaced(200, largest, 5), spaced_fractions(0.05, 6), folds)
        for corpus, largest, folds in (("rcv1", 1500, [0, 1, 2, 3, 4]), ("r52", 4000, [0, 1, 2]))
        for n_words in (500, 2000)
        for length in (None, RESCALED_LENGTH)
    ]


def newsgroups_designs(quick: bool) -> list[Design]:
    """20 Newsgroups with 2000 words, rescaled; the quick grid has 500 words."""
    if quick:
        setting = Setting("newsgroups", 500, RESCALED_LENGTH)
        return [Design(setting, spaced(500, 4000, 3), spaced_fractions(0.05, 4), [0], [10_000])]
    setting = Setting("newsgroups", 2000, RESCALED_LENGTH)
    return [Design(setting, spaced(500, 8000, 5), spaced_fractions(0.05, 6), [0, 1, 2], [25_000])]


def cells_of(designs: Iterable[Design], parts: Sequence[Part], seed: int) -> list[dict[str, Any]]:
    """Every part of every design; a cell answers for all fractions at once."""
    return [cell for design in designs for part in parts for cell in _cells(design, part, seed)]


def _cells(design: Design, part: Part, seed: int) -> list[dict[str, Any]]:
    shared = {"part": part, **asdict(design.setting), "fractions": design.fractions, "seed": seed}
    if part == "formula":
        return [{**shared, "n_documents": n_documents} for n_documents in design.n_documents]
    if part == "robust":
        return [{**shared, "n_samples": size} for size in design.sizes]
    folds = design.folds[:N_SIMULATED_FOLDS] if part == "simulation" else design.folds
    return [{**shared, "n_samples": size, "fold": fold} for size in design.sizes for fold in folds]


def setting_of(cell: Cell) -> Setting:
    """Which setting a cell belongs to."""
    return Setting(cell["corpus"], cell["n_words"], cell["document_length"])


def compute(cell: Cell) -> Result:
    """One cell."""
    samples = panel_samples(cell["corpus"], cell["n_words"], cell["document_length"])
    fractions, seed = cell["fractions"], cell["seed"]
    if cell["part"] == "formula":
        n_documents = cell["n_documents"]
        return paper_formula(samples, fractions, cell["document_length"], n_documents=n_documents, seed=seed)
    if cell["part"] == "robust":
        return robust_formula(samples, fractions, n_samples=cell["n_samples"], seed=seed)
    if cell["part"] == "simulation":
        samples = with_drawn_labels(samples, seed)
    return experiment(samples, fractions, cell["n_samples"], n_folds=N_FOLDS, fold=cell["fold"], seed=seed)


def say_reuters(progress: Progress) -> None:
    """Say what comes first, and fail at once where a corpus is missing."""
    progress.say("Reading and counting the Reuters stories, once per process.")
    panel_samples("rcv1", 500, None)
