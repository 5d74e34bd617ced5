"""Campaigns to test with: on SQLite, and on a PostgreSQL where LABELWORTH_TEST_POSTGRES says how to reach one."""

import os
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
import sqlalchemy as sa

from labelworth.campaign.campaign import Campaign

POSTGRES = os.environ.get("LABELWORTH_TEST_POSTGRES")


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


@pytest.fixture(params=["sqlite", "postgresql"])
def where(request, tmp_path) -> Iterator[str]:
    """Where a new campaign may live."""
    if request.param == "sqlite":
        yield str(tmp_path / "campaign.db")
        return
    if POSTGRES is None:
        pytest.skip("no PostgreSQL: make postgres-test starts one")
    with new_database() as url:
        yield url


class new_database:
    """A database of its own on the test server, gone at the end."""

    def __enter__(self) -> str:
        self.name = f"lw_{uuid.uuid4().hex[:12]}"
        self._say(f"CREATE DATABASE {self.name}")
        return sa.make_url(POSTGRES).set(database=self.name).render_as_string(hide_password=False)

    def __exit__(self, *_) -> None:
        self._say(f"DROP DATABASE {self.name} WITH (FORCE)")

    def _say(self, words: str) -> None:
        engine = sa.create_engine(sa.make_url(POSTGRES).set(drivername="postgresql+psycopg"))
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
