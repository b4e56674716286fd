"""The presence of a scheduler that batkube has not started."""

import asyncio
from collections import Counter

import pytest

from batkube.bridge import presence
from batkube.bridge.presence import Presence
from batkube.kube.server import ApiServer


class Clients(ApiServer):
    """A server whose clients a test plays."""

    def __init__(self) -> None:
        super().__init__(now=lambda: 0.0)
        self.open: set[str] = {"pods", "nodes"}
        self.counted: Counter[tuple[str, str]] = Counter()

    def watching(self, storage: str) -> set[tuple[str, int]]:
        return {("127.0.0.1", 1)} if storage in self.open else set()

    @property
    def requests(self) -> Counter[tuple[str, str]]:
        return self.counted


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence, "REOPENS_WITHIN", 0.1)
    monkeypatch.setattr(presence, "POLLS_WITHIN", 0.1)


async def test_a_scheduler_is_there_while_it_watches_all_that_it_did() -> None:
    server = Clients()
    found = Presence(server)
    found.note()
    assert not await found.is_lost()
    # Somebody else looks at pods.
    server.open = {"pods"}
    assert await found.is_lost()
    back = asyncio.ensure_future(found.until_back())
    await asyncio.sleep(0)
    assert not back.done()
    server.open = {"pods", "nodes"}
    await asyncio.wait_for(back, 60)
    assert not await found.is_lost()


async def test_a_watch_that_is_opened_again_is_no_loss() -> None:
    server = Clients()
    found = Presence(server)
    found.note()
    server.open = set()
    lost = asyncio.ensure_future(found.is_lost())
    await asyncio.sleep(0)
    server.open = {"pods", "nodes"}
    assert not await lost


async def test_a_scheduler_that_polls_is_there_while_it_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence, "POLLS_WITHIN", 60.0)
    server = Clients()
    server.open = set()
    found = Presence(server)
    found.note()
    server.counted["list", "pods"] += 1
    assert not await found.is_lost()
    monkeypatch.setattr(presence, "POLLS_WITHIN", 0.0)
    assert await found.is_lost()
    monkeypatch.setattr(presence, "POLLS_WITHIN", 60.0)
    server.counted["list", "pods"] += 1
    await asyncio.wait_for(found.until_back(), 60)
