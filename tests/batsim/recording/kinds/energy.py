"""Energy, and hosts that are switched between states."""

from tests.batsim.recording.decisions import call, call_in, execute, kill, query, set_state
from tests.batsim.recording.kind import Kind, delay, homogeneous, job, workload
from tests.batsim.recording.kinds.jobs import started
from tests.batsim.recording.processes import Fcfs

LOADED = workload(
    job("0", 0, "work", 2, walltime=300),
    job("1", 100, "work", 2, walltime=300),
    job("2", 200, "rest", 3),
    work=homogeneous(5e9),
    rest=delay(25),
)


SWITCHED = workload(job("a", 1, "h", 2, walltime=100), job("b", 300, "h", walltime=100), h=homogeneous(1e9))


KINDS = [
    Kind(
        "energy_load100",
        "-E: jobs that compute all the time, on two hosts.",
        LOADED,
        policy=Fcfs,
        platform="energy",
        options="-E",
    ),
    Kind(
        "energy_load50",
        "-E: the same with hosts at rest between.",
        workload(job("0", 20, "work", 2), job("1", 130, "work", 2), job("2", 250, "work"), work=homogeneous(5e9)),
        policy=Fcfs,
        platform="energy",
        options="-E",
    ),
    Kind(
        "energy_walltimes",
        "-E: walltimes and kills leave work undone.",
        workload(
            job("w", 0, "work", 2, walltime=12.5),
            job("k", 20, "work", walltime=100),
            job("d", 50, "d", 4),
            work=homogeneous(5e9),
        ),
        {**started("w:0-1", "d:0-3"), "submitted k": [execute("k", "3"), call_in(7.25)], "called 1": [kill("k")]},
        platform="energy",
        options="-E",
    ),
    Kind(
        "energy_pstates",
        "Hosts asleep, woken, slowed down; joules asked for.",
        SWITCHED,
        {
            "begins": [query(), call(20)],
            "submitted a": [execute("a", "0-1")],
            "called 1": [set_state("0-1", 3), query(), call(100)],
            "called 2": [query(), set_state("0", 0), set_state("2", 1), call(400)],
            "submitted b": [execute("b", "0")],
            "called 3": [query()],
        },
        platform="energy",
        options="-E",
    ),
    Kind(
        "energy_dvfs_running",
        "The state of a host changes while a job computes on it.",
        workload(job("a", 0, "h", walltime=100), job("b", 60, "h", 2), h=homogeneous(4e9)),
        {
            "submitted a": [execute("a", "1"), call(5), call(12)],
            "called 1": [set_state("1", 2)],
            "called 2": [set_state("1", 1), query()],
            "submitted b": [execute("b", "1 3")],
            "completed b": [query()],
        },
        platform="energy",
        options="-E",
    ),
    Kind(
        "energy_switch_many",
        "Several hosts switched in several ways in one reply.",
        workload(job("a", 100, "d", 4)),
        {
            "begins": [set_state("0-2", 3), set_state("3", 2), call(50)],
            "called 1": [set_state("0-2", 0), set_state("3", 0)],
            "submitted a": [execute("a", "0-3")],
        },
        platform="energy",
        options="-E",
    ),
    Kind(
        "external_events_energy",
        "-E: a host that is gone.",
        workload(job("a", 0, "d"), job("b", 30, "d", 3)),
        policy=Fcfs,
        platform="energy",
        options="-E --events fail.txt",
        files={
            "fail.txt": '{"type": "machine_unavailable", "resources": "1", "timestamp": 2}\n'
            '{"type": "machine_available", "resources": "1", "timestamp": 35}\n'
        },
    ),
]
