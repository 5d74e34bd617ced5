"""20 Newsgroups with its whole vocabulary: what more labels would buy a fitted model, without forming a matrix.

Posts of the training set, headers stripped, are cut into runs of letters in lower case; English stop words and words
that occur in one post only are left out, which leaves 44 347 words. Counts are not weighted or rescaled, and posts
without words are left out. A multinomial naive Bayes is fitted by EM to a fixed point, with the labels of a few posts
per class; the observed information there tells every labeled fraction from the fitted one up. A cut with the most
frequent words is small enough for dense matrices, against which the probes are checked.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.data.counts import document_lengths
from labelworth.data.samples import Samples
from labelworth.estimation.fit import settled
from labelworth.fisher.criteria import Weight
from labelworth.fisher.documents.observed import observed_information
from labelworth.fisher.documents.probed import ProbedInformation
from labelworth.fisher.documents.probing import matrix_free_information
from labelworth.fisher.information import Information, over_fractions
from labelworth.models.classes.multinomial import MultinomialFamily, MultinomialModel
from labelworth.progress import SILENT, Progress
from labelworth.report.values import Curve, CurvesPanel, Measured, Outcome, Picture, Table
from labelworth_studies.corpora.newsgroups_documents import counted_documents, newsgroups_digest
from labelworth_studies.corpora.pilots import draw_labeled
from labelworth_studies.runner.study import Cell, Result, Study

N_FRACTIONS = 50


@dataclass(frozen=True)
class RiskSettings:
    """What a risk curve is computed for."""

    n_words: int | None  # How many of the most frequent words are kept; None: all.
    labels_per_class: int
    smoothing: float  # What the prior adds to every expected word count.
    n_probes: int  # For the log-loss, and for the total variance.
    n_named_probes: int
    with_dense: bool  # Whether to form the matrices too; for a few thousand parameters at most.


FULL = RiskSettings(None, labels_per_class=50, smoothing=0.1, n_probes=40, n_named_probes=8, with_dense=False)
CUT = RiskSettings(100, labels_per_class=50, smoothing=0.1, n_probes=40, n_named_probes=40, with_dense=True)
QUICK = RiskSettings(1000, labels_per_class=50, smoothing=0.1, n_probes=10, n_named_probes=4, with_dense=False)


@dataclass(frozen=True, eq=False)
class FittedPilot:
    """A fit to a few labels and many unlabeled posts, at its fixed point."""

    model: MultinomialModel
    family: MultinomialFamily
    samples: Samples
    n_iterations: int


def fit_pilot(samples: Samples, settings: RiskSettings, seed: int) -> FittedPilot:
    """Cut the vocabulary, draw the labels, hide the others, and fit until EM stands still.

    Parameters
    ----------
    samples : Samples
        Fully labeled documents.
    """
    counts = samples.counts
    if settings.n_words is not None:
        # Ties go to the word that comes first, so that the cut does not depend on how sorting is done.
        frequent = np.argsort(-np.asarray(counts.sum(axis=0)), kind="stable")[: settings.n_words]
        samples = Samples(counts[:, np.sort(frequent)], samples.evidence)
    samples = samples.take(np.flatnonzero(document_lengths(samples.counts) > 0))
    kept = draw_labeled(samples.evidence, rng=np.random.default_rng(seed), per_class=settings.labels_per_class)
    pilot = samples.hide(~kept)
    family = MultinomialFamily.for_samples(pilot, smoothing=settings.smoothing)
    fitted = settled(family, pilot)
    return FittedPilot(fitted.model, family, pilot, fitted.n_iterations)


def fractions_from(lowest: float) -> FloatArray:
    """50 labeled fractions from the fitted one to all, evenly spaced in logarithms."""
    fractions = np.geomspace(lowest, 1.0, N_FRACTIONS)
    fractions[0] = lowest
    return fractions


def risk_curve(
    pilot: FittedPilot, settings: RiskSettings, seed: int, progress: Progress = SILENT
) -> ProbedInformation:
    """The matrix-free information at the fit, from one set of probes."""
    rng = np.random.default_rng([seed, settings.n_probes])
    return matrix_free_information(
        pilot.model,
        pilot.family,
        pilot.samples,
        rng,
        n_probes=settings.n_probes,
        n_named_probes=settings.n_named_probes,
        progress=progress,
    )


def cells(quick: bool, seed: int) -> list[dict[str, Any]]:
    """The whole vocabulary and the cut; the quick grid has a thousand words instead of all."""
    return [{"settings": asdict(settings), "seed": seed} for settings in ((QUICK, CUT) if quick else (FULL, CUT))]


def compute(cell: Cell) -> Result:
    """Fit, and evaluate every fraction; with the dense answer beside it for the cut."""
    settings = RiskSettings(**cell["settings"])
    pilot = fit_pilot(counted_documents("test").train, settings, cell["seed"])
    curve = risk_curve(pilot, settings, cell["seed"])
    fractions = fractions_from(curve.lowest_fraction)
    result: Result = {
        "n_parameters": curve.n_parameters,
        "n_samples": pilot.samples.n_samples,
        "n_iterations": pilot.n_iterations,
        "convergence_rate": curve.convergence_rate,
        "residual": curve.residual,
        "n_steps": curve.n_steps,
        "fractions": fractions.tolist(),
        "matrix_free": _figures(curve, pilot.samples.n_samples, fractions),
        "quadrature_width": _widest_bounds(curve, fractions),
    }
    if settings.with_dense:
        dense = observed_information(pilot.model, pilot.samples, pilot.family.prior_curvature(pilot.model))
        exact_fractions = np.maximum(fractions, dense.lowest_fraction)
        result["dense"] = _figures(dense, pilot.samples.n_samples, exact_fractions)
    return result


def _figures(curve: Information, n_samples: int, fractions: FloatArray) -> dict[str, list[float]]:
    figures = {}
    for name in ("excess_log_loss", "total_variance"):
        estimate = over_fractions(curve, name, fractions, n_samples=n_samples)
        figures[name] = estimate.values.tolist()
        if estimate.standard_errors is not None:
            figures[f"{name}_se"] = estimate.standard_errors.tolist()
    return figures


def _widest_bounds(curve: ProbedInformation, fractions: FloatArray) -> float:
    """The quadrature's own uncertainty, relative, where it is largest."""
    widths = []
    for weight in (Weight.MISSING, Weight.NAMED):
        low, high = curve.trace_bounds(weight, fractions)
        widths.append(float(np.max((high - low) / low)))
    return max(widths)


