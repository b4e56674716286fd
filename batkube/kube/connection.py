"""One connection: uvicorn's HTTP protocol, with a short way for requests that are answered at once.

Nearly all that a scheduler sends are small writes. Their answers need no waiting, so they need no ASGI either: no task,
no events, one call, and one packet for head and body. Together that is a third of the processor time of such a request.

What a write changed goes to the watches before its answer goes to who wrote: who has the answer and looks at what a
scheduler makes of the change counts on the scheduler having seen it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from .answers import Answer, answer_error
from .authentication import certified_user
from .status import ApiError, TextError
from .users import User

_START = 64  # bytes of a request that tell whether it is one
_METHOD = re.compile(rb"[A-Z]{1,32} /[!-~]*")

MAX_HEAD = 1 << 20  # bytes of request line and headers, as Go's net/http
LINGER = 0.5  # real seconds; closing at once would reset the connection, and the answer would be lost with it
SHORT_BODY = 1 << 18  # bytes; what is larger goes the long way, which takes it in pieces


class Answering(Protocol):
    """Who answers at once."""

    def answers_at_once(self, method: bytes, url: bytes) -> bool: ...

    def answer(
        self,
        method: bytes,
        url: bytes,
        headers: Sequence[tuple[bytes, bytes]],
        body: bytes,
        certified: User | None,
    ) -> Answer: ...

    def lead(self, method: bytes) -> float: ...

    def lag(self, method: bytes, answer: Answer) -> float: ...


class Connection(HttpToolsProtocol):
    """A connection from a client."""

    def __init__(self, answering: Answering, **options: Any) -> None:
        super().__init__(**options)
        self._answering = answering
        self._start = b""  # of what came last
        self._head: int | None = None  # bytes so far of a head that is not complete
        self._deaf = False  # what still comes is read and thrown away
        self._body: bytes | None = None  # so far, of a request that goes the short way
        self._due: tuple[Callable[[], None], asyncio.Handle] | None = None  # the next step of a short request
        self._certified: User | None = None  # whom the client's certificate names

    @property
    def in_work(self) -> bool:
        """The head of a request was read and its answer is not complete."""
        if self._body is not None or self._due is not None:
            return True
        return self.cycle is not None and not self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """The connection is open; with TLS, its handshake is done."""
        super().connection_made(transport)
        tls = transport.get_extra_info("ssl_object")
        certificate = tls.getpeercert() if tls is not None else None
        if certificate:
            self._certified = certified_user(certificate)

    def data_received(self, data: bytes) -> None:
        """Bytes from the client."""
        if self._deaf:
            return
        self._start = data[:_START]
        super().data_received(data)
        if self._head is not None:
            self._head += len(data)
            if self._head > MAX_HEAD:
                self._refuse(TextError(431, "431 Request Header Fields Too Large"))

    def _unsupported_upgrade_warning(self) -> None:
        """A request to speak something else than HTTP is answered in HTTP. The parser goes no further on such a
        connection: what else comes, a body, is thrown away, and the answer is the last.
        """
        self._deaf = True
        if self.cycle is not None:
            self.cycle.keep_alive = False

    def on_message_begin(self) -> None:
        """The parser has seen the first byte of a request."""
        self._hasten()  # the client does not wait for the answer
        super().on_message_begin()
        self._head = 0
        if self._certified is not None:
            self.scope["state"]["certified"] = self._certified

    def send_400_response(self, msg: str) -> None:
        """What came is no HTTP; or it is, but for a method that only the parser does not know."""
        if not _METHOD.match(self._start):
            super().send_400_response(msg)
            return
        self._refuse(ApiError.method_not_allowed())

    def on_headers_complete(self) -> None:
        """The parser has read the head of a request."""
        self._head = None
        if self._is_short():
            self._body = b""
        else:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """The parser has read a piece of its body."""
        if self._body is None:
            super().on_body(body)
        else:
            self._body += body

    def on_message_complete(self) -> None:
        """The parser has read all of it."""
        if self._body is None:
            super().on_message_complete()
            return
        lead = self._answering.lead(self.parser.get_method())
        if lead:
            self._do_later(lead, self._carry_out)
        else:
            self._carry_out()

    def shutdown(self) -> None:
        """Close the connection once nothing is in work."""
        self._hasten()
        super().shutdown()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has closed the connection, or it broke."""
        self._hasten()
        super().connection_lost(exc)

    def _carry_out(self) -> None:
        assert self._body is not None
        method = self.parser.get_method()
        answer = self._answering.answer(method, self.url, self.headers, self._body, self._certified)
        self._body = None
        # The watches that a write has woken are before it in the loop's queue.
        self._do_later(self._answering.lag(method, answer), partial(self._send, answer))

    def _send(self, answer: Answer) -> None:
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
        """Answer what never became a request, and close: where the next one begins is not known."""
        answer = answer_error(error)
        answer.headers.append((b"connection", b"close"))
        self._write(answer)
        self._deaf = True
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.loop.call_later(LINGER, self.transport.close)

    def _write(self, answer: Answer) -> None:
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
