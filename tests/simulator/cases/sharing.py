"""Parallel tasks that start one after the other and share hosts and links."""

from random import Random
from typing import Any

from tests.simulator.scripted import Case

RECORDED = 40
OPTIONS = ["--enable-compute-sharing"]


def cases() -> list[Case]:
    return [random_case(seed) for seed in range(RECORDED)]


def random_case(seed: int) -> Case:
    """A platform, a few jobs and their starts."""
    rng = Random(seed)
    hosts = rng.randint(2, 6)
    platform = (_cluster if rng.random() < 0.4 else _mesh)(rng, hosts)
    profiles, jobs, script = {}, [], []
    date = 1.0
    for index in range(rng.randint(2, 8)):
        used = rng.randint(1, hosts)
        executors = rng.randint(1, 6) if rng.random() < 0.3 else used
        profiles[f"p{index}"] = _profile(rng, executors)
        jobs.append({"id": f"j{index}", "subtime": 0, "res": executors, "profile": f"p{index}"})
        alloc = " ".join(str(host) for host in sorted(rng.sample(range(hosts), used)))
        data: dict[str, Any] = {"job_id": f"w0!j{index}", "alloc": alloc}
        if executors != used or rng.random() < 0.2:
            data["mapping"] = {str(executor): rng.randrange(used) for executor in range(executors)}
        date = round(date + rng.choice([0, rng.uniform(0, 3), rng.uniform(0, 0.002)]), 6)
        script.append({"timestamp": date, "type": "EXECUTE_JOB", "data": data})
    workload = {"nb_res": hosts, "jobs": jobs, "profiles": profiles}
    return Case(f"sharing {seed}", platform, workload, script, OPTIONS)


def _profile(rng: Random, executors: int) -> dict[str, Any]:
    kind = rng.choice(["parallel", "parallel_homogeneous", "parallel_homogeneous_total"])
    if kind != "parallel":
        return {
            "type": kind,
            "cpu": round(rng.uniform(1e8, 1e10)),
            "com": rng.choice([0, round(rng.uniform(1e5, 1e8))]),
        }
    flops = [rng.choice([0, round(rng.uniform(1e8, 1e10))]) for _ in range(executors)]
    flows = [rng.choice([0, 0, round(rng.uniform(1e5, 1e9))]) for _ in range(executors**2)]
    return {"type": kind, "cpu": flops if any(flops) else [1e9] * executors, "com": flows}


def _cluster(rng: Random, hosts: int) -> str:
    attributes = [f'bw="{rng.choice([10, 125])}MBps" lat="{rng.choice([0, 50, 1000])}us"']
    if rng.random() < 0.5:
        attributes.append(f'bb_bw="{rng.randint(50, 300)}MBps" bb_lat="{rng.randint(0, 500)}us"')
        attributes.append(rng.choice(["", 'bb_sharing_policy="FATPIPE"']))
    attributes.append(rng.choice(["", 'sharing_policy="SHARED"', 'sharing_policy="FATPIPE"']))
    attributes.append(rng.choice(["", "", 'loopback_bw="200MBps" loopback_lat="10us"', 'limiter_link="150MBps"']))
    return document(
        f'<cluster id="c" prefix="h" suffix="" radical="0-{hosts - 1}" speed="1Gf" core="{rng.choice([1, 4])}" '
        f"{' '.join(attributes)}/>\n"
        '<zone id="front" routing="Full"><host id="master_host" speed="1Gf"/></zone>\n'
        '<link id="up" bandwidth="1GBps" latency="10us"/>\n'
        '<zoneRoute src="c" dst="front" gw_src="hc_router" gw_dst="master_host"><link_ctn id="up"/></zoneRoute>'
    )


def _mesh(rng: Random, hosts: int) -> str:
    """Hosts and links of all kinds, and routes over links drawn by lot."""
    parts = [
        f'<host id="h{host}" speed="{rng.choice(["1Gf", "2Gf", "500Mf"])}" core="{rng.choice([1, 2, 4])}"/>'
        for host in range(hosts)
    ]
    parts.append('<host id="master_host" speed="1Gf"/>')
    policies = [
        "SHARED",
        *(rng.choice(["SHARED", "SHARED", "FATPIPE", "SPLITDUPLEX"]) for _ in range(rng.randint(0, 3))),
    ]
    parts += [
        f'<link id="l{link}" bandwidth="{rng.choice([10, 33, 100, 125])}MBps" latency="{rng.choice([0, 50, 1000])}us" '
        f'sharing_policy="{policy}"/>'
        for link, policy in enumerate(policies)
    ]
    points = [*(f"h{host}" for host in range(hosts)), "master_host"]
    for index, source in enumerate(points):
        for destination in points[index + 1 :]:
            steps = [
                f'<link_ctn id="l{link}"{_direction(rng, policies[link])}/>'
                for link in rng.sample(range(len(policies)), rng.randint(1, len(policies)))
            ]
            parts.append(f'<route src="{source}" dst="{destination}">{"".join(steps)}</route>')
    return document("\n".join(parts))


def _direction(rng: Random, policy: str) -> str:
    return f' direction="{rng.choice(["UP", "DOWN"])}"' if policy == "SPLITDUPLEX" else ""


def document(content: str, routing: str = "Full") -> str:
    """A platform file with one zone around its content."""
    return (
        "<?xml version='1.0'?>\n"
        '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
        f'<platform version="4.1"><zone id="site" routing="{routing}">\n{content}\n</zone></platform>\n'
    )
