"""Record a real Batsim 5 with every kind of decision, in both forms: ``python -m tests.batsim.record_batprotocol``.

Needs ``batsim5`` on PATH. Writes ``everything_json`` and ``everything_binary`` to ``recordings/v5/everything.tar.xz``.
"""

import asyncio
import base64
import io
import json
import lzma
import shutil
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from batkube.batsim import messages as m
from batkube.batsim.batprotocol.codec import read_frame
from batkube.batsim.batprotocol.init_string import Form, Options, write_init_string
from batkube.batsim.endpoint import Direction, Endpoint

ARCHIVE = Path(__file__).parent / "recordings" / "v5" / "everything.tar.xz"
BATSIM5 = shutil.which("batsim5")
"""None where there is none."""
FORMS: tuple[Form, ...] = ("json", "binary")

_HOST = """<host id="n{}" speed="1Gf,0.5Gf,1f,0.2f,0.1f" pstate="0" core="2">
<prop id="wattage_per_state" value="50:60:100,40:50:80,5:5:5,70:70:70,80:80:80"/>
<prop id="wattage_off" value="5"/><prop id="sleep_pstates" value="2:3:4"/></host>"""
_ROUTE = '<route src="n{}" dst="{}"><link_ctn id="switch"/></route>'
_NUMBERS = (1, 2, 10)
PLATFORM = f"""<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="site" routing="Full">
<host id="master_host" speed="1Gf">
<prop id="wattage_per_state" value="10:10:20"/><prop id="wattage_off" value="1"/></host>
{"".join(_HOST.format(number) for number in _NUMBERS)}
<link id="switch" bandwidth="1GBps" latency="10us"/>
{"".join(_ROUTE.format(number, "master_host") for number in _NUMBERS)}
{_ROUTE.format(1, "n2")}{_ROUTE.format(1, "n10")}{_ROUTE.format(2, "n10")}
</zone></platform>
"""
"""Three hosts that can be slowed down and switched off. Batsim 5 numbers them 1, 2, 10; Batsim 4 would 1, 10, 2."""
WORKLOAD: dict[str, Any] = {
    "nb_res": 3,
    "jobs": [
        {"id": "slowed", "subtime": 0, "res": 1, "profile": "work"},
        {"id": "killed", "subtime": 61, "res": 2, "profile": "sequence", "extra_data": {"labels": {"app": "x"}}},
        {"id": "mapped", "subtime": 100, "res": 4, "profile": "work", "walltime": 60},
        {"id": "rejected", "subtime": 100, "res": 9, "profile": "work"},
    ],
    "profiles": {
        "work": {
            "type": "ParallelTaskHomogeneousProfile",
            "cpu": 1e10,
            "com": 0,
            "extra_data": '{"batkube": {"cpu": 1}}',
        },
        "short": {"type": "DelayProfile", "delay": 4},
        "sequence": {"type": "SequentialCompositionProfile", "repeat": 3, "seq": ["short", "work"]},
        "unused": {"type": "DelayProfile", "delay": 1},
    },
}
EVENTS = (
    {"type": "generic", "timestamp": 20, "data": "some data"},
    {"type": "generic", "timestamp": 21, "data": '{"type": "machine_unavailable", "resources": "1"}'},
)


