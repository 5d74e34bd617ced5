"""What the formulas say of the document panels: the paper's at the model fitted on everything, and the robust one."""

from dataclasses import dataclass

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.data.lengths import LengthDistribution
from labelworth.data.samples import Samples
from labelworth.estimation.fit import fit, settled
from labelworth.fisher.criteria import Estimate
from labelworth.fisher.documents.observed_counts import ObservedCounts
from labelworth.fisher.documents.probed import ProbedInformation
from labelworth.fisher.documents.probing import matrix_free_information
from labelworth.fisher.information import over_fractions
from labelworth.models.classes.multinomial import MultinomialFamily, MultinomialModel
from labelworth_studies.corpora.panel_documents import add_one
from labelworth_studies.corpora.pilots import draw_labeled
from labelworth_studies.robust.drawn_risk import drawn_risk
from labelworth_studies.runner.study import Result

_LITTLE_SMOOTHING = 0.1
N_PROBES = 8
N_NAMED_PROBES = 8
N_RANDOM_ESTIMATES = 8


@dataclass(frozen=True)
class FormulaFigures:
    """The paper's formula for one sample, per labeled fraction; for n samples the figures are n times smaller."""

    n_parameters: int
    convergence_rate: float
    total_variance: Estimate
    excess_log_loss: Estimate


def formula_figures(
    model: MultinomialModel, fractions: FloatArray, n_documents: int, rng: np.random.Generator
) -> FormulaFigures:
    r"""The information of a model about itself, for many words and classes.

    With all labels both figures are known at the model: the total variance in closed form, the log-loss as a mean
    over documents drawn from it. What fewer labels cost is told by the ratio of the figures at f and at 1, at a
    maximum close by: all but the lowest fraction of the drawn labels are hidden, EM runs from the model to its fixed
    point, and there stands the observed information, which is positive definite for certain, unlike an average over
    draws at the model itself.

    Parameters
    ----------
    fractions : array of shape (n_fractions,)
        Labeled fractions, 1 among them or not.
    n_documents : int
        How many are drawn; figures should not change when there are twice as many.

    Notes
    -----
    Paper: prop:efficiency1.
    """
    drawn = model.sample(n_documents, rng)
    kept = draw_labeled(drawn.evidence, rng=rng, fraction=float(fractions.min()))
    samples = drawn.hide(~kept)
    family = MultinomialFamily.for_samples(samples, smoothing=_LITTLE_SMOOTHING, class_smoothing=1.0)
    fitted = settled(family, samples, start=model)
    curve = matrix_free_information(
        fitted.model, family, samples, rng, n_probes=N_PROBES, n_named_probes=N_NAMED_PROBES
    )
    known_fractions = np.maximum(fractions, curve.lowest_fraction)
    return FormulaFigures(
        curve.n_parameters,
        curve.convergence_rate,
        _anchored("total_variance", curve, known_fractions, complete_variance(model)),
        _anchored("excess_log_loss", curve, known_fractions, _complete_log_loss(model, drawn)),
    )


def complete_variance(model: MultinomialModel) -> float:
    r"""The total variance of one labeled sample.

    .. math:: \sum_k \pi_k (1-\pi_k) + \sum_{kw} \theta_{kw} (1-\theta_{kw}) / (\pi_k m)
    """
    classes, words = model.class_probabilities, model.word_probabilities
    by_class = (words * (1 - words)).sum(axis=1) / (classes * model.lengths.mean)
    return float((classes * (1 - classes)).sum() + by_class.sum())


def _complete_log_loss(model: MultinomialModel, drawn: Samples) -> float:
    """Half the trace of missing times inverse complete information, averaged over documents of the model."""
    family = MultinomialFamily.for_samples(drawn, smoothing=0.0, class_smoothing=0.0)
    observed = ObservedCounts.at(model, family, drawn.hide())
    return observed.missing_traces[0] / 2


def _anchored(criterion: str, curve: ProbedInformation, fractions: FloatArray, complete: float) -> Estimate:
    """A criterion for one sample, scaled to what it is known to be when everything is labeled."""
    estimate, whole = (over_fractions(curve, criterion, at) for at in (fractions, np.ones(1)))
    errors = np.zeros(len(fractions)) if estimate.standard_errors is None else estimate.standard_errors
    return Estimate(complete / whole.values * estimate.values, complete / whole.values * errors)


def whole_model(samples: Samples, document_length: float | None) -> MultinomialModel:
    """The model fitted on all documents and labels, with documents as long as they are, or all of one length."""
    model = fit(add_one(samples), samples).model
    if document_length is None:
        return model
    return MultinomialModel(
        model.classes,
        model.class_probabilities,
        model.word_probabilities,
        LengthDistribution.single(round(document_length)),
        model.feature_names,
    )


def paper_formula(
    samples: Samples, fractions: list[float], document_length: float | None, *, n_documents: int, seed: int
) -> Result:
    """Total variance and excess log-loss for one sample, at every fraction."""
    model, rng = whole_model(samples, document_length), np.random.default_rng([seed, n_documents])
    figures = formula_figures(model, np.array(fractions), n_documents, rng)
    answer: Result = {"n_parameters": figures.n_parameters, "convergence_rate": figures.convergence_rate}
    for name, estimate in (("total_variance", figures.total_variance), ("excess_log_loss", figures.excess_log_loss)):
        answer[name], answer[f"{name}_se"] = estimate.values.tolist(), np.asarray(estimate.standard_errors).tolist()
    return answer


def robust_formula(samples: Samples, fractions: list[float], *, n_samples: int, seed: int) -> Result:
    """Bias, variance and classification error of the estimate from n documents, at every fraction."""
    family = add_one(samples)
    target = fit(family, samples).model
    risks = drawn_risk(
        family,
        samples,
        fractions,
        target,
        np.random.default_rng(seed),
        n_samples=n_samples,
        n_draws=N_RANDOM_ESTIMATES,
    )
    return {
        "bias_squared": [risk.bias_squared for risk in risks],
        "mse": [risk.mse for risk in risks],
        "mse_se": [risk.mse_se for risk in risks],
        "error": [risk.error for risk in risks],
        "error_se": [risk.error_se for risk in risks],
    }
