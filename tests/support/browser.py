"""Chromium without a window: what a page looks like in it, and what axe finds wrong with it."""

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver

BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
AXE = Path(__file__).parents[2] / "build/axe/node_modules/axe-core/axe.min.js"  # `make axe` gets it.
DESK, PHONE = (1280, 900), (390, 844)

needs_browser = pytest.mark.skipif(
    BROWSER is None or DRIVER is None, reason="Chromium and ChromeDriver are not installed"
)

needs_axe = pytest.mark.skipif(
    not AXE.exists(), reason="axe-core is not here, accessibility is not looked at: make axe gets it"
)


@contextmanager
def window(size: tuple[int, int] = DESK) -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    options.binary_location = str(BROWSER)
    quiet = ("gpu", "quic", "background-networking", "component-update", "sync")
    # In a container there is neither a display nor the kernel's sandbox; no name resolves, as on a plane.
    plane = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
    for argument in [
        "--headless=new",
        "--no-sandbox",
        "--no-first-run",
        plane,
        *(f"--disable-{name}" for name in quiet),
    ]:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=str(DRIVER)))
    try:
        resize(driver, size)
        driver.set_script_timeout(120)  # Seconds that axe may take on a busy machine.
        yield driver
    finally:
        driver.quit()


def resize(driver: Any, size: tuple[int, int]) -> None:
    width, height = size
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


@contextmanager
def colors(driver: Any, scheme: str) -> Iterator[None]:
    """As somebody sees a page who wants "light" or "dark" ones."""
    feature = {"name": "prefers-color-scheme", "value": scheme}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    try:
        yield
    finally:
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def photograph(driver: Any, name: str) -> None:
    """Keep pictures of the whole page to look at, light and dark, where LABELWORTH_SCREENSHOTS names a folder."""
    folder = os.environ.get("LABELWORTH_SCREENSHOTS")
    if not folder:
        return
    width, height, whole = driver.execute_script(
        "return [window.innerWidth, window.innerHeight, document.documentElement.scrollHeight]"
    )
    resize(driver, (width, max(height, whole)))
    for scheme in ("light", "dark"):
        with colors(driver, scheme):
            time.sleep(1)  # Plots are drawn anew.
            driver.save_screenshot(str(Path(folder) / f"{name}-{scheme}.png"))
    resize(driver, (width, height))


def accessible(driver: Any) -> list[str]:
    """What axe finds wrong; nothing where it is not there, which a test says."""
    found = []
    for scheme in ("light", "dark") if AXE.exists() else ():
        with colors(driver, scheme):
            driver.execute_script(AXE.read_text(encoding="utf-8"))
            script = "const done = arguments[0]; axe.run().then((found) => done(found.violations))"
            for one in driver.execute_async_script(script):
                found += [f"{scheme} {one['id']}: {node['html']}" for node in one["nodes"]]
    return found
