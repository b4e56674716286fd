"""The bodies of requests, over ASGI."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from ..codec.bodies import MAX_BODY

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]


async def read_body(receive: Receive) -> bytes:
    """Return the whole body. Of a body larger than MAX_BODY return just enough to see that it is too large."""
    message = await receive()
    pieces: list[bytes] = [message.get("body", b"")]
    size = len(pieces[0])
    while message.get("more_body", False):
        message = await receive()
        if size <= MAX_BODY:
            pieces.append(message.get("body", b""))
            size += len(pieces[-1])
    return b"".join(pieces)


async def read_ahead(receive: Receive) -> tuple[bytes, Receive]:
    """Return the whole body, and what tells of it again, and then goes on as ``receive`` does.

    The server takes no more than some of a body that nobody reads, and its sender is not at rest before it is taken.
    """
    body = await read_body(receive)
    read = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return read.pop() if read else await receive()

    return body, again
