"""The browser of tests of pages."""

from collections.abc import Iterator

import pytest

from tests.report.browser import Looker, chromium


@pytest.fixture
def looker() -> Iterator[Looker]:
    """Open pages in a browser of the test's own: Playwright's event loop must not be there when other tests run."""
    with chromium() as browser:
        yield Looker(browser)
