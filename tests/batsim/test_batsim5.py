"""Every kind of decision told to Batsim 5, in both forms: as recorded, and beside a real one where there is one."""

from pathlib import Path

import pytest

from batkube.batsim import messages as m
from batkube.batsim.batprotocol.binary import write_binary
from batkube.batsim.batprotocol.codec import BatprotocolCodec, read_frame
from batkube.batsim.batprotocol.handshake import read_hello
from batkube.batsim.batprotocol.init_string import Form
from batkube.batsim.batprotocol.text import write_text
from tests.batsim.batprotocol_recordings import recordings
from tests.batsim.record_batprotocol import BATSIM5, FORMS, Player, play


@pytest.mark.skipif(BATSIM5 is None, reason="there is no batsim5 on PATH")
@pytest.mark.parametrize("form", FORMS)
async def test_everything_is_understood(form: Form, tmp_path: Path) -> None:
    player, _, code = await play(form, tmp_path)
    assert code == 0
    check(player)
    rows = (tmp_path / "out_jobs.csv").read_text().splitlines()[1:]
    assert {tuple(row.split(",")[index] for index in (0, 7)) for row in rows} == {
        ("slowed", "COMPLETED_SUCCESSFULLY"),
        ("1", "COMPLETED_SUCCESSFULLY"),
        ("killed", "COMPLETED_KILLED"),
        ("mapped", "COMPLETED_SUCCESSFULLY"),
        ("rejected", "REJECTED"),
    }


@pytest.mark.parametrize("form", FORMS)
def test_what_was_recorded_is_understood_and_answered_the_same(form: Form) -> None:
    recording = recordings()[f"everything_{form}"]
    assert recording.run["exit_code"] == 0
    init, hello = recording.frames[:2]
    codec = BatprotocolCodec(init.content)
    assert codec.protocol == f"v5-{form}"
    features = "requested_simulation_features"
    assert read_hello(codec.greeting)[1][features] == read_hello(hello.content)[1][features]
    player = Player()
    for said, answer in zip(recording.frames[2::2], recording.frames[3::2], strict=True):
        content = said.content or (write_text if form == "json" else write_binary)(said.document)
        assert read_frame(codec.encode(player.answer(codec.decode(content)))) == answer.document
    check(player)


def check(player: Player) -> None:
    """Tell what a decision process is told in that simulation."""
    assert not player.told(m.UnknownEvent)
    (simulation_begins,) = player.told(m.SimulationBegins)
    assert [host.name for host in simulation_begins.compute_resources] == ["n1", "n2", "n10"]
    assert [(data.resources, data.state) for data in player.told(m.ResourceStateChanged)] == [
        ("0", "1"),
        ("1-2", "2"),
        ("1-2", "0"),
    ]
    joules = [data.consumed_energy for data in player.told(m.Answer)]
    assert joules == pytest.approx([0.36, 7850.28], abs=0.01)
    ended = {data.job_id: (data.job_state, data.alloc) for data in player.told(m.JobCompleted)}
    assert ended == {
        "dyn!1": ("COMPLETED_SUCCESSFULLY", "1-2"),
        "w0!slowed": ("COMPLETED_SUCCESSFULLY", "0"),
        "w0!killed": ("COMPLETED_KILLED", "1-2"),
        "w0!mapped": ("COMPLETED_SUCCESSFULLY", "0 2"),
    }
    (killed,) = player.told(m.JobKilled)
    progress = killed.job_progress["w0!killed"]
    assert (progress.profile_name, progress.current_task_index) == ("sequence", 1)
    assert progress.current_task.profile_name == "work"
    assert [data.type for data in player.told(m.Notify)] == [
        "generic",
        "event_machine_unavailable",
        "no_more_external_event_to_occur",
        "no_more_static_job_to_submit",
    ]
    assert len(player.told(m.RequestedCall)) == 4
