"""`labelworth studio`: a campaign as pages for annotators and managers."""

import sys
from typing import Annotated

import typer

from labelworth.cli.campaigns.opening import Where
from labelworth.cli.console import tell
from labelworth.cli.options.table import Between


def studio(
    campaign: Where,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where to listen; this machine alone unless told.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="0: any that is free."), Between(0, 65535)] = 8000,
    url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="How people reach it through a proxy: https://labels.example.org."),
    ] = None,
    link: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Make a new link for this person; a manager, if there is nobody of that name."
        ),
    ] = None,
    open_page: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
) -> None:
    """Show a campaign to annotators and managers, in their browsers.

    Examples
    --------
    labelworth studio mails.db --open
    """
    from importlib.util import find_spec

    from labelworth.errors import InvalidInputError

    missing = [name for name in ("sqlalchemy", "starlette", "uvicorn", "jinja2") if find_spec(name) is None]
    if missing:
        raise InvalidInputError(f"The studio needs {', '.join(missing)}: pip install 'labelworth[studio]'.")
    from labelworth.campaign.campaign import Campaign
    from labelworth.studio.doors import Studio
    from labelworth.studio.serving import is_loopback, listening, manager_link, place_of, serve

    with Campaign.open(campaign) as opened, listening(host, port) as listener:
        place = place_of(listener, url)
        shown = Studio(opened, place)
        made = manager_link(opened, shown, link)
        if not is_loopback(host) and not place.is_https:
            tell(
                "Warning: without TLS, whoever is on the way reads links and texts. SECURITY.md says how to have it."
            )
        if made is None:
            tell(f"{place.url}  Managers come in by their links; for a new one: --link NAME.")
        else:
            tell(f"The link of {link or 'the manager'}, shown now and never again (a new one: --link NAME):")
            sys.stdout.write(made + "\n")
            sys.stdout.flush()
        tell("Ctrl-C ends it; nothing that was acknowledged is lost.")
        if open_page:
            typer.launch(made or place.url)
        serve(shown, listener, where=campaign, behind_proxy=url is not None)
