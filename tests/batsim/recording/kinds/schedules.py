"""Whole runs by a simple policy: what users do every day."""

import json
import random
from typing import Any

from tests.batsim.recording.decisions import call, dated, took
from tests.batsim.recording.kind import (
    JSON,
    Kind,
    composed,
    delay,
    homogeneous,
    job,
    parallel,
    ten_delays,
    total,
    workload,
)
from tests.batsim.recording.processes import Fcfs, FirstFit, Shared

ONE = workload(job("1", 0, "d", walltime=100))

MIXED = workload(
    job("delay", 0, "d", walltime=100),
    job("simple", 1, "simple", 4, walltime=100),
    job("homo", 10, "homo", 4, walltime=100),
    job("2_resources", 15, "homo", 2, walltime=100),
    job("4_resources", 15, "homo_total", 4, walltime=100),
    job("homo_no_com", 20, "no_com", 4, walltime=100),
    job("homo_no_cpu", 20, "no_cpu", 4, walltime=100),
    job("reach_walltime", 30, "d", 4, walltime=3),
    job("seq", 32, "steps", 4, walltime=100),
    job("alone", 60, "no_com", walltime=100),
    simple=parallel([50e6, 10e6, 0, 20e6], [0, 5e5, 2e6, 0, 3e6, 0, 0, 1e6, 0, 5e5, 0, 0, 1e6, 0, 0, 0]),
    homo=homogeneous(30e6, 4e5),
    homo_total=total(90e6, 3e6),
    no_com=homogeneous(15e6),
    no_cpu=homogeneous(0, 7e5),
    steps=composed("simple", "homo", "simple", repeat=2),
)

OUTAGES = """\
{"type": "machine_unavailable", "resources": "1", "timestamp": 0}
{"type": "machine_available", "resources": "1", "timestamp": 8}
{"type": "machine_unavailable", "resources": "0 2-3", "timestamp": 22}
{"type": "machine_available", "resources": "0", "timestamp": 90}
{"type": "machine_available", "resources": "3 2", "timestamp": 140}
"""


def _outage(date: float, gone: bool, hosts: str) -> str:
    """A line of a file of events: hosts go or come."""
    kind = "machine_unavailable" if gone else "machine_available"
    return json.dumps({"type": kind, "resources": hosts, "timestamp": date}) + "\n"


def random_jobs(seed: int, count: int, sizes: list[int], profiles: dict[str, Any], **members: Any) -> JSON:
    """``count`` jobs of these sizes and profiles, close enough to wait for one another."""
    chance = random.Random(seed)
    subtime = 0.0
    jobs = []
    for number in range(count):
        subtime += chance.choice([0, 0, 0.5, 2, 7])
        jobs.append(
            job(f"r{number}", subtime, chance.choice(sorted(profiles)), chance.choice(sizes), walltime=30, **members)
        )
    return workload(*jobs, **profiles)


VARIED: dict[str, JSON] = {
    "d": delay(6),
    "long": delay(40),
    "work": homogeneous(4e8),
    "talk": homogeneous(1e8, 2e6),
    "spread": total(6e8, 5e6),
    "steps": composed("work", "d", repeat=2),
    "fails": delay(4, ret=3),
}

