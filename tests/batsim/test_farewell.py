"""A Batsim that was started by hand comes to its end whatever becomes of us. So does the standalone simulator."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from batkube.batsim import farewell
from batkube.batsim.endpoint import Endpoint
from batkube.batsim.farewell import Conversation, Dismissal, dismiss_callers
from tests.batsim.real import REAL, needs_batsim
from tests.batsim.stand_in import COMMAND, FirstComeFirstServed, inputs


@pytest.fixture(params=["standalone", pytest.param("real", marks=needs_batsim)])
def batsim(request: pytest.FixtureRequest) -> tuple[str, ...]:
    return (str(REAL),) if request.param == "real" else COMMAND


@asynccontextmanager
async def started(
    command: Sequence[str], folder: Path, address: str, *options: str
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Batsim as a user starts it."""
    platform, workload = inputs(folder)
    words = ["-p", str(platform), "-w", str(workload), "-s", address, "-e", str(folder / "out"), *options]
    process = await asyncio.create_subprocess_exec(
        *command, *words, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def ended(process: asyncio.subprocess.Process) -> int:
    return await asyncio.wait_for(process.wait(), 120)


@pytest.mark.parametrize("answers", [0, 2, 5])
@pytest.mark.parametrize("pending", [True, False])
async def test_it_ends_in_order_wherever_the_simulation_is(
    tmp_path: Path, batsim: tuple[str, ...], answers: int, pending: bool
) -> None:
    by_hand = Conversation(Endpoint("tcp://127.0.0.1:*"))
    player = FirstComeFirstServed()
    async with started(batsim, tmp_path, by_hand.endpoint.address) as process:
        message = await by_hand.receive()
        for _ in range(answers):
            await by_hand.send(player.answer(message))
            message = await by_hand.receive()
        if not pending:
            await by_hand.send(player.answer(message))
        assert await by_hand.dismiss() is Dismissal.IN_ORDER
        assert await ended(process) == 0
    assert len((tmp_path / "out_jobs.csv").read_text().splitlines()) == 4
    assert await by_hand.dismiss() is Dismissal.NOBODY
    await by_hand.close()


async def test_one_that_waits_for_registrations_is_told_that_none_come(tmp_path: Path, batsim: tuple[str, ...]) -> None:
    by_hand = Conversation(Endpoint("tcp://127.0.0.1:*"))
    async with started(batsim, tmp_path, by_hand.endpoint.address, "--enable-dynamic-jobs") as process:
        await by_hand.receive()
        assert await by_hand.dismiss() is Dismissal.IN_ORDER
        assert await ended(process) == 0
    await by_hand.close()


async def test_one_that_takes_too_long_is_made_to_abort_and_so_are_those_that_wait(
    tmp_path: Path, batsim: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(farewell, "IN_ORDER_WITHIN", 0.0)
    by_hand = Conversation(Endpoint("tcp://127.0.0.1:*"))
    address = by_hand.endpoint.address
    async with started(batsim, tmp_path, address) as one, started(batsim, tmp_path, address) as other:
        await by_hand.receive()
        assert await by_hand.dismiss() is Dismissal.ABORTED
        # The other one may call only now.
        later = asyncio.ensure_future(Conversation(by_hand.endpoint).dismiss(callers_within=120))
        assert 0 not in (await ended(one), await ended(other))
        later.cancel()
        await asyncio.gather(later, return_exceptions=True)
    await by_hand.close()


async def test_one_whose_message_cannot_be_read_is_made_to_abort() -> None:
    script = "import sys, zmq; s = zmq.Context().socket(zmq.REQ); s.connect(sys.argv[1]); s.send(b'?'); print(s.recv())"
    by_hand = Conversation(Endpoint("tcp://127.0.0.1:*"))
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, by_hand.endpoint.address, stdout=asyncio.subprocess.PIPE
    )
    assert await by_hand.dismiss(callers_within=120) is Dismissal.ABORTED
    said, _ = await asyncio.wait_for(process.communicate(), 120)
    assert said.strip() == b"b'{}'"
    await by_hand.close()


async def test_one_that_was_there_before_us_is_not_left_waiting(
    tmp_path: Path, batsim: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, free_port: Callable[[], int]
) -> None:
    monkeypatch.setattr(farewell, "CALLS_WITHIN", 120.0)
    address = f"tcp://127.0.0.1:{free_port()}"
    async with started(batsim, tmp_path, address) as process:
        assert await dismiss_callers(address) is Dismissal.IN_ORDER
        assert await ended(process) == 0


async def test_nobody_is_waited_for_long(free_port: Callable[[], int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(farewell, "CALLS_WITHIN", 0.2)
    address = f"tcp://127.0.0.1:{free_port()}"
    assert await asyncio.wait_for(dismiss_callers(address), 60) is Dismissal.NOBODY
    assert await dismiss_callers("tcp://no-such-host.invalid:1") is Dismissal.NOBODY
