"""Hosts at coordinates: messages go over latencies alone, or take no time at all, and much happens at one date."""

from random import Random
from typing import Any

from tests.simulator.scripted import Case

RECORDED = 12
JSON = dict[str, Any]
HOSTS = 3

PROFILES: JSON = {
    "nothing": {"type": "parallel_homogeneous", "cpu": 0, "com": 0},
    "short": {"type": "delay", "delay": 1e-12},
    "delay": {"type": "delay", "delay": 2},
    "task": {"type": "parallel_homogeneous", "cpu": 1e8, "com": 1e6},
    "message": {"type": "send", "msg": {"n": 1}},
    "parts": {"type": "composed", "seq": ["nothing", "delay", "short", "message"], "repeat": 2},
}


def cases() -> list[Case]:
    return [random_case(seed) for seed in range(RECORDED)]


def random_case(seed: int) -> Case:
    """Jobs that start together, some of which are killed at the date of their start."""
    rng = Random(seed)
    workload: JSON = {"nb_res": HOSTS, "jobs": [], "profiles": PROFILES}
    script: list[JSON] = []
    first_come = rng.random() < 0.4
    for number in range(rng.randint(2, 10)):
        res = rng.randint(1, HOSTS)
        job = {"id": f"j{number}", "res": res, "profile": rng.choice(list(PROFILES))}
        workload["jobs"].append({**job, "subtime": rng.choice([1, 1, 3, 3.5]) if first_come else 1})
        if not first_come:
            date = float(rng.choice([2, 2, 4]))
            alloc = " ".join(map(str, sorted(rng.sample(range(HOSTS), res))))
            data = {"job_id": f"w0!j{number}", "alloc": alloc}
            script.append({"timestamp": date, "type": "EXECUTE_JOB", "data": data})
            # Batsim dies if the server takes the message of a job that is killed at that moment.
            if rng.random() < 0.3 and job["profile"] not in ("message", "parts"):
                killed = {"job_ids": [data["job_id"]]}
                script.append({"timestamp": date, "type": "KILL_JOB", "data": killed})
    script.sort(key=lambda decision: decision["timestamp"])
    options = ["--enable-compute-sharing"]
    return Case(f"coordinates-{seed}", _platform(rng), workload, script, options, first_come=first_come)


def _platform(rng: Random) -> str:
    points = f'<host id="master_host" coordinates="0 0 {rng.choice([0, 0, 5])}" speed="1Gf"/>'
    for number in range(HOSTS):
        place = f"{rng.choice([0, 30])} {rng.choice([0, 40])} {rng.choice([0, 2])}"
        points += f'<host id="h{number}" coordinates="{place}" speed="100Mf"/>'
    return (
        '<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd"><platform version="4.1">'
        f'<zone id="z" routing="Vivaldi">{points}</zone></platform>'
    )
