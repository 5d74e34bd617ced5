"""What labels and unlabeled documents are worth at a fit, and at others that the pilot would have allowed."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError, NotIdentifiableError
from labelworth.estimation.fit import Fit, fit
from labelworth.fisher.criteria import CRITERIA
from labelworth.fisher.documents.probing import matrix_free_information
from labelworth.models.classes.multinomial import MultinomialFamily
from labelworth.models.protocol import AnyFamily, AnyModel
from labelworth.planning.answer import Held
from labelworth.planning.levels import ErrorAccuracy, entropy
from labelworth.planning.nearby import nearby_models
from labelworth.planning.plug_in import MOST_PARAMETERS, NearbyInformation
from labelworth.planning.simulated import simulated_accuracies
from labelworth.planning.situation import Situation
from labelworth.progress import SILENT, Progress
from labelworth.simulation.basis import ForecastBasis
from labelworth.simulation.learner import Mode
from labelworth.simulation.scales import Measure
from labelworth.tradeoff.accuracy import Accuracy
from labelworth.tradeoff.asymptotic_accuracy import AsymptoticAccuracy
from labelworth.tradeoff.costs import ArmPrices, Prices

DOCUMENT_CRITERIA = ("error", "log_loss", "excess_error", *CRITERIA)
"""What "error" can mean for documents."""
_FIXED_POINT = 1e-13
_MAX_ITERATIONS = 20_000
_N_PROBES = 20


@dataclass(frozen=True, eq=False)
class Documents:
    """Documents with and without labels, and the model fitted to them.

    Attributes
    ----------
    samples : Samples
    family : Family
    fitted : Fit
        To all of them.
    fitting : dict
        Further arguments of the fit.
    """

    samples: Samples
    family: AnyFamily
    fitted: Fit[Any, Any]
    fitting: dict[str, Any]

    @property
    def n_labeled(self) -> int:
        """Documents of whose class something is known."""
        return int((~self.samples.evidence.is_unlabeled).sum())

    @property
    def n_unlabeled(self) -> int:
        """The others."""
        return self.samples.n_samples - self.n_labeled

    @property
    def n_parameters(self) -> int:
        """Of the model."""
        return int(self.fitted.model.coordinates.n_free)

    def prices(self, prices: Prices, *, with_unlabeled: bool) -> ArmPrices:
        """Of one more labeled document, and of an unlabeled one."""
        tokens = float(self.samples.counts.sum() / self.samples.n_samples) if self.samples.is_sparse else None
        each = prices.of_examples(tokens)
        # The fixed part was paid with the pilot.
        if with_unlabeled:
            return ArmPrices(each.arms, each.per_sample)
        if not each.per_sample[0] > 0:
            raise InvalidInputError("A label must have a price: without one there is nothing to trade off.")
        return ArmPrices(each.arms[:1], each.per_sample[:1])

    def held(self, prices: Prices, error: float | None) -> Held:
        """What there is before the plan."""
        each = self.prices(prices, with_unlabeled=True).per_sample[0]
        return Held(
            "documents",
            self.samples.n_samples,
            self.n_labeled,
            self.n_labeled,
            self.n_unlabeled,
            self.n_parameters,
            tuple(str(name) for name in self.samples.evidence.classes),
            prices.fixed + float(each) * self.n_labeled,
            error,
        )


def asymptotic_documents(
    documents: Documents,
    criterion: str,
    prices: Prices,
    pool: float,
    *,
    uses_unlabeled: bool,
    reason: str,
    n_draws: int,
    seed: int,
    progress: Progress = SILENT,
) -> Situation:
    """The situation by the formulas.

    Raises
    ------
    InvalidInputError
        If the criterion needs matrices and there are too many parameters for them.
    NotIdentifiableError
        If the fit is not a strict maximum.
    """
    held, own = documents.held(prices, None), documents.prices(prices, with_unlabeled=uses_unlabeled)
    if documents.n_parameters > MOST_PARAMETERS:
        probed = _matrix_free(documents, criterion, own.arms, reason, seed, progress)
        return Situation(held, probed, own, pool, origin="probes")
    rng = np.random.default_rng([seed, 11])
    near = NearbyInformation.of(documents.fitted.model, documents.samples, rng)
    build = partial(
        dense_accuracy,
        near,
        criterion=criterion,
        held_labeled=float(documents.n_labeled),
        uses_unlabeled=uses_unlabeled,
        reason=reason,
        seed=seed,
    )
    found = nearby_models(documents.fitted, documents.samples, n_draws, rng, progress=progress)
    alternatives: tuple[Callable[[], Accuracy], ...] = tuple(partial(build, model) for model in found.models)
    accuracy = build(documents.fitted.model)
    return Situation(held, accuracy, own, pool, alternatives=alternatives, origin=found.origin)


def simulated_documents(
    documents: Documents,
    basis: ForecastBasis,
    measure: Measure,
    prices: Prices,
    pool: float,
    *,
    uses_unlabeled: bool,
    reason: str,
) -> Situation:
    """The situation by simulation; documents that are not labeled are learned from, or not, all of them."""
    mode: Mode = "semi-supervised" if uses_unlabeled else "labels-only"
    most = documents.n_labeled + pool
    found = simulated_accuracies(basis, mode, measure, ("everything",), np.ones(1), most, reason)
    return Situation(
        documents.held(prices, None),
        found["values"],
        documents.prices(prices, with_unlabeled=False),
        pool,
        keeps_rest=uses_unlabeled,
        bands=(found["low"], found["high"]),
    )


def dense_accuracy(
    near: NearbyInformation,
    model: AnyModel,
    *,
    criterion: str,
    held_labeled: float,
    uses_unlabeled: bool = True,
    reason: str = "",
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
            reason=reason,
        )
    return AsymptoticAccuracy.of(
        information,
        "excess_log_loss" if criterion == "log_loss" else criterion,
        menu=None if uses_unlabeled else ("everything",),
        held={"everything": held_labeled},
        reason=reason,
        level=entropy(model, near.documents) if criterion == "log_loss" else 0.0,
    )


def _matrix_free(
    documents: Documents, criterion: str, arms: tuple[str, ...], reason: str, seed: int, progress: Progress
) -> AsymptoticAccuracy:
    if criterion not in CRITERIA:
        raise InvalidInputError(
            f"With {documents.n_parameters:,} parameters the formulas give no {criterion!r}. Take "
            "source='simulated', or criterion='excess_log_loss'."
        )
    family = documents.family
    if not isinstance(family, MultinomialFamily):
        raise InvalidInputError(
            f"A {documents.fitted.model.kind} model with {documents.n_parameters:,} parameters would need matrices "
            f"of that size; up to {MOST_PARAMETERS} are formed. Take source='simulated', or leave features out."
        )
    settled = fit(
        family,
        documents.samples,
        start=documents.fitted.model,
        tolerance=_FIXED_POINT,
        max_iterations=_MAX_ITERATIONS,
        progress=progress,
    )
    rng = np.random.default_rng([seed, _N_PROBES])
    information = matrix_free_information(
        settled.model,
        family,
        documents.samples,
        rng,
        n_probes=_N_PROBES,
        n_named_probes=_N_PROBES,
        progress=progress,
    )
    held = {"everything": float(documents.n_labeled)}
    return AsymptoticAccuracy.of(information, criterion, menu=arms, held=held, reason=reason)


def require_documents(samples: Samples) -> None:
    """Refuse data from which no plan can be made."""
    counts = samples.evidence.label_counts()
    if not counts.sum():
        raise NotIdentifiableError(
            "No document is labeled, so there is no pilot to plan from. Draw one with `labelworth next --count 100`."
        )
    if samples.evidence.n_classes < 2:
        raise NotIdentifiableError(
            f"All labels say {samples.evidence.classes[0]!r}: with one class there is nothing to tell apart. Label "
            "documents of other classes, or name them with classes=."
        )
