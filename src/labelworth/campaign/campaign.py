"""`lw.Campaign`: the one door to a campaign's store."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import sqlalchemy as sa

from labelworth.campaign import answering, counting, desk, jobs, leases, opening, people, schema
from labelworth.campaign import items as adding
from labelworth.campaign import status as figures
from labelworth.campaign.rows import item_of, one_request, person_of, request_of
from labelworth.campaign.store import Store, Where
from labelworth.campaign.tallies import Against
from labelworth.campaign.values import (
    GOLD,
    Acknowledged,
    Added,
    Assigned,
    Confusion,
    Desk,
    Given,
    Guess,
    Invitation,
    Item,
    Kind,
    Person,
    PlanJob,
    Realised,
    Request,
    Role,
    Settings,
    Status,
    Task,
    Written,
)
from labelworth.errors import InvalidInputError
from labelworth.progress import Progress

if TYPE_CHECKING:
    # What draws and plans is loaded when somebody draws or plans: who answers does not wait for it.
    from labelworth.campaign.export import What
    from labelworth.campaign.planning import Snapshot
    from labelworth.formats.source import EmptyMeans
    from labelworth.policies.choosing import By

_COUNTING = 0.5
"""For how many seconds answers are counted when somebody looks."""


class Campaign:
    """People, what they are asked and why, and what they say; kept in one SQLite file or a PostgreSQL.

    Made by `create` or `open`; threads and processes may share one campaign, each process with a `Campaign` of its
    own. What a method returns is durable: it outlives the process and the power.

    Examples
    --------
    >>> import tempfile, labelworth as lw
    >>> folder = tempfile.TemporaryDirectory()
    >>> campaign = lw.Campaign.create(f"{folder.name}/mails.db", name="Mails", classes=["ham", "spam"])
    >>> campaign.add(["win money now", "see you at nine"]).n_new
    2
    >>> ann = campaign.invite("ann").person
    >>> campaign.assign(count=2).n_requests
    2
    >>> task = campaign.lease(ann)[0]
    >>> campaign.answer(ann, task.request.id, "spam", key="1", seconds=2.5).is_new
    True
    >>> campaign.status().given, campaign.status().due
    (1, 1)
    >>> campaign.close(); folder.cleanup()
    """

    def __init__(self, store: Store, settings: Settings, clock: Callable[[], float]) -> None:
        self._store, self.settings, self._clock = store, settings, clock

    @classmethod
    def create(
        cls,
        where: Where,
        *,
        name: str,
        classes: Sequence[str],
        kind: Kind = "documents",
        lease_minutes: float = 30.0,
        votes: int = 1,
        currency: str = "",
        clock: Callable[[], float] = time.time,
    ) -> Self:
        """Begin a campaign.

        Parameters
        ----------
        where : path or URL
            A new file for SQLite, or ``postgresql://user@host/database``, which holds no campaign yet.
        name : str
            What people see it called.
        classes : sequence of str
            All classes there are, in the order in which they are shown; of sequences the tags of tokens.
        kind : "documents" or "sequences"
        lease_minutes : float
            How long somebody may take for a task before others get it.
        votes : int
            How many different annotators answer a request, unless it says otherwise.
        currency : str
            What prices are in, as "EUR".
        clock : callable
            The time in seconds since 1970.
        """
        settings = opening.new_settings(name, classes, kind, lease_minutes, votes, currency, clock())
        store = opening.new_store(where, settings)
        return cls(store, settings, clock)

    @classmethod
    def open(cls, where: Where, *, clock: Callable[[], float] = time.time) -> Self:
        """Go on with a campaign; one of an older version is brought up to this one first.

        Raises
        ------
        DataUnavailableError
            If there is no such file.
        InvalidInputError
            If it is not a campaign, or one of a newer version.
        StoreUnavailableError
            If it is locked, or its server is not there.
        """
        store, settings = opening.opened_store(where)
        return cls(store, settings, clock)

    def close(self) -> None:
        """Close all connections."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ---- people

    def invite(self, name: str, *, role: Role = "annotator", channel: str = GOLD, price: float = 0.0) -> Invitation:
        """Let somebody in.

        Parameters
        ----------
        name : str
            What they are called, as nobody else is.
        role : "annotator" or "manager"
        channel : str
            Which kind of labels they give. "gold" are taken as the truth; of any other name, such as "crowd", answers
            are evidence of it, and plans learn how often they are right.
        price : float
            Of a label: an answer about a document, or about one token.

        Returns
        -------
        Invitation
            With their token, which is shown now and never again.
        """
        now = self._clock()
        return self._store.write(lambda connection: people.invited(connection, name, role, channel, price, now=now))

    def renew_token(self, name: str) -> Invitation:
        """Give somebody a new token, and let them in again if they were withdrawn; the old one opens nothing."""
        return self._store.write(lambda connection: people.with_token(connection, name))

    def withdraw(self, name: str) -> Person:
        """Let somebody in no more; what they said stays, and what they hold is given back."""
        now = self._clock()

        def without(connection: sa.Connection) -> Person:
            leases.released(connection, people.require_person(connection, name).id, None, now=now)
            return people.withdrawn(connection, name, now=now)

        return self._store.write(without)

    def who(self, token: str) -> Person | None:
        """Whose token it is; None: nobody's, or of somebody who was withdrawn."""
        return self._store.read(lambda connection: people.who(connection, token))

    def person(self, name: str) -> Person:
        return self._store.read(lambda connection: people.require_person(connection, name))

    def people(self) -> list[Person]:
        """Everybody, withdrawn ones too, in the order in which they came."""
        query = sa.select(schema.annotators).where(schema.annotators.c.name != people.FILE)
        ordered = query.order_by(schema.annotators.c.id)
        return self._store.read(lambda connection: [person_of(row) for row in connection.execute(ordered)])

    # ---- items

    def add(
        self,
        source: Any,
        *,
        id_column: str = "id",
        text_column: str | None = None,
        label_column: str | None = None,
        format: str | None = None,
        encoding: str = "utf-8",
        question: str | None = None,
        empty_means: "EmptyMeans | None" = None,
        approved: str | Path | None = None,
        tokenizer: str | None = None,
        channel: str = "crowd",
    ) -> Added:
        """Add items; the same again changes nothing.

        Labels that come along are gold answers of the file. Where several people judged items of an export, what
        they said are answers of theirs, and of those only what the tool marks as the truth is gold. Items keep their
        ids; those without one are called after their content.

        Parameters
        ----------
        source : path or list
            A file as `labelworth plan` takes it; or texts, lists of tokens, or mappings with "text" or "tokens", and
            "id", "label" or "tags" beside.
        id_column, text_column, label_column : str
            Where the file has ids, texts (or tokens) and labels; "none" for no labels.
        format, encoding : str
            Where the ending of the file does not say.
        question, empty_means, approved
            Of what an annotation tool exported, as `labelworth.read_export` takes them.
        tokenizer : "words", "whitespace" or "own", optional
            How texts with spans are cut into tokens; those of the tool where it has any, else words.
        channel : str
            Of which kind those people are who are not known here; they come in once they get a token.

        Raises
        ------
        InvalidInputError
            If a label is no class, or an item with the same id has another content; nothing is added then.
        """
        from labelworth.campaign.reading import read_items
        from labelworth.formats.source import Reading

        beside = None if approved is None else Path(approved)
        new, notes = read_items(
            source,
            self.settings,
            Reading(text_column, question, empty_means, beside, encoding),
            id_column=id_column,
            label_column=label_column,
            format=format,
            tokenizer=tokenizer,
            channel=channel,
        )
        now = self._clock()

        def work(connection: sa.Connection) -> Added:
            opening.one_at_a_time(connection)
            return adding.added(connection, new, notes, now=now)

        return self._store.write(work)

    def item(self, name: str) -> Item:
        """A document or sequence by its id."""
        query = sa.select(schema.items).where(schema.items.c.name == name)
        row = self._store.read(lambda connection: connection.execute(query).one_or_none())
        if row is None:
            raise InvalidInputError(f"There is no item {name!r:.80} in this campaign.")
        return item_of(row, row.id)

    # ---- requests

    def assign(
        self,
        *,
        count: int | None = None,
        plan: int | None = None,
        by: "By" = "random",
        votes: int | None = None,
        channel: str = GOLD,
        question: Sequence[str] = (),
        policy: str | None = None,
        audit: bool = False,
        model: str | None = None,
        why: str | None = None,
        seed: int | None = None,
        after: int | None = None,
    ) -> Assigned:
        """Ask for answers about items that nobody was asked about.

        Items are drawn as `labelworth next` draws rows, with probabilities that are kept with every request.

        Parameters
        ----------
        count : int, optional
            How many items.
        plan : int, optional
            Instead: as many, and of those kinds of annotators, as this plan recommends; once.
        by : "random", "uncertainty" or "worth"
            At random, or of documents with a probability that follows what the model does not know.
        votes : int, optional
            How many different annotators answer each; as the campaign says unless given.
        channel : str
            Which kind of annotators is asked.
        question : sequence of str
            Classes: "is it one of these?", yes or no. Empty: which class is it?
        policy : str, optional
            Of sequences, which tokens are asked about, as ``"0.5*window:5 + 0.5*everything"``.
        audit : bool
            Ask about items that have a gold label, which shows how often annotators are right.
        model : str, optional
            Where items are chosen, by which model; chosen itself by cross-validation unless given.
        why : str, optional
            Kept with the requests.
        seed : int, optional
            Of the draw; the number of the batch unless given.
        after : int, optional
            The last batch that one knows of, 0 of none: where there is another by now nothing is asked for, so that
            who asks twice by accident does so once.
        """
        from labelworth.campaign import assigning, planning

        draw = assigning.drawing(
            self.settings,
            assigning.Asked(channel, self.settings.votes if votes is None else votes, tuple(question)),
            count=count,
            job=None if plan is None else self.plan_job(plan),
            by=by,
            policy=policy,
            audit=audit,
            why=why,
            seed=seed,
            scores=lambda: planning.scores(self._snapshot(), by, model, seed or 0),
        )
        now = self._clock()

        def work(connection: sa.Connection) -> Assigned:
            opening.one_at_a_time(connection)
            if after is not None:
                assigning.require_last(connection, after)
            return assigning.assigned(connection, self.settings, draw, now=now)

        return self._store.write(work)

    def request(self, number: int) -> Request | None:
        """What was asked of whom, and why."""
        return self._store.read(lambda connection: one_request(connection, number))

    # ---- leases

    def lease(self, annotator: Person, n: int = 1) -> list[Task]:
        """Give somebody tasks: those that they hold, and new ones up to `n` in all; fewer where no more are wanted.

        Nobody gets an item that they have answered, and nobody what others hold or have answered, unless more votes
        are wanted. A task is theirs for `lease_minutes`; then others get it.
        """
        now = self._clock()
        until = now + 60 * self.settings.lease_minutes
        return self._store.write(lambda connection: leases.leased(connection, annotator.id, n, now=now, until=until))

    def desk(self, annotator: Person, request: int | None = None) -> Desk:
        """What somebody has before them: a task, that request's if they hold it, and the answer before."""
        now = self._clock()
        until = now + 60 * self.settings.lease_minutes

        def work(connection: sa.Connection) -> Desk:
            person = leases.locked_person(connection, annotator.id)
            return desk.desk_of(connection, person, request, now=now, until=until)

        return self._store.write(work)

    def tasks(self, annotator: Person) -> list[Task]:
        """What somebody holds, longest held first."""
        now = self._clock()
        return self._store.read(lambda connection: leases.tasks_of(connection, annotator.id, now=now))

    def renew(self, annotator: Person, request: int) -> float:
        """Let somebody go on with a task that they hold; says until when."""
        now = self._clock()
        until = now + 60 * self.settings.lease_minutes
        return self._store.write(
            lambda connection: leases.renewed(connection, annotator.id, request, now=now, until=until)
        )

    def release(self, annotator: Person, request: int | None = None) -> int:
        """Give a task back to others, or all of them; says how many."""
        now = self._clock()
        return self._store.write(lambda connection: leases.released(connection, annotator.id, request, now=now))

    # ---- answers

    def answer(
        self, annotator: Person, request: int, said: Any, *, key: str, seconds: float | None = None
    ) -> Acknowledged:
        """Keep an answer; returns when it is durable.

        The same answer sent again under the same key counts once. Where the time for the task ran out the answer is
        kept if it is still wanted and nobody else works on it.

        Parameters
        ----------
        annotator : Person
        request : int
            The number of a request that they hold.
        said : class, set, bool, None, or a mapping or list of these
            Of a document a class, a list of classes ("one of these"), None ("cannot say"), or True or False where a
            question was asked; of a sequence one of these per token asked, in order or by position.
        key : str
            Made by the sender, anew for every answer.
        seconds : float, optional
            How long it took.

        Raises
        ------
        InvalidInputError
            If that does not answer what was asked.
        NotWantedError
            If the answer is not wanted (any more), or something else was sent under the same key; it was not kept.
        StoreUnavailableError
            If it could not be kept now: send it again, with the same key.
        """
        now, sent = self._clock(), answering.Sent(request, said, key, seconds)
        return self._store.write(
            lambda connection: answering.answered(connection, annotator.id, sent, self.settings.classes, now=now)[1]
        )

    def answer_and_go_on(
        self, annotator: Person, request: int, said: Any, *, key: str, seconds: float | None = None
    ) -> Desk:
        """Keep an answer as `answer` does, and lease what comes next: one transaction, one wait for the disk."""
        now, sent = self._clock(), answering.Sent(request, said, key, seconds)
        until = now + 60 * self.settings.lease_minutes

        def work(connection: sa.Connection) -> Desk:
            person, _ = answering.answered(connection, annotator.id, sent, self.settings.classes, now=now)
            return desk.desk_of(connection, person, now=now, until=until)

        return self._store.write(work)

    def undo(self, annotator: Person, *, key: str, answer: int | None = None) -> Acknowledged:
        """Take back an answer of theirs, the last one that stands unless named; they hold its task again.

        What was said stays in the log, with a row that takes it back.
        """
        now = self._clock()
        until = now + 60 * self.settings.lease_minutes
        return self._store.write(
            lambda connection: answering.taken_back(connection, annotator.id, answer, key, now=now, until=until)
        )

    def answers(self, annotator: Person | None = None, *, limit: int = 50) -> list[Given]:
        """The last answers of somebody, or of everybody, newest first."""
        number = None if annotator is None else annotator.id
        return self._store.read(lambda connection: answering.given_by(connection, number, limit))

    # ---- figures

    def status(self) -> Status:
        """How far the campaign is: progress, people, money, what is due.

        Answers that came since the last time are counted first, for half a second at most; `Status.behind` says how
        many are left.
        """
        self.count(seconds=_COUNTING)
        now = self._clock()
        return self._store.read(lambda connection: figures.status(connection, self.settings, now=now))

    # ---- plans

    def plan(
        self,
        *,
        budget: float | None = None,
        target: float | str | None = None,
        alpha: float | None = None,
        checkpoint: str | Path | None = None,
        progress: Progress | None = None,
        **options: Any,
    ) -> PlanJob:
        """Say how many more labels to ask for, of which kind, and what accuracy that buys; kept with the campaign.

        Parameters
        ----------
        budget, target, alpha
            Exactly one, as `labelworth.plan` takes them.
        checkpoint : path, optional
            A folder in which finished steps are kept; the same question goes on from there.
        progress : Progress, optional
            Who else wants to know how far it is.
        **options
            `model` by name, `prices`, `criterion`, `source`, `rules`, `pool`, `use_unlabeled`, `n_draws`, `seed`,
            `max_time` and `by`, as `labelworth.plan` takes them; `kinds`: other kinds of labels in words, those that
            people gave here unless named. A gold label costs what those who give them take on average.

        Raises
        ------
        LabelworthError
            If there can be no plan; that is kept too.
        """
        number = self.start_plan(budget=budget, target=target, alpha=alpha, **options)
        job = self.work(number, checkpoint=checkpoint, progress=progress, raises=True)
        if job is None:
            raise InvalidInputError(f"Somebody else is at plan {number} by now.")
        return job

    def start_plan(
        self,
        *,
        budget: float | None = None,
        target: float | str | None = None,
        alpha: float | None = None,
        **options: Any,
    ) -> int:
        """Write down a plan that is to be made by whoever calls `work`; says its number."""
        from labelworth.campaign import planning

        asked = planning.require_options({"budget": budget, "target": target, "alpha": alpha, **options})
        now = self._clock()
        return self._store.write(lambda connection: jobs.started(connection, asked, now=now))

    def work(
        self,
        plan: int | None = None,
        *,
        checkpoint: str | Path | None = None,
        progress: Progress | None = None,
        raises: bool = False,
    ) -> PlanJob | None:
        """Make a plan that waits, that one or the oldest, in this thread; None: there is none.

        Its progress is kept with it. One whose worker says nothing for a minute is begun again by the next who comes;
        with `checkpoint`, where it was.
        """
        from labelworth.campaign import making

        number = making.made(self._store, self.settings, self._clock, plan, checkpoint, progress, raises=raises)
        return None if number is None else self.plan_job(number)

    def plan_job(self, number: int) -> PlanJob:
        """A plan by its number, made or not, with what came true of it."""
        now = self._clock()
        return self._store.read(lambda connection: jobs.require_job(connection, number, now=now))

    def plans(self, *, limit: int = 50) -> list[PlanJob]:
        """Plans, newest first."""
        now = self._clock()
        return self._store.read(lambda connection: jobs.jobs(connection, now=now, limit=limit))

    def realise(self, plan: int) -> Realised | None:
        """Measure what came true of a plan with the labels that there are now, and keep it beside the forecast.

        None: no labels tell, or there are too few.
        """
        from labelworth.campaign import making

        return making.measured(self._store, self.settings, self._clock, plan)

    def guess(self, item: str) -> Guess | None:
        """What the model of the last plan says of a document or every token: a class, and how probable it is."""
        return self._store.read(lambda connection: desk.guess_of(connection, self.item(item).id))

    def _snapshot(self) -> "Snapshot":
        from labelworth.campaign.planning import Snapshot

        return self._store.read(lambda connection: Snapshot.of(connection, self.settings))

    # ---- out

    def export(
        self, path: str | Path, what: "What" = "labels", *, format: str | None = None, accept_losses: bool = False
    ) -> Written:
        """Write what the campaign holds to a file, whole or not at all; says how many rows it has, and what is lost.

        Parameters
        ----------
        path : path
            ``.jsonl``, ``.csv`` or ``.tsv``; labels of sequences also ``.conll``.
        what : "labels", "answers" or "requests"
            The items with their labels, and how they were drawn; every answer that stands, as
            `labelworth.read_answers` reads them; or who was asked what, and why.
        format : str, optional
            Instead: as a tool reads it, such as "label-studio" or "prodigy", with every answer that stands.
        accept_losses : bool
            Whether to write what that format can hold where that is not everything.
        """
        from labelworth.campaign import export as taking_out

        asked = sa.select(schema.requests).order_by(schema.requests.c.id)
        rows = self._store.read(lambda connection: [request_of(row) for row in connection.execute(asked)])
        taking_out.require_what(what, format)
        return taking_out.written(self._snapshot(), rows, Path(path), what, format, accept_losses=accept_losses)

    # ---- counts

    def count(self, seconds: float | None = None) -> None:
        """Count answers that are not counted yet, for so many seconds; all of them unless given."""
        counting.caught_up(self._store, self.settings, seconds)

    def confusion(self, annotator: str, against: Against = "gold") -> Confusion:
        """What somebody said where gold, or others, said something of the same."""
        self.count(seconds=_COUNTING)
        return self._store.read(lambda connection: figures.confusion(connection, self.settings, annotator, against))
