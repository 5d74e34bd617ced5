"""`labelworth reproduce`, `labelworth bench` and `labelworth data`: doors to the studies, a package of their own."""

from collections.abc import Sequence
from importlib.util import find_spec

import typer

from labelworth.errors import DataUnavailableError


def reproduce(context: typer.Context) -> None:
    """Reproduce a study; interrupted, it goes on where it stopped."""
    _enter("reproduce", context.args)


def bench(context: typer.Context) -> None:
    """Race against named peers in one run; the ratio of medians decides."""
    _enter("bench", context.args)


def data(context: typer.Context) -> None:
    """List the corpora of the studies, or get them from public sources."""
    _enter("data", context.args)


def _enter(command: str, arguments: Sequence[str]) -> None:
    if find_spec("labelworth_studies") is None:
        raise DataUnavailableError(
            f"`labelworth {command}` needs the studies, a package of their own that is not installed here. "
            "In a clone of labelworth's repository: pip install ./studies"
        )
    from labelworth_studies.commands.main import app

    app([command, *arguments], prog_name="labelworth")
