"""``/batkube/v1/live``: the state of the simulation as server-sent events, for the page at ``/``.

https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, StreamingResponse

from batkube.kube.server import ApiServer
from batkube.live.docs import docs
from batkube.live.feed import Feed, Look

EVERY = 0.1
"""Real seconds between two events of a stream, at least."""
STILL = 5.0
"""Real seconds after which one is sent though nothing has changed, so that a looker that is gone is noticed."""


def live_router(server: ApiServer, feed: Feed) -> APIRouter:
    """Return the routes, to be included in the server's FastAPI application."""
    routes = APIRouter(prefix="/batkube/v1", tags=["live"])

    @routes.get("/look")
    async def look() -> Look:
        """Return the state that the page at / shows."""
        return feed.look()

    @routes.get("/live", response_class=StreamingResponse)
    async def live(request: Request) -> StreamingResponse:
        """Return the same as server-sent events, at most ten a second, whenever something has changed."""
        client = (request.client.host, request.client.port) if request.client else None
        return StreamingResponse(
            _events(server, feed, client), media_type="text/event-stream", headers={"cache-control": "no-store"}
        )

    @routes.get("/docs", include_in_schema=False)
    async def own_docs(request: Request) -> HTMLResponse:
        """Return this API's paths as a page."""
        return HTMLResponse(docs(request.app.openapi()))

    return routes


async def _events(server: ApiServer, feed: Feed, client: tuple[str, int] | None) -> AsyncIterator[bytes]:
    nodes: list[str] | None = None
    last, seen, still = b"", 0, 0.0
    with server.own_stream(client) as stops, feed.looked_at():
        while True:
            look = feed.look(after=seen)
            if look.nodes == nodes:
                look.nodes = None
            else:
                nodes = look.nodes
            told = look.model_dump_json().encode()
            if told != last or still >= STILL:
                yield b"data: " + told + b"\n\n"
                last, still = told, 0.0
                if look.decisions:
                    seen = look.decisions[-1].number
            if stops.is_set():  # that was how it ended
                break
            still += EVERY
            with suppress(TimeoutError):
                await asyncio.wait_for(stops.wait(), EVERY)
        yield b"event: end\ndata: {}\n\n"
