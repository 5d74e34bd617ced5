"""One SQLite file, or a PostgreSQL: connections, transactions that end durable or not at all, and errors in words."""

import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar, cast

import sqlalchemy as sa
from sqlalchemy import event, exc

from labelworth.campaign.prepared import Prepared
from labelworth.errors import InvalidInputError, LabelworthError, StoreUnavailableError

Result = TypeVar("Result")
Work = Callable[[sa.Connection], Result]
Where = str | PathLike[str]

_BUSY_SECONDS = 30.0
_TRIES = 8
_RETRIED = ("40001", "40P01")
"""PostgreSQL: could not serialize, deadlock: the transaction was undone and may be tried again."""
_GROUP = 64
"""So many writes at most share one commit."""
_SCHEMES = ("postgresql://", "postgres://", "postgresql+psycopg://")


class Store:
    """Reads see one state; writes are acknowledged when they are durable.

    Parameters
    ----------
    where : path or URL
        A file for SQLite, or ``postgresql://user@host/database``.
    """

    def __init__(self, where: Where) -> None:
        self.is_file = "://" not in str(where)
        self.where = str(where) if self.is_file else _without_password(str(where))
        self.engine = _sqlite(Path(where)) if self.is_file else _postgresql(str(where))
        self._waiting: list[_Waiting] = []
        self._queue, self._is_writing = threading.Lock(), False

    def close(self) -> None:
        self.engine.dispose()

    def read(self, work: Work[Result]) -> Result:
        """Do some reading in one transaction, which sees one state of the store."""
        try:
            with self.engine.connect() as connection, connection.begin():
                return work(connection)
        except exc.DBAPIError as error:
            raise self._in_words(error) from error

    def write(self, work: Work[Result]) -> Result:
        """Do some reading and writing in one transaction; returns when it is durable.

        It happens as a whole, alone or as if alone; an error that `work` raises undoes all of it. `work` may be
        called again where the database asks for that, so it must do nothing but talk to its connection.
        """
        return self._grouped(work) if self.is_file else self._retried(work)

    def _retried(self, work: Work[Result]) -> Result:
        for tried in range(_TRIES):
            try:
                with self.engine.begin() as connection:
                    return work(connection)
            except exc.DBAPIError as error:
                if getattr(error.orig, "sqlstate", None) not in _RETRIED or tried == _TRIES - 1:
                    raise self._in_words(error) from error
                time.sleep(0.005 * 2**tried)
        raise AssertionError("the last try returns or raises")

    def _grouped(self, work: Work[Result]) -> Result:
        """SQLite has one writer: those who wait for it share its next commit, and so one wait for the disk.

        Whoever comes when nobody writes does so, for all who wait by then; after that the first who came meanwhile.
        """
        own = _Waiting(work)
        try:
            with self._queue:
                self._waiting.append(own)
                if not self._is_writing:
                    self._is_writing = True
                    own.called.set()
            own.called.wait()
            if own.outcome is None:
                self._write_for_all()
        except BaseException:
            self._hand_over(leaving=own)
            raise
        result, failure = own.outcome or (None, None)
        if failure is not None:
            raise failure
        return cast("Result", result)

    def _write_for_all(self) -> None:
        with self._queue:
            group, self._waiting = self._waiting[:_GROUP], self._waiting[_GROUP:]
        try:
            self._write_together(group)
        finally:
            self._hand_over()
            for one in group:
                one.called.set()

    def _hand_over(self, leaving: "_Waiting | None" = None) -> None:
        """Let the first who waits write; `leaving`: somebody who was interrupted, whose turn it may have been."""
        with self._queue:
            if leaving is not None:
                if leaving not in self._waiting:
                    return
                self._waiting.remove(leaving)
                if not leaving.called.is_set():
                    return
            if self._waiting:
                self._waiting[0].called.set()
            else:
                self._is_writing = False

    def _write_together(self, group: list["_Waiting"]) -> None:
        """One transaction: every work of a group has its outcome when it is durable."""
        interrupted = StoreUnavailableError(f"Writing to {self.where} was interrupted; send it again.")
        outcomes: list[_Outcome] = [(None, interrupted)] * len(group)
        try:
            with self.engine.connect() as plain:
                connection = plain.execution_options(writes=True)
                with connection.begin():
                    found = [_tried(one.work, connection) for one in group]
            outcomes = found
        except Exception as error:
            words = self._in_words(error) if isinstance(error, exc.DBAPIError) else error
            outcomes = [(None, words)] * len(group)
        finally:
            for one, outcome in zip(group, outcomes, strict=True):
                one.outcome = outcome

    def _in_words(self, error: exc.DBAPIError) -> LabelworthError:
        """What went wrong, and what to do."""
        said = str(error.orig).strip().partition("\n")[0]
        if self.is_file:
            return _sqlite_words(self.where, said)
        if isinstance(error, exc.OperationalError) or error.connection_invalidated:
            return StoreUnavailableError(
                f"The database of the campaign cannot be used now ({self.where}): {said}. Nothing acknowledged is "
                "lost; try again when its server is there."
            )
        return InvalidInputError(f"The database {self.where} refused: {said}.")


