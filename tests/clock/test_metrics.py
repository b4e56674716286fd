"""kube-scheduler's metrics as its versions write them, and what else may answer there."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from batkube.clock.metrics import MetricsEndpoint, MetricsError, NotYet, Snapshot

TEXT = b"""\
# HELP scheduler_pending_pods [STABLE] Number of pending pods, by the queue type.
# TYPE scheduler_pending_pods gauge
scheduler_pending_pods{queue="active"} 1
scheduler_pending_pods{queue="backoff"} 2
scheduler_pending_pods{queue="gated"} 3
scheduler_pending_pods{queue="unschedulable"} 4e+01
scheduler_goroutines{operation="Filter"} 0
scheduler_goroutines{operation="binding"} 5
scheduler_pending_async_api_calls{call_type="pod_binding"} 6
scheduler_schedule_attempts_total{profile="default-scheduler",result="scheduled"} 7
scheduler_schedule_attempts_total{profile="other",result="error"} 8
scheduler_queue_incoming_pods_total{event="PodAdd",queue="active"} 9
scheduler_event_handling_duration_seconds_bucket{event="NodeAdd",le="0.0001"} 1
scheduler_event_handling_duration_seconds_count{event="NodeAdd"} 16
scheduler_event_handling_duration_seconds_sum{event="NodeAdd"} 0.5
go_goroutines 200
"""

Answer = tuple[int, bytes]
Serving = Callable[[Answer], Awaitable[str]]


def test_what_counts_is_read() -> None:
    assert Snapshot.parse(TEXT) == Snapshot(
        active=1,
        backoff=2,
        unschedulable=43,
        goroutines=5,
        api_calls=6,
        attempts=15,
        incoming=9,
        handled=Counter({"NodeAdd": 16}),
        profiles=frozenset(("default-scheduler", "other")),
    )


def test_anything_to_do_is_named() -> None:
    assert Snapshot().at_work() == ""
    assert Snapshot(active=1).at_work() == "1 pods are in its active queue"
    assert Snapshot(backoff=2).at_work() == "2 pods are in back-off"
    assert Snapshot(api_calls=3).at_work() == "3 of its API calls are not sent yet"


@pytest.fixture
async def serving() -> AsyncIterator[Serving]:
    """A server that gives one answer to all; requests are kept in ``heard``."""
    servers = []

    async def start(answer: Answer) -> str:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            heard.append(await reader.readuntil(b"\r\n\r\n"))
            code, body = answer
            writer.write(b"HTTP/1.1 %d X\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % (code, len(body)) + body)
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        servers.append(server)
        return f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"

    yield start
    for server in servers:
        server.close()


heard: list[bytes] = []


async def test_an_address_without_a_path_means_metrics(serving: Serving, tmp_path: Path) -> None:
    heard.clear()
    token = tmp_path / "token"
    token.write_text("secret\n")
    endpoint = MetricsEndpoint(await serving((200, TEXT)), token=token)
    assert (await endpoint.read()).active == 1
    await endpoint.close()
    assert heard[0].startswith(b"GET /metrics HTTP/1.1\r\n")
    assert b"authorization: bearer secret\r\n" in heard[0].lower()


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        ((200, b"go_goroutines 200\n"), "this is no kube-scheduler"),
        ((200, b'scheduler_pending_pods{queue="active"} many\n'), "could not convert"),
        ((403, b""), "start it with --authorization-always-allow-paths=/metrics, or give --scheduler-metrics-token"),
        ((404, b""), "answers 404"),
    ],
)
async def test_other_answers_are_refused(serving: Serving, answer: Answer, complaint: str) -> None:
    url = await serving(answer)
    endpoint = MetricsEndpoint(url + "/metrics")
    with pytest.raises(MetricsError, match=complaint) as caught:
        await endpoint.read()
    await endpoint.close()
    assert not isinstance(caught.value, NotYet)
    assert str(caught.value).startswith(f"{url}/metrics")


async def test_nobody_there_may_change(free_port: Callable[[], int]) -> None:
    endpoint = MetricsEndpoint(f"http://127.0.0.1:{free_port()}")
    with pytest.raises(NotYet, match="/metrics: "):
        await endpoint.read()
    await endpoint.close()


async def test_a_token_that_cannot_be_read(tmp_path: Path) -> None:
    endpoint = MetricsEndpoint("http://127.0.0.1:1", token=tmp_path / "none")
    with pytest.raises(MetricsError, match="none: No such file"):
        await endpoint.read()
    await endpoint.close()
