"""A real browser for pages: Debian's Chromium, driven by Playwright; tests that lack one skip by name."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest
from tests.capabilities import lacking

CHROMIUM = os.environ.get("HOCKNEY_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")

NO_CHROMIUM = "" if CHROMIUM else "chromium is not on the PATH"
DRIVERS = ("playwright", "axe_playwright_python")
NO_DRIVER = "" if all(map(find_spec, DRIVERS)) else "pip install --group browser"
"""What there is to do about it."""

needs_browser = [
    pytest.mark.skipif(bool(NO_CHROMIUM), reason=lacking("a browser", NO_CHROMIUM)),
    pytest.mark.skipif(bool(NO_DRIVER), reason=lacking("a browser's driver", NO_DRIVER)),
]


@contextmanager
def browser() -> Iterator[Any]:
    """Chromium without a window. As root, and in containers, its sandbox cannot be had."""
    # Only `make test-all` installs the driver: a plain import would not be found by the lint of `make test`.
    with import_module("playwright.sync_api").sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield chromium
        finally:
            chromium.close()
