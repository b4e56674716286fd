"""A whole experiment from a seed."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from tests.mixes.life import Life, random_life
from tests.mixes.outages import random_outages
from tests.mixes.platforms import Site, random_site
from tests.mixes.workloads import Load, random_load

JSON = dict[str, Any]

STARTUPS = (
    "created: 0.5\nstarted: 0.25\nended: 1\n",
    "created: {lognormal: {median: 0.04, sigma: 0.4}}\nstarted: {exponential: {mean: 0.03, shift: 0.02}}\n",
    "pulling: 0.0001\nended: {quantiles: [0, 0.0005, 2]}\n",
)
TIMERS = ("window", "window", "events", "lazy", "5")


@dataclass(frozen=True)
class Files:
    """The paths of a written mix."""

    platform: Path
    workloads: list[Path]
    events: Path | None
    startup: Path | None
    machines: Path | None = None
    """The events of machines, in YAML."""


@dataclass(frozen=True)
class Mix:
    """Inputs and options of a run."""

    seed: int
    site: Site
    loads: tuple[Load, ...]
    outages: tuple[JSON, ...] | None = None
    """None: no file of events."""
    sharing: bool = False
    startup: str | None = None
    timers: str = "window"
    decision_time: float = 0.0
    energy: bool = False
    life: Life | None = None
    """The life of a cluster; None where nothing happens but what workloads and external events say."""

    @property
    def jobs(self) -> dict[str, tuple[Load, JSON]]:
        """By Batsim's full id."""
        return {f"w{at}!{job['id']}": (load, job) for at, load in enumerate(self.loads) for job in load.jobs}

    def write(self, folder: Path) -> Files:
        """Write the files of the mix into ``folder``."""
        folder.mkdir(parents=True, exist_ok=True)
        files = Files(
            folder / "platform.xml",
            [folder / f"workload-{index}.json" for index, _ in enumerate(self.loads)],
            None if self.outages is None else folder / "events.txt",
            None if self.startup is None else folder / "startup.yaml",
            folder / "machines.yaml" if self.life and self.life.machines else None,
        )
        files.platform.write_text(self.site.xml)
        for path, load in zip(files.workloads, self.loads, strict=True):
            path.write_text(json.dumps(load.content, indent=1))
            for name, text in load.profiles.traces.items():
                (folder / name).write_text(text)
        if files.events:
            files.events.write_text("".join(json.dumps(event) + "\n" for event in self.outages or ()))
        if files.startup:
            files.startup.write_text(self.startup or "")
        if files.machines and self.life:
            entries = "".join(f"- {json.dumps(entry)}\n" for entry in self.life.machines)
            files.machines.write_text(f"events:\n{entries}")
        return files

    def only(self, ids: set[str]) -> "Mix":
        """The same with the jobs of ``ids`` (full ids) alone."""
        kept = [load.only({full.partition("!")[2] for full in ids if full.startswith(f"w{at}!")})
                for at, load in enumerate(self.loads)]  # fmt: skip
        return replace(self, loads=tuple(kept))


def mix(seed: int) -> Mix:
    """The mix of a seed, always the same."""
    random = Random(f"mix {seed}")
    site = random_site(random)
    sharing = random.random() < 0.35
    priorities = random.random() < 0.3
    jobs = min(random.choice((10, 20, 30, 40, 60)), 5 * len(site.machines))
    counts = [jobs] if random.random() < 0.8 else [jobs - jobs // 3, jobs // 3]
    loads = tuple(
        random_load(random, site, number, count, sharing=sharing, priorities=priorities)
        for number, count in enumerate(counts)
    )
    outages = None
    if random.random() < 0.6:
        outages = tuple(random_outages(random, site, list(loads))) if random.random() < 0.95 else ()
    return Mix(
        seed,
        site,
        loads,
        outages,
        sharing,
        startup=random.choice(STARTUPS) if random.random() < 0.3 else None,
        timers=random.choice(TIMERS),
        decision_time=random.choice((0.05, 0.00001, 2.0)) if random.random() < 0.15 else 0.0,
        energy=random.random() < 0.25,
    )


def living_mix(seed: int) -> Mix:
    """Return the mix of a seed with a life beside its jobs; hosts are shared more often."""
    random = Random(f"life {seed}")
    dead = mix(seed)
    life = random_life(random, dead.site)
    return replace(dead, life=life, sharing=dead.sharing or random.random() < 0.5)
