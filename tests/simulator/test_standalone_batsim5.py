"""``python -m batkube.simulator --protocol 5`` in the place of Batsim 5, and the endpoint that it calls."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from batkube.batsim import messages as m
from batkube.batsim.batprotocol.codec import read_frame
from batkube.batsim.endpoint import Direction, Endpoint
from batkube.batsim.errors import ProtocolError
from batkube.batsim.farewell import Conversation, Dismissal
from batkube.simulator.standalone.batsim5 import main
from tests.batsim.stand_in import PLATFORM, FirstComeFirstServed

COMMAND = (sys.executable, "-m", "batkube.simulator", "--protocol", "5")
FORMS = ("json", "binary")
DELAY = {"type": "DelayProfile", "delay": 10}


def inputs(folder: Path, jobs: list[dict[str, Any]] | None = None, **profiles: Any) -> tuple[str, ...]:
    """The arguments for a simulation of two hosts and, unless others are given, three jobs of 10 s."""
    jobs = jobs or [{"id": f"j{n}", "subtime": n, "res": 1, "profile": "d"} for n in range(3)]
    (folder / "platform.xml").write_text(PLATFORM)
    (folder / "workload.json").write_text(json.dumps({"nb_res": 2, "jobs": jobs, "profiles": {"d": DELAY, **profiles}}))
    return ("-p", str(folder / "platform.xml"), "-w", str(folder / "workload.json"), "-e", str(folder / "out" / "b_"))


@pytest.fixture
async def endpoint() -> AsyncIterator[Endpoint]:
    bound = Endpoint("tcp://127.0.0.1:*")
    yield bound
    await bound.close()


async def call(endpoint: Endpoint, *arguments: str, init: str = "") -> asyncio.subprocess.Process:
    """A Batsim 5 that calls at the endpoint."""
    words = (*COMMAND, *arguments, "-s", endpoint.address, init)
    return await asyncio.create_subprocess_exec(*words, stderr=asyncio.subprocess.PIPE)


def init_of(form: str, **options: bool) -> str:
    return json.dumps({"batkube": {"form": form, **options}})


async def ended(process: asyncio.subprocess.Process) -> tuple[int | None, str]:
    _, errors = await process.communicate()
    return process.returncode, errors.decode()


@pytest.mark.parametrize("form", FORMS)
async def test_a_simulation_is_told_as_by_batsim_4(endpoint: Endpoint, tmp_path: Path, form: str) -> None:
    process = await call(endpoint, *inputs(tmp_path), init=init_of(form))
    player = FirstComeFirstServed()
    await player.play(endpoint)
    assert await ended(process) == (0, "")
    assert endpoint.protocol == f"v5-{form}"
    events = [event for message in player.said for event in message.events]
    assert [event.type for event in events] == [
        "SIMULATION_BEGINS",
        *["JOB_SUBMITTED"] * 3,
        "NOTIFY",
        *["JOB_COMPLETED"] * 3,
        "SIMULATION_ENDS",
    ]
    simulation_begins = events[0]
    assert isinstance(simulation_begins, m.SimulationBegins)
    assert [(host.name, host.cores, host.speeds) for host in simulation_begins.data.compute_resources] == [
        ("a", 1, [1e9]),
        ("b", 1, [1e9]),
    ]
    ends = [(event.timestamp, event.data.alloc) for event in events if isinstance(event, m.JobCompleted)]
    assert ends == [(10.0, "0"), (11.0, "1"), (20.0, "0")]
    rows = (tmp_path / "out" / "b_jobs.csv").read_text().splitlines()[1:]
    assert [row.split(",")[0] for row in rows] == ["j0", "j1", "j2"]


async def test_all_bytes_of_both_sides_are_seen(endpoint: Endpoint, tmp_path: Path) -> None:
    seen: list[tuple[Direction, bytes]] = []
    endpoint.on_exchange = lambda direction, content: seen.append((direction, content))
    process = await call(endpoint, *inputs(tmp_path), init=init_of("binary"))
    player = FirstComeFirstServed()
    await player.play(endpoint)
    await ended(process)
    assert len(seen) == 2 + 2 * len(player.said)
    assert [direction for direction, _ in seen[:4]] == ["batsim->edc", "edc->batsim"] * 2
    frames = [read_frame(content) for _, content in seen]
    assert frames[0]["init"] == init_of("binary")
    kinds = [frame["events"][0]["event_type"] if frame["events"] else None for frame in frames[1:]]
    assert kinds[:3] == ["EDCHelloEvent", "SimulationBeginsEvent", None]
    assert kinds[-2:] == ["SimulationEndsEvent", None]


async def test_versions_take_turns_at_one_endpoint(endpoint: Endpoint, tmp_path: Path) -> None:
    platform, workload = tmp_path / "platform.xml", tmp_path / "workload.json"
    arguments = inputs(tmp_path)
    protocols = []
    for version in (5, 4, 5):
        if version == 5:
            process = await call(endpoint, *arguments)
        else:
            words = ("-p", str(platform), "-w", str(workload), "-e", str(tmp_path / "four"), "-s", endpoint.address)
            process = await asyncio.create_subprocess_exec(*COMMAND[:3], *words, stderr=asyncio.subprocess.PIPE)
        await FirstComeFirstServed().play(endpoint)
        protocols.append(endpoint.protocol)
        assert await ended(process) == (0, "")
    assert protocols == ["v5-json", "v4", "v5-json"]


class Script:
    """Answers each message with the decisions for it."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.heard: list[m.Event] = []

    async def hear(self) -> m.Message:
        message = await self.endpoint.receive()
        self.heard += message.events
        return message

    async def answer(self, message: m.Message, *decisions: m.Event) -> None:
        await self.endpoint.send(m.Message(now=message.now, events=list(decisions)))

    async def to_the_end(self) -> None:
        while not any(isinstance(event, m.SimulationEnds) for event in self.heard):
            await self.answer(await self.hear())


