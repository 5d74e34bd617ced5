"""One plan in the making, for documents and sequences alike.

What is done differently hangs on what a pool can do (`labelworth.estimators.pools.pool.Abilities`), not on its kind:

| question | documents | sequences |
|---|---|---|
| matrices up to (``most_parameters``) | 600; beyond, random probes of multinomial models | 300; beyond, simulation |
| criteria of the formulas (``formula_criteria``) | the six, error, log-loss and excess error | the six |
| criterion unless named | error | by formulas excess log-loss, which a target must name; else error |
| menu (``rules``) | everything, nothing | any rules |
| does unlabeled data help (``folds``) | cross-validation; harm leads to simulation | a simulation alone says |
| the formulas beside a simulated forecast | where matrices are formed | not: they give no error |
| error over (samples, labeled fraction) (``surface``) | by formulas or simulated refits | not |
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from labelworth.arrays import BoolArray, FloatArray, IntArray
from labelworth.data.digest import bytes_digest, data_digest
from labelworth.data.kept import Checkpoint
from labelworth.data.samples import Samples
from labelworth.errors import InfeasiblePlanError, InvalidInputError
from labelworth.estimators.pools.documents import LABELS_ONLY
from labelworth.estimators.pools.pool import Pool
from labelworth.planning.answer import Check, Held, Plan, PlanQuestion
from labelworth.planning.assembly import Background, assemble
from labelworth.planning.chosen import formula_choice, simulated_choice
from labelworth.planning.formulas.nearby import formula_situation
from labelworth.planning.kinds.guesses import KindGuesses
from labelworth.planning.kinds.menu import KindMenu, Part
from labelworth.planning.kinds.rays import KindsAccuracy
from labelworth.planning.kinds.simulation import KindSimulation, simulated_kinds
from labelworth.planning.landscape import ForecastCurve, Surface
from labelworth.planning.menu import arm_prices, held_before, held_by_rule, read_menu
from labelworth.planning.simulated import forecast_sizes, simulated_curve, simulated_situation, simulated_surface
from labelworth.planning.situation import Alternatives, Situation
from labelworth.planning.solving import require_budget, solved
from labelworth.planning.source import MEASURED, ChosenSource, PlanSettings, choose_source
from labelworth.planning.trust.checks import (
    class_check,
    convergence_check,
    copies_check,
    drawn_check,
    few_labels_check,
    guessing_check,
    randomness_check,
    simulation_check,
)
from labelworth.planning.trust.randomness import randomness
from labelworth.planning.trust.verdict import (
    AS_ASKED,
    CONDITIONAL,
    NOT_TESTED,
    THERE_IS_NONE,
    Verdict,
    verdict_by_choice,
    verdict_by_folds,
    verdict_by_forecast,
    verdict_without_classes,
)
from labelworth.planning.units import in_units
from labelworth.policies.choosing import RANDOM, Choosing
from labelworth.policies.policy import Policy
from labelworth.policies.rule import Rule
from labelworth.progress import SILENT, Whole
from labelworth.simulation.basis import ForecastBasis, forecast_basis, forecast_work, simulated_sizes, sources_of
from labelworth.simulation.forecast import Excess, forecast, is_clearly_better
from labelworth.simulation.learner import Mode, Source, known_codes
from labelworth.simulation.metrics import metric_of, pilot_units
from labelworth.simulation.pilot_points import point_sizes
from labelworth.simulation.pool_use import PoolUse, pool_use_work, simulate_pool_use
from labelworth.simulation.selection import without_optimism
from labelworth.tradeoff.costs import Prices
from labelworth.tradeoff.problem import SHARES, Question
from labelworth.wording import count, money, number

_FARTHEST = 8
"""So many times the labels held are simulated; beyond it a forecast goes on along its own slope."""
_WHOLE = ("everything", "nothing")
_CONTRADICTION = 2.58
"""Standard errors that the error of the pilot's folds may be off what formulas say of today: 1 % are by chance."""
_SHARE_OF_BAR = 50
"""Percent of a plan's work that is done when kinds of labels are to be simulated, about."""


