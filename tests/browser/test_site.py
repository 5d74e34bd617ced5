"""What the site's own style does on a phone, in headless Chromium."""

from pathlib import Path

from support.browser import PHONE, needs_browser, window

pytestmark = needs_browser

STYLE = Path(__file__).parents[2] / "docs" / "_static" / "site.css"
# As the theme lays out the parameters of a function: a grid, and code that is not broken.
PAGE = """<!doctype html><meta name="viewport" content="width=device-width">
<style>dl {{ display: grid; }} .pre {{ white-space: nowrap; }}</style><link rel="stylesheet" href="{style}">
<article class="bd-article"><dl><dt>model</dt><dd>Text, <code class="literal"><span class="pre">{code}</span></code>
</dd></dl><table><tr><td>see</td><td><code class="literal"><span class="pre">{code}</span></code></td></tr></table>
</article>"""


def test_no_long_word_of_the_reference_stands_beside_a_phone(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(PAGE.format(style=STYLE.as_uri(), code="labelworth.estimators." + "MultinomialNaiveBayes" * 3))
    with window(PHONE) as browser:
        browser.get(path.as_uri())
        ends = "return [...document.querySelectorAll('article *')].map(one => one.getBoundingClientRect().right)"
        assert max(browser.execute_script(ends)) <= browser.execute_script("return innerWidth")
