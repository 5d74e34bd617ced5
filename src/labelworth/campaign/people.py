"""Who may come in, as what, and by which token."""

import hashlib
import secrets

import sqlalchemy as sa

from labelworth.campaign.prepared import Prepared
from labelworth.campaign.rows import one_person, person_of
from labelworth.campaign.schema import annotators
from labelworth.campaign.values import ROLES, Invitation, Person
from labelworth.errors import InvalidInputError

FILE = "file"
"""Who gave the labels that came with the files."""
_BY_TOKEN = Prepared(
    sa.select(annotators).where(annotators.c.token_hash == sa.bindparam("hash"), annotators.c.withdrawn_at.is_(None))
)


def invited(connection: sa.Connection, name: str, role: str, channel: str, price: float, *, now: float) -> Invitation:
    """Add somebody, with a token of their own."""
    _require(name, role, channel, price)
    if one_person(connection, name) is not None:
        raise InvalidInputError(
            f"There is somebody called {name!r} already. Choose another name, or give them a new token."
        )
    token = secrets.token_urlsafe(32)
    person = inserted(connection, name, role, channel, price, _hash(token), now=now)
    return Invitation(person, token)


def inserted(
    connection: sa.Connection,
    name: str,
    role: str,
    channel: str,
    price: float,
    token_hash: str | None,
    *,
    now: float,
) -> Person:
    values = {"name": name, "role": role, "channel": channel, "price": float(price), "created_at": now}
    added = sa.insert(annotators).values(**values, token_hash=token_hash).returning(annotators)
    return person_of(connection.execute(added).one())


def heard_person(connection: sa.Connection, name: str, channel: str, *, now: float) -> Person:
    """Who said what came with a file: the file itself, somebody known, or somebody new who cannot come in yet."""
    known = one_person(connection, name)
    if known is None and name != FILE:
        _require(name, "annotator", channel, 0.0)
    return known or inserted(connection, name, "annotator", channel, 0.0, None, now=now)


def with_token(connection: sa.Connection, name: str) -> Invitation:
    """A new token for somebody, who may come in again; the old one opens nothing from now on."""
    person = require_person(connection, name)
    token = secrets.token_urlsafe(32)
    change = sa.update(annotators).where(annotators.c.id == person.id)
    row = connection.execute(change.values(token_hash=_hash(token), withdrawn_at=None).returning(annotators)).one()
    return Invitation(person_of(row), token)


def withdrawn(connection: sa.Connection, name: str, *, now: float) -> Person:
    """Let somebody in no more; what they said stays."""
    person = require_person(connection, name)
    change = sa.update(annotators).where(annotators.c.id == person.id)
    row = connection.execute(change.values(token_hash=None, withdrawn_at=now).returning(annotators)).one()
    return person_of(row)


def who(connection: sa.Connection, token: str) -> Person | None:
    """Whose token it is; only its hash is looked for, so how long that takes tells nothing of other tokens."""
    row = _BY_TOKEN.one(connection, hash=_hash(token))
    return None if row is None else person_of(row)


def require_person(connection: sa.Connection, name: str | int) -> Person:
    """Somebody who is there and is not the files; withdrawn or not."""
    person = one_person(connection, name)
    if person is None or person.name == FILE:
        raise InvalidInputError(f"There is nobody called {name!r:.80} in this campaign. Invite them first.")
    return person


def _require(name: str, role: str, channel: str, price: float) -> None:
    for what, value in (("name", name), ("kind of label", channel)):
        if not value.strip() or value != value.strip() or len(value) > 200 or not value.isprintable():
            raise InvalidInputError(
                f"A {what} is one line of text, 200 characters at most, without blanks around it. Got {value!r:.80}."
            )
    if name == FILE:
        raise InvalidInputError(f"{FILE!r} stands for labels that came with the files. Choose another name.")
    if role not in ROLES:
        raise InvalidInputError(f"A role is one of {', '.join(ROLES)}. Got {role!r}.")
    if not 0 <= price < float("inf"):
        raise InvalidInputError(f"A price is a number that is not negative. Got {price!r}.")


def _hash(token: str) -> str:
    # A token is 256 random bits: nothing can be tried out, so no slow hash is needed.
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()
