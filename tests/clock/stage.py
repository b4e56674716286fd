"""A simulated clock, and a program that is played on it in tree mode, from deadline to deadline."""

import socket
from collections.abc import Callable
from pathlib import Path

from batkube.clock.child_process import ChildProcess
from batkube.clock.launch import launch
from batkube.clock.oracle import IdleOracle
from batkube.clock.simulated import SimulatedClock

EPOCH = 1_577_836_800.0  # 2020-01-01T00:00:00Z


class Nobody:
    """A ServerSide that nobody talks to."""

    def busy(self) -> bool:
        return False

    def when_bytes_come(self, heed: Callable[[], None]) -> None:
        pass

    def held_up(self) -> list[socket.socket]:
        return []

    def connections(self) -> list[socket.socket]:
        return []

    def active(self) -> None:
        return None

    def listener(self) -> socket.socket | None:
        return None


class Stage:
    """A clock, and a program that is played on it."""

    def __init__(self, out: Path, seed: int | None = 0) -> None:
        self.oracle = IdleOracle(Nobody())
        self.clock = SimulatedClock(EPOCH, self.oracle)
        self.out = out
        self.seed = seed
        self.jumps: list[float] = []
        self.process: ChildProcess | None = None

    async def start(self, *command: str) -> int:
        with self.out.open("wb") as file:
            self.process = await launch(command, clock=self.clock, mode="tree", stdout=file, seed=self.seed)
        self.oracle.add(self.process.pid)
        return self.process.pid

    async def play(self, *command: str, apart: float = 0.0) -> list[str]:
        """Run to the end, from deadline to deadline, at least so many seconds ``apart``; the lines printed."""
        await self.start(*command)
        for _ in range(400):
            verdict = await self.clock.wait_for_quiescence(timeout=120)
            if verdict.gone:
                assert self.process is not None
                assert await self.process.wait() == 0, self.lines()
                return self.lines()
            assert verdict.idle, verdict.reason
            deadline = self.clock.next_deadline()
            assert deadline is not None, self.lines()
            deadline = max(deadline, self.clock.now + apart)
            self.jumps.append(deadline)
            self.clock.set(deadline)
        raise AssertionError(self.lines())

    def lines(self) -> list[str]:
        return self.out.read_text().splitlines()

    async def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            await self.process.wait()
        self.oracle.close()
        self.clock.close()
