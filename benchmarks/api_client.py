"""A client of the Kubernetes API that costs little itself: HTTP/1.1 over asyncio, keep-alive, no parsing of bodies.

General clients spend more processor time on a request than the servers measured here do on its answer.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from types import TracebackType
from urllib.parse import urlsplit

JSON_TYPE = "application/json"
PROTOBUF_TYPE = "application/vnd.kubernetes.protobuf"


class RequestError(RuntimeError):
    """The server refused a request. The text has the request, the status and the start of the answer."""


@dataclass(frozen=True)
class Endpoint:
    """The address of a server and the credentials for it."""

    url: str
    token: str = ""


class Connection:
    """One connection, opened at its first use; requests follow one another on it."""

    def __init__(self, endpoint: Endpoint, accept: str = JSON_TYPE) -> None:
        parts = urlsplit(endpoint.url)
        assert parts.hostname
        assert parts.port
        self._address = (parts.hostname, parts.port)
        self._ssl = ssl._create_unverified_context() if parts.scheme == "https" else None
        self._headers = f"Host: {parts.netloc}\r\nAccept: {accept}\r\n"
        if endpoint.token:
            self._headers += f"Authorization: Bearer {endpoint.token}\r\n"
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def request(self, method: str, path: str, body: bytes = b"", content_type: str = JSON_TYPE) -> bytes:
        """The body of the answer. Raises RequestError unless the status is 2xx, OSError when there is no server."""
        reader, length = await self._send(method, path, body, content_type)
        if length is not None:
            return await reader.readexactly(length)
        return b"".join([chunk async for chunk in _chunks(reader)])

    async def lines(self, path: str) -> AsyncIterator[bytes]:
        """The lines of an answer that goes on, as that of a watch."""
        rest = b""
        async for chunk in await self.chunks(path):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                yield line

    async def chunks(self, path: str) -> AsyncIterator[bytes]:
        """The pieces of such an answer, as they come. When this returns the answer has begun."""
        reader, _ = await self._send("GET", path)
        return _chunks(reader)

    async def _send(
        self, method: str, path: str, body: bytes = b"", content_type: str = ""
    ) -> tuple[asyncio.StreamReader, int | None]:
        if self._reader is None or self._writer is None:
            self._reader, self._writer = await asyncio.open_connection(*self._address, ssl=self._ssl)
        head = f"{method} {path} HTTP/1.1\r\n{self._headers}"
        if body:
            head += f"Content-Type: {content_type}\r\nContent-Length: {len(body)}\r\n"
        self._writer.write(head.encode() + b"\r\n" + body)
        answer = (await self._reader.readuntil(b"\r\n\r\n")).lower()
        found = answer.find(b"content-length:")
        length = None if found < 0 else int(answer[found + 15 : answer.index(b"\r", found)])
        status = int(answer[9:12])
        if not 200 <= status < 300:
            text = await self._reader.readexactly(length) if length else b""
            raise RequestError(f"{method} {path}: {status} {text[:200].decode(errors='replace')}")
        return self._reader, length

    def ignore(self) -> None:
        """Take what still comes, and throw it away at the least cost."""
        if self._writer is not None:
            self._writer.transport.set_protocol(asyncio.Protocol())

    def close(self) -> None:
        """Leave without a word."""
        if self._writer is not None:
            self._writer.close()

    async def __aenter__(self) -> "Connection":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@dataclass(frozen=True)
class Request:
    """One request. `content_type` is that of the body."""

    method: str
    path: str
    body: bytes = b""
    content_type: str = JSON_TYPE


async def send(endpoint: Endpoint, requests: Iterable[Request], connections: int, accept: str = JSON_TYPE) -> None:
    """Send all, over so many connections side by side."""
    waiting = iter(requests)

    async def worker() -> None:
        async with Connection(endpoint, accept) as connection:
            for one in waiting:
                await connection.request(one.method, one.path, one.body, one.content_type)

    await asyncio.gather(*(worker() for _ in range(connections)))


async def create(endpoint: Endpoint, path: str, bodies: Iterable[bytes], connections: int = 16) -> None:
    """POST each body to ``path``, over so many connections side by side."""
    await send(endpoint, (Request("POST", path, body) for body in bodies), connections)


async def _chunks(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while size := int(await reader.readline(), 16):
        yield await reader.readexactly(size)
        await reader.readline()
    await reader.readline()
