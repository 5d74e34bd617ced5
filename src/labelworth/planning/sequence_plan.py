"""Plans for sequences: which rules of a menu, for how many sequences."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from labelworth.data.digest import arrays_digest, data_digest
from labelworth.data.kept import Checkpoint
from labelworth.errors import InvalidInputError, NotIdentifiableError
from labelworth.fisher.criteria import CRITERIA
from labelworth.planning.answer import Check, Plan, Question
from labelworth.planning.assembly import Background, assemble, with_error_of_today
from labelworth.planning.checks import convergence_check, harm_check, randomness_check, simulation_check
from labelworth.planning.held_rules import held_by_rule
from labelworth.planning.pilot import Pilot
from labelworth.planning.randomness import randomness
from labelworth.planning.sequence_situation import asymptotic_sequences
from labelworth.planning.sequences import (
    MOST_PARAMETERS,
    SEQUENCE_CRITERIA,
    LabeledSequences,
    menu_prices,
    read_menu,
)
from labelworth.planning.simulated import harm_by_forecast, simulated_accuracies, simulated_curve
from labelworth.planning.situation import Situation
from labelworth.planning.source import LABELS_PER_PARAMETER, AskedSource, ChosenSource, UseUnlabeled
from labelworth.policies.policy import Policy
from labelworth.policies.rule import Rule
from labelworth.progress import SILENT, Progress
from labelworth.robust.support import SequenceSupport
from labelworth.simulation.basis import ForecastBasis, forecast_basis
from labelworth.simulation.learner import MODES, Mode
from labelworth.simulation.scales import Measure
from labelworth.simulation.sequence_learner import SequenceLearner
from labelworth.tradeoff.costs import CostFunction, Prices
from labelworth.tradeoff.problem import Question as TradeoffQuestion

_FARTHEST = 8
_WHOLE = ("everything", "nothing")


@dataclass(frozen=True, eq=False)
class SequencePlanner:
    """One plan in the making; arguments as in `labelworth.planning.plan.plan`."""

    data: LabeledSequences
    prices: Prices | CostFunction
    rules: Sequence[Any] | str | None
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
        if asked.kind == "target" and self.criterion is None and chosen.source == "asymptotic":
            raise InvalidInputError(
                f"Say what the target of {asked.value:g} is measured in: criterion='error' (share of wrong labels, "
                f"by simulation), or criterion='{chosen.criterion}' (nats per sequence, by formulas)."
            )
        forecast = None
        if chosen.source == "simulated":
            most = situation.held.n_labeled + situation.pool
            forecast = simulated_curve(
                self.basis, self._mode, self._measure(chosen), most, situation.places_per_sample
            )
        steps = self._steps(
            asked.kind,
            asked.value,
            situation.pool,
            chosen.criterion,
            self.n_draws,
            self._menu_words,
            situation.price_list,
        )
        return assemble(
            situation,
            Question(asked.kind, asked.value, chosen.criterion),
            self._background(chosen, situation),
            checkpoint=steps,
            progress=self.progress,
            forecast=forecast,
        )

    def situation(self, pool: float) -> tuple[Situation, ChosenSource]:
        """Where plans start; `pool` may be infinite for all sequences without a label."""
        require_anchored(self.data)
        room = float((~self.data.labeled).sum()) if np.isinf(pool) else pool
        chosen = self.chosen
        prices = self.prices if isinstance(self.prices, Prices) else Prices()
        if chosen.source == "simulated":
            found = self._simulated(room, chosen, prices)
        else:
            found = asymptotic_sequences(
                self.data,
                self.menu,
                chosen.criterion,
                prices,
                room,
                n_draws=self.n_draws,
                seed=self.seed,
                reason=chosen.reason,
                progress=self.progress,
            )
        if not isinstance(self.prices, Prices):
            found = found.priced_by(self.prices, held_by_rule(self.data.sequences, self.menu))
        return with_error_of_today(found), chosen

    def _simulated(self, pool: float, chosen: ChosenSource, prices: Prices) -> Situation:
        arms = [rule for rule in self.menu if rule.spec != "nothing"]
        lengths = self.data.lengths
        labels = np.array([sum(share * rule.expected_labels(m) for m, share in lengths.items()) for rule in arms])
        held = self.data.held(prices, None)
        most = held.n_labeled + pool
        found = simulated_accuracies(
            self.basis,
            self._mode,
            self._measure(chosen),
            [rule.spec for rule in arms],
            labels,
            most,
            chosen.reason,
        )
        return Situation(
            held,
            found["values"],
            menu_prices(arms, self.data, prices),
            pool,
            float(self.data.sequences.lengths.mean()),
            keeps_rest=self.uses_unlabeled,
            bands=(found["low"], found["high"]),
        )

    @cached_property
    def menu(self) -> list[Rule]:
        """The rules to choose from."""
        return read_menu(self.rules, self.data, uses_unlabeled=self.uses_unlabeled)

    @cached_property
    def chosen(self) -> ChosenSource:
        """Formulas or simulation, and what error means."""
        criterion = self.criterion
        if criterion is not None and criterion not in SEQUENCE_CRITERIA:
            raise InvalidInputError(f"criterion must be one of {', '.join(SEQUENCE_CRITERIA)}. Got {criterion!r}.")
        ratio = self.data.n_labels / max(self.data.n_parameters, 1)
        measured = criterion in ("error", "log_loss")
        if self.asked_source == "asymptotic" and measured:
            raise InvalidInputError(
                f"For sequences the formulas give no {criterion}; take source='simulated', or one of "
                f"{', '.join(CRITERIA)}."
            )
        if self.asked_source == "simulated" and criterion in CRITERIA:
            raise InvalidInputError(
                f"{criterion} is a figure of the formulas; a simulation gives error and log_loss."
            )
        if self.asked_source == "asymptotic" or criterion in CRITERIA:
            reason = "asked for" if self.asked_source == "asymptotic" else f"{criterion} is a figure of the formulas"
            return ChosenSource("asymptotic", criterion or "excess_log_loss", reason)
        if self.asked_source == "simulated" or measured:
            reason = "asked for" if self.asked_source == "simulated" else f"{criterion} is forecast by simulation"
            return ChosenSource("simulated", criterion or "error", reason)
        words = f"{ratio:.2g} labels per parameter"
        if self.data.n_parameters > MOST_PARAMETERS or ratio < LABELS_PER_PARAMETER:
            return ChosenSource("simulated", "error", f"{words} are too few for the formulas")
        return ChosenSource("asymptotic", "excess_log_loss", words)

    @cached_property
    def verdict(self) -> dict[str, Any]:
        """Whether unlabeled sequences help, as far as the simulation tells."""
        if self.data.is_conditional:
            return {"answer": "hurts", "words": "a conditional model learns nothing from it."}
        if self.use_unlabeled != "auto":
            return {"answer": "not asked" if self.use_unlabeled == "yes" else "hurts", "words": "as asked."}
        if self.chosen.source == "simulated":
            return harm_by_forecast(self.basis)
        return {"answer": "not asked", "words": "the formulas take the model for right; source='simulated' tests it."}

    @property
    def uses_unlabeled(self) -> bool:
        """Whether the plan learns from sequences without labels."""
        return bool(self.verdict["answer"] != "hurts")

    @property
    def _mode(self) -> Mode:
        return "semi-supervised" if self.uses_unlabeled else "labels-only"

    @cached_property
    def basis(self) -> ForecastBasis:
        """What forecasts rest on: simulated once, kept with the other finished steps."""
        data = self.data
        # The menu as given: whether "nothing" stays on it is decided by the simulation itself.
        menu = read_menu(self.rules, data, uses_unlabeled=True)
        policies = [Policy.of(rule) for rule in menu if rule.spec not in _WHOLE]
        modes: tuple[Mode, ...] = ("labels-only",) if data.is_conditional else MODES
        learner = SequenceLearner(
            lambda sequences, start: data.fit(sequences, SILENT).model, mode=modes[-1], modes=modes
        )
        largest = min(data.sequences.n_sequences, _FARTHEST * int(data.labeled.sum()))
        steps = self._steps(largest, [policy.spec for policy in policies])

        def computed() -> dict[str, Any]:
            return forecast_basis(
                learner,
                data.sequences,
                largest,
                policies=policies,
                seed=self.seed,
                workers=None,
                progress=self.progress,
                keep=steps.step,
            ).to_dict()

        return ForecastBasis.from_dict(steps.step("forecast", computed))

    @staticmethod
    def _measure(chosen: ChosenSource) -> Measure:
        return "error" if chosen.criterion == "error" else "log_loss"

    @property
    def _menu_words(self) -> list[str]:
        return [rule.spec for rule in self.menu]

    def _background(self, chosen: ChosenSource, situation: Situation) -> Background:
        notes = self.data.notes
        if chosen.source == "simulated" and len(situation.accuracy.arms) > 1:
            notes.append("Rules were simulated one by one; mixtures of them are put together from those.")
        rows = np.flatnonzero(self.data.labeled)
        return Background(
            self.uses_unlabeled,
            chosen.reason,
            self._checks(chosen),
            notes,
            Pilot.held(rows, self.data.sequences.n_sequences).to_dict(),
            self.data.model.kind,
            self.seed,
        )

    def _checks(self, chosen: ChosenSource) -> tuple[Check, ...]:
        simulated = (simulation_check(self.basis, self._mode),) if chosen.source == "simulated" else ()
        return (
            harm_check(self.verdict),
            *simulated,
            randomness_check(randomness(self.data.sequences, self.seed)),
            convergence_check(self.data.converged),
        )

    @cached_property
    def _context(self) -> dict[str, Any]:
        return {
            "data": data_digest(self.data.sequences),
            "model": [self.data.model.kind, arrays_digest(self.data.model.tables)],
            "seed": self.seed,
            "labelworth": version("labelworth"),
        }

    def _steps(self, *asked: Any) -> Checkpoint:
        return Checkpoint(self.folder, {**self._context, "asked": list(asked)} if self.folder else {})


def require_anchored(data: LabeledSequences) -> None:
    """Refuse labels that could be swapped."""
    support = SequenceSupport.of(data.sequences)
    if support.indistinguishable:
        raise NotIdentifiableError(" ".join(support.lines()), [str(name) for name in support.never_labeled])
