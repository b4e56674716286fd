"""Recorded exchanges: written down as they went, read back, and played again."""

import gzip
import json
from pathlib import Path

import pytest

from batkube.batsim import messages as m
from batkube.batsim.command_line import BatsimInputs
from batkube.batsim.messages import Message
from batkube.batsim.platform import read_platform
from batkube.batsim.process import BatsimProcess
from batkube.batsim.recorded_batsim import AnsweredDifferently, RecordedBatsim, RecordingEnds, first_difference
from batkube.batsim.recording import (
    FROM_BATSIM,
    TO_BATSIM,
    Exchange,
    RecordedSimulator,
    Recorder,
    RecordingError,
    read_recording,
)
from batkube.batsim.simulator import Simulator
from batkube.batsim.workload import read_workload
from batkube.simulator.embedded import EmbeddedSimulator
from tests.batsim.real import REAL, needs_batsim
from tests.batsim.stand_in import COMMAND, FirstComeFirstServed, inputs

PRINTED = 1e-6
"""Simulated seconds: dates that Batsim prints alike."""


async def record(folder: Path, kind: str, name: str = "exchange.jsonl") -> Path:
    """A whole simulation, written down."""
    platform, workload = inputs(folder)
    recorder, path = Recorder(), folder / name
    recorder.begin(path)
    simulator: Simulator
    if kind == "embedded":
        embedded = EmbeddedSimulator(read_platform(platform), [read_workload(workload)])
        simulator = RecordedSimulator(embedded, recorder)
    else:
        command = [str(REAL)] if kind == "real" else COMMAND
        simulator = process = await BatsimProcess.start(
            BatsimInputs(platform, [workload], folder / "o"), command=command
        )
        process.endpoint.on_exchange = recorder.note
    await FirstComeFirstServed().play(simulator)
    await simulator.close()
    recorder.end()
    return path


@pytest.mark.parametrize("kind", ["embedded", "standalone", pytest.param("real", marks=needs_batsim)])
async def test_an_exchange_is_kept_in_the_format_of_the_transcripts_and_plays_again(tmp_path: Path, kind: str) -> None:
    path = await record(tmp_path, kind)
    lines = path.read_bytes().splitlines()
    assert lines[0].startswith(b'{"dir":"batsim->edc","msg":{"now":0.000000,"events":[{"timestamp":0.000000,')
    assert json.loads(lines[1]) == {"dir": "edc->batsim", "msg": {"now": 0.0, "events": []}}
    assert json.loads(lines[-2])["msg"]["events"][0]["type"] == "SIMULATION_ENDS"
    exchanges = read_recording(path)
    assert len(exchanges) == len(lines) / 2
    batsim = RecordedBatsim(exchanges, tolerance=PRINTED)
    await FirstComeFirstServed().play(batsim)
    assert batsim.compared == len(exchanges)
    assert batsim.difference is None


async def test_a_packed_recording_is_the_same(tmp_path: Path) -> None:
    plain = await record(tmp_path, "embedded")
    packed = await record(tmp_path, "embedded", "exchange.jsonl.gz")
    assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()
    assert read_recording(packed) == read_recording(plain)
    again = await record(tmp_path, "embedded", "again.jsonl.gz")
    assert again.read_bytes() == packed.read_bytes()


async def test_what_is_no_json_is_kept_byte_by_byte(tmp_path: Path) -> None:
    recorder, path = Recorder(), tmp_path / "exchange.jsonl"
    recorder.note(FROM_BATSIM, b"\x02\x00\x00\x00{}")  # before the file is known
    recorder.begin(path)
    recorder.note(TO_BATSIM, b"\xff\xfe")
    recorder.note(FROM_BATSIM, b'{\n  "now": 0.000000000000\n}\n\0')
    recorder.note(TO_BATSIM, b"no json")
    recorder.end()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert lines[0]["msg"] == {"init_size": 2, "init": "{}"}
    assert lines[2] == {"dir": "batsim->edc", "msg": {"now": 0}}
    assert lines[3] == {"dir": "edc->batsim", "raw": "no json"}
    assert read_recording(path) == [
        Exchange(1, b"\x02\x00\x00\x00{}", b"\xff\xfe"),
        Exchange(3, b'{ "now": 0.000000000000 }', b"no json"),
    ]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "has no messages"),
        (b"nonsense\n", "line 1: "),
        (b'{"dir": "there"}\n', 'line 1: expected an object whose "dir"'),
        (b'{"dir":"batsim->edc"}\n', "line 1: has neither"),
        (b'{"dir":"edc->batsim","msg":{}}\n', "line 1: answers no message"),
        (gzip.compress(b"x" * 1000, mtime=0)[:20], "ended before"),
    ],
)
def test_a_broken_recording_is_named(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "exchange"
    path.write_bytes(content)
    with pytest.raises(RecordingError, match=words):
        read_recording(path)
    with pytest.raises(RecordingError, match="No such file"):
        read_recording(tmp_path / "none")


async def test_the_first_difference_is_shown(tmp_path: Path) -> None:
    batsim = RecordedBatsim(read_recording(await record(tmp_path, "embedded")), tolerance=PRINTED)
    player = FirstComeFirstServed()
    await batsim.send(player.answer(await batsim.receive()))
    message = await batsim.receive()
    refused = m.RejectJob(timestamp=message.now, data=m.RejectJobData(job_id="w0!j0"))
    with pytest.raises(AnsweredDifferently) as parted:
        await batsim.send(Message(now=message.now, events=[refused]))
    assert str(parted.value).splitlines() == [
        "line 3: at 0.000000 Batsim said JOB_SUBMITTED of w0!j0",
        "  decision 1 recorded: 0.0 EXECUTE_JOB {'job_id': 'w0!j0', 'alloc': '0'}",
        "  decision 1 now:      0.0 REJECT_JOB {'job_id': 'w0!j0'}",
    ]
    assert batsim.compared == 1


async def test_a_recording_that_ends_early_is_told(tmp_path: Path) -> None:
    exchanges = read_recording(await record(tmp_path, "embedded"))
    for kept in (exchanges[:2], [*exchanges[:2], Exchange(5, exchanges[2].sent, None)]):
        batsim = RecordedBatsim(kept, tolerance=PRINTED)
        with pytest.raises(RecordingEnds):
            await FirstComeFirstServed().play(batsim)
        assert batsim.ends_early is not None
        assert batsim.compared == 2


def reply(*events: object, now: float = 1.0) -> dict[str, object]:
    return {"now": now, "events": list(events)}


def execute(job: str, alloc: str = "0-1", timestamp: float = 1.0) -> dict[str, object]:
    return {"timestamp": timestamp, "type": "EXECUTE_JOB", "data": {"job_id": job, "alloc": alloc}}


@pytest.mark.parametrize(
    ("recorded", "ours", "same"),
    [
        (reply(execute("a")), reply(execute("a", "1 0", 1.0000005)), True),
        (reply(execute("a")), reply(execute("a", timestamp=1.1)), False),
        (reply(execute("a"), execute("b", "2")), reply(execute("b", "2"), execute("a")), False),
        (reply(execute("a")), reply(), False),
        (reply(), reply(execute("a")), False),
        (reply(), reply(now=1.5), False),
        (None, reply(), False),
        (reply(execute("a")), reply(execute("a", "0 2")), False),
    ],
)
def test_dates_may_differ_by_the_tolerance_and_the_order_may_not(
    recorded: dict[str, object] | None, ours: dict[str, object], same: bool
) -> None:
    assert (first_difference(recorded, ours, 1e-6) is None) == same
