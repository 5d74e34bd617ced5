"""Who asks: the session in the cookie, what a form says, and the proof that our own page sent it.

The cookie holds the token of the person's link; the store knows its hash alone. So a session goes on after a restart,
and ends at once where a link is withdrawn or renewed. What proves that a form is ours is derived from the token.
"""

import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import Response

from labelworth.campaign.campaign import Campaign
from labelworth.campaign.values import Person
from labelworth.errors import InvalidInputError
from labelworth.studio.pages import Pages

FORM_TYPE = "application/x-www-form-urlencoded"
PROOF = "proof"
"""The field of a form that says that it is ours."""
_TOKEN = re.compile(r"[A-Za-z0-9_-]{20,100}")
_MOST_FIELDS = 20_000
_LARGEST = 2**53
_SESSION_SECONDS = 30 * 24 * 3600


@dataclass(frozen=True)
class Visit:
    """A request, and who makes it."""

    campaign: Campaign
    pages: Pages
    request: Request
    token: str | None
    visitor: Person | None
    form: Mapping[str, str] = field(default_factory=dict)

    @property
    def person(self) -> Person:
        if self.visitor is None:
            raise AssertionError("the door lets nobody in who is not known")
        return self.visitor

    @property
    def by_script(self) -> bool:
        """Whether the page's script asks, which shows what comes back without loading a page anew."""
        return self.request.headers.get("x-requested-with") == "labelworth"

    @property
    def proof(self) -> str:
        return proof_of(self.token) if self.token else ""

    def number(self, name: str) -> int:
        """A whole number of the form, at least 0."""
        text = self.form.get(name, "").strip()
        if not (text.isascii() and text.isdigit() and len(text) < 17 and int(text) < _LARGEST):
            raise InvalidInputError(f"{name.capitalize()} is a whole number. Got {text!r:.40}.")
        return int(text)

    def amount(self, name: str) -> float:
        """A number of the form that is not negative; 0 where nothing is written."""
        text = self.form.get(name, "").strip() or "0"
        try:
            amount = float(text)
        except ValueError:
            amount = -1.0
        if not 0 <= amount < 1e12:
            raise InvalidInputError(f"{name.capitalize()} is a number that is not negative. Got {text!r:.40}.")
        return amount

    def render(self, name: str, code: int = 200, /, **values: Any) -> Response:
        """A page; of one that the script asks for, what changes of it."""
        return self.pages.render(
            name, code, visitor=self.visitor, proof=self.proof, by_script=self.by_script, **values
        )


def token_in(request: Request, cookie: str) -> str | None:
    """The token of a session, if it can be one."""
    token = request.cookies.get(cookie, "")
    return token if _TOKEN.fullmatch(token) else None


def as_token(text: str) -> str | None:
    """A token, or the link that ends in it, as somebody pastes it."""
    token = text.strip().rpartition("#")[2]
    return token if _TOKEN.fullmatch(token) else None


def proof_of(token: str) -> str:
    """What the forms of a session carry: nobody can say it who does not know the token."""
    return hmac.new(token.encode(), b"labelworth studio: this form is ours", hashlib.sha256).hexdigest()


def is_proved(form: Mapping[str, str], token: str) -> bool:
    return hmac.compare_digest(form.get(PROOF, "").encode(), proof_of(token).encode())


def is_foreign(request: Request) -> bool:
    """Whether the browser says that another site sends this."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site not in ("same-origin", "none")
    origin = request.headers.get("origin", "null")
    return origin != "null" and origin.partition("://")[2] != request.headers.get("host")


def read_form(request: Request, body: bytes) -> dict[str, str]:
    """The fields of a form; of two of one name the last.

    Raises
    ------
    InvalidInputError
        If it is not a form, or holds what is no text.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM_TYPE:
        raise InvalidInputError("That is not a form of this studio.")
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict")
    except ValueError as error:
        raise InvalidInputError("That is not a form of this studio.") from error
    if any("\x00" in text for pair in pairs for text in pair):
        raise InvalidInputError("A text has no NUL in it.")
    return dict(pairs)


def begin_session(response: Response, cookie: str, token: str, *, is_https: bool) -> None:
    response.set_cookie(
        cookie, token, max_age=_SESSION_SECONDS, path="/", httponly=True, samesite="strict", secure=is_https
    )


def end_session(response: Response, cookie: str, *, is_https: bool) -> None:
    response.delete_cookie(cookie, path="/", httponly=True, samesite="strict", secure=is_https)
