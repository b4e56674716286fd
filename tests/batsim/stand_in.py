"""The embedded simulator in another process, in the place of Batsim."""

import json
import sys
from pathlib import Path
from typing import Any

from batkube.batsim import messages as m
from batkube.batsim.messages import Message
from batkube.batsim.simulator import Simulator

COMMAND = (sys.executable, "-m", "batkube.simulator")

PLATFORM = """<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="z" routing="Full">
<host id="master_host" speed="1Gf"/><host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>
</zone></platform>"""


def inputs(folder: Path, **members: Any) -> tuple[Path, Path]:
    """A platform of two hosts and a workload of three jobs of 10 s, changed by ``members``."""
    jobs = [{"id": f"j{n}", "subtime": n, "res": 1, "profile": "d"} for n in range(3)]
    content = {"nb_res": 2, "jobs": jobs, "profiles": {"d": {"type": "delay", "delay": 10}}} | members
    (folder / "platform.xml").write_text(PLATFORM)
    (folder / "workload.json").write_text(json.dumps(content))
    return folder / "platform.xml", folder / "workload.json"


class FirstComeFirstServed:
    """A decision process that starts jobs in order of arrival, each on the first host that is free."""

    def __init__(self) -> None:
        self.free: list[int] = []
        self.queue: list[str] = []
        self.over = False
        self.said: list[Message] = []
        """All that the simulator said."""

    def answer(self, message: Message) -> Message:
        """The reply to a message."""
        self.said.append(message)
        decisions: list[m.Event] = []
        for event in message.events:
            match event:
                case m.SimulationBegins():
                    self.free = [resource.id for resource in event.data.compute_resources]
                case m.JobSubmitted():
                    self.queue.append(event.data.job_id)
                case m.JobCompleted():
                    self.free.append(int(event.data.alloc))
                    self.free.sort()
                case m.SimulationEnds():
                    self.over = True
        while self.queue and self.free:
            data = m.ExecuteJobData(job_id=self.queue.pop(0), alloc=str(self.free.pop(0)))
            decisions.append(m.ExecuteJob(timestamp=message.now, data=data))
        return Message(now=message.now, events=decisions)

    async def play(self, simulator: Simulator) -> None:
        """Run a whole simulation."""
        while not self.over:
            await simulator.send(self.answer(await simulator.receive()))
