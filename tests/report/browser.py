"""A real browser for tests of pages: Chromium without a window, and what it complained of."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
QUIET = ("--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync")  # fmt: skip


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start a browser; the test is skipped where there is none."""
    with sync_playwright() as playwright:
        own = Path(playwright.chromium.executable_path)
        program = next(filter(None, map(shutil.which, PROGRAMS)), None) or (str(own) if own.exists() else None)
        if program is None:
            pytest.skip("there is no Chromium to look at pages with")
        alone = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=program, args=[*QUIET, *alone])
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Looker:
    """Opens pages, and notes errors and requests that go elsewhere."""

    browser: Browser
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def open(
        self, url: str, *, width: int = 1200, height: int = 900, scheme: Literal["light", "dark"] = "light"
    ) -> Page:
        """Open a page in a window of so many pixels."""
        page = self.browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        page.set_default_timeout(60_000)
        page.on("console", lambda told: self.errors.append(told.text) if told.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        page.goto(url)
        return page
