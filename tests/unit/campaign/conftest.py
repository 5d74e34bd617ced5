"""Campaigns to test with: on SQLite, and on a PostgreSQL where it is installed."""

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
import sqlalchemy as sa

from labelworth.campaign.campaign import Campaign
from support.postgres import programs, server


@dataclass
class Clock:
    """A time that stands still until it is told to go on."""

    now: float = 1_000_000.0

    def __call__(self) -> float:
        return self.now

    def go_on(self, minutes: float) -> None:
        self.now += 60 * minutes


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """A PostgreSQL for all tests of this process."""
    if programs() is None:
        pytest.skip("PostgreSQL is not installed")
    with server() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def where(request, tmp_path) -> Iterator[str]:
    """Where a new campaign may live."""
    if request.param == "sqlite":
        yield str(tmp_path / "campaign.db")
        return
    with new_database(request.getfixturevalue("postgres")) as url:
        yield url


@contextmanager
def new_database(server: str) -> Iterator[str]:
    """A database of its own on a server, gone at the end."""
    name = f"lw_{uuid.uuid4().hex[:12]}"
    _say(server, f"CREATE DATABASE {name}")
    yield sa.make_url(server).set(database=name).render_as_string(hide_password=False)
    _say(server, f"DROP DATABASE {name} WITH (FORCE)")


def _say(server: str, words: str) -> None:
    engine = sa.create_engine(sa.make_url(server).set(drivername="postgresql+psycopg"))
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql(words)
    engine.dispose()


@pytest.fixture
def begin(where, clock) -> Iterator[Callable[..., Campaign]]:
    """Begin the campaign of a test."""
    made = []

    def create(**options) -> Campaign:
        usual = {"name": "Mails", "classes": ["ham", "news", "spam"], "lease_minutes": 10}
        made.append(Campaign.create(where, clock=clock, **{**usual, **options}))
        return made[-1]

    yield create
    for campaign in made:
        campaign.close()
