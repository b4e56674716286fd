"""Somebody tells when a CPU has nothing else to do."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from batkube.clock.idle_cpu import IdleCpu, only_cpu

pytestmark = pytest.mark.skipif(not hasattr(os, "SCHED_IDLE"), reason="needs Linux's scheduling policies")


class Told:
    """Counts the answers."""

    def __init__(self) -> None:
        self.count = 0
        self.again = asyncio.Event()

    def __call__(self) -> None:
        self.count += 1
        self.again.set()

    async def next(self, within: float) -> None:
        await asyncio.wait_for(self.again.wait(), within)
        self.again.clear()


@pytest.fixture
def cpu() -> Iterator[int]:
    """A CPU; this process keeps to another, where there is one."""
    before = os.sched_getaffinity(0)
    cpu = min(before)
    os.sched_setaffinity(0, before - {cpu} or before)
    yield cpu
    os.sched_setaffinity(0, before)


async def test_each_question_is_answered_once(cpu: int) -> None:
    told = Told()
    idle = IdleCpu(cpu, told)
    try:
        loop = asyncio.get_running_loop()
        for number in range(1, 4):
            idle.ask(loop)
            idle.ask(loop)
            await told.next(within=60)
            assert told.count == number
    finally:
        idle.close()


async def test_it_leaves_no_process_and_who_ends_it_does_no_harm(cpu: int) -> None:
    told = Told()
    idle = IdleCpu(cpu, told)
    process = idle._process
    loop = asyncio.get_running_loop()
    idle.ask(loop)
    await told.next(within=60)
    process.kill()
    idle.ask(loop)
    process.wait()
    await asyncio.sleep(0)
    idle.ask(loop)
    idle.close()
    assert process.returncode is not None
    assert told.count == 1


def test_only_cpu() -> None:
    cpu = str(min(os.sched_getaffinity(0)))
    words = [sys.executable, "-S", "-c", f"import os; os.sched_setaffinity(0, {{{cpu}}}); input()"]
    with subprocess.Popen(words, stdin=subprocess.PIPE) as pinned:
        try:
            while only_cpu(pinned.pid) is None and len(os.sched_getaffinity(0)) > 1:
                assert pinned.poll() is None
            assert only_cpu(pinned.pid) == int(cpu)
        finally:
            pinned.kill()
    assert only_cpu(pinned.pid) is None
