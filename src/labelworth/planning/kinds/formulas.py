"""What the formulas say of documents that anybody answers: experts, crowds, models, gold, nobody."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import logsumexp, ndtr

from labelworth.arrays import FloatArray
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError, NotIdentifiableError
from labelworth.estimation.fit import settled
from labelworth.fisher.dense import DenseInformation
from labelworth.fisher.documents.answered_documents import AnsweredDocuments
from labelworth.fisher.documents.channels import ArmSet, averaged_channels, enumerated_channels
from labelworth.fisher.documents.observed_counts import ObservedCounts
from labelworth.fisher.documents.population import DocumentPopulation, require_outcomes
from labelworth.fisher.documents.probed_channels import ProbedChannels
from labelworth.fisher.documents.two_class_channels import two_class_channels
from labelworth.fisher.information import Information
from labelworth.fisher.whitened import MatrixRules
from labelworth.models.classes.multinomial import MultinomialModel
from labelworth.models.protocol import AnyModel, OpenModel
from labelworth.planning.formulas.documents import DocumentFormulas
from labelworth.planning.formulas.levels import MOST_DOCUMENTS, MOST_ENUMERATED, Inputs, entropy
from labelworth.planning.kinds.menu import KindMenu
from labelworth.tradeoff.accuracy import Accuracy, Source
from labelworth.tradeoff.asymptotic_accuracy import AsymptoticAccuracy

_QUICK_WORK = 2e8
"""Enumeration is chosen while its multiplications stay below some tenths of a second."""
_DRAWN_WORK = 2e10
_FEWEST_DRAWS, _MOST_DRAWS = 2000, 20_000
_SHARES = ("error", "excess_error")


@dataclass(frozen=True, eq=False)
class KindFormulas(DocumentFormulas):
    """Of a menu of kinds of labels; arms are those of the menu."""

    kinds: KindMenu = field(kw_only=True)

    most_refits = 40

    def accuracy(self) -> Accuracy:
        """At the fit.

        Raises
        ------
        InvalidInputError
            If the criterion or the model needs matrices, and there are too many parameters for them.
        """
        model = self.pool.model
        if isinstance(model, OpenModel):
            raise InvalidInputError(
                "Kinds of labels are planned for multinomial, Bernoulli and Gaussian models; for a model of your own "
                "take source='simulated'."
            )
        if self.pool.is_large and (not isinstance(model, MultinomialModel) or self.criterion in _SHARES):
            raise InvalidInputError(
                f"With {self.pool.n_parameters:,} parameters the formulas of kinds of labels go with a multinomial "
                "model and criterion='excess_log_loss'. Take source='simulated', or fewer words."
            )
        return self._accuracy(model, self.kinds.arm_set)

    def near(self, model: AnyModel, number: int) -> Accuracy:
        return self._accuracy(model, self.kinds.drawn(np.random.default_rng([self.seed, 21, number])).arm_set)

    def _accuracy(self, model: AnyModel, arms: ArmSet) -> Accuracy:
        information = self._information(model, arms)
        held = self.kinds.held_before(self.pool.n_labeled)
        if self.criterion in _SHARES and isinstance(information, DenseInformation):
            return KindError(
                model,
                information,
                self._documents,
                self.kinds.added,
                held,
                adds_level=self.criterion == "error",
                seed=self.seed,
            )
        is_loss = self.criterion == "log_loss"
        return AsymptoticAccuracy.of(
            information,
            "excess_log_loss" if is_loss else self.criterion,
            menu=self.kinds.added,
            held=held,
            level=entropy(model, self._documents) if is_loss else 0.0,
        )

    def normal_draws(self, n_draws: int) -> list[AnyModel]:
        return [] if self.pool.is_large else super().normal_draws(min(n_draws, self.most_refits))

    def refits(self, n_refits: int) -> tuple[Callable[[], Any], ...]:
        return () if self.pool.is_large else super().refits(n_refits)

    @property
    def _has_formula(self) -> bool:
        return isinstance(self.pool.model, MultinomialModel) and len(self.pool.model.classes) == 2

    def _information(self, model: AnyModel, arms: ArmSet) -> Information:
        if self._is_enumerated:
            return enumerated_channels(model, arms)
        if isinstance(model, MultinomialModel) and self._has_formula and self.criterion not in _SHARES:
            return two_class_channels(model, arms)
        if self.pool.is_large:
            return self._probed(arms)
        shares = np.exp(self._log_evidence(model) - self._fitted_evidence)
        return averaged_channels(model, self._documents, shares / shares.sum(), arms)

    def _probed(self, arms: ArmSet) -> ProbedChannels:
        """From random probes of the observed information at a fixed point of EM, with no matrix."""
        family: Any = self.pool.family
        data = self.pool.data
        fitted = settled(family, data, start=self.pool.model, progress=self.progress)
        observed = ObservedCounts.at(fitted.model, family, data)
        observed.require_fixed_point()
        rows = np.flatnonzero(data.evidence.is_unlabeled)
        shares = data.sample_weights[rows] / observed.unlabeled_weight
        return ProbedChannels(AnsweredDocuments.of(observed, arms, data.take(rows), shares), self.seed)

    @cached_property
    def _is_enumerated(self) -> bool:
        work = DocumentPopulation(self.pool.model).enumeration_work
        if not np.isfinite(work) or work > _QUICK_WORK:
            return False
        size, arms = self._size, self.kinds.arm_set
        return work + require_outcomes(self.pool.model) * arms.n_combinations * size**2 <= _QUICK_WORK

    @property
    def _size(self) -> int:
        return self.pool.n_parameters + self.kinds.arm_set.nuisance.size

    @cached_property
    def _documents(self) -> Samples:
        """Drawn at the fit, the same for all parameters (see `NearbyInformation`); the real ones are not needed."""
        per_document = self.kinds.arm_set.n_combinations * self._size**2
        count = int(np.clip(_DRAWN_WORK / per_document, _FEWEST_DRAWS, _MOST_DRAWS))
        drawn: Samples = self.pool.model.sample(count, np.random.default_rng([self.seed, 12]))
        return drawn.hide()

    @cached_property
    def _fitted_evidence(self) -> FloatArray:
        return self._log_evidence(self.pool.model)

    def _log_evidence(self, model: AnyModel) -> FloatArray:
        return np.asarray(logsumexp(model.log_joint(self._documents), axis=1))


@dataclass(frozen=True, eq=False)
class KindError:
    r"""The share of wrong predictions of two classes, by the delta method, over any arms, with its slope.

    With log-odds :math:`t(x)`, gradient g and :math:`s^2 = g' M^{-1} g` (see `ScoredInputs`),

    .. math::

        error = \sum_x w_x |2\eta - 1| \, \Phi(-|t| / s), \qquad
        \frac{\partial error}{\partial n_a} = -\sum_x w_x |2\eta - 1| \,
            \phi\Bigl(\frac{|t|}{s}\Bigr) \frac{|t|}{2 s^3} \, g' M^{-1} I_a M^{-1} g

    It need not be convex: where log-odds are far from zero, more of the same lowers it ever faster at first.
    """

    model: AnyModel  # Taken for true.
    information: DenseInformation
    documents: Samples  # Averaged over where there are too many distinct ones to enumerate.
    added: Mapping[str, Mapping[str, float]]  # By arm: what one document of it adds to the arms of the information.
    held: Mapping[str, float]  # Documents already there, by arm of the information.
    adds_level: bool = True  # Whether the error of the true model is added; else it is the excess alone.
    seed: int = 0

    is_convex = False

    def __post_init__(self) -> None:
        if len(self.model.classes) != 2:
            raise InvalidInputError("By formulas the error of kinds of labels is that of two classes.")

    @property
    def arms(self) -> tuple[str, ...]:
        return tuple(self.added)

    @property
    def labels_per_sample(self) -> FloatArray:
        return np.asarray(self._steps @ self.information.expected_labels)

    @property
    def criterion(self) -> str:
        return "error" if self.adds_level else "excess_error"

    @property
    def source(self) -> Source:
        return "asymptotic"

    @property
    def has_kinks(self) -> bool:
        return bool(self.information.nuisance)

    def error(self, counts: FloatArray) -> float:
        lost = self._lost(counts)
        return np.inf if lost is None else float(self._inputs.weights @ lost) + self.adds_level * self.level

    def standard_error(self, counts: FloatArray) -> float | None:
        """Over the documents; None where all there are were summed over."""
        lost = self._lost(counts)
        if self._inputs.is_exact or lost is None:
            return None
        weights = self._inputs.weights
        return float(np.sqrt(weights**2 @ np.square(lost - weights @ lost)))

    def slope(self, counts: FloatArray) -> FloatArray:
        root = self._root(counts)
        if root is None:
            raise NotIdentifiableError(
                f"{np.asarray(counts).tolist()} more samples of {', '.join(self.arms)} do not pin the model down.",
                self.open_directions(counts),
            )
        half, arms = root
        gradient, stakes, margin = self._scored
        carried = gradient @ half.T
        spread = np.sqrt(np.square(carried).sum(axis=1))
        density = np.exp(-np.square(margin / spread) / 2) / np.sqrt(2 * np.pi)
        rates = self._inputs.weights * stakes * density * margin / (2 * spread**3)
        moved = carried @ half
        return -np.asarray(self._steps @ np.tensordot(arms, (rates[:, None] * moved).T @ moved, axes=2))

    def open_directions(self, counts: FloatArray) -> tuple[str, ...]:
        return self.information.open_directions(self._total(counts))

    @property
    def level(self) -> float:
        """The error of the true model."""
        return float(self._inputs.weights @ (1 - self._inputs.posterior.max(axis=1)))

    @cached_property
    def _steps(self) -> FloatArray:
        """(n_arms, n_rules)."""
        return np.array([[own.get(rule, 0.0) for rule in self.information.rules] for own in self.added.values()])

    def _total(self, counts: FloatArray) -> FloatArray:
        held = np.array([self.held.get(rule, 0.0) for rule in self.information.rules])
        return np.asarray(held + counts @ self._steps)

    def _root(self, counts: FloatArray) -> tuple[FloatArray, FloatArray] | None:
        total = self._total(counts)
        rules = self.information.whitened
        root = rules.root(total) if total.sum() > 0 and isinstance(rules, MatrixRules) else None
        return None if root is None else root[1:]

    def _lost(self, counts: FloatArray) -> FloatArray | None:
        root = self._root(counts)
        if root is None:
            return None
        gradient, stakes, margin = self._scored
        spread = np.sqrt(np.square(gradient @ root[0].T).sum(axis=1))
        return np.asarray(stakes * ndtr(-margin / spread))

    @cached_property
    def _inputs(self) -> Inputs:
        enumerated = Inputs.enumerated(self.model, MOST_ENUMERATED)
        return enumerated or Inputs.of(self.model, self.documents.take(np.arange(MOST_DOCUMENTS)))

    @cached_property
    def _scored(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Gradients of the log-odds in the whitened basis, |2 eta - 1|, and |t|, of every x."""
        scores = self.model.class_scores(self._inputs.samples) @ self.information.whitened.vectors
        log_joint, posterior = self.model.log_joint(self._inputs.samples), self._inputs.posterior
        return (
            scores[:, 0] - scores[:, 1],
            np.abs(posterior[:, 0] - posterior[:, 1]),
            np.abs(log_joint[:, 0] - log_joint[:, 1]),
        )
