"""The mixes are what they are for: valid inputs, the same each time, and different enough."""

from collections import Counter
from pathlib import Path

from batkube.batsim.external_events import check_external_events, read_external_events
from batkube.batsim.platform import read_platform
from batkube.batsim.profile_parts import parts
from batkube.batsim.workload import read_workload
from tests.mixes.mix import living_mix, mix

SEEDS = range(1, 201)


def test_the_same_seed_gives_the_same_mix() -> None:
    assert [mix(seed) for seed in SEEDS] == [mix(seed) for seed in SEEDS]
    assert [living_mix(seed) for seed in SEEDS] == [living_mix(seed) for seed in SEEDS]


def test_every_mix_is_a_valid_input(tmp_path: Path) -> None:
    for seed in SEEDS:
        made = mix(seed)
        files = made.write(tmp_path / str(seed))
        resources = read_platform(files.platform).resources(master="master_host")
        assert [host.name for host in resources.compute] == [machine.name for machine in made.site.machines]
        assert [host.name for host in resources.storage] == list(made.site.storages)
        for index, path in enumerate(files.workloads):
            assert read_workload(path, f"w{index}").jobs
        if files.events:
            check_external_events(read_external_events(files.events), len(resources.compute))


def test_all_profile_types_are_played_by_many_jobs(tmp_path: Path) -> None:
    played: Counter[str] = Counter()
    for seed in SEEDS:
        for path in mix(seed).write(tmp_path / str(seed)).workloads:
            workload = read_workload(path)
            for job in workload.jobs.values():
                played.update(part.type for part in parts(workload.profiles[job.profile], workload.profiles))
    fewest = min(played.values())
    assert len(played) == 8, played
    assert fewest > 100, played
