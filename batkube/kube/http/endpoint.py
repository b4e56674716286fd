"""The Kubernetes API as an ASGI application: requests in, answers and streams out.

It stands before FastAPI in the server, so that the many small requests of a scheduler cost no more than their own work.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import unquote

from ..apimachinery.status import ApiError, TextError
from ..apimachinery.users import User
from ..authentication import impersonation
from ..codec.answers import HttpAnswer, answer_error, compressed, warning_header
from ..codec.bodies import MAX_BODY
from ..codec.negotiation import PLAIN, Accepted, negotiate
from ..storage.deadlines import Deadline, Deadlines
from ..storage.watch import Watcher
from ..verbs.api import Api
from ..verbs.request_options import NO_QUERY, Query, check_timeout, decodable
from .handlers import Stream, handle
from .request import Request, verb_of
from .request_body import Message, Receive, read_body
from .routes import request_info, runs_long
from .turns import Turns

Scope = MutableMapping[str, Any]
Headers = Sequence[tuple[bytes, bytes]]
Client = tuple[str, int]  # address and port of the other end
Send = Callable[[Message], Awaitable[None]]

# What is no resource: discovery, OpenAPI, health, version. Gets the path's parts, method, Accept and query.
Document = Callable[[list[str], str, str, Query], HttpAnswer]

_WRITES = frozenset((b"POST", b"PUT", b"PATCH", b"DELETE"))

MOST_AGENTS = 1000
DEAF_SECONDS = 5.0  # real seconds
MARK_SECONDS = 2  # before its end a watch is told how far it has come: a shorter one is not (`nextBookmarkTime`)
DELETE_LEAD, DELETE_LAG = 0.005, 0.001  # real seconds
STANDING_SECONDS = 1.0  # between two looks whether time goes on again

logger = logging.getLogger(__name__)


class Written(NamedTuple):
    """A write of a client that was carried out."""

    verb: str
    resource: str
    namespace: str
    name: str
    subresource: str
    client: str  # the beginning of its User-Agent
    takes_turns: bool


class Endpoint:
    """The ASGI application of one Api. It knows which requests are in work."""

    def __init__(self, api: Api, document: Document, time_stands: Callable[[], bool] = lambda: False) -> None:
        self.api = api
        self._time_stands = time_stands  # no watch ends by its timeout then
        self.turns = Turns()
        self.in_work = 0  # requests begun and not yet answered; open watches excepted
        self.watchers: dict[Watcher, Client | None] = {}  # and whose they are
        self.streams: set[Client | None] = set()  # whose watches they are
        self._own_streams: dict[asyncio.Event, Client | None] = {}
        self._woken: set[Watcher] = set()  # those of which something may wait to be written
        self.requests: Counter[tuple[str, str]] = Counter()  # by verb and storage key
        self.agents: dict[str, None] = {}  # the User-Agents of clients, in order of their first request; some of them
        self.terminated: Counter[str] = Counter()  # watches whose clients did not read, by storage key
        self.deadlines: Deadlines | None = None  # of watches; None: by the clock of the event loop
        self.on_write: list[Callable[[Written], None]] = []  # called after each write of a client over HTTP
        self.hang_up: Callable[[Client], bool] = lambda client: False  # cut a client's connection, if it can
        self._document = document

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.in_work += 1
        waiting = True
        try:
            result = await self._result(scope, receive)
            if isinstance(result, HttpAnswer):
                # The watches that a write has woken come first.
                if scope["method"] not in ("GET", "HEAD") and not self.turns.takes(scope.get("client")):
                    await asyncio.sleep(self.lag(scope["method"].encode(), result))
                await send_answer(result, scope["method"] == "HEAD", send)
            else:
                self.in_work -= 1
                waiting = False
                await self._send_stream(result, scope.get("client"), receive, send)
        finally:
            if waiting:
                self.in_work -= 1

    @contextmanager
    def own_stream(self, client: Client | None) -> Iterator[asyncio.Event]:
        """Send a stream that is no watch: it does not count as a request in work. The event is set when the server
        stops.
        """
        stops = asyncio.Event()
        self._own_streams[stops] = client
        self.streams.add(client)
        try:
            yield stops
        finally:
            del self._own_streams[stops]
            self._close_stream(client)

    def _close_stream(self, client: Client | None) -> None:
        if client not in self.watchers.values() and client not in self._own_streams.values():
            self.streams.discard(client)

    def unwritten(self) -> list[Client | None]:
        """Return the clients of watches of which an event, or the end, is not yet handed to the connection."""
        unwritten = []
        for watcher in list(self._woken):
            if watcher in self.watchers and (watcher.pending or watcher.over):
                unwritten.append(self.watchers[watcher])
            else:
                self._woken.discard(watcher)
        return unwritten

    def end_watches(self) -> None:
        """End all streams, as the server does when it stops."""
        for watcher in list(self.watchers):
            watcher.finish()
        for stops in self._own_streams:
            stops.set()

    async def _result(self, scope: Scope, receive: Receive) -> HttpAnswer | Stream:
        method, raw_path = scope["method"], scope.get("raw_path") or scope["path"].encode()
        body = b"" if method in ("GET", "HEAD") else await read_body(receive)
        if (lead := self.lead(method.encode())) and not self.turns.takes(scope.get("client")):
            await asyncio.sleep(lead)
        certified = scope.get("state", {}).get("certified")
        takes_turns = self.turns.takes(scope.get("client"))
        return self._carry_out(method, raw_path, scope["query_string"], scope["headers"], body, certified, takes_turns)

    def refusal(self, scope: Scope) -> HttpAnswer | None:
        """Return the answer to a client that may not send this request, whatever it is about; None if it may."""
        authorization = b"".join(value for name, value in scope["headers"] if name == b"authorization")
        certified = scope.get("state", {}).get("certified")
        try:
            self.api.authentication.user(scope["method"], scope["path"].encode(), authorization, certified)
        except ApiError as error:
            return answer_error(error)
        return None

    def answers_at_once(self, method: bytes, url: bytes) -> bool:
        """Return True for a request that `answer` takes: a write, which needs no waiting and whose answer
        is no stream.
        """
        return method in _WRITES and url.startswith((b"/api/", b"/apis/"))

    def answer(
        self, method: bytes, url: bytes, headers: Headers, body: bytes, certified: User | None, takes_turns: bool
    ) -> HttpAnswer:
        """Return the answer to a request for which `answers_at_once` is True."""
        raw_path, _, query = url.partition(b"?")
        result = self._carry_out(method.decode("ascii"), raw_path, query, headers, body, certified, takes_turns)
        assert isinstance(result, HttpAnswer)
        return result

    def lead(self, method: bytes) -> float:
        """Return the real seconds from a request's arrival until it takes effect.

        kube-apiserver takes four to six milliseconds for any write. Here only a DELETE does: if two pods preempt the
        same victims, the first must have its answers before the second's last DELETE takes effect, or kube-scheduler
        leaves it in the queue.
        """
        return DELETE_LEAD if method == b"DELETE" and self.watchers else 0

    def lag(self, method: bytes, answer: HttpAnswer) -> float:
        """Return the real seconds by which the answer to such a write comes later than its events.

        kube-apiserver sends both at about the same time. Only the answer to a DELETE is one to four milliseconds later:
        tests of kube-scheduler count on it.
        """
        return DELETE_LAG if method == b"DELETE" and answer.code < 300 and self.watchers else 0

    def _carry_out(
        self,
        method: str,
        raw_path: bytes,
        raw_query: bytes,
        headers: Headers,
        body: bytes,
        certified: User | None,
        takes_turns: bool,
    ) -> HttpAnswer | Stream:
        warnings: list[str] = []
        accept = content_type = user_agent = ""
        authorization = b""
        gzip = acts_as_other = upgrades = False
        for name, value in headers:
            if name == b"accept":
                accept = value.decode("latin-1")
            elif name == b"content-type":
                content_type = value.decode("latin-1")
            elif name == b"user-agent":
                user_agent = value.decode("latin-1")
            elif name == b"accept-encoding":
                gzip = b"gzip" in value and b"gzip" in map(bytes.strip, value.split(b","))
            elif name == b"authorization":
                authorization = value
            elif name == b"upgrade":
                upgrades = True
            elif name.startswith(impersonation.PREFIX):
                acts_as_other = True
        query = Query(raw_query.decode("latin-1")) if raw_query else NO_QUERY
        try:
            parts = split_path(raw_path)
            if "timeout" in query and not runs_long(parts, method, query.flag("watch")):
                check_timeout(query)
            user = self.api.authentication.user(method, raw_path, authorization, certified)
            if acts_as_other:
                user = impersonation.impersonated(headers)
            info = request_info(self.api.registry, parts)
            if info is None:
                if parts[0] == "openapi" and raw_path.endswith(b"/"):
                    parts.append("")  # documents are files: no slash at their end
                return self._document(parts, method, accept, query)
            if len(body) > MAX_BODY:
                raise ApiError.request_too_large(MAX_BODY)
            request = Request(method, info, query, accept, content_type, body, user_agent, user, warnings, upgrades)
            self.requests[verb_of(request), info.resource.storage] += 1
            if user_agent not in self.agents and len(self.agents) < MOST_AGENTS:
                self.agents[user_agent] = None
            result = handle(self.api, request)
            if self.on_write and method != "GET" and isinstance(result, HttpAnswer) and result.code < 300:
                self._tell_written(request, takes_turns)
            if gzip and method == "GET" and isinstance(result, HttpAnswer):
                return compressed(result)
            return result
        except (ApiError, TextError) as error:
            return answer_error(error, _error_form(accept, query), warnings)
        except Exception as error:
            logger.exception("%s %s failed", method, raw_path.decode("latin-1"))
            return answer_error(ApiError.internal(f"{type(error).__name__}: {error}"))

    def _tell_written(self, request: Request, takes_turns: bool) -> None:
        if "dryRun" in request.query or not request.info.resource.storable:
            return
        info = request.info
        written = Written(
            verb_of(request),
            info.resource.plural,
            info.namespace,
            info.name,
            info.subresource,
            request.client,
            takes_turns,
        )
        for listener in list(self.on_write):
            listener(written)

    async def _send_stream(self, stream: Stream, client: Client | None, receive: Receive, send: Send) -> None:
        watcher = stream.watcher
        self.watchers[watcher] = client
        self.streams.add(client)
        watcher.note_wakes_in(self._woken)
        if self.turns.takes(client):
            self.turns.follow(watcher)
        loop = asyncio.get_running_loop()
        task = asyncio.current_task()
        assert task is not None
        timers: list[asyncio.TimerHandle | Deadline] = []
        marks_its_end = stream.timeout_seconds is not None and stream.timeout_seconds > MARK_SECONDS

        def time_out() -> None:
            if self.deadlines is None and self._time_stands():
                timers[0] = loop.call_later(STANDING_SECONDS, time_out)
            else:
                watcher.finish(self.api.store.revision if marks_its_end else None)

        if stream.timeout_seconds is not None and stream.timeout_seconds > 0:
            timers.append((self.deadlines or loop).call_later(stream.timeout_seconds, time_out))

        def fell_behind() -> None:
            """Give a client that has not read for so long a moment to take the 410. It may never read."""
            self.terminated[watcher.storage] += 1
            timers.append(loop.call_later(DEAF_SECONDS, give_up))

        def give_up() -> None:
            """Cut the connection. Closing it would wait for ever to send the bytes that it holds."""
            if client is None or not self.hang_up(client):
                task.cancel()

        watcher.fell_behind = fell_behind
        gone = loop.create_task(_disconnected(receive))
        gone.add_done_callback(lambda _: watcher.finish())
        try:
            headers = [(b"content-type", stream.content_type), (b"cache-control", b"no-cache, private")]
            if stream.warning:
                headers.append(warning_header(stream.warning))
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            while not gone.done():
                batch = watcher.next_batch()
                if batch:
                    await send({"type": "http.response.body", "body": batch, "more_body": True})
                elif watcher.over:
                    break
                else:
                    await watcher.wait()
            await send({"type": "http.response.body", "body": b""})
        except Exception:
            logger.exception("a watch failed")
            raise
        finally:
            for timer in timers:
                timer.cancel()
            gone.cancel()
            watcher.finish()
            self.turns.leave(watcher)
            del self.watchers[watcher]
            self._close_stream(client)


def split_path(raw: bytes) -> list[str]:
    """Return the parts of the path, decoded one by one, without the slash at the end. Raise 400 if an escape is
    malformed.
    """
    text = raw.partition(b"?")[0].decode("latin-1").strip("/") if raw else ""
    if "%" not in text:
        parts = text.split("/")
    else:
        parts = []
        for part in text.split("/"):
            if not decodable(part):
                raise TextError(400, "400 Bad Request")
            plain = unquote(part)
            if "/" in plain:  # an encoded slash is no name of anything
                parts.extend(plain.split("/"))
            else:
                parts.append(plain)
    if ".." in parts or "." in parts:
        clean: list[str] = []
        for part in parts:
            if part == "..":
                del clean[-1:]
            elif part != ".":
                clean.append(part)
        return clean or [""]
    return parts


async def send_answer(answer: HttpAnswer, head: bool, send: Send) -> None:
    """Send an answer over ASGI; to a HEAD without its body."""
    await send({"type": "http.response.start", "status": answer.code, "headers": answer.all_headers()})
    await send({"type": "http.response.body", "body": b"" if head else answer.body})


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _error_form(accept: str, query: Query) -> Accepted:
    """Return the form of a Status: in the media type that was asked for, never as a table."""
    try:
        accepted = negotiate(accept, forms=())
    except ApiError:
        return PLAIN
    if accepted.yaml or accepted.protobuf or "pretty" in query:
        return Accepted(yaml=accepted.yaml, pretty=query.flag("pretty"), protobuf=accepted.protobuf)
    return PLAIN


__all__ = ["Endpoint", "send_answer", "split_path"]
