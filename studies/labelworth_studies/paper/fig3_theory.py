"""The paper's theory panel, exactly: two word distributions, and the error over (samples, labeled fraction).

Two multinomials over V words are drawn from a symmetric Dirichlet with concentration 5 by one generator with the
given seed, the first class first: ``default_rng(seed).dirichlet(full(V, 5), size=2)``. The class probabilities are .2
and .8.

Paper: fig:lorem3.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.data.lengths import LengthDistribution
from labelworth.fisher.documents.two_class_formula import two_class_information
from labelworth.fisher.information import over_fractions
from labelworth.models.classes.multinomial import MultinomialModel
from labelworth.report.values import Outcome, Picture, SurfacePanel, Table
from labelworth_studies.runner.study import Cell, Result, Study

CONCENTRATION = 5.0
CLASS_PROBABILITIES = (0.2, 0.8)
DOCUMENT_LENGTHS = (5, 20, 100)
VOCABULARIES = (1_000, 50_000)
QUICK_VOCABULARIES = (1_000,)
N_GRID = 50
SAMPLES_RANGE = (100.0, 100_000.0)
FRACTIONS_RANGE = (0.01, 1.0)
_SIZES_BETWEEN = 7


@dataclass(frozen=True, eq=False)
class TheoryPanel:
    """Errors over a grid of sample sizes and labeled fractions."""

    n_samples: FloatArray  # (n_sizes,)
    fractions: FloatArray  # (n_fractions,)
    # (n_fractions, n_sizes): Expected squared error of all probabilities, and nats per document beyond the true
    # model's log-loss.
    total_variance: FloatArray
    excess_log_loss: FloatArray

    @property
    def log_trace(self) -> FloatArray:
        """The logarithm of the total variance, which the paper's panel shows."""
        return np.log(self.total_variance)


def drawn_model(n_words: int, document_length: int, seed: int) -> MultinomialModel:
    """The two classes; see the head of this module for how they are drawn."""
    words = np.random.default_rng(seed).dirichlet(np.full(n_words, CONCENTRATION), size=2)
    lengths = LengthDistribution.single(document_length)
    return MultinomialModel(("first", "second"), np.array(CLASS_PROBABILITIES), words, lengths)


def theory_panel(model: MultinomialModel, n_samples: FloatArray, fractions: FloatArray) -> TheoryPanel:
    """Evaluate the theory on a grid: one decomposition, one solve per fraction, and 1/n along the samples."""
    curve = two_class_information(model)
    variance = over_fractions(curve, "total_variance", fractions).values
    log_loss = over_fractions(curve, "excess_log_loss", fractions).values
    return TheoryPanel(n_samples, fractions, variance[:, None] / n_samples, log_loss[:, None] / n_samples)


def grid() -> tuple[FloatArray, FloatArray]:
    """50 sample sizes and 50 labeled fractions, evenly spaced in logarithms."""
    return np.geomspace(*SAMPLES_RANGE, N_GRID), np.geomspace(*FRACTIONS_RANGE, N_GRID)


def cells(quick: bool, seed: int) -> list[dict[str, Any]]:
    """Every vocabulary with every document length; the quick grid leaves the large vocabulary out."""
    return [
        {"n_words": n_words, "document_length": length, "seed": seed}
        for n_words in (QUICK_VOCABULARIES if quick else VOCABULARIES)
        for length in DOCUMENT_LENGTHS
    ]


def compute(cell: Cell) -> Result:
    """One panel; all sizes follow from the first, so only that column is kept."""
    n_samples, fractions = grid()
    model = drawn_model(cell["n_words"], cell["document_length"], cell["seed"])
    panel = theory_panel(model, n_samples[:1], fractions)
    return {
        "total_variance": (panel.total_variance[:, 0] * n_samples[0]).tolist(),
        "excess_log_loss": (panel.excess_log_loss[:, 0] * n_samples[0]).tolist(),
    }


