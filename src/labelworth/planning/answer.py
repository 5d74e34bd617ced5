"""What a plan says, as plain values: what to label, what it buys, how sure that is."""

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from labelworth.estimators.pools.pool import PoolKind
from labelworth.planning.landscape import ForecastCurve, FrontierDesign, Solutions, Surface
from labelworth.simulation.calibration import Floor
from labelworth.simulation.selection import ModelChoice
from labelworth.tradeoff.accuracy import Source
from labelworth.tradeoff.problem import Problem

Advice = Literal["label", "stop", "larger pilot"]
State = Literal["good", "warning", "bad", "unknown"]

LEVEL = 0.9
"""How often an interval should hold the truth."""

NORMAL_95 = 1.645
"""A normal figure lies below its mean plus this many standard errors in 95 cases of 100."""


@dataclass(frozen=True)
class PlanQuestion:
    """What was asked: the least error within a budget, the least cost for a target, or least cost + alpha x error."""

    problem: Problem
    value: float  # Money in all, what the pilot cost included; an error; or money per unit of error.
    criterion: str  # What "error" means; of a metric, errors are what is missing to one.


@dataclass(frozen=True)
class Interval:
    """Between what bounds a figure lies."""

    low: float
    high: float
    level: float = LEVEL  # How often such an interval should hold the truth.
    method: str = "normal draws"  # How it was found: "normal draws", "bootstrap", "forecast" or "probes".


@dataclass(frozen=True)
class ArmCount:
    """How many more samples go to one way of labeling."""

    arm: str  # The spec of a rule: "everything" labels a sample whole, "nothing" takes it without a label.
    count: float  # Samples; a whole number in what is recommended.
    labels: float  # Labels that takes.
    cost: float  # What is to be paid for it.


@dataclass(frozen=True)
class ChosenRows:
    """What labels of chosen rows buy, beside as many of rows at random."""

    by: str  # What they are chosen by: "worth" or "uncertainty".
    n_rows: int  # How many more: as many as the plan buys, or the next hundred where it buys none.
    error: float  # With so many chosen, its interval (None: by formulas, which have none here), and at random.
    interval: Interval | None
    error_at_random: float
    today: float  # The error with the labels held.
    n_next: int  # The next so many rows: by how much they lower that, chosen and at random, and what they cost.
    gain: float
    gain_at_random: float
    cost: float
    as_many: float | None = None  # By formulas: so many rows at random do what `n_rows` chosen ones do.


@dataclass(frozen=True)
class Design:
    """A way to go on."""

    arms: tuple[ArmCount, ...]  # What is to be had beyond what is held.
    # Labels to buy, and with those already held; where there are kinds of labels, answers are counted with them.
    labels: float
    labels_in_all: float
    n_samples: float  # Documents or sequences that will be learned from, with those already held.
    # Labels in all over everything that could carry one among those samples; where there are kinds of labels, samples
    # with any label or answer over all of those.
    labeled_fraction: float
    cost: float  # What is to be paid, and with what was already paid.
    cost_in_all: float
    error: float  # What to expect then.
    error_se: float | None = None  # Its standard error, where it was sampled.


@dataclass(frozen=True)
class Certificate:
    """Proof that no other design is better."""

    gap: float  # By how much, at most, any other design could be better (before counts were made whole).
    worth_of_money: float | None = None  # By how much one more unit of money lowers the error.
    worth_of_sample: float | None = None  # By how much one more sample in the pool does.
    # Whether all this holds only were the error convex in the counts, which sampling may have bent: then it is
    # no proof.
    if_convex: bool = False


@dataclass(frozen=True)
class Worth:
    """What one more sample of an arm is worth once the plan is carried out.

    Where the plan takes every sample of the pool, a label comes in place of an unlabeled sample, whose own gain and
    price are subtracted: gain and price are what one more label does to the error and the cost of this plan.
    """

    arm: str
    gain: float  # By how much it lowers the error.
    price: float  # By how much it raises the cost.
    gain_per_money: float | None  # None: it is free.
    # How many unlabeled samples do as much good; None: not known, or no number of them does.
    unlabeled_samples: float | None = None
    gain_se: float | None = None  # The standard error of the gain, where it is forecast.
    n_next: int = 1  # So many more samples are spoken of at once, and by how much they lower the error.
    next_gain: float = 0.0

    @property
    def is_clear(self) -> bool:
        """Whether what the next samples gain shows beside the forecast's own error; 5 % of no gains do."""
        return self.next_gain > self.n_next * self.noise

    @property
    def noise(self) -> float:
        """How large a gain of one the forecast's own error may look like; 0 where it is not forecast."""
        return NORMAL_95 * (self.gain_se or 0.0)


Onto = Literal["new", "answered", "labeled"]
"""Which documents are asked about: some of the pool, or held ones with answers and no gold, or with gold."""


