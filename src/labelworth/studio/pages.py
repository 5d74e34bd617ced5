"""Templates, rendered with everything escaped, and how figures are written in them."""

import hashlib
import time
from importlib.resources import files
from typing import Any

import jinja2
from starlette.responses import HTMLResponse, Response

from labelworth import wording
from labelworth.campaign.values import Settings, Unit

STATIC = {
    "studio.css": "text/css; charset=utf-8",
    "studio.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
"""All files there are: nothing else is looked for on the disk."""
_KEYS = "123456789qwertasdfzxcvbhjklmiop"
"""Keys of classes, in this order. Those of n, y, u, g and 0 mean no, yes, undo, guess and "cannot say"."""


_WORDS: dict[Unit, str] = {True: "yes", False: "no", None: "cannot say"}


class Pages:
    """The pages of one campaign.

    Parameters
    ----------
    settings : Settings
    url : str
        Where people reach them; links begin with it.
    """

    def __init__(self, settings: Settings, url: str) -> None:
        self.url, self.is_https = url.rstrip("/"), url.startswith("https://")
        # Browsers send cookies to every port of a machine: two campaigns on one do not disturb each other.
        self.cookie = (
            "labelworth_" + hashlib.sha256(f"{settings.created_at} {settings.name}".encode()).hexdigest()[:10]
        )
        folder = files("labelworth.studio") / "static"
        self.static = {name: (folder / name).read_bytes() for name in STATIC}
        digests = {name: hashlib.sha256(content).hexdigest()[:12] for name, content in self.static.items()}
        self._templates = jinja2.Environment(
            loader=jinja2.PackageLoader("labelworth.studio"),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        self._templates.globals.update(
            settings=settings,
            static=lambda name: f"/static/{name}?{digests[name]}",
            keys=[_KEYS[index] if index < len(_KEYS) else "" for index in range(len(settings.classes))],
        )
        self._templates.filters.update(
            money=lambda amount: wording.money(f"{amount:,.2f}", settings.currency),
            percent=lambda share, decimals=0: "–" if share is None else wording.percent(share, decimals),
            number=wording.number,
            ago=_ago,
            said=_said,
        )

    def link(self, token: str) -> str:
        """By which somebody comes in. What stands behind # is sent to no server and written to no log."""
        return f"{self.url}/enter#{token}"

    def render(self, name: str, code: int = 200, /, **values: Any) -> Response:
        return HTMLResponse(self._templates.get_template(name).render(**values), code)


def _ago(moment: float | None) -> str:
    """How long ago, in a few words."""
    if moment is None:
        return "–"
    seconds = max(time.time() - moment, 0.0)
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{int(seconds // length)} {unit} ago"
    return "just now"


def _said(units: tuple[Unit, ...]) -> str:
    """An answer in words."""
    shown = [" or ".join(unit) if isinstance(unit, tuple) else str(_WORDS.get(unit, unit)) for unit in units[:8]]
    return ", ".join(shown) + (", …" if len(units) > 8 else "")
