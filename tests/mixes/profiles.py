"""Random profiles of all of Batsim's types that a scheduler of pods can run."""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

JSON = dict[str, Any]

DELAYS = (1, 2, 5, 10, 10, 20, 30, 0.5, 12.345678, 0.001)
FLOPS = (0, 1e6, 1e9, 2e9, 5e9, 1.1e10)
BYTES = (0, 0, 1e6, 1e7, 2.5e7)
SECONDS_OF_WORK = 10.0173
"""About how long work lasts whose length nobody knows beforehand.

Walltimes made of it end with no task: Batsim forgets the walltime of a sequence in which a parallel task ends within
rounding errors of it (it takes the time that is left, then just below 0, for none).
"""


@dataclass(frozen=True)
class Profiles:
    """Profiles by name, and what the jobs that use them must know."""

    content: dict[str, JSON]
    traces: dict[str, str] = field(default_factory=dict)
    """Files that profiles name, by path beside the workload's."""
    sizes: dict[str, int] = field(default_factory=dict)
    """The number of executors of those that are made for one."""
    codes: dict[str, int] = field(default_factory=dict)
    """The return code of each that runs to its end."""
    lengths: dict[str, float] = field(default_factory=dict)
    """Seconds, of those that last the same everywhere."""
    storages: tuple[str, ...] = ()
    """The hosts that store."""
    storing: set[str] = field(default_factory=set)
    """Those that use storages."""


def random_profiles(random: Random, *, most: int, storages: tuple[str, ...]) -> Profiles:
    """5 to 14 profiles, none for more than ``most`` executors; with ``storages`` some that read and write there."""
    made = Profiles({}, storages=storages)
    makers: list[Callable[[Random, Profiles, str, int], JSON]] = [
        _delay, _delay, _delay, _parallel, _homogeneous, _homogeneous, _total, _usage_trace,
    ]  # fmt: skip
    if storages:
        makers += [_pfs, _pfs]
    if len(storages) > 1:
        makers.append(_data_staging)
    for index in range(random.randint(4, 9)):
        make = random.choice(makers) if index else _delay
        name = f"{make.__name__[1:]}-{index}"
        profile = make(random, made, name, most)
        if random.random() < 0.12:
            profile["ret"] = random.choice((1, 3, 137))
        made.content[name] = profile
        made.codes[name] = profile.get("ret", 0)
    for index in range(random.randint(1, 5)):
        _composed(random, made, f"composed-{index}")
    return made


def _delay(random: Random, made: Profiles, name: str, most: int) -> JSON:
    delay = random.choice(DELAYS)
    made.lengths[name] = delay
    return {"type": "delay", "delay": delay}


def _parallel(random: Random, made: Profiles, name: str, most: int) -> JSON:
    size = made.sizes[name] = random.choice((1, 2, 2, 3, min(most, 5)))
    com = [0.0 if row == column else random.choice(BYTES) for row in range(size) for column in range(size)]
    return {"type": "parallel", "cpu": [random.choice(FLOPS) for _ in range(size)], "com": com}


def _homogeneous(random: Random, made: Profiles, name: str, most: int) -> JSON:
    return {"type": "parallel_homogeneous", "cpu": random.choice(FLOPS), "com": random.choice(BYTES)}


def _total(random: Random, made: Profiles, name: str, most: int) -> JSON:
    return {"type": "parallel_homogeneous_total", "cpu": random.choice(FLOPS) * 4, "com": random.choice(BYTES) * 4}


def _pfs(random: Random, made: Profiles, name: str, most: int) -> JSON:
    read, write = random.choice(BYTES), random.choice(BYTES)
    storage = random.choice(made.storages)
    made.storing.add(name)
    return {"type": "parallel_homogeneous_pfs", "bytes_to_read": read, "bytes_to_write": write, "storage": storage}


def _data_staging(random: Random, made: Profiles, name: str, most: int) -> JSON:
    # Batsim reads an amount of flops for each host of the job, and the task has two.
    made.sizes[name] = random.choice((1, 2))
    made.storing.add(name)
    source, destination = random.sample(made.storages, 2)
    return {"type": "data_staging", "nb_bytes": random.choice(BYTES), "from": source, "to": destination}


def _usage_trace(random: Random, made: Profiles, name: str, most: int) -> JSON:
    size = made.sizes[name] = random.choice((1, 1, 2, 3))
    files = [f"{name}-{rank}.txt" for rank in range(size)]
    for rank, file in enumerate(files):
        phases = [(random.choice((0.0, 0.1, 0.5, 1.0)), random.choice((1e9, 4e9))) for _ in range(random.randint(1, 3))]
        made.traces[file] = "".join(f"{rank} m_usage {usage} {flops:g}\n" for usage, flops in phases)
    made.traces[f"{name}.txt"] = "".join(f"{file}\n" for file in files)
    return {"type": "usage_trace", "trace": f"{name}.txt"}


def _composed(random: Random, made: Profiles, name: str) -> None:
    """A sequence of those made so far, sequences included, that can run on one number of executors."""
    sequence: list[str] = []
    size: int | None = None
    for element in random.choices(list(made.content), k=random.randint(1, 3)):
        wanted = made.sizes.get(element)
        if wanted is None or size in (None, wanted):
            sequence.append(element)
            size = wanted or size
    repeat = random.choice((1, 1, 2, 3))
    if made.storing.intersection(sequence):
        made.storing.add(name)
    made.content[name] = {"type": "composed", "seq": sequence, "repeat": repeat}
    if size is not None:
        made.sizes[name] = size
    if random.random() < 0.1:
        made.content[name]["ret"] = 4
    stops = [index for index, element in enumerate(sequence) if made.codes[element]]
    made.codes[name] = made.codes[sequence[stops[0]]] if stops else made.content[name].get("ret", 0)
    played = sequence[: stops[0] + 1] if stops else sequence * repeat
    if all(element in made.lengths for element in played):
        made.lengths[name] = sum(made.lengths[element] for element in played)
