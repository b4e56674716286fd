"""Browsers at a server with TLS: the link that is printed lets them in, to the pages alone."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx

from batkube.api_settings import AccessSettings
from batkube.bridge.time import SimulatedTime
from batkube.clock.pace import Pace
from batkube.session.simulated_server import simulated_server
from batkube.settings import ServeSettings

HTML = {"accept": "text/html"}
NODES = "/api/v1/nodes"


@asynccontextmanager
async def browser() -> AsyncIterator[tuple[httpx.AsyncClient, str]]:
    """A client that trusts the server and shows nothing, and the link."""
    settings = ServeSettings(access=AccessSettings(tls=True))
    server = simulated_server(settings, SimulatedTime(settings.epoch), Pace(), lambda: None)
    await server.start()
    assert server.authority is not None
    trusted = ssl.create_default_context(cadata=server.authority.certificate.decode())
    try:
        async with httpx.AsyncClient(verify=trusted, base_url=server.url, trust_env=False, timeout=60) as client:
            yield client, server.page_url
    finally:
        await server.stop()


def test_the_link_opens_the_pages_and_nothing_of_kubernetes() -> None:
    async def play() -> None:
        async with browser() as (client, link):
            assert (await client.get("/", headers=HTML)).status_code == 401
            assert (await client.get("/batkube/v1/look")).status_code == 401
            came = await client.get(link, headers=HTML)
            assert (came.status_code, came.headers["location"]) == (303, "/")
            cookie = came.headers["set-cookie"]
            for attribute in ("HttpOnly", "SameSite=Strict", "Secure", "Path=/"):
                assert attribute in cookie
            secret = link.partition("=")[2]
            assert secret not in cookie
            page = await client.get("/", headers=HTML)
            assert (page.status_code, "EventSource" in page.text, secret in page.text) == (200, True, False)
            assert (await client.get("/batkube/v1/look")).status_code == 200
            async with client.stream("GET", "/batkube/v1/live") as events:
                assert (await anext(events.aiter_lines())).startswith("data: ")
            for path in (NODES, "/metrics", "/batkube/../api/v1/nodes", "/openapi/v2"):
                assert (await client.get(path)).status_code in (401, 404), path
            assert (await client.post(NODES, json={"metadata": {"name": "n"}})).status_code == 401
            # Neither the secret nor the cookie is a token of Kubernetes.
            for stolen in (secret, client.cookies[f"batkube-{client.base_url.port}"]):
                assert (await client.get(NODES, headers={"authorization": f"Bearer {stolen}"})).status_code == 401

    asyncio.run(play())


def test_another_page_of_the_same_machine_changes_nothing() -> None:
    async def play() -> None:
        async with browser() as (client, link):
            await client.get(link, headers=HTML)
            pause, own = "/batkube/v1/clock/pause", str(client.base_url).rstrip("/")
            for headers in ({}, {"origin": "https://127.0.0.1:1"}, {"origin": "null"}):
                assert (await client.post(pause, headers=headers)).status_code == 401
            assert (await client.post(pause, headers={"origin": own})).status_code == 200

    asyncio.run(play())


def test_others_are_not_let_in() -> None:
    async def play() -> None:
        async with browser() as (client, link):
            name = f"batkube-{client.base_url.port}"
            for wrong in ("/?token=", "/?token=x", "/?token=%C3%A9", f"/batkube/v1/look?{link.partition('?')[2]}"):
                assert (await client.get(wrong, headers=HTML)).status_code == 401
            for cookie in (f"{name}=x", f"{name}=", "=;=", f"other={name}", "x" * 5000):
                assert (await client.get("/", headers={**HTML, "cookie": cookie})).status_code == 401

    asyncio.run(play())
