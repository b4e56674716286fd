"""The exact simulator tells times with the decimals that Batsim prints: what is left of a job depends on them."""

from batkube.batsim.messages import LeafProgress, SequenceProgress
from batkube.simulator.server.outbox import Outbox

LEAF = LeafProgress(profile_name="p", progress=0.123456789)
SEQUENCE = SequenceProgress(profile_name="s", current_task_index=1, current_task=LEAF)


def test_how_far_a_job_was_is_told_as_batsim_prints_it() -> None:
    exact, ideal = Outbox(exact=True), Outbox(exact=False)
    assert exact.progress(LEAF) == LeafProgress(profile_name="p", progress=0.123457)
    told = exact.progress(SEQUENCE)
    assert isinstance(told, SequenceProgress)
    assert told.current_task == LeafProgress(profile_name="p", progress=0.123457)
    assert (ideal.progress(LEAF), ideal.progress(SEQUENCE)) == (LEAF, SEQUENCE)
