"""Clients that take turns: what they ask for and are told goes through one by one, when the test says so."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial

import httpx
import pytest

from batkube.kube.server import ApiServer
from tests.waiting import wait_until_async

from .conftest import CONFIGMAPS, config_map, done, watching


@pytest.fixture
async def taker(server: ApiServer) -> AsyncIterator[httpx.AsyncClient]:
    """A client that takes turns; others, such as `client`, do not once it has its connections."""
    server.turns.place_of = lambda connection: 1
    async with httpx.AsyncClient(base_url=server.url, trust_env=False, timeout=60) as taker:
        yield taker


SECRETS = "/api/v1/namespaces/default/secrets"


def create(client: httpx.AsyncClient, name: str) -> asyncio.Task[httpx.Response]:
    return asyncio.create_task(client.post(CONFIGMAPS, json=config_map(name)))


def held(server: ApiServer) -> int:
    return server.turns.waiting


def arrived(server: ApiServer, count: int) -> bool:
    return held(server) == count


def names(server: ApiServer) -> list[str]:
    """The config maps in the order in which they were made."""
    made = server.list("configmaps", "default")
    return [
        each["metadata"]["name"] for each in sorted(made, key=lambda each: int(each["metadata"]["resourceVersion"]))
    ]


@asynccontextmanager
async def told(
    server: ApiServer, client: httpx.AsyncClient, path: str = CONFIGMAPS
) -> AsyncIterator[Callable[[int], Awaitable[list[str]]]]:
    """A watch of a client that takes turns; what is yielded reads so many events."""
    async with AsyncExitStack() as stack:
        opening = asyncio.create_task(stack.enter_async_context(watching(client, path)))
        await wait_until_async("a request waits for its turn", lambda: held(server))
        assert server.turns.next()
        yield (await opening).brief


async def let_all_through(server: ApiServer) -> None:
    while server.turns.next():
        await done(server)


async def test_a_request_waits_for_its_turn_and_the_server_is_quiescent_meanwhile(
    server: ApiServer, taker: httpx.AsyncClient
) -> None:
    assert not server.turns.next()
    answer = create(taker, "a")
    await wait_until_async("a request waits for its turn", lambda: held(server))
    assert server.turns.in_use
    await done(server)
    assert names(server) == []
    assert server.turns.next()
    assert (await answer).status_code == 201
    assert names(server) == ["a"]
    assert not server.turns.next()


async def test_a_list_and_a_large_write_wait_as_well(server: ApiServer, taker: httpx.AsyncClient) -> None:
    large = {**config_map("large"), "data": {"x": "x" * 300_000}}
    answers = [asyncio.create_task(taker.get(CONFIGMAPS)), asyncio.create_task(taker.post(CONFIGMAPS, json=large))]
    await wait_until_async("two requests wait for their turns", lambda: held(server) == 2)
    await done(server)
    assert names(server) == []
    await let_all_through(server)
    listed, made = [await answer for answer in answers]
    assert (listed.json()["items"], made.status_code) == ([], 201)  # GET is before POST


@pytest.mark.parametrize("arrivals", ["abc", "cba", "bca"])
async def test_requests_of_one_turn_go_by_their_contents(
    server: ApiServer, taker: httpx.AsyncClient, arrivals: str
) -> None:
    answers = []
    for count, name in enumerate(arrivals, 1):
        answers.append(create(taker, name))
        await wait_until_async("the request has arrived", partial(arrived, server, count))
    await let_all_through(server)
    await asyncio.gather(*answers)
    assert names(server) == ["a", "b", "c"]


async def test_each_seed_has_an_order_of_its_own(server: ApiServer, taker: httpx.AsyncClient) -> None:
    orders = []
    for seed in (1, 1, *range(2, 8)):
        server.turns.draw_by(seed)
        answers = [create(taker, name) for name in "abcdef"]
        await wait_until_async("six requests wait for their turns", lambda: held(server) == 6)
        await let_all_through(server)
        await asyncio.gather(*answers)
        orders.append(names(server))
        for name in "abcdef":
            server.delete("configmaps", name)
    assert orders[0] == orders[1]
    assert len({tuple(order) for order in orders}) > 4


async def test_a_request_that_came_a_turn_earlier_goes_first(server: ApiServer, taker: httpx.AsyncClient) -> None:
    answers = [create(taker, "x"), create(taker, "y")]
    await wait_until_async("two requests wait for their turns", lambda: held(server) == 2)
    assert server.turns.next()
    answers.append(create(taker, "a"))
    await wait_until_async("two requests wait for their turns", lambda: held(server) == 2)
    await let_all_through(server)
    await asyncio.gather(*answers)
    assert names(server) == ["x", "y", "a"]


async def test_events_are_told_one_a_turn_and_before_anything_else_happens(
    server: ApiServer, taker: httpx.AsyncClient
) -> None:
    server.create("configmaps", config_map("there"))
    async with told(server, taker) as read:
        assert await read(1) == ["ADDED there"]  # what a watch begins with is its answer
        server.create("configmaps", config_map("a"))
        server.create("configmaps", config_map("b"))
        answer = create(taker, "c")
        await wait_until_async("a request waits for its turn", lambda: held(server))
        await done(server)
        for name in "ab":
            assert server.turns.next()
            assert await read(1) == [f"ADDED {name}"]
            assert not answer.done()
        assert server.turns.next()
        assert (await answer).status_code == 201
        assert server.turns.next()
        assert await read(1) == ["ADDED c"]
    assert (server.turns.events, server.turns.together) == (3, 0)


async def test_events_at_once_but_for_those_with_one_of_another_watch_in_between(
    server: ApiServer, taker: httpx.AsyncClient
) -> None:
    server.turns.at_once = True
    async with told(server, taker) as read, told(server, taker, SECRETS) as read_secrets:
        for name in "ab":
            server.create("configmaps", config_map(name))
        server.create("secrets", {"metadata": {"name": "s", "namespace": "default"}})
        server.create("configmaps", config_map("c"))
        assert server.turns.next()
        assert await read(2) == ["ADDED a", "ADDED b"]
        assert server.turns.next()
        assert await read_secrets(1) == ["ADDED s"]
        assert server.turns.next()
        assert await read(1) == ["ADDED c"]
        assert not server.turns.next()
    assert server.turns.together == 1


async def test_who_takes_no_turns_is_served_at_once_and_noted(
    server: ApiServer, client: httpx.AsyncClient, taker: httpx.AsyncClient
) -> None:
    waits = create(taker, "waits")
    await wait_until_async("a request waits for its turn", lambda: held(server))
    server.turns.place_of = lambda connection: None
    assert (await client.post(CONFIGMAPS, json=config_map("user"))).status_code == 201
    async with watching(client, CONFIGMAPS) as stream:
        assert await stream.brief(1) == ["ADDED user"]
        server.create("configmaps", config_map("more"))
        assert await stream.brief(1) == ["ADDED more"]
    assert server.turns.strangers == 1
    await let_all_through(server)
    await waits


async def test_nothing_is_lost_when_the_client_goes_or_the_server_stops(
    server: ApiServer, taker: httpx.AsyncClient, patient_stop: None
) -> None:
    async with httpx.AsyncClient(base_url=server.url, trust_env=False, timeout=60) as impatient:
        gone = create(impatient, "gone")
        await wait_until_async("a request waits for its turn", lambda: held(server))
        gone.cancel()
    await wait_until_async("no connection is open", lambda: len(server.connections()) == 0)
    last = create(taker, "last")
    await wait_until_async("two requests wait for their turns", lambda: held(server) == 2)
    await asyncio.wait_for(server.stop(), 120)
    with suppress(httpx.HTTPError):  # the answer, or the end of the connection
        await last
    assert names(server) == ["gone", "last"]
