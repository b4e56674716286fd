"""Measure what it takes to find out why pods wait, and to write ``waits.csv``: a queue in order of arrival, alone.

usage: python benchmarks/waits.py [--pods 1000000] [--load 0.9 1.2]

Pods of 1 to 16 cores come to 64 nodes of 16. With a load above 1 the queue grows to the end, and with it what waits at
each change. Each line is a process of its own: without the file, and with it; memory is the most that was resident.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections import deque
from heapq import heappop, heappush
from pathlib import Path
from random import Random

from batkube.results.wait_log import WaitLog
from batkube.results.wait_reasons import Waited
from batkube.results.wait_room import requests
from batkube.results.waiting import Waits

NODES, CORES, MEAN_SECONDS = 64, 16, 600.0
SIZES = (1, 2, 4, 8, 16)


def play(pods: int, load: float, log: WaitLog | None) -> float:
    """Play the queue; the seconds that all pods waited."""
    random, waited = Random(1), [0.0]

    def over(_: str, wait: Waited) -> None:
        waited[0] += wait.total

    waits = Waits(over, exclusive=False, told=log.write if log else None)
    for node in range(NODES):
        waits.room.set_node(0, f"n{node}", allocatable={"cpu": CORES})
    shapes = {size: requests({"cpu": size}) for size in SIZES}
    free = [CORES] * NODES
    queue: deque[tuple[str, int]] = deque()
    ends: list[tuple[float, str, int, int]] = []
    between = sum(SIZES) / len(SIZES) * MEAN_SECONDS / (NODES * CORES * load)
    now, come = 0.0, 0
    arrival = random.expovariate(1 / between)
    while come < pods or ends:
        if come < pods and (not ends or arrival <= ends[0][0]):
            now, name, size = arrival, f"w0-{come}", random.choice(SIZES)
            waits.advance(now)
            waits.create(name, shapes[size], backs_off=False)
            queue.append((name, size))
            come += 1
            arrival = now + random.expovariate(1 / between)
        else:
            now, name, size, node = heappop(ends)
            waits.advance(now)
            waits.remove(name)
            free[node] += size
        while queue and (place := next((n for n, left in enumerate(free) if left >= queue[0][1]), None)) is not None:
            name, size = queue.popleft()
            free[place] -= size
            waits.bind(name, f"n{place}")
            waits.start(name)
            heappush(ends, (now + random.expovariate(1 / MEAN_SECONDS), name, size, place))
    waits.finish(now)
    return waited[0]


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pods", type=int, default=1_000_000)
    parser.add_argument("--load", type=float, nargs="*", default=[0.9, 1.2])
    parser.add_argument("--alone", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.alone is not None:
        log = WaitLog(options.alone) if options.alone.name else None
        play(options.pods, options.load[0], log)
        if log is not None:
            log.close()
        return 0
    print("| load | pods | waits.csv | processor time | memory | rows | size |\n|---:|---:|---|---:|---:|---:|---:|")
    for load in options.load:
        for to in ("", "waits.csv"):
            with tempfile.TemporaryDirectory(prefix="batkube-waits-") as made:
                file = Path(made, to) if to else Path()
                words = [
                    sys.executable,
                    __file__,
                    "--pods",
                    str(options.pods),
                    "--load",
                    str(load),
                    "--alone",
                    str(file),
                ]
                process = subprocess.Popen(words)
                _, status, used = os.wait4(process.pid, 0)
                if status:
                    return 1
                rows = size = ""
                if to:
                    with file.open() as lines:
                        rows = f"{sum(1 for _ in lines) - 1:,}"
                    size = f"{file.stat().st_size / 1e6:,.0f} MB"
            took, memory = used.ru_utime + used.ru_stime, used.ru_maxrss >> 10
            print(
                f"| {load:g} | {options.pods:,} | {to or '-'} | {took:.1f} s | {memory:,} MiB | {rows} | {size} |",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
