"""TLS between a TCP connection and the protocol above it.

asyncio's own TLS and uvloop's are not used: they report a connection only after its handshake, and do not say if they
hold bytes back. Both must be known to see if anything is under way.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from contextlib import suppress
from typing import Any, cast

HANDSHAKE_SECONDS = 60.0  # real seconds

_RECORD_HEAD = 5  # bytes: type, version, length (RFC 8446, 5.1)
_LONGEST_RECORD = (1 << 14) + 2048  # bytes, the limit of TLS 1.2, the wider one
_READ = 1 << 18  # bytes; a record has less
_NO_TLS = b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"  # as Go's net/http

logger = logging.getLogger(__name__)


class TlsLayer(asyncio.Protocol, asyncio.Transport):
    """The protocol of a TCP connection, and the transport of the protocol above.

    The protocol above hears of the connection when the handshake is done. `open_layers` contains this layer while it is
    open.
    """

    def __init__(self, context: ssl.SSLContext, above: asyncio.Protocol, open_layers: set[TlsLayer]) -> None:
        asyncio.Transport.__init__(self)
        self._context = context
        self._above = above
        self._open_layers = open_layers
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._partial = b""  # of a record whose rest has not arrived
        self._established = False
        self._paused = False

    @property
    def tcp(self) -> asyncio.Transport:
        """The connection beneath."""
        return self._tcp

    @property
    def holds_bytes(self) -> bool:
        """True if bytes have arrived that the protocol above has not got."""
        return bool(self._partial or self._incoming.pending or (self._established and self._tls.pending()))

    # -- the protocol of the TCP connection

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin: a client has connected. It speaks first."""
        self._tcp = cast(asyncio.Transport, transport)
        self._open_layers.add(self)
        self._timer = asyncio.get_running_loop().call_later(HANDSHAKE_SECONDS, self._tcp.abort)

    def data_received(self, data: bytes) -> None:
        """Take bytes from the client."""
        self._incoming.write(self._whole_records(data))
        if self._established or self._shake_hands():
            self._read()

    def eof_received(self) -> None:
        """End the connection: the client sends no more."""
        if self._established:
            self._above.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that the connection has ended."""
        self._open_layers.discard(self)
        self._timer.cancel()
        if self._established:
            self._above.connection_lost(exc)

    def pause_writing(self) -> None:
        """Pause: the client does not keep up."""
        if self._established:
            self._above.pause_writing()

    def resume_writing(self) -> None:
        """Resume: the client keeps up again."""
        if self._established:
            self._above.resume_writing()

    # -- the transport of the protocol above

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Encrypt and send."""
        if data and not self._tcp.is_closing():
            try:
                self._tls.write(data)
            except ssl.SSLError as error:
                self._fail(error)
            else:
                self._flush()

    def get_write_buffer_size(self) -> int:
        """Return the number of bytes that wait for the kernel to take them."""
        return self._tcp.get_write_buffer_size()

    def pause_reading(self) -> None:
        """Hand no more data up."""
        self._paused = True
        self._tcp.pause_reading()

    def resume_reading(self) -> None:
        """Hand up the data that was held back, and all that follows."""
        self._paused = False
        if not self._tcp.is_closing():
            self._tcp.resume_reading()
            asyncio.get_running_loop().call_soon(self._read)

    def can_write_eof(self) -> bool:
        """Return False: TLS has no half-closed connections."""
        return False

    def is_closing(self) -> bool:
        """Return True if nothing more can be written."""
        return self._tcp.is_closing()

    def close(self) -> None:
        """Send what was written and that no more will follow, then close."""
        if self._tcp.is_closing():
            return
        with suppress(ssl.SSLError):  # it would wait for the client's answer
            self._tls.unwrap()
        self._flush()
        self._tcp.close()

    def abort(self) -> None:
        """Close at once."""
        self._tcp.abort()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """Return information as asyncio's transports do: `sslcontext`, `ssl_object`, and that of the TCP connection."""
        if name == "sslcontext":
            return self._context
        if name == "ssl_object":
            return self._tls
        return self._tcp.get_extra_info(name, default)

    # -- private

    def _whole_records(self, data: bytes) -> bytes:
        """Return the bytes that have arrived, up to the end of the last whole record. The rest waits.

        OpenSSL does not say that it holds a part of a record. Bytes that do not look like a record are left for it to
        judge.
        """
        data = self._partial + data if self._partial else data
        end, size = 0, len(data)
        while size - end >= _RECORD_HEAD:
            length = data[end + 3] << 8 | data[end + 4]
            if data[end + 1] != 3 or length > _LONGEST_RECORD:
                self._partial = b""
                return data
            if size - end < _RECORD_HEAD + length:
                break
            end += _RECORD_HEAD + length
        self._partial = data[end:]
        return data if end == size else data[:end]

    def _shake_hands(self) -> bool:
        try:
            self._tls.do_handshake()
        except ssl.SSLWantReadError:
            self._flush()
            return False
        except ssl.SSLError as error:
            if error.reason == "HTTP_REQUEST":
                self._tcp.write(_NO_TLS)
            self._fail(error)
            return False
        self._flush()
        self._timer.cancel()
        self._established = True
        self._above.connection_made(self)
        return True

    def _read(self) -> None:
        while not self._paused and not self._tcp.is_closing():
            try:
                data = self._tls.read(_READ)
            except ssl.SSLWantReadError:
                break
            except ssl.SSLError as error:
                self._fail(error)
                return
            if not data:  # the client has said that nothing more will come
                self.close()
                return
            self._above.data_received(data)
            if not self._incoming.pending and not self._tls.pending():
                break
        self._flush()

    def _flush(self) -> None:
        if self._outgoing.pending and not self._tcp.is_closing():
            self._tcp.write(self._outgoing.read())

    def _fail(self, error: ssl.SSLError) -> None:
        """Tell the client what is wrong (TLS has its own words for that) and close."""
        logger.info("a connection failed: %s", error.reason or error)
        self._flush()
        self._tcp.close()