@dataclass(frozen=True)
class Offer:
    """What a row can get: an arm as records keep it."""

    arm: str
    gold: bool  # Whether the row gets a gold label.
    asks: dict[str, int]  # By kind of label, how many answers the row gets.
    price: float  # Of one row.
    part: str | None = (
        None  # Of a sequence, the rule by which its tokens are chosen; None: a row is asked about whole.
    )
    positions: float = 1.0  # Tokens of a sequence that are asked about, in the mean.
    onto: Onto = "new"

    def to_dict(self) -> dict[str, Any]:
        figures = asdict(self)
        usual = (*(("part", "positions") if self.part is None else ()), *(("onto",) if self.onto == "new" else ()))
        return {name: value for name, value in figures.items() if name not in usual}


@dataclass(frozen=True)
class KindWorth:
    """What the answers of one kind of label are worth, and how many of them a plan buys."""

    kind: str
    price: float  # Of one answer.
    worth: float | None  # The most that an answer may cost for the plan to buy any; None: not known, or any price.
    is_needed: bool  # Whether nothing else does what is asked, so that any price is worth paying.
    answers: float  # That are to be bought, on so many samples, for so much.
    samples: float
    cost: float
    is_unknown: bool  # Whether its confusion is estimated with the model.
    # By simulation: as many gold labels do as much as so many answers; None: not simulated.
    stands_for: float | None = None
    of_answers: float | None = None
    # Where it was simulated: what an answer may be worth at least and at most; less than nothing is harm.
    worth_ends: tuple[float, float] | None = None
    n_held: int = 0  # Answers that there are already.
    n_audited: int = 0  # Those of them to rows with a gold label.
    faith: str | None = None  # Where nobody has looked how often it errs: that, in words.
    question: str | None = None  # Of a kind that is asked yes or no: about which classes.
    is_left: bool = True  # Whether there is any sample that it could still be asked about.
    is_new_left: bool = True  # Whether one of these has no gold.

    @property
    def is_clear(self) -> bool:
        """Whether what is worth something can be told from nothing; of nothing 5 % can."""
        return self.worth is None or self.worth_ends is None or self.worth_ends[0] > 0


@dataclass(frozen=True)
class Check:
    """Something that was looked at before trusting the plan."""

    name: str
    state: State
    words: str  # A sentence or two.


@dataclass(frozen=True)
class Held:
    """What there is before the plan."""

    kind: PoolKind
    n_samples: int  # Documents or sequences, labeled or not.
    n_labeled: int  # Those with a label.
    n_labels: int  # Labels: of documents as many, of sequences tokens.
    n_pool: int  # Samples without any label.
    n_parameters: int | None  # Of the model; None: not known, of a classifier that is known by its fits alone.
    classes: tuple[str, ...]
    cost: float  # What the labels and answers held cost by the prices given.
    error: float | None  # What to expect of the labels held, by the same figures as the plan's.
    n_answers: int = 0  # Of kinds of labels, beside the labels.
    named: str = ""  # What samples are called where not by their kind: "rows" of vectors and tables.
    n_settled: int = 0  # Samples without a label that nobody is asked about again: sequences with answers.

    @property
    def n_left(self) -> int:
        """Samples that somebody can still be asked about."""
        return self.n_pool - self.n_settled

    @property
    def samples(self) -> str:
        """What they are called, in the plural."""
        return self.named or self.kind

    @property
    def sample(self) -> str:
        return self.samples[:-1]

    def to_dict(self) -> dict[str, Any]:
        """Without what there is none of."""
        rare = ("n_answers", "named", "n_settled")
        return {name: value for name, value in asdict(self).items() if value or name not in rare}


@dataclass(frozen=True)
class Odds:
    """How probable it is that a round of labels tells whether a target is met."""

    odds: float  # Of the larger pilot that is asked for.
    even: int | None  # The fewest more samples with even odds or better; None: more than are ever asked for at once.


@dataclass(frozen=True)
class Limit:
    """How far this model can go: what all of the pool would buy, labeled whole, and what no number of labels does."""

    labels_in_all: float  # All there could be, with those held.
    error: float  # What to expect then.
    interval: Interval | None  # Of that error.
    gain: float | None  # By how much that is less than what to expect of the labels held; None: that is not known.
    floor: Floor | None  # What no number of labels takes away; None: not known.


def open_labels(question: PlanQuestion, design: Design, interval: Interval | None) -> Interval | None:
    """The interval of the labels to buy, unless a budget fixes them: where it is spent, but for whole samples.

    That less would do at the ends of what is known is said by what the labels are worth.
    """
    whole = sum(arm.labels / arm.count for arm in design.arms if arm.count > 0)
    if interval is None or (question.problem == "budget" and interval.high - design.labels <= whole):
        return None
    return interval


