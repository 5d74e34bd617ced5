"""What the formulas say of documents: from matrices at any parameters, or from random probes at the fit alone."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np
from scipy.special import logsumexp

from labelworth.arrays import FloatArray
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError, NotIdentifiableError
from labelworth.estimation.fit import Fit, fit, settled
from labelworth.estimators.pools.documents import DocumentPool
from labelworth.fisher.criteria import CRITERIA
from labelworth.fisher.dense import DenseInformation
from labelworth.fisher.documents.observed import observed_information
from labelworth.fisher.documents.population import DocumentPopulation, enumerated_information, summed_moments
from labelworth.fisher.documents.probing import matrix_free_information
from labelworth.fisher.documents.two_class_formula import two_class_information
from labelworth.models.classes.multinomial import MultinomialFamily, MultinomialModel
from labelworth.models.classes.responsibilities import condition
from labelworth.models.protocol import AnyModel, OpenModel
from labelworth.planning.formulas.levels import ErrorAccuracy, entropy
from labelworth.planning.formulas.nearby import drawn_models
from labelworth.progress import SILENT, Progress
from labelworth.simulation.forecast import Excess
from labelworth.simulation.learner import Mode
from labelworth.simulation.scales import Measure
from labelworth.tradeoff.accuracy import Accuracy
from labelworth.tradeoff.asymptotic_accuracy import AsymptoticAccuracy

NearbyMethod = Literal["enumeration", "formula", "draws"]

_QUICK_WORK = 5e7
"""Enumeration is chosen while its products stay below some hundredths of a second."""
_FEWEST_DRAWS = 20_000
_DRAWS_PER_PARAMETER = 50


@dataclass(frozen=True, eq=False)
class NearbyInformation:
    r"""I(f) at any parameters near a fit.

    Exactly where that is quick; else from documents drawn at the fit, the same for all parameters,

    .. math::

        missing(\theta) = \frac{\sum_i w_i(\theta) \operatorname{Var}_\theta(S \mid x_i)}{\sum_i w_i(\theta)}, \qquad
        w_i(\theta) = \frac{p_\theta(x_i)}{p_{\hat\theta}(x_i)}

    so that at the fit every document counts the same, and elsewhere as much as it would be met there. Real documents
    in their place would add their own chance to that of the fit, and intervals would have to know how the two go
    together.
    """

    fitted: AnyModel
    documents: Samples  # Without labels: those drawn, or the real ones where none had to be.
    way: NearbyMethod

    @classmethod
    def of(cls, fitted: AnyModel, samples: Samples, rng: np.random.Generator) -> "NearbyInformation":
        """Choose the way; where documents are real, they are those of `samples`."""
        way: NearbyMethod = "draws"
        if DocumentPopulation(fitted).enumeration_work <= _QUICK_WORK:
            way = "enumeration"
        elif isinstance(fitted, MultinomialModel) and len(fitted.classes) == 2:
            way = "formula"
        d = fitted.coordinates.n_free
        if way == "draws":
            return cls(fitted, fitted.sample(max(_FEWEST_DRAWS, _DRAWS_PER_PARAMETER * d), rng).hide(), way)
        return cls(fitted, samples.hide().weighted(None), way)

    def at(self, model: AnyModel) -> DenseInformation:
        """I(f) at the parameters of `model`."""
        if self.way == "enumeration":
            return enumerated_information(model)
        if self.way == "formula" and isinstance(model, MultinomialModel):
            dense = two_class_information(model).dense
            if dense is not None:
                return dense
        posterior, log_evidence = condition(model.log_joint(self.documents), self.documents.evidence)
        shares = np.exp(log_evidence - self._fitted_evidence)
        shares /= shares.sum()
        missing, seen = summed_moments(model, self.documents, posterior, shares)
        # What is not known in closed form is averaged over the same documents: then unlabeled ones cannot tell less
        # than nothing.
        complete = missing + seen if isinstance(model, OpenModel) else model.complete_information()
        return DenseInformation.of_labels(model.coordinates, complete, missing, "sampling")

    @cached_property
    def _fitted_evidence(self) -> FloatArray:
        return np.asarray(logsumexp(self.fitted.log_joint(self.documents), axis=1))


_SETTLED = 1e-12
_STEPS_TO_SETTLE = 5000
_N_PROBES = 20
_EXCESS: dict[Measure, str] = {"error": "excess_error", "log_loss": "excess_log_loss"}
_N_KNOTS = 9


@dataclass(frozen=True, eq=False)
class DocumentFormulas:
    pool: DocumentPool
    arms: tuple[str, ...]  # "everything", and "nothing" where unlabeled documents are learned from.
    criterion: str
    seed: int
    progress: Progress = SILENT

    is_sampled_nearby = False
    most_refits = 60

    def accuracy(self) -> Accuracy:
        return self.near(self.pool.model, 0)

    def sampled(self) -> None:
        return None

    def twin(self) -> None:
        return None

    def near(self, model: AnyModel, number: int) -> Accuracy:
        return dense_accuracy(
            self._near,
            model,
            criterion=self.criterion,
            held_labeled=float(self.pool.n_labeled),
            uses_unlabeled="nothing" in self.arms,
            seed=self.seed,
        )

    def normal_draws(self, n_draws: int) -> list[Any]:
        r"""From :math:`N(\hat\theta, (-\nabla^2 \ell)^{-1})`, prior included."""
        model, data = self._settled.model, self.pool.data
        try:
            information = observed_information(model, data, self._settled.family.prior_curvature(model))
            hessian = float(data.sample_weights.sum()) * information.at(information.lowest_fraction)
        except NotIdentifiableError:
            # A maximum at the edge, where a probability is zero: no normal law there.
            return []
        return drawn_models(model, hessian, self._rng.standard_normal((len(hessian), n_draws)))

    def refits(self, n_refits: int) -> tuple[Callable[[], Any], ...]:
        rng, refits = self._rng, []
        for _ in range(n_refits):
            refits.append(partial(self.pool.refit_to_resample, self._settled, deepcopy(rng)))
            # The next one draws from where this one will have stopped.
            self.pool.resample(rng)
        return tuple(refits)

    @cached_property
    def _rng(self) -> np.random.Generator:
        return np.random.default_rng([self.seed, 11])

    @cached_property
    def _near(self) -> NearbyInformation:
        return NearbyInformation.of(self.pool.model, self.pool.data, self._rng)

    @cached_property
    def _settled(self) -> Fit[Any, Any]:
        return fit(
            self.pool.fitted.family,
            self.pool.data,
            start=self.pool.model,
            tolerance=_SETTLED,
            max_iterations=_STEPS_TO_SETTLE,
        )


@dataclass(frozen=True, eq=False)
class ProbedFormulas(DocumentFormulas):
    """From random probes of the observed information, with no matrix: at the fit, and nowhere else."""

    def accuracy(self) -> Accuracy:
        """At a fixed point of EM.

        Raises
        ------
        InvalidInputError
            If the criterion or the model needs matrices.
        """
        pool, n_parameters = self.pool, f"{self.pool.n_parameters:,} parameters"
        if self.criterion not in CRITERIA:
            raise InvalidInputError(
                f"With {n_parameters} the formulas give no {self.criterion!r}. Take source='simulated', or "
                "criterion='excess_log_loss'."
            )
        if not isinstance(pool.family, MultinomialFamily):
            raise InvalidInputError(
                f"A {pool.model.kind} model with {n_parameters} would need matrices of that size; up to "
                f"{pool.abilities.most_parameters} are formed. Take source='simulated', or leave features out."
            )
        information = matrix_free_information(
            settled(pool.family, pool.data, start=pool.model, progress=self.progress).model,
            pool.family,
            pool.data,
            np.random.default_rng([self.seed, _N_PROBES]),
            n_probes=_N_PROBES,
            n_named_probes=_N_PROBES,
            progress=self.progress,
        )
        held = {"everything": float(pool.n_labeled)}
        return AsymptoticAccuracy.of(information, self.criterion, menu=self.arms, held=held)

    def normal_draws(self, n_draws: int) -> list[Any]:
        return []

    def refits(self, n_refits: int) -> tuple[Callable[[], Any], ...]:
        return ()


def dense_accuracy(
    near: NearbyInformation,
    model: AnyModel,
    *,
    criterion: str,
    held_labeled: float,
    uses_unlabeled: bool = True,
    seed: int = 0,
) -> Accuracy:
    """The accuracy at the parameters of `model`, from matrices."""
    information = near.at(model)
    if criterion in ("error", "excess_error"):
        return ErrorAccuracy(
            model,
            information,
            near.documents,
            held_labeled,
            adds_level=criterion == "error",
            is_alone=not uses_unlabeled,
            seed=seed,
        )
    return AsymptoticAccuracy.of(
        information,
        "excess_log_loss" if criterion == "log_loss" else criterion,
        menu=None if uses_unlabeled else ("everything",),
        held={"everything": held_labeled},
        level=entropy(model, near.documents) if criterion == "log_loss" else 0.0,
    )


def formula_excess(pool: DocumentPool, mode: Mode, measure: Measure, most: float, seed: int) -> Excess | None:
    """The excess over the number of labels at the fit, to stand beside a forecast by simulation.

    Formulas are asked at a few numbers of labels; between them the excess is a power of the number.

    Parameters
    ----------
    mode : Mode
        With all other documents, or without.
    most : float
        The largest number of labels that will be asked for.

    Returns
    -------
    function or None
        None where matrices would be too large, or the model is not identified by labels and documents.
    """
    if pool.is_large:
        return None
    near = NearbyInformation.of(pool.model, pool.data, np.random.default_rng([seed, 11]))
    accuracy = dense_accuracy(
        near,
        pool.model,
        criterion=_EXCESS[measure],
        held_labeled=0.0,
        uses_unlabeled=mode == "semi-supervised",
        seed=seed,
    )
    n_units = float(pool.n_samples)
    knots = np.geomspace(1.0, max(most, n_units, 2.0), _N_KNOTS)
    excess = np.array([accuracy.error(_counts(accuracy, labels, n_units)) for labels in knots])
    if not (np.isfinite(excess) & (excess > 0)).all():
        return None

    def of(labels: FloatArray) -> FloatArray:
        return np.asarray(np.exp(np.interp(np.log(labels), np.log(knots), np.log(excess))))

    return of


def _counts(accuracy: Accuracy, labels: float, n_units: float) -> FloatArray:
    """So many labels, and all other documents where they are learned from."""
    return np.array([labels, max(n_units - labels, 0.0)])[: len(accuracy.arms)]


def why_no_excess(pool: DocumentPool) -> str:
    if pool.is_large:
        return (
            "The curve of the formulas is left out: it takes matrices, which are formed for up to "
            f"{pool.abilities.most_parameters} parameters, and this model has {pool.n_parameters:,}."
        )
    return "The curve of the formulas is left out: by them labels and documents do not identify the model."