def panel_of(result: Mapping[str, Any]) -> TheoryPanel:
    """The whole grid again."""
    n_samples, fractions = grid()
    variance, log_loss = (np.array(result[name])[:, None] for name in ("total_variance", "excess_log_loss"))
    return TheoryPanel(n_samples, fractions, variance / n_samples, log_loss / n_samples)


def summarize(pairs: Sequence[tuple[Cell, Result]]) -> Outcome:
    """A surface per vocabulary and length, and how much the first label in a hundred is worth."""
    figures = [
        {**cell, "fractions": grid()[1].tolist(), "n_samples": grid()[0].tolist(), "per_sample": result}
        for cell, result in pairs
    ]
    return Outcome(
        figures={"panels": figures},
        words=_words(pairs),
        tables=(_table(pairs),),
        pictures={
            "total-variance": _picture(pairs, "total variance of the probabilities", "total_variance"),
            "excess-log-loss": _picture(pairs, "excess log-loss, nats per document", "excess_log_loss"),
        },
        grid=_grid(pairs),
    )


def _grid(pairs: Sequence[tuple[Cell, Result]]) -> Table:
    """A row per point, with every seventh size: all figures fall as 1/n."""
    rows = []
    for cell, result in pairs:
        panel = panel_of(result)
        for row, fraction in enumerate(panel.fractions.tolist()):
            for column in range(0, len(panel.n_samples), _SIZES_BETWEEN):
                figures = (panel.total_variance, panel.log_trace, panel.excess_log_loss)
                at = (cell["n_words"], cell["document_length"], float(panel.n_samples[column]), fraction)
                rows.append((*at, *(float(values[row, column]) for values in figures)))
    return Table(
        "theory",
        (
            "n_words",
            "document_length",
            "n_samples",
            "fraction",
            "total_variance",
            "log_total_variance",
            "excess_log_loss",
        ),
        tuple(rows),
    )


def _words(pairs: Sequence[tuple[Cell, Result]]) -> tuple[str, ...]:
    ratios = {(cell["n_words"], cell["document_length"]): _ratio(result["total_variance"]) for cell, result in pairs}
    shortest, longest = min(ratios, key=lambda key: key[1]), max(ratios, key=lambda key: key[1])
    return (
        f"With documents of {shortest[1]} words, labeling one document in a hundred instead of all of them costs a "
        f"factor of {ratios[shortest]:.3g} in total variance; with {longest[1]} words, {ratios[longest]:.4g}: long "
        "documents tell their class themselves.",
    )


def _table(pairs: Sequence[tuple[Cell, Result]]) -> Table:
    return Table(
        "Error with 1 % labeled over error with all labeled",
        ("words", "document length", "total variance", "excess log-loss"),
        tuple(
            (
                cell["n_words"],
                cell["document_length"],
                _ratio(result["total_variance"]),
                _ratio(result["excess_log_loss"]),
            )
            for cell, result in pairs
        ),
        note="Exact: closed form for complete labels, contour integrals for the missing ones.",
    )


def _ratio(per_sample: Sequence[float]) -> float:
    return per_sample[0] / per_sample[-1]


def _picture(pairs: Sequence[tuple[Cell, Result]], label: str, name: str) -> Picture:
    panels = []
    # A row per length of documents, a column per vocabulary.
    for cell, result in sorted(pairs, key=lambda pair: (pair[0]["document_length"], pair[0]["n_words"])):
        panel = panel_of(result)
        panels.append(
            SurfacePanel(
                f"{cell['n_words']:,} words, documents of {cell['document_length']}",
                "samples",
                "labeled fraction",
                label,
                panel.n_samples,
                panel.fractions,
                getattr(panel, name),
            )
        )
    return Picture("Theory: two multinomials drawn from Dirichlet(5), prior (.2, .8)", tuple(panels), n_columns=2)


STUDY = Study(
    name="fig3-theory",
    title="Theory: two multinomials, exactly, over samples and labeled fraction",
    cells=cells,
    compute=compute,
    summarize=summarize,
)