KINDS = [
    Kind("delays", "Ten jobs of 10 s, one host each, first come, first served.", ten_delays(), policy=Fcfs),
    Kind(
        "profiles_mixed",
        "Delay, parallel, homogeneous, total and composed jobs, and one at its walltime.",
        MIXED,
        policy=Fcfs,
    ),
    Kind(
        "profiles_mixed_forwarded",
        "The same with --forward-profiles-on-submission.",
        MIXED,
        policy=Fcfs,
        options="--forward-profiles-on-submission",
    ),
    Kind("reject_all", "Every job is refused.", ten_delays(), policy=Fcfs, policy_options={"refuse": "."}),
    Kind(
        "reject_some",
        "Jobs of more than two hosts are refused, others started.",
        MIXED,
        policy=Fcfs,
        policy_options={"refuse": "simple|homo|4_|reach|seq"},
    ),
    Kind(
        "backfill",
        "First fit: small jobs overtake large ones.",
        random_jobs(1, 40, [1, 1, 2, 3, 4], VARIED),
        policy=FirstFit,
    ),
    Kind(
        "backfill_zones",
        "First fit on hosts of several cores in zones.",
        random_jobs(2, 40, [1, 2, 4, 6], VARIED),
        policy=FirstFit,
        platform="valley",
    ),
    Kind(
        "backfill_cluster",
        "First fit on a cluster: control messages take 1.2 ms.",
        random_jobs(3, 60, [1, 4, 16, 30, 64], VARIED),
        policy=FirstFit,
        platform="cluster",
    ),
    Kind(
        "sharing_mixed",
        "Jobs of all profiles share hosts and links, at staggered dates.",
        random_jobs(4, 40, [1, 2, 3], VARIED),
        policy=Shared,
        options="--enable-compute-sharing",
    ),
    Kind(
        "sharing_cores",
        "The same on hosts of one and four cores.",
        random_jobs(5, 40, [1, 2, 4, 8], VARIED),
        policy=Shared,
        platform="cores",
        options="--enable-compute-sharing",
    ),
    Kind(
        "two_workloads",
        "Two workload files: w0 and w1, jobs of the same names.",
        ten_delays(),
        policy=Fcfs,
        options="-w second.json",
        files={
            "second.json": '{"nb_res": 2, "jobs": [{"id": 0, "subtime": 0, "res": 2, "profile": "e"},'
            ' {"id": "x", "subtime": 3, "res": 1, "profile": "e"}], "profiles": {"e": {"type": "delay", "delay": 4}}}\n'
        },
    ),
    Kind(
        "slow_scheduler",
        "Each decision takes 4 s: what happens meanwhile is told late.",
        ten_delays(),
        {"every": [took(4)]},
        Fcfs,
    ),
    Kind(
        "edge_now_far_ahead",
        "Each reply is dated 1000 s ahead, its events when they are said.",
        ten_delays(),
        {"every": [took(1000)]},
        Fcfs,
    ),
    Kind("reply_in_the_past", "All replies and events are dated 0.", ten_delays(), {"every": [dated(0)]}, Fcfs),
    Kind(
        "call_me_later",
        "Calls at several dates: two alike, one behind the last job.",
        ten_delays(),
        {"begins": [call(5), call(5), call(7.25), call(12.000001), call(100)]},
        Fcfs,
    ),
    Kind(
        "external_events",
        "Hosts go and come; no job is started on one that is gone.",
        ten_delays(),
        policy=Fcfs,
        options="--events outages.txt",
        files={"outages.txt": OUTAGES},
    ),
    Kind(
        "external_events_generic",
        "And events that Batsim does not know, forwarded.",
        ten_delays(),
        policy=Fcfs,
        options="--events outages.txt --events other.txt --forward-unknown-events",
        files={
            "outages.txt": OUTAGES,
            "other.txt": '{"type": "price", "timestamp": 7.5, "value": [3, 4], "of": {"what": "power"}}\n'
            '{"type": "weather", "timestamp": 2}\n',
        },
    ),
    Kind(
        "external_events_kill_on_failure",
        "The jobs of a host that goes are killed.",
        workload(
            job("a", 0, "d", 2, walltime=100),
            job("b", 1, "d", walltime=100),
            job("c", 2, "d", 2, walltime=100),
            d=delay(30),
        ),
        policy=Fcfs,
        policy_options={"kill_on_failure": True},
        options="--events fail.txt",
        files={
            "fail.txt": '{"type": "machine_unavailable", "resources": "0-1", "timestamp": 10}\n'
            '{"type": "machine_available", "resources": "0-1", "timestamp": 40}\n'
        },
    ),
    Kind(
        "external_events_running_through_failure",
        "Jobs of a host that goes are left alone: they end as if it were there.",
        workload(
            job("a", 0, "d", 2, walltime=100),
            job("b", 1, "d", walltime=100),
            job("c", 2, "d", 2, walltime=100),
            d=delay(30),
        ),
        policy=Fcfs,
        options="--events fail.txt",
        files={
            "fail.txt": '{"type": "machine_unavailable", "resources": "0-1", "timestamp": 10}\n'
            '{"type": "machine_available", "resources": "0-1", "timestamp": 40}\n'
        },
    ),
    Kind(
        "external_events_at_once",
        "Hosts go and come at the very dates at which jobs come and end, on other hosts.",
        workload(*(job(n, 5 * n, "d", walltime=60) for n in range(8)), d=delay(5)),
        policy=FirstFit,
        policy_options={"spared": "1-3"},
        options="--events outages.txt",
        files={"outages.txt": "".join(_outage(5 * n, n % 2 == 0, str(n // 2 % 3 + 1)) for n in range(8))},
    ),
    Kind(
        "error_external_events_at_once",
        "The same, and a job is started on a host before it is told that the host is gone.",
        workload(*(job(n, 5 * n, "d", walltime=60) for n in range(8)), d=delay(5)),
        policy=FirstFit,
        options="--events outages.txt",
        files={"outages.txt": "".join(_outage(5 * n, n % 2 == 0, str(n // 2 % 3)) for n in range(8))},
    ),
    Kind(
        "external_events_at_end",
        "A host goes at the very date at which its job ends; what runs on a host that goes is killed.",
        workload(*(job(n, 0, "d") for n in range(4)), *(job(n, 12, "d", 2) for n in range(4, 6)), d=delay(10)),
        policy=Fcfs,
        policy_options={"kill_on_failure": True},
        options="--events outages.txt",
        files={
            "outages.txt": "".join(
                _outage(date, gone, hosts)
                for date, gone, hosts in (
                    (10, True, "0"),
                    (10.00005, True, "1"),
                    (10.0001, True, "2"),
                    (11, False, "0 2"),
                    (11.5, False, "1"),
                    (15, True, "1-2"),
                    (15.5, False, "1-2"),
                )
            )
        },
    ),
    Kind(
        "same_dates",
        "Jobs of one date come in one message, in order of their names as text.",
        workload(*(job(n, 2 * (n // 12), "d") for n in range(24)), d=delay(1.5)),
        policy=FirstFit,
    ),
    Kind(
        "edge_master_renamed",
        "-m names another master: the host called master_host computes.",
        ONE,
        policy=Fcfs,
        options="-m Birch",
    ),
    Kind("mmax", "--mmax: only the first two hosts compute.", ten_delays(), policy=Fcfs, options="--mmax 2"),
    Kind(
        "walltime",
        "Walltimes below, at and above the length; --mmax-workload.",
        workload(
            *(
                job(f"{kind}{n}", 10 * (n // 8), profile, walltime=walltime, res=1)
                for kind, profile, walltime in (
                    ("under", "d", 6),
                    ("at", "d", 10),
                    ("above", "d", 11),
                    ("tight", "w", 2.5),
                    ("wide", "w", 9),
                )
                for n in range(12)
            ),
            nb_res=48,
            w=homogeneous(5e9),
        ),
        policy=FirstFit,
        platform="cluster",
        options="--mmax-workload",
    ),
    Kind(
        "platform_properties", "Properties of hosts and zones are told.", ten_delays(), policy=Fcfs, platform="valley"
    ),
    Kind(
        "no_sched",
        "Batsim alone (--no-sched): no message; every job starts when it comes.",
        ten_delays(),
        options="--no-sched",
        talks=False,
    ),
    Kind(
        "quiet",
        "-q, and nothing traced.",
        ten_delays(),
        policy=Fcfs,
        options="-q --disable-schedule-tracing --disable-machine-state-tracing",
    ),
    Kind(
        "simgrid_options",
        "--sg-cfg: SimGrid's own options.",
        MIXED,
        policy=Fcfs,
        options="--sg-cfg=network/loopback-lat:0.001",
    ),
    Kind(
        "edge_sched_cfg_file",
        "--sched-cfg-file: the content is forwarded.",
        ONE,
        policy=Fcfs,
        options="--sched-cfg-file sched.json",
        files={"sched.json": '{"a": [1, 2], "b": "\u00e9"}'},
    ),
    Kind("sched_cfg", "--sched-cfg: the text is forwarded.", ONE, policy=Fcfs, options="--sched-cfg policy=fcfs"),
]
