"""Follow every link of a built site: `python links.py FOLDER`.

Links within the site must lead to a file, and to a place in it where they name one. Addresses elsewhere are listed in
`external-links.txt`, for who wants to visit them: nothing is fetched.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ELSEWHERE = ("http", "https", "mailto")
# Pages of plans are files with megabytes of script and link to nothing; templates of the theme are no pages.
_APART = ("reports", "_static")


class _Page(HTMLParser):
    """Where a page leads, and the places in it."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.links: list[str] = []
        self.places: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        self.places.update(value for key in ("id", "name") if (value := named.get(key)))
        self.links += [value for key in ("href", "src") if (value := named.get(key))]


def followed(site: Path) -> tuple[list[str], set[str]]:
    """Links of a site that lead nowhere, and the addresses elsewhere."""
    pages = {path: _Page() for path in sorted(site.rglob("*.html")) if path.parent.name not in _APART}
    for path, page in pages.items():
        page.feed(path.read_text(encoding="utf-8"))
    broken, elsewhere = [], set()
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme in ELSEWHERE or link.startswith("//"):
                elsewhere.add(link)
                continue
            if parts.scheme:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path.resolve()
            if not target.exists():
                broken.append(f"{path.relative_to(site)}: {link}")
            elif parts.fragment and (own := pages.get(target)) and unquote(parts.fragment) not in own.places:
                broken.append(f"{path.relative_to(site)}: {link} (no such place)")
    return sorted(set(broken)), elsewhere


def main() -> None:
    site = Path(sys.argv[1]).resolve()
    broken, elsewhere = followed(site)
    (site / "external-links.txt").write_text("\n".join(sorted(elsewhere)) + "\n", encoding="utf-8")
    sys.stdout.write(f"{len(elsewhere)} addresses elsewhere are listed in {site.name}/external-links.txt.\n")
    if broken:
        sys.exit("Links that lead nowhere:\n" + "\n".join(broken))


if __name__ == "__main__":
    main()