@pytest.mark.parametrize("form", FORMS)
async def test_calls_kills_and_their_progress(endpoint: Endpoint, tmp_path: Path, form: str) -> None:
    sequence = {"type": "SequentialCompositionProfile", "repeat": 3, "seq": ["d", "d"]}
    job = {"id": "s", "subtime": 0, "res": 1, "profile": "s"}
    process = await call(endpoint, *inputs(tmp_path, [job], s=sequence), init=init_of(form))
    script = Script(endpoint)
    await script.answer(await script.hear())
    message = await script.hear()
    await script.answer(
        message,
        m.CallMeLater(timestamp=0.0, data=m.CallMeLaterData(timestamp=35.0001)),
        m.ExecuteJob(timestamp=0.0, data=m.ExecuteJobData(job_id="w0!s", alloc="1")),
    )
    message = await script.hear()
    assert (message.now, message.events[0].type) == (35.001, "REQUESTED_CALL")
    await script.answer(message, m.KillJob(timestamp=message.now, data=m.KillJobData(job_ids=["w0!s"])))
    await script.to_the_end()
    assert await ended(process) == (0, "")
    (completed,) = [event for event in script.heard if isinstance(event, m.JobCompleted)]
    assert (completed.data.job_state, completed.data.return_code, completed.data.alloc) == ("COMPLETED_KILLED", -1, "1")
    (killed,) = [event for event in script.heard if isinstance(event, m.JobKilled)]
    progress = killed.data.job_progress["w0!s"]
    assert isinstance(progress, m.SequenceProgress)
    assert (progress.profile_name, progress.current_task_index) == ("s", 3)
    assert isinstance(progress.current_task, m.LeafProgress)
    assert progress.current_task.progress == pytest.approx(0.5001)


@pytest.mark.parametrize("form", FORMS)
async def test_jobs_are_registered_and_acknowledged(endpoint: Endpoint, tmp_path: Path, form: str) -> None:
    init = init_of(form, dynamic_jobs=True, acknowledge_dynamic_jobs=True)
    arguments = inputs(tmp_path)
    process = await call(endpoint, *arguments[:2], *arguments[4:], init=init)
    script = Script(endpoint)
    simulation_begins = await script.hear()
    profile = m.RegisterProfileData(workload_name="dyn", profile_name="p", profile={"type": "delay", "delay": 4})
    job = {"id": "1", "subtime": 0, "res": 1, "profile": "p", "labels": {"app": "web"}}
    await script.answer(
        simulation_begins,
        m.RegisterProfile(timestamp=0.0, data=profile),
        m.RegisterJob(timestamp=0.0, data=m.RegisterJobData(job_id="dyn!1", job={**job, "id": "dyn!1"})),
    )
    message = await script.hear()
    (submitted,) = message.events
    assert isinstance(submitted, m.JobSubmitted)
    assert submitted.data.job["extra_data"] == '{"labels":{"app":"web"}}'
    assert submitted.data.profile == {"type": "DelayProfile", "delay": 4.0}
    await script.answer(
        message,
        m.ExecuteJob(timestamp=0.0, data=m.ExecuteJobData(job_id="dyn!1", alloc="0")),
        m.Notify(timestamp=0.0, data=m.NotifyData(type="registration_finished")),
    )
    await script.to_the_end()
    assert await ended(process) == (0, "")


