"""One SQLite file, or a PostgreSQL: connections, transactions that end durable or not at all, and errors in words."""

import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy import event, exc

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
        self.is_file = not str(where).startswith(_SCHEMES)
        self.where = str(where) if self.is_file else _without_password(str(where))
        self.engine = _sqlite(Path(where)) if self.is_file else _postgresql(str(where))
        self._waiting: list[tuple[Work[Any], Future[Any]]] = []
        self._queue, self._writing = threading.Lock(), threading.Lock()

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

        Whoever gets to write does so for all who wait by then; the others find their result.
        """
        own: Future[Result] = Future()
        with self._queue:
            self._waiting.append((work, own))
        with self._writing:
            while not own.done():
                with self._queue:
                    group, self._waiting = self._waiting[:_GROUP], self._waiting[_GROUP:]
                self._write_together(group)
        return own.result()

    def _write_together(self, group: list[tuple[Work[Any], Future[Any]]]) -> None:
        results: list[tuple[Future[Any], Any, BaseException | None]] = []
        try:
            with self.engine.connect() as plain:
                connection = plain.execution_options(writes=True)
                with connection.begin():
                    for work, future in group:
                        results.append((future, *_tried(work, connection)))
        except BaseException as error:
            words: BaseException = self._in_words(error) if isinstance(error, exc.DBAPIError) else error
            if not isinstance(error, Exception):
                words = StoreUnavailableError(f"Writing to {self.where} was interrupted; send it again.")
            for _, future in group:
                future.set_exception(words)
            if not isinstance(error, Exception):
                raise
            return
        for future, result, failure in results:
            if failure is None:
                future.set_result(result)
            else:
                future.set_exception(failure)

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


def _tried(work: Work[Any], connection: sa.Connection) -> tuple[Any, BaseException | None]:
    """The result, or the error that undid this work alone; an error of the database undoes the whole group."""
    connection.exec_driver_sql("SAVEPOINT one")
    try:
        result = work(connection)
    except Exception as error:
        if isinstance(error, exc.DBAPIError) and not isinstance(error, exc.IntegrityError):
            raise
        connection.exec_driver_sql("ROLLBACK TO one")
        connection.exec_driver_sql("RELEASE one")
        return None, error
    connection.exec_driver_sql("RELEASE one")
    return result, None


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
        return sa.make_url(url).render_as_string(hide_password=True)
    except exc.ArgumentError as error:
        raise InvalidInputError("That is no URL of a PostgreSQL; write postgresql://user@host/database.") from error
