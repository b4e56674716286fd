"""Measure how fast the built-in simulator is beside a real Batsim, with one trivial decision process; and its memory.

The decision process speaks ZeroMQ: jobs in order of arrival, each on the hosts that were freed last.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

import orjson
import zmq

ROOT = Path(__file__).parent.parent
SILENCE = 120
"""Real seconds after which a simulator that says nothing has failed."""
HOSTS_PER_JOB = (1, 1, 1, 1, 2, 2, 4, 8)
LONGEST = 1000
"""Seconds of a job, drawn evenly from 1 on."""
LOAD = 0.7
"""Share of the hosts that is in use in the long run."""
BUILT_IN = (sys.executable, "-m", "batkube.simulator")


@dataclass(frozen=True)
class Measurement:
    """One simulation. Times are real seconds, memory is the peak of what was resident, in MiB."""

    jobs: int
    wall: float
    processor: float
    """Processor time of the simulator."""
    deciding: float
    """Processor time of the decision process, which is the same for all."""
    messages: int
    memory: float


@dataclass
class FirstComeFirstServed:
    """The decision process: a stack of free hosts, a queue of jobs."""

    free: list[str]
    queue: deque[tuple[str, int]] = field(default_factory=deque)
    held: dict[str, list[str]] = field(default_factory=dict)

    def reply(self, message: bytes) -> tuple[bytes, bool]:
        """The answer, and whether it is the last."""
        said = orjson.loads(message)
        now, over = said["now"], False
        for event in said["events"]:
            kind, data = event["type"], event["data"]
            if kind == "JOB_SUBMITTED":
                self.queue.append((data["job_id"], data["job"]["res"]))
            elif kind == "JOB_COMPLETED":
                self.free += self.held.pop(data["job_id"])
            elif kind == "SIMULATION_ENDS":
                over = True
        decisions = []
        while self.queue and len(self.free) >= self.queue[0][1]:
            job, size = self.queue.popleft()
            hosts = self.held[job] = self.free[-size:]
            del self.free[-size:]
            data = {"job_id": job, "alloc": " ".join(hosts)}
            decisions.append({"timestamp": now, "type": "EXECUTE_JOB", "data": data})
        return orjson.dumps({"now": now, "events": decisions}), over


def write_inputs(folder: Path, jobs: int, hosts: int) -> None:
    """A cluster, and delay jobs that keep a part of it busy."""
    mean = sum(HOSTS_PER_JOB) / len(HOSTS_PER_JOB) * (1 + LONGEST) / 2
    rate = LOAD * hosts / mean
    draw = random.Random(1)
    date, listed = 0.0, []
    for number in range(jobs):
        date += draw.expovariate(rate)
        profile = str(draw.randint(1, LONGEST))
        listed.append({"id": number, "subtime": round(date, 3), "res": draw.choice(HOSTS_PER_JOB), "profile": profile})
    profiles = {str(delay): {"type": "delay", "delay": delay} for delay in range(1, LONGEST + 1)}
    (folder / "workload.json").write_bytes(orjson.dumps({"nb_res": hosts, "jobs": listed, "profiles": profiles}))
    network = 'bw="125MBps" lat="50us" bb_bw="2.25GBps" bb_lat="500us"'
    (folder / "platform.xml").write_text(
        '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
        '<platform version="4.1"><zone id="site" routing="Full">\n'
        f'<cluster id="rack" prefix="h" suffix="" radical="0-{hosts - 1}" speed="1Gf" {network}/>\n'
        f'<cluster id="front" prefix="master_host" suffix="" radical="0-0" speed="1Gf" {network}>'
        '<prop id="role" value="master"/></cluster>\n'
        '<link id="backbone" bandwidth="1.25GBps" latency="500us"/>\n'
        '<zoneRoute src="rack" dst="front" gw_src="hrack_router" gw_dst="master_hostfront_router">'
        '<link_ctn id="backbone"/></zoneRoute>\n</zone></platform>\n'
    )


def measure(command: list[str], jobs: int, hosts: int, *, tcp: bool) -> Measurement:
    """Run a simulation to its end. Raises RuntimeError where the simulator fails, or says nothing for long.

    ``tcp``: over TCP, and not a local socket, whose smaller cost to both sides says less of the simulators.
    """
    with tempfile.TemporaryDirectory(prefix="batkube-benchmark-") as name, zmq.Context() as context:
        folder = Path(name)
        write_inputs(folder, jobs, hosts)
        socket = context.socket(zmq.REP)
        socket.linger = 0
        socket.rcvtimeo = SILENCE * 1000
        if tcp:
            endpoint = f"tcp://127.0.0.1:{socket.bind_to_random_port('tcp://127.0.0.1')}"
        else:
            endpoint = f"ipc://{folder}/socket"
            socket.bind(endpoint)
        words = [*command, "-p", "platform.xml", "-w", "workload.json", "-s", endpoint, "-q"]
        begun, spent = time.monotonic(), time.process_time()
        with (folder / "log").open("wb") as log:
            running = subprocess.Popen(words, cwd=folder, stdout=log, stderr=log, env=_environment())
        process = FirstComeFirstServed(list(map(str, range(hosts))))
        messages, over = 0, False
        try:
            while not over:
                reply, over = process.reply(socket.recv())
                socket.send(reply)
                messages += 1
            _, status, used = os.wait4(running.pid, 0)
            running.returncode = os.waitstatus_to_exitcode(status)
        except zmq.Again:
            raise RuntimeError(f"{' '.join(words)}\nsaid nothing: {(folder / 'log').read_text()[-2000:]}") from None
        finally:
            if running.poll() is None:
                running.kill()
            socket.close()
        if running.returncode:
            raise RuntimeError(
                f"{' '.join(words)}\nexit code {running.returncode}: {(folder / 'log').read_text()[-2000:]}"
            )
        wall, deciding = time.monotonic() - begun, time.process_time() - spent
        return Measurement(jobs, wall, used.ru_utime + used.ru_stime, deciding, messages, used.ru_maxrss / 1024)


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--jobs", type=int, action="append", help="how many; repeat for several (10000)")
    add("--hosts", type=int, default=512, help="(%(default)s)")
    add("--batsim", type=Path, help="a real Batsim to compare with")
    add("--exact", action="store_true", help="the built-in simulator in its exact mode")
    add("--tcp", action="store_true", help="over TCP rather than a local socket")
    add("--repeat", type=int, default=1, help="take turns so many times (%(default)s)")
    options = parser.parse_args()
    commands = {
        "built-in, exact" if options.exact else "built-in": [*BUILT_IN, *(["--exact"] if options.exact else [])]
    }
    if options.batsim:
        commands["Batsim"] = [str(options.batsim)]
    print("| simulator | jobs | messages | real | jobs a second | its processor time a job | memory |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for jobs in options.jobs or [10_000]:
        for _ in range(options.repeat):
            for name, command in commands.items():
                try:
                    one = measure(command, jobs, options.hosts, tcp=options.tcp)
                except RuntimeError as error:
                    print(f"simulator: {error}", file=sys.stderr)
                    return 1
                print(
                    f"| {name} | {one.jobs:,} | {one.messages:,} | {one.wall:.1f} s | {one.jobs / one.wall:,.0f} "
                    f"| {one.processor / one.jobs * 1000:.3f} ms | {one.memory:,.0f} MiB |",
                    flush=True,
                )
                print(f"  (decisions: {one.deciding / one.jobs * 1000:.3f} ms a job)", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