def largest_relative_error(result: Result, name: str) -> float:
    """The largest standard error of a figure over the fractions, relative to the figure."""
    figures = result["matrix_free"]
    return float(np.max(np.array(figures[f"{name}_se"]) / np.array(figures[name])))


def largest_deviation(result: Result, name: str) -> float:
    """How far the probes are from the dense answer at most, in their standard errors; where these are zero, 0."""
    probed, exact = np.array(result["matrix_free"][name]), np.array(result["dense"][name])
    errors = np.array(result["matrix_free"][f"{name}_se"])
    return float(np.max(np.abs(probed - exact)[errors > 0] / errors[errors > 0], initial=0.0))


def summarize(pairs: Sequence[tuple[Cell, Result]]) -> Outcome:
    """The curves, how certain they are, and whether probes and matrices agree on the cut."""
    return Outcome(
        figures={"curves": [{**cell, **result} for cell, result in pairs]},
        words=tuple(_sentence(result) for _, result in pairs),
        tables=(_table(pairs),),
        pictures={"": _picture(pairs)},
    )


def _sentence(result: Result) -> str:
    losses = result["matrix_free"]["excess_log_loss"]
    text = (
        f"{result['n_parameters']:,} parameters: with all {result['n_samples']:,} posts labeled instead of "
        f"{result['fractions'][0]:.1%}, the excess log-loss falls from {losses[0]:.4g} to {losses[-1]:.4g} nats per "
        f"post. Largest relative standard error {largest_relative_error(result, 'excess_log_loss'):.2%}; the "
        f"quadrature adds {result['quadrature_width']:.1e}; one more EM step would change no probability by more "
        f"than {result['residual']:.1e} of itself."
    )
    if "dense" in result:
        text += (
            f" Probes and dense matrices differ by at most {largest_deviation(result, 'excess_log_loss'):.2f} "
            f"standard errors in the log-loss and {largest_deviation(result, 'total_variance'):.2f} in the total "
            "variance."
        )
    return text


def _table(pairs: Sequence[tuple[Cell, Result]]) -> Table:
    rows = []
    for _, result in pairs:
        figures = result["matrix_free"]
        for index in (0, len(result["fractions"]) // 2, -1):
            rows.append(
                (
                    result["n_parameters"],
                    result["fractions"][index],
                    Measured(figures["excess_log_loss"][index], figures["excess_log_loss_se"][index]),
                    Measured(figures["total_variance"][index], figures["total_variance_se"][index]),
                    result["dense"]["excess_log_loss"][index] if "dense" in result else "",
                )
            )
    return Table(
        "Observed information at the fit",
        ("parameters", "labeled fraction", "excess log-loss", "total variance", "dense excess log-loss"),
        tuple(rows),
        note="Matrix-free, with standard errors over the probes.",
    )


def _picture(pairs: Sequence[tuple[Cell, Result]]) -> Picture:
    panels = []
    for _, result in pairs:
        x, figures = np.array(result["fractions"]), result["matrix_free"]
        y, margin = np.array(figures["excess_log_loss"]), 2 * np.array(figures["excess_log_loss_se"])
        curves = [Curve("probes, two standard errors", x, y, y - margin, y + margin)]
        if "dense" in result:
            curves.append(Curve("dense matrices", x, np.array(result["dense"]["excess_log_loss"]), style="dashed"))
        panels.append(
            CurvesPanel(
                f"{result['n_parameters']:,} parameters",
                "labeled fraction",
                "excess log-loss, nats per post",
                tuple(curves),
                x_scale="log",
                y_scale="log",
            )
        )
    return Picture("20 Newsgroups: what more labels would buy", tuple(panels))


def prepare(progress: Progress) -> None:
    """Say what comes first, and fail at once where the corpus is missing."""
    progress.say("Reading and counting the newsgroup posts, once per process.")
    counted_documents("test")


STUDY = Study(
    name="risk-curve",
    title="20 Newsgroups, whole vocabulary: excess log-loss at 50 labeled fractions, matrix-free",
    cells=cells,
    compute=compute,
    summarize=summarize,
    corpora=("newsgroups",),
    data_digest=newsgroups_digest,
    prepare=prepare,
)