class Player:
    """Decides the same each time: everything that Batsim 5 can be told happens once."""

    def __init__(self) -> None:
        self.heard: list[m.Event] = []
        self.over = False

    def answer(self, message: m.Message) -> m.Message:
        """The reply to a message."""
        self.heard += message.events
        decisions = [data for event in message.events for data in self._decide(event)]
        calls = [data for data in decisions if isinstance(data, m.CallMeLaterData)]
        others = [data for data in decisions if not isinstance(data, m.CallMeLaterData)]
        events = [_event(message.now, data) for data in (*calls, *others)]
        return m.Message(now=message.now, events=events)

    def _decide(self, event: m.Event) -> list[m.Data]:
        match event:
            case m.SimulationBegins():
                return self._begin()
            case m.JobSubmitted():
                return self._submitted(event.data.job_id)
            case m.RequestedCall():
                return self._called(event.timestamp)
            case m.SimulationEnds():
                self.over = True
        return []

    @staticmethod
    def _begin() -> list[m.Data]:
        profile = {"type": "delay", "delay": 4, "extra_data": '{"note": "ours"}'}
        job = {"id": "dyn!1", "subtime": 0, "res": 2, "profile": "p", "walltime": 100, "cpu": 3}
        return [
            *[m.CallMeLaterData(timestamp=date) for date in (5, 30, 60, 66.0005)],
            m.QueryData(requests={"consumed_energy": {}}),
            m.RegisterProfileData(workload_name="dyn", profile_name="p", profile=profile),
            m.RegisterJobData(job_id="dyn!1", job=job),
        ]

    @staticmethod
    def _submitted(job_id: str) -> list[m.Data]:
        match job_id:
            case "w0!slowed":
                return [m.ExecuteJobData(job_id=job_id, alloc="0")]
            case "w0!rejected":
                return [m.RejectJobData(job_id=job_id)]
            case "w0!mapped":
                mapping = {"0": 0, "1": 0, "2": 1, "3": 1}
                return [m.ExecuteJobData(job_id=job_id, alloc="0 2", mapping=mapping)]
            case _:
                return [m.ExecuteJobData(job_id=job_id, alloc="1-2")]

    @staticmethod
    def _called(date: float) -> list[m.Data]:
        if date < 10:  # slower, and off
            states = [("0", "1"), ("1-2", "2")]
        elif date < 40:  # on again
            states = [("1-2", "0")]
        elif date < 65:
            return [m.QueryData(requests={"consumed_energy": {}}), m.NotifyData(type="registration_finished")]
        else:
            return [m.KillJobData(job_ids=["w0!killed"])]
        return [m.ResourceStateData(resources=hosts, state=state) for hosts, state in states]

    def told(self, kind: type[Any]) -> list[Any]:
        """The ``data`` of all events of a kind."""
        return [event.data for event in self.heard if isinstance(event, kind)]


_DECISIONS: dict[type[m.Data], type[Any]] = {
    m.CallMeLaterData: m.CallMeLater,
    m.ExecuteJobData: m.ExecuteJob,
    m.KillJobData: m.KillJob,
    m.NotifyData: m.Notify,
    m.QueryData: m.Query,
    m.RegisterJobData: m.RegisterJob,
    m.RegisterProfileData: m.RegisterProfile,
    m.RejectJobData: m.RejectJob,
    m.ResourceStateData: m.SetResourceState,
}


def _event(date: float, data: m.Data) -> m.Event:
    event: m.Event = _DECISIONS[type(data)](timestamp=date, data=data)
    return event


async def play(form: Form, folder: Path) -> tuple[Player, list[tuple[Direction, bytes]], int]:
    """Run the simulation beside the real Batsim 5: the player, all bytes of both sides, Batsim's exit code."""
    (folder / "platform.xml").write_text(PLATFORM)
    (folder / "workload.json").write_text(json.dumps(WORKLOAD))
    (folder / "events.txt").write_text("".join(f"{json.dumps(event)}\n" for event in EVENTS))
    player, frames = Player(), list[tuple[Direction, bytes]]()
    endpoint = Endpoint("tcp://127.0.0.1:*", on_exchange=lambda direction, content: frames.append((direction, content)))
    init = write_init_string(Options(form=form, dynamic_jobs=True, acknowledge_dynamic_jobs=True))
    words = ["-p", "platform.xml", "-w", "workload.json", "--ee", "events.txt", "--energy-host", "-e", "./out_", "-s"]
    process = await asyncio.create_subprocess_exec(
        "batsim5",
        *words,
        endpoint.address,
        init,
        cwd=folder,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        while not player.over:
            message = await asyncio.wait_for(endpoint.receive(), 120)
            await endpoint.send(player.answer(message))
        return player, frames, await asyncio.wait_for(process.wait(), 120)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        await endpoint.close()


def main() -> None:
    """Record both forms anew."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for form in FORMS:
            with tempfile.TemporaryDirectory() as temporary:
                folder = Path(temporary)
                _, frames, code = asyncio.run(play(form, folder))
                lines = [_line(direction, frame, temporary) for direction, frame in frames]
                files = {
                    "transcript.jsonl": "".join(f"{json.dumps(line)}\n" for line in lines),
                    "run.json": json.dumps({"scenario": f"everything_{form}", "exit_code": code}),
                }
                for name, text in files.items():
                    member = tarfile.TarInfo(f"everything_{form}/{name}")
                    member.size = len(text.encode())
                    archive.addfile(member, io.BytesIO(text.encode()))
    ARCHIVE.write_bytes(lzma.compress(content.getvalue(), preset=9 | lzma.PRESET_EXTREME))


def _line(direction: Direction, frame: bytes, folder: str) -> dict[str, Any]:
    text = json.dumps(read_frame(frame)).replace(folder, "/SCENARIO")
    line: dict[str, Any] = {"dir": direction, "msg": json.loads(text)}
    if folder.encode() not in frame:
        line["base64"] = base64.b64encode(frame).decode()
    return line


if __name__ == "__main__":
    main()
