"""How a campaign begins, is found again, and is brought up to this version."""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, fields
from pathlib import Path

import sqlalchemy as sa

from labelworth.campaign import schema
from labelworth.campaign.store import Store, Where
from labelworth.campaign.values import KINDS, Settings
from labelworth.errors import DataUnavailableError, InvalidInputError, OutputError

_VERSION = "schema_version"


def new_settings(
    name: str, classes: Sequence[str], kind: str, lease_minutes: float, votes: int, currency: str, now: float
) -> Settings:
    if not name.strip():
        raise InvalidInputError("A campaign needs a name.")
    known = next((one for one in KINDS if one == kind), None)
    if known is None:
        raise InvalidInputError(f"A campaign is of {' or '.join(KINDS)}. Got {kind!r}.")
    named = tuple(classes) if not isinstance(classes, str) else ()
    if len(named) < 2 or len(set(named)) < len(named) or not all(str(one).strip() for one in named):
        raise InvalidInputError(f"There must be at least two classes, each a text of its own. Got {classes!r:.200}.")
    if not 0 < lease_minutes < float("inf"):
        raise InvalidInputError(f"lease_minutes must be a positive number. Got {lease_minutes!r}.")
    if votes < 1:
        raise InvalidInputError(f"votes must be at least 1. Got {votes!r}.")
    return Settings(name, known, named, float(lease_minutes), int(votes), currency, now)


def is_url(where: Where) -> bool:
    return "://" in str(where)


def new_store(where: Where, settings: Settings) -> Store:
    """Make the store of a campaign, whole or not at all."""
    if not is_url(where):
        path = Path(where)
        if path.exists():
            raise OutputError(f"There is a file {str(path)!r} already. Name another one for the new campaign.")
        if not path.parent.is_dir():
            raise OutputError(f"There is no folder {str(path.parent)!r}. Make it first.")
    store = Store(where)
    try:
        store.write(lambda connection: created(connection, settings, store.where))
    except BaseException:
        store.close()
        if store.is_file:
            with suppress(OSError):
                Path(where).unlink()
        raise
    return store


def opened_store(where: Where) -> tuple[Store, Settings]:
    """The store of a campaign, brought up to this version, and its settings."""
    if not is_url(where) and not Path(where).is_file():
        raise DataUnavailableError(f"There is no campaign {str(where)!r}. Begin one with `labelworth campaign new`.")
    store = Store(where)
    try:
        version = store.read(lambda connection: version_of(connection, store.where))
        if version < schema.VERSION:
            store.write(lambda connection: upgraded(connection, store.where))
        return store, store.read(read_settings)
    except BaseException:
        store.close()
        raise


def created(connection: sa.Connection, settings: Settings, where: str) -> None:
    if sa.inspect(connection).has_table(schema.settings.name):
        raise InvalidInputError(f"{where} holds a campaign already. Name another database for the new one.")
    for step in schema.STEPS:
        step.apply(connection)
    values = {**asdict(settings), _VERSION: schema.VERSION}
    rows = [{"key": key, "value": json.dumps(value, ensure_ascii=False)} for key, value in values.items()]
    connection.execute(sa.insert(schema.settings), rows)


def version_of(connection: sa.Connection, where: str, *, locked: bool = False) -> int:
    if not sa.inspect(connection).has_table(schema.settings.name):
        raise InvalidInputError(f"{where} is not a campaign. Name one that `labelworth campaign new` made.")
    query = sa.select(schema.settings.c.value).where(schema.settings.c.key == _VERSION)
    version = int(connection.execute(query.with_for_update() if locked else query).scalar_one())
    if version > schema.VERSION:
        raise InvalidInputError(
            f"{where} is a campaign of version {version}, and this labelworth knows version {schema.VERSION}: "
            "install a newer one."
        )
    return version


def upgraded(connection: sa.Connection, where: str) -> None:
    """Take the steps that an older campaign has not seen; whoever comes second finds them taken."""
    for step in schema.STEPS[version_of(connection, where, locked=True) :]:
        step.apply(connection)
    change = sa.update(schema.settings).where(schema.settings.c.key == _VERSION)
    connection.execute(change.values(value=json.dumps(schema.VERSION)))


def read_settings(connection: sa.Connection) -> Settings:
    values = {row.key: json.loads(row.value) for row in connection.execute(sa.select(schema.settings))}
    own = {field.name: values[field.name] for field in fields(Settings)}
    return Settings(**{**own, "classes": tuple(own["classes"])})


def one_at_a_time(connection: sa.Connection) -> None:
    """Nobody else adds items or draws any until the transaction ends."""
    query = sa.select(schema.settings.c.value).where(schema.settings.c.key == _VERSION)
    connection.execute(query.with_for_update())
