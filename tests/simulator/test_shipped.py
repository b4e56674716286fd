"""The files that Batsim ships, beside the dates that a real Batsim 4.2.1 gave their jobs.

The files are not ours: they are looked for in the folder that BATKUBE_BATSIM_SOURCE names, a checkout of Batsim's tag
v4.2.1, or in ``batsim`` beside this repository. Workloads and platforms of ours, of the same kinds, are in
``test_exact``, which always runs.
"""

import json
import os
from pathlib import Path

import pytest

from batkube.batsim.codec import decode, encode_as_batsim
from batkube.batsim.errors import SimulatorError
from batkube.batsim.messages import SimulationEnds
from batkube.batsim.outputs import JobRecord
from batkube.batsim.platform import read_platform
from batkube.batsim.workload import WorkloadError, read_workload
from batkube.simulator.embedded import EmbeddedSimulator
from batkube.simulator.standalone.batsim4 import parse_arguments, read_inputs
from tests.batsim.recording.shipped import EXPERIMENTS, PROBE, Experiment, checksums, process, recorded

SOURCE = Path(os.environ.get("BATKUBE_BATSIM_SOURCE") or Path(__file__).parents[3] / "batsim")
needs_source = pytest.mark.skipif(
    not (SOURCE / "workloads").is_dir(),
    reason=f"Batsim's own files are not at {SOURCE}; BATKUBE_BATSIM_SOURCE may say where they are",
)
EXACT = 1e-6
"""Seconds: what Batsim prints is rounded so."""

RECORDED = recorded()


class NotEmbedded(Exception):
    """Batsim has what the embedded simulator has not. The text says what."""


def by_name(experiment: Experiment) -> str:
    return experiment.name


def simulate(experiment: Experiment, folder: Path) -> list[JobRecord]:
    """The jobs of an experiment in the embedded simulator, with exact dates."""
    (folder / "probe.json").write_text(json.dumps(PROBE))
    words = [word for word in experiment.words(SOURCE, folder / "probe.json") if word != "-E"]
    if "-W" in words:
        raise NotEmbedded("the embedded simulator has no workflows (-W)")
    given = read_inputs(parse_arguments([*words, "--exact"]))
    try:
        simulator = EmbeddedSimulator(given.platform, given.workloads, given.options)
    except WorkloadError as error:
        if "the embedded simulator has no" in str(error) or "the embedded simulator does not" in str(error):
            raise NotEmbedded(str(error)) from None
        raise
    decisions = process()
    over = False
    while not over:
        message = simulator.next_message()
        over = any(isinstance(event, SimulationEnds) for event in message.events)
        simulator.answer(decode(decisions.answer(json.loads(encode_as_batsim(message))).encode()))
    return list(simulator.records)


def test_the_recordings_are_of_all_experiments() -> None:
    assert list(RECORDED) == [experiment.name for experiment in EXPERIMENTS]


@needs_source
@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=by_name)
def test_jobs_have_the_dates_of_real_batsim(experiment: Experiment, tmp_path: Path) -> None:
    outcome = RECORDED[experiment.name]
    assert checksums(experiment, SOURCE) == outcome["files"], "these are not the files of Batsim 4.2.1"
    if "fault" in outcome:
        check_fault(experiment, str(outcome["fault"]), tmp_path)
        return
    try:
        records = simulate(experiment, tmp_path)
    except NotEmbedded as lack:
        pytest.skip(str(lack))
    ours = {f"{record.workload_name}!{record.job_id}": record for record in records}
    assert ours.keys() == {row[0] for row in outcome["jobs"]}
    wrong = {}
    for job, state, start, finish, alloc in outcome["jobs"]:
        record = ours[job]
        said = (record.final_state, record.allocated_resources)
        dates = ((record.starting_time, start), (record.finish_time, finish))
        apart = [(our, their) for our, their in dates if not _same(our, their)]
        if said != (state, alloc) or apart:
            wrong[job] = (said, (state, alloc), apart)
    assert not wrong


OLDER = ("network/coordinates", "network/TCP_gamma")
"""Names of options that SimGrid no longer has: files with them are read here, options of SimGrid's are passed over."""


def check_fault(experiment: Experiment, fault: str, folder: Path) -> None:
    """Tell where real Batsim ended, the reason is said, or the file is of an older SimGrid and is read."""
    if fault.endswith(OLDER):
        assert read_platform(SOURCE / experiment.platform).hosts
        return
    expected = {"role": "expected one master host", "Empty zone": "has routing None, and so no routes"}
    (ours,) = (ours for theirs, ours in expected.items() if theirs in fault)
    with pytest.raises((ValueError, SimulatorError), match=ours):
        simulate(experiment, folder)


def _same(ours: float | None, theirs: float | None) -> bool:
    if ours is None or theirs is None:
        return ours is theirs
    # At 1e13 s, where one of the jobs ends, the numbers that Batsim reckons with are 2 ms apart.
    return abs(ours - theirs) <= EXACT + 1e-15 * abs(theirs)


@needs_source
@pytest.mark.parametrize("path", sorted((SOURCE / "workloads").glob("**/test_*.json")), ids=lambda path: path.name)
def test_shipped_workloads_are_read(path: Path) -> None:
    assert read_workload(path).jobs


@needs_source
@pytest.mark.parametrize("path", sorted((SOURCE / "platforms").glob("**/*.xml")), ids=lambda path: path.name)
def test_shipped_platforms_are_read(path: Path) -> None:
    assert read_platform(path).hosts
