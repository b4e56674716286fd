"""TLS on the wire: records that come in pieces, handshakes that are not done, and nothing is overlooked meanwhile."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
from collections.abc import AsyncIterator

import pytest

from batkube.kube.authentication.certificates import VALID_FROM, VALID_UNTIL, Authority
from batkube.kube.server import ApiServer
from tests.waiting import wait_until_async

from .conftest import CONFIGMAPS, done

TOKEN = "t"


class Client:
    """TLS by hand: which bytes go when is the test's choice."""

    def __init__(self, server: ApiServer, authority: Authority) -> None:
        context = ssl.create_default_context(cadata=authority.certificate.decode())
        context.set_alpn_protocols(["h2", "http/1.1"])
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.incoming, self.outgoing, server_hostname="localhost")
        self.port = server.port

    async def connect(self) -> None:
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)

    def hello(self) -> bytes:
        """The first flight."""
        with pytest.raises(ssl.SSLWantReadError):
            self.tls.do_handshake()
        return self.outgoing.read()

    async def shake_hands(self) -> None:
        self.writer.write(self.hello())
        while True:
            self.incoming.write(await asyncio.wait_for(self.reader.read(1 << 16), 60))
            try:
                self.tls.do_handshake()
            except ssl.SSLWantReadError:
                continue
            self.writer.write(self.outgoing.read())
            return

    def encrypted(self, data: bytes) -> bytes:
        self.tls.write(data)
        return self.outgoing.read()

    async def answer(self) -> tuple[int, bytes]:
        """Status and body of the next answer."""
        text = b""
        while True:
            head, found, body = text.partition(b"\r\n\r\n")
            if found and len(body) >= int(head.lower().partition(b"content-length: ")[2].split()[0]):
                return int(head.split()[1]), body
            text += await self.record()

    async def record(self) -> bytes:
        """The content of the next record: several may have come at once, and none may be waited for that is here."""
        while True:
            try:
                return self.tls.read(1 << 16)
            except ssl.SSLWantReadError:
                data = await asyncio.wait_for(self.reader.read(1 << 16), 60)
                assert data, "the connection was closed"
                self.incoming.write(data)


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


@pytest.fixture
async def server(authority: Authority) -> AsyncIterator[ApiServer]:
    server = ApiServer(now=lambda: 0.0, authority=authority, token=TOKEN)
    await server.start()
    yield server
    await server.stop()


@pytest.fixture
async def client(server: ApiServer, authority: Authority) -> AsyncIterator[Client]:
    client = Client(server, authority)
    await client.connect()
    yield client
    client.writer.close()


def request(method: str, path: str, body: bytes = b"") -> bytes:
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def config_map(name: str, size: int) -> bytes:
    return json.dumps({"metadata": {"name": name}, "data": {"filler": "x" * size}}).encode()


async def test_it_speaks_http_1_1_to_a_client_that_would_like_http_2(client: Client) -> None:
    await client.shake_hands()
    assert client.tls.selected_alpn_protocol() == "http/1.1"


@pytest.mark.parametrize("size", [0, 100_000, 2_000_000])
async def test_bodies_of_any_size_go_both_ways(client: Client, size: int) -> None:
    await client.shake_hands()
    client.writer.write(client.encrypted(request("POST", CONFIGMAPS, config_map("a", size % 1_000_000))))
    assert (await client.answer())[0] == 201
    client.writer.write(client.encrypted(request("PUT", f"{CONFIGMAPS}/a", config_map("a", min(size, 1_000_000)))))
    assert (await client.answer())[0] == 200
    client.writer.write(client.encrypted(request("GET", f"{CONFIGMAPS}/a")))
    status, body = await client.answer()
    assert (status, len(json.loads(body)["data"]["filler"])) == (200, min(size, 1_000_000))


async def test_a_body_that_is_too_large_is_refused_and_the_connection_goes_on(client: Client) -> None:
    await client.shake_hands()
    client.writer.write(client.encrypted(request("POST", CONFIGMAPS, b"x" * 5_000_000)))
    assert (await client.answer())[0] == 413
    client.writer.write(client.encrypted(request("GET", CONFIGMAPS)))
    assert (await client.answer())[0] == 200


