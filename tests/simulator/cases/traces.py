"""Jobs that replay traces: the use of cores, and MPI ranks."""

from random import Random
from typing import Any

from tests.simulator.cases.energy import platform
from tests.simulator.scripted import Case

RECORDED = 20
JSON = dict[str, Any]
HOSTS = 3


def cases() -> list[Case]:
    return [random_case(seed) for seed in range(RECORDED)]


def random_case(seed: int) -> Case:
    """A few jobs with traces, one after the other or together."""
    rng = Random(seed)
    files: dict[str, str] = {}
    workload: JSON = {"nb_res": HOSTS, "jobs": [], "profiles": {}}
    script: list[JSON] = []
    date = 1.0
    for number in range(rng.randint(1, 4)):
        res = rng.randint(1, HOSTS)
        ranks = rng.randint(1, 4)
        usage = rng.random() < 0.5
        play = _usage(rng, ranks) if usage else _ranks(rng, ranks)
        folder = f"t{number}"
        names = [f"rank{rank}.txt" for rank in range(ranks)]
        # The last line of the list may lack its end, one of a trace may not.
        files[f"{folder}/traces.txt"] = "\n".join(names) + rng.choice(["", "\n"])
        for rank, actions in enumerate(play):
            lines = [f"{rank} {action}\n" for action in actions]
            files[f"{folder}/rank{rank}.txt"] = "".join(lines) + rng.choice(["", "# end", f"{rank} compute 1e9"])
        kind = "usage_trace" if usage else "smpi"
        workload["profiles"][f"p{number}"] = {"type": kind, "trace": f"{folder}/traces.txt"}
        job: JSON = {"id": f"j{number}", "subtime": 0, "res": res, "profile": f"p{number}"}
        if rng.random() < 0.3:
            job["smpi_ranks_to_hosts_mapping"] = [rng.randrange(res) for _ in range(ranks)]
        if rng.random() < 0.2:
            job["walltime"] = round(rng.uniform(0.5, 8), 3)
        workload["jobs"].append(job)
        alloc = " ".join(map(str, sorted(rng.sample(range(HOSTS), res))))
        script.append({"timestamp": date, "type": "EXECUTE_JOB", "data": {"job_id": f"w0!j{number}", "alloc": alloc}})
        if rng.random() < 0.3:
            kill = {"type": "KILL_JOB", "data": {"job_ids": [f"w0!j{number}"]}}
            script.append({"timestamp": round(date + rng.uniform(0.1, 6), 6), **kill})
        date = round(date + rng.choice([0, rng.uniform(0, 5)]), 6)
    script.sort(key=lambda event: event["timestamp"])
    options = ["--enable-compute-sharing", *rng.choice([[], ["-E"]])]
    kinds = [rng.randrange(2) for _ in range(HOSTS)]
    return Case(f"traces {seed}", platform(rng, kinds), workload, script, options, files)


def _usage(rng: Random, ranks: int) -> list[list[str]]:
    return [
        [
            f"m_usage {rng.choice([0, 0.25, 0.5, 1, rng.random()])} {rng.randint(0, 10**9)}"
            for _ in range(rng.randint(1, 4))
        ]
        for _ in range(ranks)
    ]


def _ranks(rng: Random, ranks: int) -> list[list[str]]:
    """Tell what ranks do: exchanges that both sides know of, in an order that comes to an end."""
    # All compute at first: Batsim aborts where a rank sends to one that has not been made yet.
    init = rng.choice(["init", "init 1"])
    play: list[list[str]] = [[init, "compute 1e6"] for _ in range(ranks)]
    begun = [False] * ranks
    for _ in range(rng.randint(1, 6)):
        rank = rng.randrange(ranks)
        what = rng.choice(["compute", "sleep", "message", "message", "exchange", "waitall"])
        if what == "compute":
            play[rank].append(f"compute {rng.choice([0, rng.randint(10**8, 10**9)])}")
        elif what == "sleep":
            play[rank].append(f"sleep {rng.uniform(0, 2):.3f}")
        elif what == "waitall":
            play[rank].append("waitall")
        elif ranks > 1:
            other = rng.choice([number for number in range(ranks) if number != rank])
            _exchange(rng, play, begun, rank, other, what)
    # Nor may it send to one that has ended.
    return [[*actions, "waitall", "sleep 5", "finalize"] for actions in play]


def _exchange(rng: Random, play: list[list[str]], begun: list[bool], rank: int, other: int, what: str) -> None:
    size = rng.choice([0, 1000, 70_000, rng.randint(10**6, 3 * 10**7)])
    tag = rng.randrange(3)
    datatype = rng.choice(["", "", " 1", " 6"])
    if what == "exchange":
        play[rank].append(f"sendRecv {size} {other} {size} {other} 6 6")
        play[other].append(f"sendRecv {size} {rank} {size} {rank} 6 6")
        return
    send, receive = rng.choice(["send", "isend"]), rng.choice(["recv", "irecv"])
    play[rank].append(f"{send} {other} {tag} {size}{datatype}")
    play[other].append(f"{receive} {rank} {tag} {size}{datatype}")
    for side, action in ((rank, send), (other, receive)):
        begun[side] |= action.startswith("i")
        if begun[side] and rng.random() < 0.3:
            play[side].append(f"wait {rank} {other} {tag}")