@dataclass(frozen=True, eq=False)
class Planner:
    """Looks at a pool, then asks the formulas or a simulation."""

    pool: Pool[Any]
    settings: PlanSettings
    progress: Whole = field(default_factory=lambda: Whole(SILENT, "planning"))
    leader: "Planner | None" = None  # Of a rival: the planner of the model that was best on the pilot's own folds.

    def plan(self, asked: Question) -> Plan:
        """Of the model that does best at the planned size, as far as forecasts can tell."""
        own, rival = self._plan(asked), self.rival
        if rival is None or not self.chosen.is_simulated or not self.progress.has_time(rival.least_work):
            return own
        size = self._planned_size(own)
        if is_clearly_better(rival.forecaster, self.forecaster, self.chosen.criterion, size):
            # Whoever asks least of money and error can have more from the rival, so it is better at that size too.
            return rival._beside(self, rival._plan(asked))
        plan = self._beside(rival, own)
        if (plan.refusal is None and not plan.is_open) or not self.is_ahead(rival, size):
            return plan
        reaches = rival._reaches(asked)
        if plan.refusal is None:
            return replace(plan, notes=(*plan.notes, reaches)) if reaches else plan
        return replace(plan, refusal=" ".join([plan.refusal, reaches]).rstrip())

    def _plan(self, asked: Question) -> Plan:
        """Of this model, whatever its rival is forecast to do."""
        if asked.kind == "budget" and isinstance(self.settings.costs, Prices):
            # Before anything is simulated.
            held = self._with_answers(held_before(self.pool, self.settings.costs))
            currency = self.settings.currency
            has_blank = "" in self.pool.data.evidence.classes
            require_budget(
                asked.value, held.n_labels, held.cost, currency, n_answers=held.n_answers, has_blank=has_blank
            )
        situation, chosen = self.situation(asked.pool, asked.value if asked.kind == "budget" else None)
        self._require_unit(asked, chosen)
        background, curve, surface = self._background(chosen, situation), None, None
        if chosen.is_simulated:
            excess, left_out = self._excess(chosen, situation)
            curve, surface = self._forecast(chosen, situation, excess), self._surface(chosen)
            background = replace(background, notes=[*background.notes, *left_out, *self._out_of_time(surface)])
        elif isinstance(situation.doubt, Alternatives):
            self.progress.expect(len(situation.doubt.builds))
        plan = assemble(
            situation,
            PlanQuestion(asked.kind, asked.value, chosen.criterion),
            background,
            checkpoint=self._steps(
                asked.kind,
                asked.value,
                situation.pool,
                chosen.criterion,
                self.settings.n_draws,
                [rule.spec for rule in self.menu],
                situation.price_list,
                *(() if self.kinds is None else (self.kinds.described,)),
            ),
            progress=self.progress,
            forecast=curve,
            simulated_surface=surface,
        )
        return plan if self.settings.by == RANDOM else self._with_choice(plan, situation, chosen)

    def _with_choice(self, plan: Plan, situation: Situation, chosen: ChosenSource) -> Plan:
        """The same plan with what chosen rows would buy, or why that is not said."""
        room, price = int(situation.pool), next((own.price for own in plan.worth if own.arm == "everything"), 0.0)
        why = self._why_no_choice(chosen) if room else "there is nothing left to label."
        if why is not None:
            note = f"What rows chosen by {self.settings.by} would buy is not said: {why}"
            return replace(plan, notes=(*plan.notes, note))
        planned = self._planned_size(plan) - self.pool.n_labeled
        choosing = Choosing(self.settings.by)
        if chosen.is_simulated:
            told = simulated_choice(self.basis, self._mode, chosen.criterion, choosing, planned, room, price)
        else:
            told = formula_choice(self.pool, situation, choosing, planned, room, price, self.settings.seed)
        return replace(plan, chosen=told)

    def _why_no_choice(self, chosen: ChosenSource) -> str | None:
        """Why chosen rows are not forecast; None: they are."""
        by, learner = self.settings.by, self.pool.learner
        if self.pool.kind != "documents" or self.settings.channels:
            return "rows are chosen of documents that get a label each."
        if learner.is_joint and not self.uses_unlabeled:
            return f"{LABELS_ONLY[0].lower()}{LABELS_ONLY[1:]}"
        if by == "worth" and self._mode not in learner.worth_modes:
            return f"it is not known of {self.pool.model_name}; by='uncertainty' is."
        if by == "uncertainty" and not learner.has_scores:
            return f"{self.pool.model_name} does not say how sure it is."
        if not chosen.is_simulated and chosen.criterion == "log_volume":
            return "the log volume is no error."
        return None

    @property
    def _choosings(self) -> list[Choosing]:
        """How else rows may be found than at random."""
        learner, by = self.pool.learner, self.settings.by
        if by == RANDOM or self.pool.kind != "documents" or self.settings.channels:
            return []
        is_known = bool(learner.worth_modes) if by == "worth" else learner.has_scores
        return [Choosing(by)] if is_known else []

    @cached_property
    def rival(self) -> "Planner | None":
        """Of the best model of another kind, with the same simulated labels; None: nothing was compared."""
        if self.pool.rival is None or self.settings.channels:
            return None
        return Planner(self.pool.rival(), self.settings, self.progress, self)

    @property
    def forecaster(self) -> tuple[ForecastBasis, Mode]:
        """What forecasts of this plan rest on."""
        return self.basis, self._mode

    def forecast_at(self, sizes: IntArray) -> FloatArray:
        """What is expected with so many labeled samples."""
        return forecast(*self.forecaster, self.chosen.criterion, sizes).values

    def is_ahead(self, rival: "Planner", size: int) -> bool:
        """Whether the rival is forecast to be better, by however little."""
        return bool(rival.forecast_at(np.array([size]))[0] < self.forecast_at(np.array([size]))[0])

    def _planned_size(self, plan: Plan) -> int:
        """Labeled samples in all."""
        return self.pool.n_labeled + round(sum(arm.count for arm in plan.recommended.arms if arm.arm != "nothing"))

    def _beside(self, other: "Planner", plan: Plan) -> Plan:
        """A plan of this model with what it and the other are forecast to reach, and where they cross."""
        choice = self.pool.choice
        if choice is None:
            return plan
        size = self._planned_size(plan)
        # Where they cross is said as far as was simulated.
        grid = forecast_sizes(self.pool.n_labeled, min(plan.held.n_samples, self._largest))
        sizes = np.concatenate([[size], grid])
        own, beside = self.forecast_at(sizes), other.forecast_at(sizes)
        later, earlier = (own, beside) if choice.by_forecast else (beside, own)
        is_behind = np.flatnonzero(later[1:] >= earlier[1:])
        first = int(is_behind[-1]) + 1 if is_behind.size else 0
        # Two digits: it is where two forecasts meet.
        crossing = int(float(f"{grid[first]:.1e}")) if first < len(grid) else None
        models = choice.with_forecasts(
            float(own[0]), float(beside[0]), crossing, is_close=not choice.by_forecast and self.is_ahead(other, size)
        )
        return replace(plan, models=models)

    def _reaches(self, asked: Question) -> str:
        """That this model is forecast to reach a target that another does not; empty: it does not either."""
        situation, _ = self.situation(asked.pool)
        try:
            counts = solved(situation, asked.kind, asked.value).counts
        except InfeasiblePlanError:
            return ""
        name = "" if self.pool.choice is None else self.pool.choice.chosen.name
        labels = number(round(situation.design(counts).labels_in_all))
        return (
            f"{name[:1].upper()}{name[1:]} is forecast to reach the target with {labels} labels in all, though by "
            "less than forecasts may be off."
        )

    def situation(self, pool: float, budget: float | None = None) -> tuple[Situation, ChosenSource]:
        """Where plans start.

        Parameters
        ----------
        pool : float
            How many more samples can be had; infinite for all samples without a label.
        budget : float, optional
            The most that may be paid, what is held included: no more is simulated of kinds of labels.
        """
        self.pool.require_anchored()
        chosen, prices = self.chosen, self.settings.price_list
        room = float(self.pool.n_unlabeled) if np.isinf(pool) else pool
        if np.isinf(pool) and self.kinds is not None:
            room -= self.kinds.n_done + self.kinds.n_settled
        if chosen.is_simulated and self.kinds is not None:
            situation = simulated_kinds(self._kind_simulation(self.kinds, room, budget), chosen, prices)
        elif chosen.is_simulated:
            situation = simulated_situation(
                self.pool, self.basis, self.menu, chosen, prices, room, uses_unlabeled=self.uses_unlabeled
            )
        else:
            situation = formula_situation(
                self.pool,
                self.menu,
                chosen,
                prices,
                room,
                n_draws=self.settings.n_draws,
                seed=self.settings.seed,
                kinds=self.kinds,
                progress=self.progress,
            )
        if not isinstance(self.settings.costs, Prices):
            situation = situation.priced_by(self.settings.costs, held_by_rule(self.pool.data, self.menu))
        n_settled = 0 if self.kinds is None else self.kinds.n_settled
        situation = replace(situation, held=replace(self._with_answers(situation.held), n_settled=n_settled))
        return replace(situation.with_error_of_today(), currency=self.settings.currency), chosen

    def _with_answers(self, held: Held) -> Held:
        """What is held with the answers among it, and what those have cost."""
        return replace(held, n_answers=self.settings.n_answers, cost=held.cost + self.settings.paid_for_answers)

    @cached_property
    def chosen(self) -> ChosenSource:
        """Formulas or simulation, and what error means."""
        if self.leader is not None:
            return replace(self.leader.chosen, reason="forecast beside the best of the comparison")
        weight = getattr(self.pool, "unlabeled_weight", 1.0)
        counted = f"samples without a label count {weight:g} each, which formulas do not know"
        distrust = self.verdict.distrust or (counted if self.uses_unlabeled and weight != 1 else None)
        chosen = self._choice(distrust)
        if chosen.is_simulated or self.settings.source != "auto":
            return chosen
        return self._choice(self._contradiction(chosen))

    def _contradiction(self, chosen: ChosenSource) -> str | None:
        """Why the pilot's own folds do not believe the formulas, which take the model for right; None: they do.

        A model that nobody named is the best of several, and no more is believed of it than its folds show.
        """
        if self.pool.choice is not None:
            return "the model was chosen on the pilot, and formulas would take it for right"
        verdict, prices = self.verdict, self.settings.price_list
        if chosen.criterion != "error" or not verdict.is_measured:
            return None
        today = formula_situation(
            self.pool, self.menu, chosen, prices, float(self.pool.n_unlabeled), n_draws=0, seed=self.settings.seed
        ).with_error_of_today()
        # Unlabeled samples are among what is held where they are free.
        learns = self.uses_unlabeled and today.unlabeled_is_free
        own, folds = today.held.error, verdict.error_with_unlabeled if learns else verdict.error_labels_only
        if own is None or folds is None:
            return None
        spread = np.sqrt(own * (1 - own) / self.pool.n_labeled)
        if abs(folds - own) <= _CONTRADICTION * spread:
            return None
        shares = [in_units(error, "error") for error in (own, folds)]
        return f"by its formulas the model errs {shares[0]} today, and {shares[1]} cross-validated"

    @cached_property
    def verdict(self) -> Verdict:
        """Whether unlabeled samples help: as asked, by the forecast's own comparison, or by cross-validation."""
        if self.pool.choice is not None and self.pool.n_unlabeled and self.settings.use_unlabeled == "auto":
            return verdict_by_choice(self.pool.choice)
        if self.pool.is_conditional:
            return CONDITIONAL
        if self.pool.n_unlabeled == 0 and self.pool.abilities.folds:
            return THERE_IS_NONE
        if self.settings.use_unlabeled != "auto":
            return AS_ASKED[self.settings.use_unlabeled]
        return verdict_without_classes(self.pool.data) or self._tested()

    def _tested(self) -> Verdict:
        if self._choice().is_simulated:
            return verdict_by_forecast(self.basis, self.pool.samples)
        if not self.pool.abilities.folds:
            return NOT_TESTED
        pool: Any = self.pool
        kept = self._steps().step("harm", lambda: verdict_by_folds(pool, self.settings.seed, self.progress).to_dict())
        return Verdict(**kept)

    @property
    def uses_unlabeled(self) -> bool:
        """Whether the plan learns from samples without a label."""
        return self.verdict.allows_use

    @cached_property
    def menu(self) -> list[Rule]:
        """The rules to choose from."""
        return read_menu(self.settings.rules, self.pool, uses_unlabeled=self.uses_unlabeled)

    @cached_property
    def kinds(self) -> KindMenu | None:
        """Kinds of labels to choose from; None: gold alone."""
        if not self.settings.channels:
            return None
        self._require_answers_learned()
        # Gold for whole samples is always on offer.
        given = read_menu(self.settings.rules, self.pool, uses_unlabeled=True)
        rules = list(dict.fromkeys([*read_menu(None, self.pool, uses_unlabeled=True), *given]))
        each = arm_prices(self.pool, rules, self.settings.price_list)
        price = dict(zip(each.arms, each.per_sample.tolist(), strict=True))
        labels = (sum(share * rule.expected_labels(m) for m, share in self.pool.lengths.items()) for rule in rules)
        guesses = KindGuesses.of(self.settings.channels, self.settings.answers, self.pool)
        menu = KindMenu.of(
            guesses.channels,
            self.pool.data.evidence.classes,
            [
                Part(rule, some, price[rule.spec])
                for rule, some in zip(rules, labels, strict=True)
                if rule.spec != "nothing"
            ],
            0.0 if self.chosen.is_simulated else price.get("nothing", 0.0),
            # By simulation all other documents are learned from, or none.
            uses_unlabeled=self.uses_unlabeled and not self.chosen.is_simulated,
            together=self.settings.together,
        )
        # Alone such audits buy nothing, and a simulation mixes what does something alone.
        audits = self.pool.kind == "documents" and not self.chosen.is_simulated
        return menu.with_held(guesses, self.pool.n_labeled, audits=audits)

    def _require_answers_learned(self) -> None:
        if not self.pool.learner.learns_answers:
            ours = {"documents": "'multinomial' or 'logistic'", "sequences": "'hidden-markov' or a CRF"}
            raise InvalidInputError(
                f"{self.pool.model_name} cannot learn from answers that may be wrong: take model="
                f"{ours[self.pool.kind]} for kinds of labels, or leave channels= out."
            )

    def _kind_simulation(self, kinds: KindMenu, room: float, budget: float | None) -> KindSimulation:
        pool: Any = self.pool
        paid = self._with_answers(held_before(pool, self.settings.price_list)).cost
        left = None if budget is None else max(budget - paid, 0.0)
        return KindSimulation(
            pool,
            self.basis,
            self._sources,
            kinds,
            self._mode,
            self.chosen.criterion,
            room,
            left,
            self.settings.seed,
            self.settings.metrics,
            self.progress,
            self._steps("kinds", kinds.described, *self._metric_names).step,
        )

    @cached_property
    def basis(self) -> ForecastBasis:
        """What forecasts rest on: simulated once, kept fit by fit with the other finished steps."""
        # The menu as given: whether "nothing" stays on it is decided by the simulation itself.
        menu = read_menu(self.settings.rules, self.pool, uses_unlabeled=True)
        # Parts that somebody answers for have simulations of their own.
        parts = [] if self.settings.channels else [rule for rule in menu if rule.spec not in _WHOLE]
        policies = [Policy.of(rule) for rule in parts]
        named = [choosing.name for choosing in self._choosings]
        steps = self._steps(self._largest, [policy.spec for policy in policies], *self._metric_names, *named)

        work = forecast_work(self.pool.learner, self.pool.data, self._largest, policies, self._choosings)

        def computed() -> dict[str, Any]:
            if self.leader is None:
                until = _SHARE_OF_BAR if self.settings.channels else 100
                self.progress.expect(work.whole + self._surface_work + self._rival_work, work.least, until=until)
            return forecast_basis(
                self.pool.learner,
                self.pool.data,
                self._largest,
                policies=policies,
                choosings=self._choosings,
                seed=self.settings.seed,
                metrics=self.settings.metrics,
                sources=self._sources,
                has_time=self.progress.has_time,
                workers=None,
                progress=self.progress,
                keep=steps.step,
            ).to_dict()

        def is_final(stored: dict[str, Any]) -> bool:
            return ForecastBasis.from_dict(stored).n_replicates == work.n_replicates

        basis = ForecastBasis.from_dict(steps.step("basis", computed, is_final))
        choice = self.pool.choice
        if choice is None:
            return basis
        return without_optimism(basis, "semi-supervised" if choice.chosen.uses_unlabeled else "labels-only", choice)

    @cached_property
    def _sources(self) -> dict[str, Source]:
        """Where simulated labels come from; a rival learns from the same ones."""
        if self.leader is not None:
            errors = self.leader.basis.source_errors
            return {name: replace(source, error=errors[name]) for name, source in self.leader._sources.items()}
        return sources_of(self.pool.learner, self.pool.data, workers=None)

    @property
    def least_work(self) -> int:
        """Of the simulation."""
        return forecast_work(self.pool.learner, self.pool.data, self._largest).least

    @property
    def _rival_work(self) -> int:
        """Of the simulation of the rival beside this model; 0: there is none."""
        rival = self.rival
        return 0 if rival is None else forecast_work(rival.pool.learner, rival.pool.data, rival._largest).whole

    def _choice(self, distrust: str | None = None) -> ChosenSource:
        criterion, abilities = self.settings.criterion, self.pool.abilities
        shares = set(SHARES) & set(abilities.formula_criteria)
        if self.settings.channels and shares and (len(self.pool.data.evidence.classes) > 2 or self.pool.is_large):
            # Of more classes than two, or without matrices, the formulas of kinds of labels give no share of errors.
            known = tuple(name for name in abilities.formula_criteria if name not in SHARES)
            abilities = replace(abilities, formula_criteria=known)
            criterion = "error" if criterion is None and self.settings.source == "auto" else criterion
        return choose_source(
            self.settings.source,
            criterion,
            n_labels=self.pool.n_labels,
            n_parameters=self.pool.n_parameters,
            abilities=abilities,
            distrust=distrust,
        )

    def _require_unit(self, asked: Question, chosen: ChosenSource) -> None:
        """Refuse a target where nobody said what it is measured in and the formulas do not give the error."""
        if asked.kind != "target" or self.settings.criterion is not None or chosen.is_simulated:
            return
        if MEASURED[0] not in self.pool.abilities.formula_criteria:
            raise InvalidInputError(
                f"Say what the target of {asked.value:g} is measured in: criterion='error' (share of wrong labels, "
                f"by simulation), or criterion='{chosen.criterion}' (nats per sequence, by formulas)."
            )

    def require_metrics(self) -> None:
        """Refuse metrics that this pool cannot have, before anything is simulated.

        Raises
        ------
        InvalidInputError
            If a class is not there or has too few labels, or the model gives no scores to set a threshold on.
        """
        data, learner = self.pool.data, self.pool.learner
        owner = np.repeat(np.arange(data.n_samples), data.lengths)
        for metric in self.settings.metrics:
            pilot_units(metric, known_codes(data), owner, data.evidence.classes)
            if metric.needs_scores and not learner.has_scores:
                raise InvalidInputError(
                    f"The {metric.words} needs a threshold on scores, and {self.pool.model_name} gives none: take a "
                    "model with predict_proba or decision_function (taggers: predict_marginals)."
                )

    def require_mode(self) -> None:
        """Refuse to leave unlabeled samples out where the model cannot be fitted without.

        Raises
        ------
        InvalidInputError
        """
        if self.settings.use_unlabeled == "no" and "labels-only" not in self.pool.learner.modes:
            raise InvalidInputError(
                f"{self.pool.model_name} is not fitted without samples that have no label, and use_unlabeled='no' "
                "asks for that. Leave it out, or name a model that learns from labels alone."
            )

    @property
    def _metric_names(self) -> list[str]:
        return [metric.spec for metric in self.settings.metrics]

    @property
    def _mode(self) -> Mode:
        return "semi-supervised" if self.uses_unlabeled else "labels-only"

    @property
    def _largest(self) -> int:
        """Labeled samples that are simulated."""
        return min(self.pool.n_samples, _FARTHEST * self.pool.n_labeled)

    def _excess(self, chosen: ChosenSource, situation: Situation) -> tuple[Excess | None, list[str]]:
        """What the formulas say, to stand beside a simulated forecast; and why not, where they say nothing."""
        if chosen.criterion not in self.pool.abilities.formula_criteria:
            return None, []
        from labelworth.planning.formulas.documents import formula_excess, why_no_excess

        pool: Any = self.pool
        most = pool.n_labeled + situation.n_without_gold
        excess = formula_excess(pool, self._mode, chosen.criterion, most, self.settings.seed)
        return excess, [] if excess is not None else [why_no_excess(pool)]

    def _forecast(self, chosen: ChosenSource, situation: Situation, excess: Excess | None) -> ForecastCurve:
        most = self.pool.n_labeled + situation.n_without_gold
        return simulated_curve(self.basis, self._mode, chosen.criterion, most, situation.positions_per_sample, excess)

    def _surface(self, chosen: ChosenSource) -> Surface | None:
        """By simulation; None where there is no sample without a label."""
        if not self._surface_work or not self.progress.has_time(self._surface_work):
            return None
        steps = self._steps(self._largest, *self._metric_names)

        def computed() -> dict[str, Any]:
            return simulate_pool_use(
                self.pool.learner,
                self.pool.data,
                self.basis,
                seed=self.settings.seed,
                metrics=self.settings.metrics,
                sources=self._sources,
                workers=None,
                progress=self.progress,
                keep=steps.step,
            ).to_dict()

        use = PoolUse.from_dict(steps.step("pool use", computed))
        return simulated_surface(self.basis, use, chosen.criterion, self._mode)

    @cached_property
    def _surface_work(self) -> int:
        """What the refits behind the surface take; 0: there is none."""
        if not self.pool.abilities.surface or not self.pool.n_unlabeled or len(self.pool.learner.modes) < 2:
            return 0
        if self.settings.channels:
            # Kinds of labels take the place of the labeled fraction.
            return 0
        sizes = simulated_sizes(point_sizes(self.pool.n_labeled), self._largest, self.pool.n_samples)
        return pool_use_work(sizes, self.pool.n_samples)

    def _out_of_time(self, surface: Surface | None) -> list[str]:
        """What was left out of a simulation for want of time."""
        left_out = []
        wanted = forecast_work(self.pool.learner, self.pool.data, self._largest).n_replicates
        if self.basis.n_replicates < wanted:
            times = "once" if self.basis.n_replicates == 1 else f"{self.basis.n_replicates} times"
            left_out.append(f"curves were simulated {times}, not {wanted} times, so figures are noisier")
        if surface is None and self._surface_work:
            left_out.append("the error over parts of the pool was not simulated")
        return [f"With max_time={self.settings.max_time:g} minutes, {' and '.join(left_out)}."] if left_out else []

    def _background(self, chosen: ChosenSource, situation: Situation) -> Background:
        return Background(
            self.uses_unlabeled,
            chosen.reason,
            self._checks(chosen),
            [*self.pool.notes, *self._empty(), *self._notes(chosen, situation)],
            pilot_record(self.pool.is_labeled),
            self.pool.model_name,
            self.settings.seed,
            self.pool.choice,
            self._examples(chosen.criterion),
        )

    def _examples(self, criterion: str) -> int | None:
        """Labeled samples of the class that a metric hangs on; None: it is no metric."""
        metric, data = metric_of(criterion), self.pool.data
        if metric is None:
            return None
        owner = np.repeat(np.arange(data.n_samples), data.lengths)
        return metric.n_examples(known_codes(data), owner, data.evidence.classes)

    def _empty(self) -> list[str]:
        """How many documents nothing is known of."""
        samples = self.pool.in_numbers
        if not isinstance(samples, Samples) or not samples.is_sparse:
            return []
        n_empty = int((samples.row_sums() == 0).sum())
        if not n_empty:
            return []
        have = "has" if n_empty == 1 else "have"
        return [
            f"{number(n_empty)} of {count(samples.n_samples, 'document')} {have} no word to go by, being empty or "
            "without a word that others have: all of these get the same prediction."
        ]

    def _notes(self, chosen: ChosenSource, situation: Situation) -> list[str]:
        if self.kinds is None or self.kinds.guesses is None:
            return self._notes_of_source(chosen, situation)
        held = self.kinds.guesses.note_of_held()
        if self.settings.answers is not None:
            paid = money(self.settings.paid_for_answers, self.settings.currency)
            held = [
                *held,
                f"What is held has cost {paid} for {count(self.settings.n_answers, 'answer')} beside its labels.",
            ]
        return [*self.kinds.guesses.notes, *held, *self._notes_of_source(chosen, situation)]

    def _notes_of_source(self, chosen: ChosenSource, situation: Situation) -> list[str]:
        if not chosen.is_simulated:
            if not self.pool.is_large:
                return []
            return [
                "With so many parameters intervals show the noise of random probes alone, not the pilot's own "
                "uncertainty; source='simulated' has intervals that do."
            ]
        notes, prices, kind = [], self.settings.costs, self.pool.samples
        if not isinstance(prices, Prices):
            notes.append(
                f"Simulated plans take all {kind} without a label as they are: the cost function was asked about "
                f"labeled {kind} alone."
            )
        elif prices.per_unlabeled:
            notes.append(f"Simulated plans take all {kind} without a label as they are; their price is left out.")
        if isinstance(situation.accuracy, KindsAccuracy):
            n_ways, n_draws = len(situation.accuracy.rays), situation.accuracy.rays[0].n_draws
            notes.append(
                f"Kinds of labels were simulated in {n_ways} ways, each alone and two together, with {n_draws} draws "
                "of labels and answers; they are told by the gold labels that do as much."
            )
        elif len(situation.accuracy.arms) > 1:
            notes.append("Rules were simulated one by one; mixtures of them are put together from those.")
        return notes

    def _checks(self, chosen: ChosenSource) -> tuple[Check, ...]:
        guesses = None if self.kinds is None else self.kinds.guesses
        return (
            *(() if guesses is None else (Check("kinds of labels", "warning", words) for words in guesses.warnings)),
            self.verdict.check(),
            *self._contradicted(chosen),
            *(
                (
                    simulation_check(self.basis, self._mode),
                    *guessing_check(self.basis, self._mode, chosen.criterion, self.pool.choice),
                )
                if chosen.is_simulated
                else ()
            ),
            self._draw_check(),
            *(few_labels_check(self.pool.n_labeled) if chosen.is_simulated else ()),
            class_check(self.pool.data),
            *(copies_check(self.pool.data) if self.pool.kind == "documents" else ()),
            convergence_check(self.pool.converged),
        )

    def _contradicted(self, chosen: ChosenSource) -> tuple[Check, ...]:
        """That simulated answers rest on a model that the pilot speaks against."""
        if self.kinds is None or not chosen.is_simulated or not self.verdict.is_measured:
            return ()
        if self.verdict.answer != "hurts":
            return ()
        samples = self.pool.samples
        return (
            Check(
                "kinds of labels",
                "warning",
                f"On this pilot learning from {samples} without a label makes predictions worse, so the model is "
                f"wrong about them. {samples.capitalize()} with answers alone are learned from in the same way, and "
                "simulated answers follow models: they may do less than is said here, or harm. Buy a part of them "
                "first; `labelworth check --answers` then says on rows with gold.",
            ),
        )

    def _draw_check(self) -> Check:
        """Whether labels were drawn at random, or how they count where they were chosen."""
        is_misled = self.pool.learner.is_joint and not self.uses_unlabeled
        drawn = drawn_check(self.pool.data, is_misled=is_misled)
        return drawn or randomness_check(randomness(self.pool.in_numbers, self.settings.seed))

    @cached_property
    def _context(self) -> dict[str, Any]:
        """What every finished step depends on."""
        return {
            "data": data_digest(self.pool.data),
            "model": [self.pool.model_name, self.pool.model_digest],
            "settings": dict(self.pool.settings),
            "seed": self.settings.seed,
            "labelworth": version("labelworth"),
            **({} if self.leader is None else {"labels of": self.leader.pool.model_name}),
        }

    def _steps(self, *asked: Any) -> Checkpoint:
        folder = self.settings.checkpoint
        if folder is None:
            return Checkpoint(None, {})
        return Checkpoint(Path(folder), {**self._context, "asked": list(asked)})


def pilot_record(is_labeled: BoolArray) -> dict[str, Any]:
    """Which samples carry labels, as JSON knows it: their rows as ranges, and a digest to know the pilot again."""
    rows = np.flatnonzero(is_labeled)
    return {
        "size": len(rows),
        "n_samples": len(is_labeled),
        "digest": bytes_digest(np.ascontiguousarray(rows, dtype="<i8").tobytes()),
        "rows": ranges(rows),
    }


def ranges(rows: IntArray) -> str:
    """Rising whole numbers in short: the ends of every run of neighbors.

    Examples
    --------
    >>> ranges(np.array([0, 1, 2, 5, 8, 9]))
    '0-2, 5, 8-9'
    """
    runs = np.split(rows, np.flatnonzero(np.diff(rows) != 1) + 1) if len(rows) else []
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
