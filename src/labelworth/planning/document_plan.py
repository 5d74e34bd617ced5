"""Plans for documents: looked at, then asked by the formulas or by simulation."""

from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from labelworth.data.digest import data_digest
from labelworth.data.kept import Checkpoint
from labelworth.errors import NotIdentifiableError
from labelworth.planning.answer import Check, Plan, Question
from labelworth.planning.assembly import Background, assemble, with_error_of_today
from labelworth.planning.asymptotic_excess import asymptotic_excess, why_no_excess
from labelworth.planning.checks import (
    class_check,
    convergence_check,
    harm,
    harm_check,
    randomness_check,
    simulation_check,
)
from labelworth.planning.documents import Documents, asymptotic_documents, simulated_documents
from labelworth.planning.landscape import Surface
from labelworth.planning.pilot import Pilot
from labelworth.planning.randomness import randomness
from labelworth.planning.simulated import harm_by_forecast, simulated_curve
from labelworth.planning.simulated_surface import simulated_surface
from labelworth.planning.situation import Situation
from labelworth.planning.source import (
    AskedSource,
    ChosenSource,
    UseUnlabeled,
    choose_source,
    is_large,
    too_few_labels,
)
from labelworth.progress import Progress
from labelworth.simulation.basis import ForecastBasis, forecast_basis
from labelworth.simulation.document_learner import ClassLearner
from labelworth.simulation.learner import Mode
from labelworth.simulation.pool_use import PoolUse, simulate_pool_use
from labelworth.simulation.scales import Measure
from labelworth.tradeoff.costs import CostFunction, Prices
from labelworth.tradeoff.problem import Question as TradeoffQuestion

_FARTHEST = 8
"""So many times the labels held are simulated; beyond it a forecast goes on along its own slope."""


