"""Statements that every answer needs: put into words of the database once, then run without anything between.

Building a statement takes longer than running it, and so does all that SQLAlchemy does around a run. What a row has
is read by name, as of any other statement; errors are those that SQLAlchemy would raise.
"""

from collections import namedtuple
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import sqlalchemy as sa
from sqlalchemy import exc
from sqlalchemy.sql.elements import CompilerElement

_named: Any = partial(namedtuple, "Row")
Row = Any
"""With an attribute for every column."""


@dataclass
class _Written:
    """A statement in the words of one database."""

    sql: str
    order: Sequence[str] | None  # Of parameters where they have places; None: they have names.
    usual: Mapping[str, Any]  # Parameters that the statement itself says.
    row: Callable[[Iterable[Any]], Row] | None = None

    def parameters(self, given: Mapping[str, Any]) -> Any:
        every = {**self.usual, **given}
        return every if self.order is None else [every[name] for name in self.order]


class Prepared:
    """A statement of SQLAlchemy with named parameters; an insert takes the same columns with every run."""

    def __init__(self, statement: CompilerElement) -> None:
        self._statement = statement
        self._written: dict[str, _Written] = {}

    def all(self, connection: sa.Connection, **given: Any) -> list[Row]:
        """Run it: its rows."""
        written, cursor = self._run(connection, given)
        rows = cursor.fetchall()
        if written.row is None:
            written.row = _named([column[0] for column in cursor.description])._make
        make = written.row
        return [make(row) for row in rows]

    def one(self, connection: sa.Connection, **given: Any) -> Row | None:
        """Run it: the only row that there is, None where there is none."""
        rows = self.all(connection, **given)
        if len(rows) > 1:
            raise AssertionError(f"a statement that has one row has {len(rows)}")
        return rows[0] if rows else None

    def run(self, connection: sa.Connection, **given: Any) -> int:
        """Run it: how many rows it changed."""
        return int(self._run(connection, given)[1].rowcount)

    def _run(self, connection: sa.Connection, given: Mapping[str, Any]) -> tuple[_Written, Any]:
        dialect = connection.dialect
        written = self._written.get(dialect.name) or self._write(dialect, given)
        driver: Any = connection.connection.driver_connection
        try:
            return written, driver.execute(written.sql, written.parameters(given))
        except dialect.loaded_dbapi.Error as error:
            raise exc.DBAPIError.instance(
                written.sql, None, error, dialect.loaded_dbapi.Error, dialect=dialect
            ) from error

    def _write(self, dialect: sa.Dialect, given: Mapping[str, Any]) -> _Written:
        is_insert = isinstance(self._statement, sa.Insert)
        compiled: Any = self._statement.compile(dialect=dialect, column_keys=list(given) if is_insert else None)
        usual = {name: value for name, value in compiled.params.items() if name not in given}
        written = _Written(str(compiled), compiled.positiontup if compiled.positional else None, usual)
        self._written[dialect.name] = written
        return written
