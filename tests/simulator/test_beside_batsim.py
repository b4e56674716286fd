"""Random decisions given to a real Batsim and to the exact simulator: both say the same, message by message.

Skipped where the program batsim is not. ``BATSIM_SEEDS=FIRST-LAST`` plays others than the few seeds of every day.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import zmq

from batkube.batsim.codec import decode, encode_as_batsim
from batkube.simulator.conversation.errors import Deadlock, InvalidDecision, SimulationAborted
from batkube.simulator.embedded import EmbeddedSimulator
from batkube.simulator.standalone.batsim4 import parse_arguments, read_inputs
from tests.simulator.chance import Chance, Experiment, make
from tests.simulator.verbatim import difference

BATSIM = shutil.which("batsim")


def seeds() -> list[int]:
    first, _, last = os.environ.get("BATSIM_SEEDS", "0-30").partition("-")
    return list(range(int(first), int(last) + 1))


@pytest.fixture
def socket() -> Iterator["zmq.Socket[bytes]"]:
    with zmq.Context() as context, context.socket(zmq.REP) as socket:
        socket.linger = 0
        yield socket


def converse(
    batsim: str, experiment: Experiment, seed: int, socket: "zmq.Socket[bytes]"
) -> tuple[list[tuple[bytes, bytes]], bool]:
    """Tell what Batsim says, and what it is answered; and whether the last answer made it abort."""
    port = socket.bind_to_random_port("tcp://127.0.0.1")
    command = [batsim, *experiment.arguments, "-s", f"tcp://127.0.0.1:{port}", "-e", "out", "-q"]
    player = Chance(experiment, seed)
    said: list[tuple[bytes, bytes]] = []
    with (experiment.folder / "log").open("w") as log:
        process = subprocess.Popen(command, cwd=experiment.folder, stdout=log, stderr=log)
        while not player.over:
            while not socket.poll(200):
                if process.poll() is not None:
                    assert said, (experiment.folder / "log").read_text()
                    return said, True
            message = socket.recv()
            reply = json.dumps(player.answer(json.loads(message))).encode()
            said.append((message, reply))
            socket.send(reply)
        assert process.wait(20) == 0
    return said, False


def go_on(simulator: EmbeddedSimulator, reply: bytes) -> None:
    simulator.answer(decode(reply))
    simulator.next_message()


@pytest.mark.skipif(BATSIM is None, reason="there is no batsim on the PATH")
@pytest.mark.parametrize("seed", seeds())
def test_both_say_the_same(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, socket: "zmq.Socket[bytes]"
) -> None:
    assert BATSIM is not None
    experiment = make(tmp_path, seed)
    said, aborted = converse(BATSIM, experiment, seed, socket)
    monkeypatch.chdir(tmp_path)
    given = read_inputs(parse_arguments(experiment.arguments))
    simulator = EmbeddedSimulator(given.platform, given.workloads, replace(given.options, exact=True))
    for number, (theirs, reply) in enumerate(said):
        ours = encode_as_batsim(simulator.next_message()).decode()
        assert not difference(ours, theirs.decode()), f"message {number}"
        if aborted and number == len(said) - 1:
            # A host that has just gone, say, a message on its way from a job that is killed, or nothing more to come.
            with pytest.raises((InvalidDecision, SimulationAborted, Deadlock)):
                go_on(simulator, reply)
        else:
            simulator.answer(decode(reply))
