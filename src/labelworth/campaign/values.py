"""What a campaign hands out: frozen values, without anything of the database."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:
    from labelworth.formats.losses import Loss

Kind = Literal["documents", "sequences"]
Role = Literal["annotator", "manager"]
KINDS: tuple[Kind, ...] = get_args(Kind)
ROLES: tuple[Role, ...] = get_args(Role)

GOLD = "gold"
"""The kind of labels that are taken as the truth; answers of any other kind are evidence of it."""


@dataclass(frozen=True)
class Settings:
    """What was said when the campaign began."""

    name: str
    kind: Kind
    classes: tuple[str, ...]
    lease_minutes: float  # How long somebody may take for a task before others get it.
    votes: int  # How many different annotators answer a request, unless it says otherwise.
    currency: str  # What prices are in; it stands before amounts.
    created_at: float  # Seconds since 1970, as all times here.


@dataclass(frozen=True)
class Person:
    """An annotator or a manager."""

    id: int
    name: str
    role: Role
    channel: str  # Which kind of labels they give: `GOLD`, or a name such as "crowd".
    price: float  # Of a label of theirs: an answer about a document, or about one token.
    created_at: float
    withdrawn_at: float | None  # Since when they may not come in any more.

    @property
    def is_withdrawn(self) -> bool:
        return self.withdrawn_at is not None


@dataclass(frozen=True)
class Invitation:
    """A person, and the token by which they come in: said once, and kept nowhere but as a hash."""

    person: Person
    token: str


@dataclass(frozen=True)
class Added:
    """What `add` found."""

    n_new: int
    n_known: int  # Items that were there already, with the same content.
    n_gold: int  # New labels that came along.
    notes: tuple[str, ...] = ()
    n_answers: int = 0  # New answers of several people that came along, a token counts as one.


@dataclass(frozen=True)
class Item:
    """A document or a sequence."""

    id: int
    name: str  # What it is called in the files it came from.
    text: str | None  # Of a document.
    columns: Mapping[str, tuple[str, ...]] | None  # Of a sequence: its tokens, and what else was said of them.
    word_column: str | None = None

    @property
    def tokens(self) -> tuple[str, ...] | None:
        return None if self.columns is None or self.word_column is None else self.columns[self.word_column]


@dataclass(frozen=True)
class Request:
    """Who is asked what about an item, and why."""

    id: int
    item_id: int
    positions: tuple[int, ...] | None  # The tokens that are asked about, counted from 0; None of a document.
    question: tuple[str, ...]  # Is it one of these classes, yes or no? Empty: which class is it?
    channel: str
    votes: int
    given: int  # Answers that stand.
    held: int  # Annotators who work on it.
    rule: str
    drawn_by: str  # "random", or by what the item was chosen.
    probability: float | None  # Of the item to be drawn.
    batch: int
    why: str
    created_at: float
    closed_at: float | None

    @property
    def n_units(self) -> int:
        """How many labels an answer holds."""
        return 1 if self.positions is None else len(self.positions)

    @property
    def words(self) -> str:
        """The question as one asks it."""
        if not self.question:
            return "Which class is it?"
        return f"Is it {'one of these: ' if len(self.question) > 1 else ''}{', '.join(self.question)}?"


@dataclass(frozen=True)
class Task:
    """A request that somebody holds, with all that one needs to answer it."""

    request: Request
    item: Item
    lease_id: int
    expires_at: float


Unit = str | tuple[str, ...] | bool | None
"""What is said of a document or a token: a class; a set, it is one of these; yes or no; None, "cannot say"."""


@dataclass(frozen=True)
class Given:
    """An answer, as it is kept."""

    id: int
    key: str
    request_id: int
    item: str  # Its name.
    annotator: str
    said: tuple[Unit, ...]  # Per token asked; of a document one.
    seconds: float | None
    price: float
    given_at: float
    stands: bool  # False: it was taken back.


@dataclass(frozen=True)
class Acknowledged:
    """An answer, or what takes one back, is on the disk."""

    answer_id: int
    key: str
    is_new: bool  # False: it was acknowledged before, under the same key, and counts once.
    task: Task | None = None  # Of what was taken back: it can be answered anew.


Guess = tuple[tuple[str, float], ...]
"""What a model says of a document, or of every token: a class, and how probable it is."""


@dataclass(frozen=True)
class Desk:
    """What somebody has before them."""

    task: Task | None  # None: nothing is wanted of them now.
    guess: Guess | None  # Of the task's item; None: there is no model yet.
    last: int | None  # The last answer of theirs that stands, and what it says.
    last_said: tuple[Unit, ...] = ()


@dataclass(frozen=True)
class Written:
    """A file with what a campaign holds."""

    n_rows: int
    losses: "tuple[Loss, ...]" = ()  # What its format cannot hold, and is not in it.


@dataclass(frozen=True)
class Assigned:
    """A batch of new requests."""

    batch: int
    n_items: int
    n_requests: int
    n_labels: int  # Wanted of them all: votes times tokens.
    cost: float  # What they cost at the mean price of those who can be asked.
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class PersonStatus:
    """What somebody did."""

    person: Person
    n_answers: int  # That stand.
    n_cannot_say: int
    n_taken_back: int
    seconds: float | None  # Per answer, on average; None: nobody knows.
    spent: float
    gold_agreed: int  # Labels that are those of gold ...
    gold_compared: int  # ... of so many that have both.
    others_agreed: int  # Pairs with an answer of somebody else to the same that agree ...
    others_compared: int  # ... of so many pairs.
    n_held: int  # Tasks that they work on.
    last_at: float | None

    @property
    def gold_agreement(self) -> float | None:
        return self.gold_agreed / self.gold_compared if self.gold_compared else None

    @property
    def others_agreement(self) -> float | None:
        return self.others_agreed / self.others_compared if self.others_compared else None


@dataclass(frozen=True)
class BatchStatus:
    """How far a batch is."""

    batch: int
    n_requests: int
    n_done: int
    wanted: int  # Answers.
    given: int
    channels: tuple[str, ...]
    why: str
    created_at: float


def is_of_plan(batch: BatchStatus, plan: int) -> bool:
    """Whether it asks for what a plan recommends."""
    return plan_of(batch.why) == plan


def plan_of(why: str) -> int | None:
    """The plan for which something is asked, by how the reason begins; None where it is asked for otherwise."""
    word, _, number = why.partition(":")[0].partition(" ")
    return int(number) if word == "plan" and number.isdecimal() else None


@dataclass(frozen=True)
class Status:
    """How far a campaign is."""

    settings: Settings
    n_items: int
    n_labeled: int  # Items with a gold label.
    n_answered: int  # Items with an answer of any kind.
    n_requests: int
    n_done: int  # Requests that have all their answers.
    wanted: int  # Answers wanted of all requests ...
    given: int  # ... and given.
    held: int  # Tasks that somebody works on.
    due: int  # Answers that nobody works on yet.
    n_answers: int  # That stand; gold labels that came with the files not counted.
    spent: float
    people: tuple[PersonStatus, ...]
    batches: tuple[BatchStatus, ...]
    behind: int = 0  # Answers that the figures of people, labels and money do not count yet.


@dataclass(frozen=True)
class Confusion:
    """What somebody said where gold, or others, said something else."""

    annotator: str
    against: Literal["gold", "others"]
    terms: tuple[str, ...]  # Classes; "not A" where no to "is it A?" was said.
    counts: Mapping[tuple[str, str], int]  # By (what the truth or somebody else says, what they said).


@dataclass(frozen=True)
class Realised:
    """What came true of a plan: the planned model, cross-validated on the labels that there are by then."""

    measured_at: float
    labels: float  # How many were learned from.
    error: float  # In the plan's criterion; of a metric what is missing to one.
    error_se: float
    forecast: float | None  # What the plan said of so many labels, and its interval; None: it said nothing of it.
    low: float | None
    high: float | None


PlanState = Literal["waiting", "running", "done", "failed"]


@dataclass(frozen=True)
class PlanJob:
    """A plan that is to be made, is being made or was made."""

    id: int
    state: PlanState
    asked: Mapping[str, Any]  # The question and its options.
    progress: float  # From 0 to 1.
    doing: str
    created_at: float
    ended_at: float | None
    error: str | None  # Why there is no plan.
    record: Mapping[str, Any] | None  # The plan, as `labelworth plan --output` writes it.
    realised: tuple[Realised, ...] = ()  # Oldest first.

    @property
    def lines(self) -> tuple[str, ...]:
        """The plan in plain words, the answer first."""
        return () if self.record is None else tuple(self.record["lines"])

    @property
    def advice(self) -> str | None:
        """To label, to stop, or a larger pilot first."""
        return None if self.record is None else str(self.record["advice"])

    @property
    def labels(self) -> float | None:
        """Labels to buy."""
        return None if self.record is None else float(self.record["recommended"]["labels"])

    @property
    def cost(self) -> float | None:
        """What is to be paid for them."""
        return None if self.record is None else float(self.record["recommended"]["cost"])

    @property
    def forecast(self) -> tuple[float, float | None, float | None] | None:
        """The error to expect then, and its interval."""
        if self.record is None:
            return None
        interval = self.record["error_interval"] or {"low": None, "high": None}
        return float(self.record["recommended"]["error"]), interval["low"], interval["high"]
