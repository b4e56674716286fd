"""``python -m batkube.simulator`` in the place of the program batsim."""

import asyncio
import json
from pathlib import Path

import pytest

from batkube.batsim.endpoint import Endpoint
from batkube.batsim.messages import Message, SimulationBegins
from batkube.simulator.standalone.batsim4 import main, parse_arguments, read_inputs
from tests.batsim.stand_in import COMMAND, FirstComeFirstServed, inputs


async def run(*arguments: str) -> tuple[int, str]:
    """Exit code and standard error output."""
    process = await asyncio.create_subprocess_exec(*COMMAND, *arguments, stderr=asyncio.subprocess.PIPE)
    _, errors = await process.communicate()
    assert process.returncode is not None
    return process.returncode, errors.decode()


async def test_two_runs_give_the_same_files_to_the_byte(tmp_path: Path) -> None:
    platform, workload = inputs(tmp_path)
    endpoint = Endpoint("tcp://127.0.0.1:*")
    for prefix in ("one", "two"):
        arguments = ("-p", str(platform), "-w", str(workload), "-s", endpoint.address, "-e", str(tmp_path / prefix))
        program = asyncio.ensure_future(run(*arguments))
        await FirstComeFirstServed().play(endpoint)
        assert await program == (0, "")
    await endpoint.close()
    for name in ("jobs.csv", "schedule.csv"):
        assert (tmp_path / f"one_{name}").read_bytes() == (tmp_path / f"two_{name}").read_bytes()
    rows = [row.split(",") for row in (tmp_path / "one_jobs.csv").read_text().splitlines()[1:]]
    assert [(row[0], row[8], row[10], row[14]) for row in rows] == [
        ("j0", "0.000000", "10.000000", "0"),
        ("j1", "1.000000", "11.000000", "1"),
        ("j2", "10.000000", "20.000000", "0"),
    ]


async def test_it_waits_for_a_decision_process_that_comes_late(tmp_path: Path) -> None:
    platform, workload = inputs(tmp_path)
    knocked = asyncio.Event()

    def hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()
        knocked.set()

    # Somebody who hangs up takes the port until the program has called there.
    stranger = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    address = f"tcp://127.0.0.1:{stranger.sockets[0].getsockname()[1]}"
    arguments = ("-p", str(platform), "-w", str(workload), "-s", address, "-e", str(tmp_path / "out"))
    program = asyncio.ensure_future(run(*arguments))
    await knocked.wait()
    stranger.close()
    await stranger.wait_closed()
    endpoint = Endpoint(address)
    await FirstComeFirstServed().play(endpoint)
    assert await program == (0, "")
    await endpoint.close()


async def test_a_deadlock_is_said_and_the_files_are_written(tmp_path: Path) -> None:
    platform, workload = inputs(tmp_path)
    endpoint = Endpoint("tcp://127.0.0.1:*")
    arguments = ("-p", str(platform), "-w", str(workload), "-s", endpoint.address, "-e", str(tmp_path / "out"))
    program = asyncio.ensure_future(run(*arguments))
    for _ in range(4):
        message = await endpoint.receive()
        await endpoint.send(Message(now=message.now, events=[]))
    code, errors = await program
    await endpoint.close()
    assert code == 1
    assert "nothing can happen any more, and jobs wait" in errors
    assert (tmp_path / "out_jobs.csv").read_text().count("\n") == 1


def test_wrong_inputs_are_told_in_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    platform, workload = inputs(tmp_path)
    for arguments, complaint in (
        (("-p", str(tmp_path / "absent.xml")), "absent.xml: No such file or directory"),
        (("-p", str(platform), "-w", str(platform)), "line 1, column 1: not JSON"),
        (("-p", str(platform), "-w", str(workload), "--mmax", "9"), "cannot use 9 compute hosts: the platform has 2"),
        (("-p", str(platform), "-r", "a"), "option -r: expected HOST[,HOST]:ROLE, not 'a'"),
        (("-p", str(platform), "--sched-cfg-file", str(tmp_path / "none")), "No such file or directory"),
        (("-p", str(platform), "-s", "nowhere"), "cannot connect to nowhere"),
    ):
        assert main(arguments) in (1, 2)
        errors = capsys.readouterr().err
        assert complaint in errors
        assert errors.count("\n") == 1
        assert errors.startswith("batkube.simulator: ")


def test_the_options_are_batsims(tmp_path: Path) -> None:
    platform, workload = inputs(tmp_path, nb_res=1)
    events = tmp_path / "events.txt"
    events.write_text(json.dumps({"type": "mine", "timestamp": 3}))
    (tmp_path / "sched.json").write_text("{}")
    switches = (
        *("--enable-compute-sharing", "--enable-dynamic-jobs", "--acknowledge-dynamic-jobs"),
        *("--enable-profile-reuse", "--forward-profiles-on-submission", "--forward-unknown-events"),
        *("--disable-schedule-tracing", "--disable-machine-state-tracing", "-q", "-v", "quiet", "--mmax-workload"),
    )
    options = read_inputs(
        parse_arguments(
            [
                *("-p", str(platform), "-w", str(workload), "-w", str(workload), "--events", str(events)),
                *("-m", "a", "-r", "b,master_host:storage", "--sched-cfg-file", str(tmp_path / "sched.json")),
                *switches,
            ]
        )
    )
    assert [load.name for load in options.workloads] == ["w0", "w1"]
    told = options.options
    assert (told.master, told.roles, told.mmax) == ("a", {"b": ["storage"], "master_host": ["storage"]}, 1)
    assert (told.compute_sharing, told.dynamic_jobs, told.acknowledge_dynamic_jobs) == (True, True, True)
    assert (told.profile_reuse, told.forward_profiles, told.forward_unknown_events) == (True, True, True)
    assert told.sched_config == "{}"
    assert [event.type for event in told.external_events or ()] == ["mine"]


async def test_what_a_decision_process_is_told_first_is_batsims_spelling(tmp_path: Path) -> None:
    platform, workload = inputs(tmp_path)
    endpoint = Endpoint("tcp://127.0.0.1:*")
    arguments = ("-p", str(platform), "-w", str(workload), "-s", endpoint.address, "--sched-cfg", "fast")
    program = asyncio.ensure_future(run(*arguments, "-e", str(tmp_path / "out")))
    player = FirstComeFirstServed()
    await player.play(endpoint)
    await program
    await endpoint.close()
    (simulation_begins,) = player.said[0].events
    assert isinstance(simulation_begins, SimulationBegins)
    assert simulation_begins.data.config.sched_config == "fast"
    assert simulation_begins.data.workloads == {"w0": str(workload.absolute())}
    assert [(resource.id, resource.name) for resource in simulation_begins.data.compute_resources] == [
        (0, "a"),
        (1, "b"),
    ]


def test_batsim_without_a_decision_process_is_refused_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parse_arguments(["-p", "p.xml", "--no-sched"])
    assert ended.value.code == 2
    assert "--no-sched: jobs that Batsim starts by itself are not simulated" in capsys.readouterr().err