@dataclass(frozen=True)
class Plan:
    """What to label next and what that buys.

    Attributes
    ----------
    question : PlanQuestion
    advice : "label", "stop" or "larger pilot"
        The last: by these figures labeling should stop, or go on for more than ten times the labels held, but the
        pilot is too small to rely on them.
    why_stop : str or None
        Why labeling should stop; None: it should not.
    held : Held
    uses_unlabeled : bool
        False: the unlabeled data hurts or cannot be tested, and the plan is for labels only.
    source : "asymptotic" or "simulated"
    reason : str
        Why that source.
    criterion_words : str
        What the error is, in words.
    recommended : Design
    labels_interval, error_interval : Interval or None
        On the number of labels to buy, and on the error to expect, the pilot's own uncertainty included.
    certificate : Certificate or None
        None: the design was found by search, and nothing is known of better ones.
    worth : tuple of Worth
        Of one more sample of every arm, once the plan is carried out; where the advice is a larger pilot, of the
        next one.
    frontier : tuple of FrontierDesign
    surface : Surface or None
        For documents.
    forecast : ForecastCurve or None
    solutions : Solutions
    checks : tuple of Check
    notes : tuple of str
    pilot : dict
        Which samples carry labels: their rows in the data as ranges, and a digest of them.
    model : str
        The kind of model.
    seed : int
    prices : dict
        What one more sample of every arm costs, or which function said so; and what was paid for what is held.
    more_pilot : int or None
        How many more samples to label at random before planning again, where the advice is a larger pilot.
    models : ModelChoice or None
        How the model was chosen, and the others beside it; None: it was named.
    odds : Odds or None
        That this larger pilot tells whether the target is met; None: that is not what it is for.
    currency : str
        Stands before amounts of money; empty: nothing does.
    refusal : str or None
        Why no plan meets the target that was asked for: this one is for the nearest that can be met. None: it does.
    is_open : bool
        Whether the target may be met though the forecast reaches it with no number of labels: its interval does. Then
        the advice is a larger pilot, and what is recommended is the nearest that the forecast does reach.
    menu : tuple of Offer
        What samples can be given to, in the order of all counts, where there are kinds of labels; empty: gold alone.
    kinds : tuple of KindWorth
        What every kind of label is worth, and how many answers of it the plan buys.
    chosen : ChosenRows or None
        What chosen rows would buy in place of rows at random; None: nobody asked.
    """

    question: PlanQuestion
    advice: Advice
    why_stop: str | None
    held: Held
    uses_unlabeled: bool
    source: Source
    reason: str
    criterion_words: str
    recommended: Design
    labels_interval: Interval | None
    error_interval: Interval | None
    certificate: Certificate | None
    worth: tuple[Worth, ...]
    frontier: tuple[FrontierDesign, ...]
    surface: Surface | None
    forecast: ForecastCurve | None
    solutions: Solutions
    checks: tuple[Check, ...]
    notes: tuple[str, ...]
    pilot: dict[str, Any] = field(default_factory=dict)
    model: str = ""
    seed: int = 0
    prices: dict[str, Any] = field(default_factory=dict)
    more_pilot: int | None = None
    models: ModelChoice | None = None
    odds: Odds | None = None
    currency: str = ""
    refusal: str | None = None
    is_open: bool = False
    menu: tuple[Offer, ...] = ()
    kinds: tuple[KindWorth, ...] = ()
    chosen: ChosenRows | None = None

    @property
    def arms(self) -> tuple[str, ...]:
        """The ways of labeling, in the order of all counts."""
        return tuple(arm.arm for arm in self.recommended.arms)

    @property
    def open_labels(self) -> Interval | None:
        """The interval of the labels to buy, unless a budget fixes them."""
        return open_labels(self.question, self.recommended, self.labels_interval)

    @property
    def limit(self) -> Limit | None:
        """How far this model can go, by the end of the forecast; None: there is none, or nothing left to label."""
        curve = self.forecast
        if curve is None or curve.error[-1] is None or not self.held.n_pool:
            return None
        interval = None
        if curve.low and curve.low[-1] is not None and curve.high[-1] is not None:
            method = "forecast" if self.error_interval is None else self.error_interval.method
            interval = Interval(curve.low[-1], curve.high[-1], method=method)
        today = self.held.error
        gain = None if today is None else today - curve.error[-1]
        return Limit(curve.labels[-1], curve.error[-1], interval, gain, curve.floor)

    def lines(self) -> list[str]:
        """The plan in plain words: classes that the pilot lacks, if any; seven lines; then warnings."""
        from labelworth.planning.words import lines

        return lines(self)

    def to_dict(self) -> dict[str, Any]:
        """As JSON knows it."""
        limit = None if self.limit is None else asdict(self.limit)
        figures = {**asdict(self), "held": self.held.to_dict(), "limit": limit, "lines": self.lines()}
        figures["menu"] = [offer.to_dict() for offer in self.menu]
        for name in ("models", "odds", "currency", "refusal", "is_open", "menu", "kinds", "chosen"):
            if not figures[name]:
                del figures[name]
        return figures
