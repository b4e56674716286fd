"""Experiments with the files that Batsim ships, which are not ours to keep: kept are the dates of jobs in real runs.

``python -m tests.batsim.recording.shipped SOURCE`` runs them anew, beside Batsim 4.2.1 on PATH; SOURCE is a folder with
Batsim's ``workloads``, ``platforms`` and ``events``.
"""

import csv
import hashlib
import json
import lzma
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.batsim.recording.archive import RECORDINGS
from tests.batsim.recording.kind import JSON, delay, homogeneous, job, workload
from tests.batsim.recording.processes import Fcfs, Process
from tests.batsim.recording.run import run_batsim

ARCHIVE = RECORDINGS / "v4" / "shipped.json.xz"

PROBE = workload(
    job("alone", 0, "d"),
    job("two", 1, "talk", 2, walltime=5000),
    job("cut", 2, "long", walltime=7),
    talk=homogeneous(2e8, 1e6),
    long=delay(1000),
)
"""The workload that is run on each platform."""


@dataclass(frozen=True)
class Experiment:
    """Files of Batsim's, and options. Jobs are started first come, first served, on the hosts of the lowest numbers."""

    workload: str
    """A file, or empty for the jobs of PROBE."""
    platform: str
    options: str = ""

    @property
    def name(self) -> str:
        return " ".join(part for part in (self.workload or "probe", self.platform, self.options) if part)

    @property
    def files(self) -> list[str]:
        """The files of Batsim's that it takes, traces aside."""
        words = [self.workload, self.platform, *self.options.split()]
        return [word for word in words if "/" in word]

    def words(self, source: Path, probe: Path) -> list[str]:
        """The command line behind ``batsim``; ``probe`` is a file that holds PROBE."""
        given = [str(source / word) if "/" in word else word for word in self.options.split()]
        jobs = ["-w", str(source / self.workload) if self.workload else str(probe)]
        return ["-p", str(source / self.platform), *([] if "-W" in given else jobs), *given]


_SMALL = "platforms/small_platform.xml"
_CLUSTER = "platforms/cluster512.xml"
_EVENTS = "--events events/test_events_4hosts.txt"

EXPERIMENTS = [
    *(
        Experiment(f"workloads/example_workload_hpc_seed{n}_jobs250.json", _CLUSTER, "--mmax-workload")
        for n in range(1, 6)
    ),
    Experiment("workloads/test_batsim_paper_workload_seed1.json", _CLUSTER, "--mmax-workload"),
    *(
        Experiment(f"workloads/{name}.json", _SMALL)
        for name in (
            *("test_case_study1", "test_delays", "test_long_workload", "test_one_computation_job"),
            *("test_one_computation_job_tot", "test_one_delay_job", "test_same_submit_time", "test_sequence_delay"),
            *("test_various_profile_types", "test_smpi_collectives", "test_smpi_compute_only"),
            *("test_smpi_compute_only_2_jobs", "test_smpi_mapping", "test_smpi_mixed_comp_comm"),
            *("untested/test_composed_bda", "untested/test_one_spark_job_bda"),
        )
    ),
    *(
        Experiment(f"workloads/test_energy_minimal_load{load}.json", "platforms/energy_platform_homogeneous.xml", "-E")
        for load in (0, 50, 100)
    ),
    Experiment("workloads/test_tuto_stencil.json", "platforms/cluster512_pfs.xml"),
    Experiment("workloads/test_usage_trace.json", "platforms/small_platform_usage_replay.xml", "-E"),
    Experiment("workloads/test_walltime.json", _CLUSTER, "--mmax-workload"),
    Experiment("workloads/test_walltime_smpi.json", _CLUSTER, "--mmax-workload"),
    Experiment(
        "workloads/untested/test_workload_pfs0.json", "platforms/small_platform_pfs0.xml", "-r hosts_pfs0:storage"
    ),
    Experiment("workloads/test_delays.json", _SMALL, _EVENTS),
    Experiment("workloads/test_delays.json", _SMALL, "--forward-unknown-events --events events/test_generic_event.txt"),
    Experiment("", _SMALL, "-W workloads/GENOME.d.351024866.5.dax"),
    *(
        Experiment("", f"platforms/cluster_locality_{size}.xml", "-m master_host0")
        for size in ("4x128", "8x16", "8x64", "32x16")
    ),
    *(
        Experiment("", f"platforms/{name}.xml")
        for name in (
            *("cluster512", "cluster512_pfs", "cluster_energy_128", "cluster_locality_32x16", "cluster_locality_4x128"),
            *("cluster_locality_8x16", "cluster_locality_8x64", "energy_platform", "energy_platform_homogeneous"),
            "energy_platform_homogeneous_no_net",
            *(f"energy_platform_homogeneous_no_net_{size}" for size in (1, 128, 256, 512)),
            *("graphene", "heterogeneous/platform", "properties_example", "simple_coalloc_platform", "small_platform"),
            *("small_platform_pfs0", "small_platform_usage_replay"),
        )
    ),
]


def process() -> Process:
    """The decision process of all experiments."""
    return Process(policy=Fcfs())


def checksums(experiment: Experiment, source: Path) -> dict[str, str]:
    """SHA-256 of an experiment's files. Raises OSError where one is missing."""
    return {name: hashlib.sha256((source / name).read_bytes()).hexdigest() for name in experiment.files}


def recorded() -> dict[str, JSON]:
    """Tell what was recorded, by the experiment's name: ``files``, and ``jobs`` or a ``fault`` for which Batsim ended.

    Jobs are rows: identifier, state, dates of start and end (None for a rejected job), allocation.
    """
    content: dict[str, JSON] = json.loads(lzma.decompress(ARCHIVE.read_bytes()))
    return content


def main(source: Path) -> None:
    """Run all experiments, and keep what came out."""
    content = {experiment.name: _run(experiment, source) for experiment in EXPERIMENTS}
    ARCHIVE.write_bytes(lzma.compress(json.dumps(content, indent=0).encode(), preset=9 | lzma.PRESET_EXTREME))
    print(f"{len(content)} recorded, {sum('fault' in outcome for outcome in content.values())} of them do not run")


def _run(experiment: Experiment, source: Path) -> JSON:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "probe.json").write_text(json.dumps(PROBE))
        words = experiment.words(source.absolute(), folder / "probe.json")
        run = run_batsim(["batsim", *words, "-e", "out"], folder, process())
        outcome: JSON = {"files": checksums(experiment, source)}
        if run.exit_code:
            return outcome | {"fault": run.diagnostics[0].partition("] ")[2]}
        with (folder / "out_jobs.csv").open() as file:
            return outcome | {"jobs": [_row(row) for row in csv.DictReader(file)]}


def _row(row: dict[str, str]) -> list[Any]:
    dates = [float(row[name]) if row[name] else None for name in ("starting_time", "finish_time")]
    return [f"{row['workload_name']}!{row['job_id']}", row["final_state"], *dates, row["allocated_resources"]]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
