"""Jobs that read from and write to storage hosts, copy between them, or have an additional I/O job."""

from random import Random
from typing import Any

from tests.simulator.cases.sharing import document
from tests.simulator.scripted import Case

RECORDED = 20
JSON = dict[str, Any]
COMPUTE, STORAGE = 3, 2


def cases() -> list[Case]:
    return [random_case(seed) for seed in range(RECORDED)]


def random_case(seed: int) -> Case:
    """A few jobs, one after the other or together."""
    rng = Random(seed)
    storages = rng.randint(1, STORAGE)
    workload: JSON = {"nb_res": COMPUTE, "jobs": [], "profiles": {}}
    script: list[JSON] = []
    date = 1.0
    for number in range(rng.randint(1, 5)):
        res = rng.randint(1, COMPUTE)
        hosts = sorted(rng.sample(range(COMPUTE), res))
        data: JSON = {"job_id": f"w0!j{number}", "alloc": " ".join(map(str, hosts))}
        kind = rng.choice(["pfs", "pfs", "staging", "io"] if storages > 1 else ["pfs", "pfs", "io"])
        if kind == "pfs":
            profile: JSON = {
                "type": "parallel_homogeneous_pfs",
                "bytes_to_read": rng.choice([0, rng.randint(10**6, 10**8)]),
                "bytes_to_write": rng.randint(0, 10**8),
            }
            if storages > 1 or rng.random() < 0.5:
                profile["storage"] = "disk"
                data["storage_mapping"] = {"disk": COMPUTE + rng.randrange(storages), "other": COMPUTE}
        elif kind == "staging":
            profile = {"type": "data_staging", "nb_bytes": rng.randint(0, 10**8), "from": "a", "to": "b"}
            places = rng.sample(range(COMPUTE, COMPUTE + storages), 2)
            data["storage_mapping"] = {"a": places[0], "b": places[1]}
        else:
            com = rng.choice([0, rng.randint(10**6, 10**7)])
            profile = {"type": "parallel_homogeneous", "cpu": rng.randint(10**8, 10**9), "com": com}
            data["additional_io_job"] = _io(rng, number, hosts, storages)
        workload["profiles"][f"p{number}"] = profile
        workload["jobs"].append({"id": f"j{number}", "subtime": 0, "res": res, "profile": f"p{number}"})
        script.append({"timestamp": date, "type": "EXECUTE_JOB", "data": data})
        date = round(date + rng.choice([0, rng.uniform(0, 3)]), 6)
    return Case(f"storage {seed}", _platform(rng, storages), workload, script, ["--enable-compute-sharing"])


def _io(rng: Random, number: int, hosts: list[int], storages: int) -> JSON:
    """Flows between hosts of the job, others and storage. Batsim crashes on one without flows."""
    others = rng.sample(range(COMPUTE, COMPUTE + storages), 1)
    places = sorted({*rng.sample(hosts, rng.randint(1, len(hosts))), *others})
    size = len(places)
    flows = [rng.choice([0, rng.randint(10**5, 10**8)]) for _ in range(size**2)]
    flows[-1 if size == 1 else 1] = 10**6
    profile = {"type": "parallel", "cpu": [0] * size, "com": flows}
    return {"alloc": " ".join(map(str, places)), "profile_name": f"io{number}", "profile": profile}


def _platform(rng: Random, storages: int) -> str:
    parts = [f'<host id="h{host}" speed="1Gf" core="{rng.choice([1, 4])}"/>' for host in range(COMPUTE)]
    parts += [f'<host id="s{disk}" speed="1Gf"><prop id="role" value="storage"/></host>' for disk in range(storages)]
    parts.append('<host id="master_host" speed="1Gf"/><link id="l" bandwidth="100MBps" latency="1ms"/>')
    parts.append('<link id="m" bandwidth="50MBps" latency="200us"/>')
    points = [*(f"h{host}" for host in range(COMPUTE)), *(f"s{disk}" for disk in range(storages)), "master_host"]
    for index, source in enumerate(points):
        for destination in points[index + 1 :]:
            links = "".join(f'<link_ctn id="{link}"/>' for link in rng.choice(["l", "m", "lm"]))
            parts.append(f'<route src="{source}" dst="{destination}">{links}</route>')
    return document("\n".join(parts))