@dataclass(frozen=True, eq=False)
class DocumentPlanner:
    """One plan in the making; arguments as in `labelworth.planning.plan.plan`."""

    documents: Documents
    prices: Prices | CostFunction
    asked_source: AskedSource
    criterion: str | None
    use_unlabeled: UseUnlabeled
    n_draws: int
    seed: int
    folder: Path | None
    progress: Progress

    def plan(self, asked: TradeoffQuestion) -> Plan:
        """Answer one question."""
        situation, chosen = self.situation(asked.pool)
        question = Question(asked.kind, asked.value, chosen.criterion)
        background, forecast, drawn = self._background(chosen), None, None
        if chosen.source == "simulated":
            most, measure = self.documents.n_labeled + situation.pool, self._measure(chosen)
            excess = asymptotic_excess(self.documents, self._mode, measure, most, self.seed)
            forecast = simulated_curve(self.basis, self._mode, measure, most, 1.0, excess)
            drawn = self._surface(measure)
            if excess is None:
                left_out = why_no_excess(self.documents.n_parameters)
                background = replace(background, notes=[*background.notes, left_out])
        steps = self._steps(
            asked.kind, asked.value, situation.pool, chosen.criterion, self.n_draws, situation.price_list
        )
        return assemble(
            situation,
            question,
            background,
            checkpoint=steps,
            progress=self.progress,
            forecast=forecast,
            simulated_surface=drawn,
        )

    def situation(self, pool: float) -> tuple[Situation, ChosenSource]:
        """Where plans start; `pool` may be infinite for all documents without a label."""
        _require_anchored(self.documents)
        chosen, prices = self.chosen, self.prices if isinstance(self.prices, Prices) else Prices()
        room = float(self.documents.n_unlabeled) if np.isinf(pool) else pool
        if chosen.source == "simulated":
            found = simulated_documents(
                self.documents,
                self.basis,
                self._measure(chosen),
                prices,
                room,
                uses_unlabeled=self.uses_unlabeled,
                reason=chosen.reason,
            )
        else:
            found = asymptotic_documents(
                self.documents,
                chosen.criterion,
                prices,
                room,
                uses_unlabeled=self.uses_unlabeled,
                reason=chosen.reason,
                n_draws=self.n_draws,
                seed=self.seed,
                progress=self.progress,
            )
        if not isinstance(self.prices, Prices):
            found = found.priced_by(self.prices, {"everything": float(self.documents.n_labeled), "nothing": 0.0})
        return with_error_of_today(found), chosen

    @cached_property
    def verdict(self) -> dict[str, Any]:
        """Whether unlabeled documents help: as asked, by the forecast's own comparison, or by cross-validation."""
        if self.documents.n_unlabeled == 0:
            return {"answer": "not asked", "words": "there is none."}
        if self.use_unlabeled == "yes":
            return {"answer": "not asked", "words": "as asked."}
        if self.use_unlabeled == "no":
            return {"answer": "hurts", "words": "as asked."}
        if self._simulates_anyway:
            return harm_by_forecast(self.basis)
        found: dict[str, Any] = self._steps().step("harm", lambda: harm(self.documents, self.seed, self.progress))
        return found

    @cached_property
    def chosen(self) -> ChosenSource:
        """Formulas or simulation."""
        return choose_source(
            self.asked_source,
            self.criterion,
            n_labels=self.documents.n_labeled,
            n_parameters=self.documents.n_parameters,
            verdict=self.verdict,
        )

    @property
    def uses_unlabeled(self) -> bool:
        """Whether the plan learns from documents without a label."""
        return self.verdict["answer"] != "hurts" and self.documents.n_unlabeled > 0

    @cached_property
    def basis(self) -> ForecastBasis:
        """What forecasts rest on: simulated once, kept fit by fit with the other finished steps."""
        documents, learner, largest = self.documents, self._learner, self._largest
        steps = self._steps(largest)

        def computed() -> dict[str, Any]:
            return forecast_basis(
                learner,
                documents.samples,
                largest,
                seed=self.seed,
                workers=None,
                progress=self.progress,
                keep=steps.step,
            ).to_dict()

        return ForecastBasis.from_dict(steps.step("forecast", computed))

    @cached_property
    def _learner(self) -> ClassLearner[Any]:
        fitting = self.documents.fitting
        return ClassLearner(
            self.documents.family,
            unlabeled_weight=float(fitting.get("unlabeled_weight", 1.0)),
            start_smoothing=float(fitting.get("start_smoothing", 1.0)),
        )

    @property
    def _largest(self) -> int:
        """Labels that are simulated."""
        return min(self.documents.samples.n_samples, _FARTHEST * self.documents.n_labeled)

    def _surface(self, measure: Measure) -> Surface | None:
        """By simulation; None where there is no document without a label."""
        if not self.documents.n_unlabeled:
            return None
        steps = self._steps(self._largest)

        def computed() -> dict[str, Any]:
            return simulate_pool_use(
                self._learner,
                self.documents.samples,
                self.basis,
                seed=self.seed,
                workers=None,
                progress=self.progress,
                keep=steps.step,
            ).to_dict()

        return simulated_surface(self.basis, PoolUse.from_dict(steps.step("pool use", computed)), measure)

    @property
    def _simulates_anyway(self) -> bool:
        if self.asked_source == "simulated":
            return True
        few = too_few_labels(self.documents.n_labeled, self.documents.n_parameters)
        return self.asked_source == "auto" and self.criterion in (None, "error", "log_loss") and few

    @staticmethod
    def _measure(chosen: ChosenSource) -> Measure:
        return "error" if chosen.criterion == "error" else "log_loss"

    def _background(self, chosen: ChosenSource) -> Background:
        samples = self.documents.samples
        notes = []
        if chosen.source == "asymptotic" and is_large(self.documents.n_parameters):
            notes.append(
                "With so many parameters intervals show the noise of random probes alone, not the pilot's own "
                "uncertainty; source='simulated' has intervals that do."
            )
        if chosen.source == "simulated" and not isinstance(self.prices, Prices):
            notes.append(
                "Simulated plans take all documents without a label as they are: the cost function was asked about "
                "labeled documents alone."
            )
        elif chosen.source == "simulated" and isinstance(self.prices, Prices) and self.prices.per_unlabeled:
            notes.append("Simulated plans take all documents without a label as they are; their price is left out.")
        return Background(
            self.uses_unlabeled,
            chosen.reason,
            self._checks(chosen),
            notes,
            Pilot.held(np.flatnonzero(samples.is_labeled), samples.n_samples).to_dict(),
            self.documents.fitted.model.kind,
            self.seed,
        )

    @property
    def _mode(self) -> Mode:
        return "semi-supervised" if self.uses_unlabeled else "labels-only"

    def _checks(self, chosen: ChosenSource) -> tuple[Check, ...]:
        simulated = (simulation_check(self.basis, self._mode),) if chosen.source == "simulated" else ()
        return (
            harm_check(self.verdict),
            *simulated,
            randomness_check(randomness(self.documents.samples, self.seed)),
            class_check(self.documents),
            convergence_check(self.documents.fitted.converged),
        )

    @cached_property
    def _context(self) -> dict[str, Any]:
        return {
            "data": data_digest(self.documents.samples),
            "model": repr(self.documents.family),
            "fitting": self.documents.fitting,
            "seed": self.seed,
            "labelworth": version("labelworth"),
        }

    def _steps(self, *asked: Any) -> Checkpoint:
        return Checkpoint(self.folder, {**self._context, "asked": list(asked)} if self.folder else {})


def _require_anchored(documents: Documents) -> None:
    """Refuse classes that no label names, and labels that cannot tell classes apart."""
    alike = documents.fitted.exchangeable_classes
    if alike:
        groups = "; ".join(", ".join(repr(name) for name in group[:8]) for group in alike)
        raise NotIdentifiableError(
            f"No label tells these classes apart: {groups}. Label at least one document of each, better ten; draw "
            "them with `labelworth next`.",
            [str(name) for group in alike for name in group],
        )