_Outcome = tuple[Any, Exception | None]


class _Waiting:
    """Some work, and who waits for it: called when it is done, or when it is their turn to write."""

    def __init__(self, work: Work[Any]) -> None:
        self.work, self.called = work, threading.Event()
        self.outcome: _Outcome | None = None


_BEGIN_ONE, _END_ONE = Prepared(sa.text("SAVEPOINT one")), Prepared(sa.text("RELEASE one"))
_UNDO_ONE = Prepared(sa.text("ROLLBACK TO one"))


def _tried(work: Work[Any], connection: sa.Connection) -> _Outcome:
    """The result, or the error that undid this work alone; an error of the database undoes the whole group."""
    _BEGIN_ONE.run(connection)
    try:
        outcome: _Outcome = (work(connection), None)
    except Exception as error:
        if isinstance(error, exc.DBAPIError) and not isinstance(error, exc.IntegrityError):
            raise
        _UNDO_ONE.run(connection)
        outcome = (None, error)
    _END_ONE.run(connection)
    return outcome


def _sqlite_words(where: str, said: str) -> LabelworthError:
    if "locked" in said or "busy" in said:
        return StoreUnavailableError(
            f"{where} is locked by another program for more than {_BUSY_SECONDS:.0f} s. Nothing acknowledged is "
            "lost; close what holds it, then try again."
        )
    if "full" in said:
        return StoreUnavailableError(
            f"The disk of {where} is full. Nothing acknowledged is lost; make room, then send again what was not."
        )
    if "not a database" in said:
        return InvalidInputError(
            f"{where} is not a campaign: it is no SQLite file. Name one that `campaign new` made."
        )
    if "readonly" in said or "read-only" in said:
        return StoreUnavailableError(f"{where} may not be written to. Nothing acknowledged is lost.")
    return StoreUnavailableError(f"{where} cannot be used now: {said}. Nothing acknowledged is lost.")


def _sqlite(path: Path) -> sa.Engine:
    engine = sa.create_engine(
        sa.URL.create("sqlite+pysqlite", database=str(path)),
        connect_args={"timeout": _BUSY_SECONDS, "check_same_thread": False},
        pool_size=16,
        max_overflow=48,
        pool_use_lifo=True,  # Whoever asked last has the statements and pages still at hand.
    )

    @event.listens_for(engine, "connect")
    def settle(connection: Any, _: Any) -> None:
        # We say when transactions begin.
        connection.isolation_level = None
        with suppress(sqlite3.OperationalError):  # a file that may only be read can still be read
            connection.execute("PRAGMA journal_mode = WAL")
        # Every commit waits for the disk: who is told that an answer is kept may pull the plug.
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")

    @event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        # A write that begins as a read could find that another one came between.
        writes = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _postgresql(url: str) -> sa.Engine:
    if find_spec("psycopg") is None:
        raise InvalidInputError("A campaign in PostgreSQL needs psycopg: pip install 'labelworth[postgres]'.")
    address = sa.make_url(url).set(drivername="postgresql+psycopg")
    engine = sa.create_engine(
        address, pool_size=8, max_overflow=24, pool_pre_ping=True, connect_args={"connect_timeout": 10}
    )

    @event.listens_for(engine, "connect")
    def settle(connection: Any, _: Any) -> None:
        # Every commit waits for the disk, whatever the server does elsewhere.
        connection.execute("SET synchronous_commit = on")
        connection.execute(f"SET lock_timeout = '{_BUSY_SECONDS:.0f}s'")
        connection.commit()

    return engine


def _without_password(url: str) -> str:
    """As it may be shown."""
    try:
        if url.startswith(_SCHEMES):
            return sa.make_url(url).render_as_string(hide_password=True)
    except (exc.ArgumentError, ValueError):
        pass
    raise InvalidInputError("That is no URL of a PostgreSQL; write postgresql://user@host/database.")
