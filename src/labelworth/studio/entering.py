"""Coming in by a link, and leaving."""

from starlette.responses import RedirectResponse, Response

from labelworth.studio.pages import STATIC
from labelworth.studio.visits import Visit, as_token, begin_session, end_session


def static(visit: Visit) -> Response:
    """The style, the script, the icon."""
    name = visit.request.path_params["name"]
    if name not in STATIC:
        return Response("There is nothing here.", 404, media_type="text/plain")
    kept = {"Cache-Control": "public, max-age=86400"}
    return Response(visit.pages.static[name], headers=kept, media_type=STATIC[name])


def ask(visit: Visit) -> Response:
    """Where links lead: the token stands behind #, which browsers send to nobody; the script puts it into a form."""
    return visit.render("enter.html", notice=None)


def enter(visit: Visit) -> Response:
    token = as_token(visit.form.get("token", ""))
    person = None if token is None else visit.campaign.who(token)
    if token is None or person is None:
        return visit.render("enter.html", 401, notice="That link opens nothing (any more). Ask for a new one.")
    response = RedirectResponse("/manage" if person.role == "manager" else "/", 303)
    begin_session(response, visit.pages.cookie, token, is_https=visit.pages.is_https)
    return response


def leave(visit: Visit) -> Response:
    """Give tasks back to others, and forget the session in this browser."""
    visit.campaign.release(visit.person)
    response = RedirectResponse("/enter", 303)
    end_session(response, visit.pages.cookie, is_https=visit.pages.is_https)
    return response