@pytest.mark.parametrize("cut", [1, 4, 5, 20, -1])
async def test_a_record_of_which_a_part_has_come_is_under_way(server: ApiServer, client: Client, cut: int) -> None:
    await client.shake_hands()
    await done(server)
    record = client.encrypted(request("GET", CONFIGMAPS))
    client.writer.write(record[:cut])
    await wait_until_async("a request is in work", server.busy)
    client.writer.write(record[cut:])
    assert (await client.answer())[0] == 200
    await done(server)


async def test_records_that_come_byte_by_byte(client: Client) -> None:
    for byte in client.hello():
        client.writer.write(bytes((byte,)))
        await client.writer.drain()
    client.incoming.write(await client.reader.read(1 << 16))
    client.tls.do_handshake()
    for byte in client.outgoing.read() + client.encrypted(request("GET", CONFIGMAPS) + request("GET", "/version")):
        client.writer.write(bytes((byte,)))
        await asyncio.sleep(0)
    assert (await client.answer())[0] == 200
    assert (await client.answer())[0] == 200


async def test_a_connection_is_known_before_its_handshake_is_done(server: ApiServer, client: Client) -> None:
    """Else nobody would see what its client has sent and the server has not read."""
    await wait_until_async("a connection is open", server.connections)
    (connection,) = server.connections()
    assert connection.getsockname()[1] == server.port
    client.writer.write(client.hello())
    client.incoming.write(await client.reader.read(1 << 16))
    assert server.connections() == [connection]
    await done(server)  # it is the client's turn


async def test_nothing_is_in_flight_once_the_handshake_is_done(client: Client, server: ApiServer) -> None:
    """No session tickets: a client that does not read would leave them in its socket."""
    await client.shake_hands()
    client.writer.write(client.encrypted(request("GET", "/healthz")))
    assert (await client.answer()) == (200, b"ok")
    assert client.incoming.pending == 0
    assert not client.tls.pending()
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(client.reader.read(1), 0.1)  # to pass


async def test_who_speaks_plain_http_is_told_in_plain_words(server: ApiServer) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
    answer = await asyncio.wait_for(reader.read(), 60)
    assert answer == b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"
    writer.close()
    await wait_until_async("no connection is open", lambda: not server.connections())


@pytest.mark.parametrize("nonsense", [b"\x00" * 100, b"\x16\x03\x01\xff\xff" + b"x" * 50, b"\x16\x03\x03\x00\x05hello"])
async def test_who_speaks_no_tls_is_hung_up_on(server: ApiServer, nonsense: bytes) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(nonsense)
    await asyncio.wait_for(reader.read(), 60)
    writer.close()
    await wait_until_async("no connection is open", lambda: not server.connections())
    await done(server)


async def test_nonsense_in_the_midst_of_a_connection_ends_it(server: ApiServer, client: Client) -> None:
    await client.shake_hands()
    client.writer.write(b"\x17\x03\x03\x00\x20" + b"x" * 32)
    await wait_until_async("no connection is open", lambda: not server.connections())
    await done(server)


async def test_a_watch_sees_events_and_ends_with_the_server(server: ApiServer, client: Client) -> None:
    await client.shake_hands()
    client.writer.write(client.encrypted(request("GET", f"{CONFIGMAPS}?watch=1&resourceVersion=0")))
    await wait_until_async("the watch is open", lambda: server.watching("configmaps"))
    await done(server)
    server.create("configmaps", {"metadata": {"name": "a"}})
    text = b""
    while b'"name":"a"' not in text:
        text += await client.record()
    await server.stop()
    await asyncio.wait_for(client.reader.read(), 60)
    assert server.connections() == []


async def test_a_client_that_says_goodbye_is_let_go(server: ApiServer, client: Client) -> None:
    await client.shake_hands()
    with pytest.raises(ssl.SSLWantReadError):
        client.tls.unwrap()
    client.writer.write(client.outgoing.read())
    await wait_until_async("no connection is open", lambda: not server.connections())


async def test_older_tls_than_1_2_is_refused(server: ApiServer) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with pytest.warns(DeprecationWarning, match="TLSv1_1"):
        context.maximum_version = ssl.TLSVersion.TLSv1_1

    def connect() -> None:
        with socket.create_connection(("127.0.0.1", server.port)) as plain, context.wrap_socket(plain):
            pass

    with pytest.raises(ssl.SSLError):
        await asyncio.to_thread(connect)


def test_certificates_hold_at_any_date() -> None:
    assert (VALID_FROM.isoformat(), VALID_UNTIL.isoformat()) == ("1950-01-01T00:00:00", "9999-12-31T23:59:59")
