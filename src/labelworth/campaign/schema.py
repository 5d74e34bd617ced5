"""What a campaign's store holds, as tables, and the numbered steps that bring an older store up to them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.schema import CreateColumn, CreateIndex, CreateTable

METADATA = sa.MetaData()
_SINCE = "since"
"""Under this name a table, column or index says with which version of the schema it came."""


def _table(name: str, *parts: Any, since: int = 1, **options: Any) -> sa.Table:
    return sa.Table(f"lw_{name}", METADATA, *parts, info={_SINCE: since}, **options)


def _id() -> "sa.Column[int]":
    # SQLite counts rows by INTEGER PRIMARY KEY alone; elsewhere a campaign may outgrow 32 bits.
    return sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True)


def _to(table: str, name: str, **options: Any) -> "sa.Column[int]":
    return sa.Column(name, sa.BigInteger, sa.ForeignKey(f"lw_{table}.id"), **{"nullable": False, **options})


def _where(condition: str) -> dict[str, Any]:
    """A partial index, as both databases have them."""
    return {"sqlite_where": sa.text(condition), "postgresql_where": sa.text(condition)}


_TIME = sa.Double
"""Seconds since 1970."""

settings = _table(
    "settings",
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),  # JSON
)
items = _table(
    "items",
    _id(),  # In the order in which they were added.
    sa.Column("name", sa.Text, nullable=False, unique=True),  # What it is called in the files it came from.
    sa.Column("content", sa.Text, nullable=False),  # A text; of a sequence JSON: columns of its tokens.
    sa.Column("n_tokens", sa.Integer),  # Of a sequence.
)
annotators = _table(
    "annotators",
    _id(),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("channel", sa.Text, nullable=False),  # Which kind of labels they give.
    sa.Column("price", sa.Double, nullable=False),  # Of a label.
    sa.Column("token_hash", sa.Text, unique=True),  # None: they cannot come in.
    sa.Column("created_at", _TIME, nullable=False),
    sa.Column("withdrawn_at", _TIME),
)
requests = _table(
    "requests",
    _id(),  # In the random order of their batch: who stops early has labeled a random draw.
    _to("items", "item_id"),
    sa.Column("positions", sa.Text),  # JSON: the tokens that are asked about; None of a document.
    sa.Column("question", sa.Text, nullable=False),  # JSON: is it one of these classes? Empty: which class is it?
    sa.Column("channel", sa.Text, nullable=False),  # Which kind of annotators is asked.
    sa.Column("votes", sa.Integer, nullable=False),  # How many different annotators are to answer.
    sa.Column("given", sa.Integer, nullable=False),  # Answers that stand.
    sa.Column("held", sa.Integer, nullable=False),  # Leases that have not ended.
    sa.Column("rule", sa.Text, nullable=False),  # Which labeling rule, or arm of a plan, asks for it.
    sa.Column("drawn_by", sa.Text, nullable=False),
    sa.Column("probability", sa.Double),  # Of the item to be drawn, before the draw.
    sa.Column("batch", sa.Integer, nullable=False),
    sa.Column("why", sa.Text, nullable=False),
    sa.Column("created_at", _TIME, nullable=False),
    sa.Column("closed_at", _TIME),  # When it was no longer wanted.
    sa.CheckConstraint("given >= 0 AND held >= 0 AND votes >= 1"),
)
leases = _table(
    "leases",
    _id(),
    _to("requests", "request_id"),
    _to("items", "item_id"),
    _to("annotators", "annotator_id"),
    sa.Column("taken_at", _TIME, nullable=False),
    sa.Column("expires_at", _TIME, nullable=False),
    sa.Column("ended_at", _TIME),
    sa.Column("ended_by", sa.Text),  # answered, released or expired
)
answers = _table(
    "answers",  # Rows are added, never changed.
    _id(),
    sa.Column("key", sa.Text, nullable=False),  # Who sends it again sends this again.
    _to("requests", "request_id"),
    _to("items", "item_id"),
    _to("annotators", "annotator_id"),
    _to("answers", "withdraws", nullable=True),  # An answer that this row takes back; it says nothing else then.
    sa.Column("said", sa.Text, nullable=False),  # JSON: a list with an entry per token asked, of a document one.
    sa.Column("seconds", sa.Double),
    sa.Column("price", sa.Double, nullable=False),
    sa.Column("given_at", _TIME, nullable=False),
    sa.UniqueConstraint("annotator_id", "key"),
)
standing = _table(
    "standing",  # The answers that were not taken back: nobody stands twice for one request.
    _to("answers", "answer_id", primary_key=True, autoincrement=False),
    _to("requests", "request_id"),
    _to("items", "item_id"),
    _to("annotators", "annotator_id"),
    sa.UniqueConstraint("request_id", "annotator_id"),
)
plans = _table(
    "plans",
    _id(),
    sa.Column("state", sa.Text, nullable=False),  # waiting, running, done or failed
    sa.Column("asked", sa.Text, nullable=False),  # JSON: the question and its options
    sa.Column("progress", sa.Double, nullable=False),  # 0 to 1
    sa.Column("doing", sa.Text, nullable=False),  # in a few words
    sa.Column("worker", sa.Text),  # who computes it; whoever that is says so again and again
    sa.Column("heartbeat", _TIME),
    sa.Column("created_at", _TIME, nullable=False),
    sa.Column("ended_at", _TIME),
    sa.Column("error", sa.Text),  # why there is no plan
    sa.Column("record", sa.Text),  # JSON: the plan, as `labelworth plan --output` writes it
    since=2,
)
realised = _table(
    "realised",  # What came true of a plan, again and again.
    _id(),
    _to("plans", "plan_id"),
    sa.Column("measured_at", _TIME, nullable=False),
    sa.Column("labels", sa.Double, nullable=False),  # How many were learned from.
    sa.Column("error", sa.Double, nullable=False),
    sa.Column("error_se", sa.Double, nullable=False),
    sa.Column("forecast", sa.Double),  # What the plan said of so many labels, and its interval.
    sa.Column("low", sa.Double),
    sa.Column("high", sa.Double),
    since=2,
)
guesses = _table(
    "guesses",  # What a model that was fitted to the answers says of items.
    _to("items", "item_id", primary_key=True, autoincrement=False),
    sa.Column("said", sa.Text, nullable=False),  # JSON: of a document or every token, a class and its probability.
    since=2,
)
# Counted from the answers, and made anew from them at any time.
unfolded = _table("unfolded", _to("answers", "answer_id", primary_key=True, autoincrement=False), since=2)
tallies = _table(
    "tallies",
    _to("annotators", "annotator_id", primary_key=True, autoincrement=False),
    sa.Column("against", sa.Text, primary_key=True),
    sa.Column("other", sa.Text, primary_key=True),
    sa.Column("said", sa.Text, primary_key=True),
    sa.Column("n", sa.BigInteger, nullable=False),
    since=2,
)
totals = _table(
    "totals",
    _to("annotators", "annotator_id", primary_key=True, autoincrement=False),
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("n", sa.Double, nullable=False),
    since=2,
)
counts = _table(
    "counts",
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("n", sa.BigInteger, nullable=False),
    since=2,
)

WANTED = "closed_at IS NULL AND votes > given + held"
"""Of a request: somebody can be asked now."""
OPEN = "ended_at IS NULL"
"""Of a lease: somebody is working on it, or was when it ran out."""
_INDEXES = (
    (1, sa.Index("lw_requests_wanted", requests.c.channel, requests.c.id, **_where(WANTED))),
    (1, sa.Index("lw_requests_item", requests.c.item_id)),
    (1, sa.Index("lw_requests_batch", requests.c.batch)),
    (1, sa.Index("lw_leases_expiry", leases.c.expires_at, **_where(OPEN))),
    (1, sa.Index("lw_leases_annotator", leases.c.annotator_id, leases.c.item_id, **_where(OPEN))),
    (1, sa.Index("lw_leases_request", leases.c.request_id, leases.c.annotator_id)),
    (1, sa.Index("lw_answers_item", answers.c.item_id)),
    (1, sa.Index("lw_standing_annotator", standing.c.annotator_id, standing.c.item_id)),
    (1, sa.Index("lw_standing_item", standing.c.item_id)),
    (2, sa.Index("lw_answers_annotator", answers.c.annotator_id, answers.c.id)),
    (2, sa.Index("lw_realised_plan", realised.c.plan_id)),
)


@dataclass(frozen=True)
class Step:
    """One version of the schema: what came with it."""

    version: int
    what: str
    then: Callable[[sa.Connection], None] | None = None  # What is done with what was there.

    def apply(self, connection: sa.Connection) -> None:
        """Make the tables, columns and indexes of this version."""
        for table in METADATA.sorted_tables:
            since = table.info[_SINCE]
            if since == self.version:
                connection.execute(CreateTable(_as_of(table, self.version)))
            elif since < self.version:
                for column in table.columns:
                    if column.info.get(_SINCE, since) == self.version:
                        words = CreateColumn(column).compile(dialect=connection.dialect)
                        connection.exec_driver_sql(f"ALTER TABLE {table.name} ADD COLUMN {words}")
        for since, index in _INDEXES:
            if since == self.version:
                connection.execute(CreateIndex(index))
        if self.then is not None:
            self.then(connection)


def _count_all(connection: sa.Connection) -> None:
    """Answers that there are already are yet to be counted."""
    connection.execute(sa.insert(unfolded).from_select(["answer_id"], sa.select(answers.c.id)))
    connection.execute(sa.insert(counts), [{"name": name, "n": 0} for name in COUNTED])


COUNTED = ("answered", "labeled")
"""Items with an answer that stands, and with a gold label."""
STEPS = (
    Step(1, "items, annotators, requests, leases, answers"),
    Step(2, "plans and what came true of them, guesses, and who agrees with whom", _count_all),
)
"""In order. A store of version v has seen the first v of them; what they made is never changed, only added to."""
VERSION = STEPS[-1].version


def _as_of(table: sa.Table, version: int) -> sa.Table:
    """A table as it was made: without the columns that came later."""
    if all(column.info.get(_SINCE, version) <= version for column in table.columns):
        return table
    kept = [column for column in table.columns if column.info.get(_SINCE, version) <= version]
    return sa.Table(table.name, sa.MetaData(), *(column.copy() for column in kept))
