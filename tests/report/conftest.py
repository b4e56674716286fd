"""The browser that tests of pages share."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.report.browser import Looker, chromium


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all tests."""
    with chromium() as started:
        yield started


@pytest.fixture
def looker(browser: Browser) -> Iterator[Looker]:
    """Open pages, which are closed at the end of the test."""
    yield Looker(browser)
    for context in browser.contexts:
        context.close()
