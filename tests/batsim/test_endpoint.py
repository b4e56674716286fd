"""The socket at which Batsim calls, with real processes at its other end."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import zmq
import zmq.asyncio

from batkube.batsim.endpoint import Endpoint
from batkube.batsim.errors import ProtocolError, SimulatorDied, SimulatorError
from batkube.batsim.messages import Message
from tests.batsim.stand_in import COMMAND, FirstComeFirstServed, inputs


@pytest.fixture
async def endpoint() -> AsyncIterator[Endpoint]:
    bound = Endpoint("tcp://127.0.0.1:*")
    yield bound
    await bound.close()


async def call(endpoint: Endpoint, folder: Path) -> asyncio.subprocess.Process:
    """Calls at the endpoint in Batsim's place."""
    platform, workload = inputs(folder)
    arguments = ("-p", str(platform), "-w", str(workload), "-e", str(folder / "out"), "-s", endpoint.address)
    return await asyncio.create_subprocess_exec(*COMMAND, *arguments)


async def test_one_simulation_follows_another(endpoint: Endpoint, tmp_path: Path) -> None:
    dates = []
    for _ in range(2):
        process = await call(endpoint, tmp_path)
        player = FirstComeFirstServed()
        await player.play(endpoint)
        assert await process.wait() == 0
        dates.append([message.now for message in player.said])
    assert dates[0] == dates[1]
    assert dates[0][-1] == 20.0


async def test_a_second_batsim_waits_for_its_turn(endpoint: Endpoint, tmp_path: Path) -> None:
    processes = [await call(endpoint, tmp_path) for _ in range(2)]
    for _ in processes:
        player = FirstComeFirstServed()
        await player.play(endpoint)
        assert [message.events[0].type for message in player.said].count("SIMULATION_BEGINS") == 1
    assert [await process.wait() for process in processes] == [0, 0]


async def test_a_batsim_that_dies_is_noticed_and_the_next_is_served(endpoint: Endpoint, tmp_path: Path) -> None:
    process = await call(endpoint, tmp_path)
    await endpoint.receive()
    await endpoint.send(Message(now=0, events=[]))
    await endpoint.receive()
    process.kill()
    await process.wait()
    await endpoint.send(Message(now=0, events=[]))
    with pytest.raises(SimulatorDied, match="the connection was closed before the simulation ended"):
        await asyncio.wait_for(endpoint.receive(), 60)
    process = await call(endpoint, tmp_path)
    await FirstComeFirstServed().play(endpoint)
    assert await process.wait() == 0


async def test_waiting_can_be_given_up_without_losing_a_message(endpoint: Endpoint, tmp_path: Path) -> None:
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(endpoint.receive(), 0.05)  # to pass
    process = await call(endpoint, tmp_path)
    await FirstComeFirstServed().play(endpoint)
    assert await process.wait() == 0


async def test_a_port_in_use_is_said_to_be(endpoint: Endpoint) -> None:
    with pytest.raises(SimulatorError, match=f"cannot listen for Batsim at {endpoint.address}: Address already in use"):
        Endpoint(endpoint.address)


async def test_a_closed_endpoint_gives_its_port_back(free_port: Callable[[], int]) -> None:
    address = f"tcp://127.0.0.1:{free_port()}"
    for _ in range(2):
        endpoint = Endpoint(address)
        assert endpoint.address == address
        await endpoint.close()


@pytest.mark.parametrize("address", ["nonsense", "tcp://no.such.host.invalid:1", "tcp://127.0.0.1:99999"])
async def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(SimulatorError, match=f"cannot listen for Batsim at {address}"):
        Endpoint(address)


async def test_what_is_no_message_is_refused(endpoint: Endpoint) -> None:
    with zmq.asyncio.Context() as context, context.socket(zmq.REQ) as stranger:
        stranger.linger = 0
        stranger.connect(endpoint.address)
        await stranger.send(b"hello")
        with pytest.raises(ProtocolError, match="not a message: Invalid JSON"):
            await endpoint.receive()
    with pytest.raises(SimulatorError, match="no message to answer"):
        await endpoint.send(Message(now=0, events=[]))
