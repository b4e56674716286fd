"""Random external events: hosts that go and come back, many of them just when something else happens."""

from collections.abc import Iterable
from random import Random
from typing import Any

from tests.mixes.platforms import Site
from tests.mixes.workloads import Load

JSON = dict[str, Any]

AFTER = (0.0, 0.0, 0.0, 1.5002e-05, 3.0004e-05, 6e-05, 0.001)
"""Seconds after another event: at its date, or as long as Batsim's own messages take."""
LENGTHS = (0.5, 1.0, 5.0, 10.0, 40.0)


def random_outages(random: Random, site: Site, loads: list[Load]) -> list[JSON]:
    """Up to eight outages, all of which end. A host is not lost twice at once, and not at the date it comes back.

    Batsim sorts the events of a file, and leaves those of one date in the order of the file where there are no more
    than sixteen.
    """
    hosts = len(site.machines)
    dates = _dates(random, loads)
    free_from = [0.0] * hosts
    events = []
    for begin in sorted(random.choice(dates) + random.choice(AFTER) for _ in range(random.randint(1, 8))):
        end = random.choice([date for date in dates if date > begin] or [begin + 1])
        if random.random() < 0.6:
            end = begin + random.choice(LENGTHS)
        up = [host for host in range(hosts) if free_from[host] < begin]
        lost = random.sample(up, min(len(up), random.choice((1, 1, 2, hosts))))
        if not lost:
            continue
        for host in lost:
            free_from[host] = end
        names = " ".join(str(host) for host in sorted(lost))
        events.append({"type": "machine_unavailable", "resources": names, "timestamp": begin})
        events.append({"type": "machine_available", "resources": names, "timestamp": end})
    random.shuffle(events)  # their order in the file means nothing
    return events


def losses(events: Iterable[JSON]) -> dict[int, list[float]]:
    """The dates at which each host is lost."""
    lost: dict[int, list[float]] = {}
    for event in events:
        if event["type"] == "machine_unavailable":
            for host in event["resources"].split():
                lost.setdefault(int(host), []).append(event["timestamp"])
    return lost


def _dates(random: Random, loads: list[Load]) -> list[float]:
    """Tell when jobs come, and when those would end that start as they come."""
    dates = [0.0]
    for load in loads:
        for job in load.jobs:
            length = load.profiles.lengths.get(job["profile"])
            dates.append(job["subtime"])
            if length is not None:
                dates.append(job["subtime"] + length)
            if job.get("walltime", -1) > 0:
                dates.append(job["subtime"] + job["walltime"])
    return sorted(set(dates))
