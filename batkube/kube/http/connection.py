"""One connection: uvicorn's HTTP protocol, with a short way for requests that are answered at once.

Nearly all requests of a scheduler are small writes. Their answers need no waiting, so they need no ASGI either: no
task, no events, one call, and one packet for head and body. Together that saves a third of the processor time of such a
request.

The events of a write go to the watches before its answer goes to the writer. A client that has the answer, and looks at
what a scheduler makes of the change, relies on the scheduler having seen the change.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from ..apimachinery.status import ApiError, TextError
from ..apimachinery.users import User
from ..authentication.authenticator import certified_user
from ..codec.answers import HttpAnswer, answer_error
from .turns import Turns

_START = 64  # bytes of a request that tell whether it is one
_METHOD = re.compile(rb"[A-Z]{1,32} /[!-~]*")

MAX_HEAD = 1 << 20  # bytes of request line and headers, as Go's net/http
LINGER = 0.5  # real seconds; closing at once would reset the connection, and the answer would be lost with it
SHORT_BODY = 1 << 18  # bytes; what is larger goes the long way, which takes it in pieces


class Answering(Protocol):
    """The endpoint that answers at once, except clients that take turns."""

    turns: Turns

    def answers_at_once(self, method: bytes, url: bytes) -> bool: ...

    def answer(
        self,
        method: bytes,
        url: bytes,
        headers: Sequence[tuple[bytes, bytes]],
        body: bytes,
        certified: User | None,
        takes_turns: bool,
    ) -> HttpAnswer: ...

    def lead(self, method: bytes) -> float: ...

    def lag(self, method: bytes, answer: HttpAnswer) -> float: ...


class Connection(HttpToolsProtocol):
    """A connection from a client."""

    def __init__(self, answering: Answering, begun: set[Connection], **options: Any) -> None:
        """Create a connection. It adds itself to `begun` with each request."""
        super().__init__(**options)
        self._answering = answering
        self._begun = begun
        self._start = b""  # of what came last
        self._head: int | None = None  # bytes so far of a head that is not complete
        self._deaf = False  # what still comes is read and thrown away
        self._body: bytes | None = None  # so far, of a request that goes the short way
        self._due: tuple[Callable[[], None], asyncio.Handle] | None = None  # the next step of a short request
        self._certified: User | None = None  # whom the client's certificate names
        self._met = False  # a request has come

    @property
    def in_work(self) -> bool:
        """True if the head of a request was read and its answer is not complete. A request that waits for its turn does
        not count.
        """
        if self.waits_for_its_turn:
            return False
        if self._body is not None or self._due is not None:
            return True
        return self.cycle is not None and not self.cycle.response_complete

    @property
    def waits_for_its_turn(self) -> bool:
        """True if a request waits for its turn."""
        return self._answering.turns.holds(self.client)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin: the connection is open; with TLS, its handshake is done."""
        super().connection_made(transport)
        tls = transport.get_extra_info("ssl_object")
        certificate = tls.getpeercert() if tls is not None else None
        if certificate:
            self._certified = certified_user(certificate)

    def data_received(self, data: bytes) -> None:
        """Take bytes from the client."""
        if self._deaf:
            return
        self._start = data[:_START]
        super().data_received(data)
        if self._head is not None:
            self._head += len(data)
            if self._head > MAX_HEAD:
                self._refuse(TextError(431, "431 Request Header Fields Too Large"))

    def _unsupported_upgrade_warning(self) -> None:
        """Answer a request to speak another protocol than HTTP in HTTP.

        The parser goes no further on such a connection: all that still comes is thrown away, and the answer is the
        last.
        """
        self._deaf = True
        if self.cycle is not None:
            self.cycle.keep_alive = False

    def on_message_begin(self) -> None:
        """Begin a request: the parser has seen its first byte."""
        self._hasten()  # the client does not wait for the answer
        super().on_message_begin()
        self._head = 0
        if not self._met:
            self._met = True
            self._answering.turns.meet(self.client, self.transport.get_extra_info("socket"))
        if self._certified is not None:
            self.scope["state"]["certified"] = self._certified

    def send_400_response(self, msg: str) -> None:
        """Refuse bytes that are not HTTP, or a method that only the parser does not know."""
        if not _METHOD.match(self._start):
            super().send_400_response(msg)
            return
        self._refuse(ApiError.method_not_allowed())

    def on_headers_complete(self) -> None:
        """Take the head of a request, which the parser has read."""
        self._head = None
        self._begun.add(self)
        self._answering.turns.note(self.client, self.parser.get_method())
        if self._is_short():
            self._body = b""
        else:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a piece of the request's body."""
        if self._body is None:
            super().on_body(body)
        else:
            self._body += body

    def on_message_complete(self) -> None:
        """Answer the request, which the parser has read to its end."""
        if self._body is None:
            super().on_message_complete()
            return
        turns, method = self._answering.turns, self.parser.get_method()
        carry_out = partial(self._carry_out, method)
        if self.client is not None and turns.takes(self.client):
            turns.hold(self.client, (method, self.url, self._body), carry_out)
            self._begun.discard(self)  # thousands may wait, and `Listener.works` asks each of `_begun`
        elif lead := self._answering.lead(method):
            self._do_later(lead, carry_out)
        else:
            carry_out()

    def shutdown(self) -> None:
        """Close the connection once nothing is in work."""
        self._hasten()
        super().shutdown()

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that the client has closed the connection, or that it broke."""
        self._hasten()
        self._begun.discard(self)
        self._answering.turns.part(self.client)
        super().connection_lost(exc)

    def _carry_out(self, method: bytes) -> None:
        assert self._body is not None
        self._begun.add(self)
        takes_turns = self._answering.turns.takes(self.client)
        answer = self._answering.answer(method, self.url, self.headers, self._body, self._certified, takes_turns)
        self._body = None
        # The watches that a write has woken are before it in the loop's queue.
        lag = 0.0 if takes_turns else self._answering.lag(method, answer)
        self._do_later(lag, partial(self._send, answer))

    def _send(self, answer: HttpAnswer) -> None:
        if not self.transport.is_closing():
            self._write(answer)
        self.on_response_complete()

    def _do_later(self, seconds: float, step: Callable[[], None]) -> None:
        later = self.loop.call_later(seconds, self._do_due) if seconds else self.loop.call_soon(self._do_due)
        self._due = (step, later)

    def _do_due(self) -> None:
        assert self._due is not None
        step, handle = self._due
        handle.cancel()
        self._due = None
        step()

    def _hasten(self) -> None:
        while self._due is not None:
            self._do_due()

    def _refuse(self, error: ApiError | TextError) -> None:
        """Answer bytes that never became a request, and close: the beginning of the next request is not known."""
        answer = answer_error(error)
        answer.headers.append((b"connection", b"close"))
        self._write(answer)
        self._deaf = True
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.loop.call_later(LINGER, self.transport.close)

    def _write(self, answer: HttpAnswer) -> None:
        parts = [STATUS_LINE[answer.code]]
        for name, value in answer.all_headers():
            parts += (name, b": ", value, b"\r\n")
        parts += (b"\r\n", answer.body)
        self.transport.write(b"".join(parts))

    def _is_short(self) -> bool:
        if self.in_work or self.flow.write_paused or self.expect_100_continue:
            return False
        parser = self.parser
        if not parser.should_keep_alive() or parser.should_upgrade():
            return False
        if not self._answering.answers_at_once(parser.get_method(), self.url):
            return False
        length = 0
        for name, value in self.headers:
            if name == b"content-length":
                length = int(value)
            elif name == b"transfer-encoding":
                return False
        return length <= SHORT_BODY