async def test_external_events_are_forwarded(endpoint: Endpoint, tmp_path: Path) -> None:
    events = tmp_path / "events.txt"
    lost = {"type": "machine_unavailable", "resources": "1"}
    events.write_text(
        f"{json.dumps({'type': 'generic', 'timestamp': 2, 'data': json.dumps(lost)})}\n"
        f"{json.dumps({'type': 'generic', 'timestamp': 1, 'data': 'some data'})}\n"
    )
    process = await call(endpoint, *inputs(tmp_path), "--ee", str(events))
    player = FirstComeFirstServed()
    await player.play(endpoint)
    assert await ended(process) == (0, "")
    told = [
        (event.timestamp, event.data.type, event.data.resources)
        for message in player.said
        for event in message.events
        if isinstance(event, m.Notify) and "no_more" not in event.data.type
    ]
    assert told == [(1.0, "generic", None), (2.0, "event_machine_unavailable", "1")]


async def test_the_end_can_be_forced(endpoint: Endpoint, tmp_path: Path) -> None:
    process = await call(endpoint, *inputs(tmp_path))
    script = Script(endpoint)
    await script.answer(await script.hear(), m.ForceSimulationStop(timestamp=0.0))
    await script.to_the_end()
    assert await ended(process) == (0, "")


async def test_a_simulation_that_we_give_up_is_stopped(endpoint: Endpoint, tmp_path: Path) -> None:
    process = await call(endpoint, *inputs(tmp_path))
    batsim = Conversation(endpoint)
    await batsim.receive()
    assert await batsim.dismiss() is Dismissal.IN_ORDER
    assert await ended(process) == (0, "")


async def test_an_init_string_that_is_wrong_is_refused(endpoint: Endpoint, tmp_path: Path) -> None:
    process = await call(endpoint, *inputs(tmp_path), init='{"batkube": {"sharing": true}}')
    with pytest.raises(ProtocolError, match=r"init string: batkube.sharing: Extra inputs are not permitted"):
        await endpoint.receive()
    # Batsim is not left waiting for an answer.
    code, errors = await ended(process)
    assert code == 1
    assert "not a hello" in errors
    process = await call(endpoint, *inputs(tmp_path))
    await FirstComeFirstServed().play(endpoint)
    assert await ended(process) == (0, "")


async def test_hosts_are_numbered_by_the_numbers_in_their_names(endpoint: Endpoint, tmp_path: Path) -> None:
    arguments = inputs(tmp_path)
    names = ("n10", "n9x", "n2", "n2-1", "m11", "n")
    hosts = "".join(f'<host id="{name}" speed="1Gf"/>' for name in (*names, "master_host"))
    platform = f'<platform version="4.1"><zone id="z" routing="Full">{hosts}</zone></platform>'
    (tmp_path / "platform.xml").write_text(platform)
    process = await call(endpoint, *arguments)
    script = Script(endpoint)
    await script.answer(await script.hear(), m.ForceSimulationStop(timestamp=0.0))
    simulation_begins = script.heard[0]
    assert isinstance(simulation_begins, m.SimulationBegins)
    assert [host.name for host in simulation_begins.data.compute_resources] == ["m11", "n", "n2", "n2-1", "n9x", "n10"]
    await script.to_the_end()
    assert await ended(process) == (0, "")


@pytest.mark.parametrize(
    ("profile", "error"),
    [
        ({"type": "delay", "delay": 1}, "profile 'p': Batsim 5 has no type 'delay'"),
        (
            {"type": "parallel_homogeneous_total", "cpu": 1, "com": 1},
            "Batsim 5 has no type 'parallel_homogeneous_total'",
        ),
    ],
)
def test_old_names_of_profiles_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], profile: dict[str, Any], error: str
) -> None:
    assert main([*inputs(tmp_path, p=profile), "-s", "tcp://127.0.0.1:1", ""]) == 2
    assert error in capsys.readouterr().err


def test_old_external_events_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    events = tmp_path / "events.txt"
    events.write_text('{"type": "machine_unavailable", "timestamp": 1, "resources": "0"}')
    assert main([*inputs(tmp_path), "--ee", str(events), "-s", "tcp://127.0.0.1:1", ""]) == 2
    assert "Batsim 5 knows generic events alone" in capsys.readouterr().err


def test_it_says_a_version_5() -> None:
    done = subprocess.run([*COMMAND, "--version"], capture_output=True, text=True, timeout=120)
    assert done.stdout.startswith("5.")
