"""What all commands of a campaign share: where it is, and how its figures are told."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelworth.cli.console import answer

if TYPE_CHECKING:
    from rich.console import Console

    from labelworth.campaign.campaign import Campaign

Where = Annotated[
    str,
    typer.Argument(metavar="CAMPAIGN", help="Its file, or the URL of its database: postgresql://user@host/database."),
]


@contextmanager
def opened(where: str) -> "Iterator[Campaign]":
    """The campaign, closed at the end; says what to install where that is missing."""
    with door().open(where) as campaign:
        yield campaign


def door() -> "type[Campaign]":
    from labelworth.errors import InvalidInputError

    try:
        from labelworth.campaign.campaign import Campaign
    except ImportError as error:
        raise InvalidInputError(str(error)) from error
    return Campaign


def tell_result(
    command: str,
    where: str,
    asked: Mapping[str, Any],
    figures: Mapping[str, Any],
    show: "Callable[[Console], None]",
    *,
    as_json: bool,
) -> None:
    """One record, or words and tables."""
    from labelworth.report.record import Record

    # A URL may hold a password.
    named = where.rpartition("@")[2] if "://" in where else where
    answer(Record(f"campaign {command}", {"campaign": named, **asked}, figures), show, as_json=as_json)
