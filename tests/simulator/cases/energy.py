"""Jobs on hosts with pstates, which change while they run, and hosts that sleep and wake."""

from random import Random
from typing import Any

from tests.simulator.cases.sharing import document
from tests.simulator.scripted import Case

RECORDED = 25
JSON = dict[str, Any]

_KINDS = (
    '<host id="h{0}" speed="1Gf,500Mf,250Mf" core="{1}"{2}>'
    '<prop id="wattage_per_state" value="95:120:200, 93:115:170, 90.5:110:150"/>'
    '<prop id="wattage_off" value="10"/></host>',
    '<host id="h{0}" speed="2Gf,1Gf,0.001f,0.5f,0.2f" core="{1}"{2}><prop id="wattage_per_state" '
    'value="50:100.25, 40:70, 5:5, 60:60, 80:80"/><prop id="sleep_pstates" value="2:3:4"/></host>',
)
COMPUTATION = (range(3), range(2))
"""Pstates of each kind of host."""
SLEEP = 2
LONGEST_SWITCH = 6.0
"""Seconds."""


def cases() -> list[Case]:
    return [random_case(seed) for seed in range(RECORDED)]


def random_case(seed: int) -> Case:
    """A platform, jobs one after the other on each host or together, and decisions on pstates."""
    rng = Random(seed)
    hosts = rng.randint(2, 5)
    kinds = [rng.randrange(2) for _ in range(hosts)]
    workload: JSON = {"nb_res": hosts, "jobs": [], "profiles": {}}
    script: list[JSON] = []
    asleep: set[int] = set()
    date = 1.0
    for _ in range(rng.randint(4, 10)):
        date = round(date + rng.choice([0, rng.uniform(0, 4), rng.uniform(0, 20)]), 6)
        what = rng.choice(["job", "job", "job", "pstate", "sleep", "query"])
        if what == "job" and len(asleep) < hosts:
            awake = sorted(set(range(hosts)) - asleep)
            script.append(_job(rng, workload, sorted(rng.sample(awake, rng.randint(1, len(awake)))), date))
        elif what == "pstate":
            host = rng.choice(sorted(set(range(hosts)) - asleep) or [0])
            if host not in asleep:
                alike = sorted(other for other in range(hosts) if kinds[other] == kinds[host] and other not in asleep)
                chosen = sorted({host, *rng.sample(alike, rng.randint(1, len(alike)))})
                script.append(_set(chosen, rng.choice(COMPUTATION[kinds[host]]), date))
        elif what == "sleep":
            date = _sleep_or_wake(rng, kinds, asleep, script, date)
        else:
            script.append({"timestamp": date, "type": "QUERY", "data": {"requests": {"consumed_energy": {}}}})
    if not workload["jobs"]:
        script.append(
            _job(rng, workload, sorted(set(range(hosts)) - asleep)[:1] or [_wake(asleep, script, date)], date)
        )
    machines = platform(rng, kinds)
    return Case(f"energy {seed}", machines, workload, script, ["-E", "--enable-compute-sharing"])


def platform(rng: Random, kinds: list[int]) -> str:
    parts = [
        _KINDS[kind].format(host, rng.choice([1, 2, 4]), ' pstate="1"' if rng.random() < 0.2 else "")
        for host, kind in enumerate(kinds)
    ]
    parts.append('<host id="master_host" speed="1Gf"/><link id="l" bandwidth="100MBps" latency="1ms"/>')
    points = [*(f"h{host}" for host in range(len(kinds))), "master_host"]
    parts += [
        f'<route src="{source}" dst="{destination}"><link_ctn id="l"/></route>'
        for index, source in enumerate(points)
        for destination in points[index + 1 :]
    ]
    return document("\n".join(parts))


def _job(rng: Random, workload: JSON, hosts: list[int], date: float) -> JSON:
    number = len(workload["jobs"])
    res = len(hosts)
    name = _profile(rng, workload["profiles"], f"p{number}", res)
    job: JSON = {"id": f"j{number}", "subtime": 0, "res": res, "profile": name}
    if rng.random() < 0.2:
        job["walltime"] = round(rng.uniform(1, 10), 3)
    workload["jobs"].append(job)
    data = {"job_id": f"w0!j{number}", "alloc": " ".join(map(str, hosts))}
    return {"timestamp": date, "type": "EXECUTE_JOB", "data": data}


def _profile(rng: Random, profiles: JSON, name: str, res: int) -> str:
    kind = rng.choice(["delay", "parallel_homogeneous", "parallel_homogeneous", "parallel", "composed"])
    if kind == "delay":
        profiles[name] = {"type": "delay", "delay": round(rng.uniform(0.5, 10), 3)}
    elif kind == "parallel":
        flops = [rng.choice([0, round(rng.uniform(1e8, 5e9))]) for _ in range(res)]
        flows = [rng.choice([0, round(rng.uniform(1e6, 5e8))]) for _ in range(res**2)]
        profiles[name] = {"type": kind, "cpu": flops if any(flops) else [1e9] * res, "com": flows}
    elif kind == "composed":
        parts = [_profile(rng, profiles, f"{name}_{part}", res) for part in range(rng.randint(1, 3))]
        profiles[name] = {"type": kind, "seq": parts, "repeat": rng.randint(1, 2)}
    else:
        profiles[name] = {
            "type": kind,
            "cpu": round(rng.uniform(1e8, 5e9)),
            "com": rng.choice([0, round(rng.uniform(1e6, 1e8))]),
        }
    return name


def _set(hosts: list[int], pstate: int, date: float) -> JSON:
    data = {"resources": " ".join(map(str, hosts)), "state": str(pstate)}
    return {"timestamp": date, "type": "SET_RESOURCE_STATE", "data": data}


def _sleep_or_wake(rng: Random, kinds: list[int], asleep: set[int], script: list[JSON], date: float) -> float:
    """Have hosts sleep once all jobs have ended, or wake one; what comes next comes when they have switched."""
    if asleep:
        _wake(asleep, script, date)
        return date + LONGEST_SWITCH
    date += 400
    able = [host for host, kind in enumerate(kinds) if kind == 1]
    if able:
        chosen = sorted(rng.sample(able, rng.randint(1, len(able))))
        asleep.update(chosen)
        script.append(_set(chosen, SLEEP, date))
    return date + LONGEST_SWITCH


def _wake(asleep: set[int], script: list[JSON], date: float) -> int:
    host = min(asleep)
    asleep.discard(host)
    script.append(_set([host], 0, date))
    return host
