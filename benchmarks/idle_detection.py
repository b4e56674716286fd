"""Measure how long after its last byte a Go client is known to be idle, and what one look costs.

The client is the one of the tests: it works in various ways for 0.05 to 5 ms, posts results and polls again. It is
measured alone, and beside two and four programs that use all CPU they get.

usage: python benchmarks/idle_detection.py [ROUNDS]
"""

import asyncio
import contextlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import uvloop

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from batkube.clock.oracle import IdleOracle  # noqa: E402
from tests.clock.order_server import OrderServer  # noqa: E402

PROGRAMS = ROOT / "tests" / "clock" / "programs"
KINDS = ("cpu", "fan", "channels", "threads", "gc", "disk", "pipe")


@contextlib.contextmanager
def hogs(count: int) -> Iterator[None]:
    """Programs that do nothing but use the CPU."""
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


async def measure(program: Path, rounds: int, load: int) -> str:
    """One line of the table."""
    random_ = random.Random(1)
    server = OrderServer()
    client = await asyncio.create_subprocess_exec(program, await server.start(), stdout=subprocess.DEVNULL)
    oracle = IdleOracle(server)
    oracle.add(client.pid)
    latencies = []
    false = missed = 0
    try:
        while server.waiting is None:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        with hogs(load):
            for number in range(rounds):
                posts = random_.randrange(4)
                server.order(round=number, kind=KINDS[number % len(KINDS)], ms=random_.uniform(0.05, 5), posts=posts)
                while True:
                    verdict = await oracle.wait_for_quiescence(timeout=5)
                    if verdict.idle and server.done(posts):
                        break
                    false += verdict.idle
                    missed += not verdict.idle and server.done(posts)
                latencies.append(time.perf_counter() - server.last_byte)
            examined = oracle.counts.looks
            looks = list[float]()
            while len(looks) < 1000:
                start = time.perf_counter()
                if oracle.look().idle:
                    looks.append(time.perf_counter() - start)
    finally:
        oracle.close()
        client.kill()
        await client.wait()
        await server.stop()
    latencies.sort()
    median, p99 = latencies[len(latencies) // 2], latencies[len(latencies) * 99 // 100]
    return (
        f"| {load} | {rounds} | {false} | {missed} | {median * 1e3:.2f} ms | {p99 * 1e3:.1f} ms "
        f"| {statistics.median(looks) * 1e3:.2f} ms | {examined / rounds:.1f} |"
    )


def main(rounds: int) -> None:
    """Build the client and measure."""
    go = shutil.which("go")
    if go is None:
        sys.exit("Go is needed to build the client")
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "reactor"
        subprocess.run([go, "build", "-o", str(program), "reactor.go"], cwd=PROGRAMS, check=True)
        print("| CPU hogs | rounds | false idle | missed | median latency | p99 | one look | looks a round |")
        print("|---|---|---|---|---|---|---|---|")
        for load in (0, 2, 4):
            print(uvloop.run(measure(program, rounds, load)), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
