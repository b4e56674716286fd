"""Random experiments from a seed: all that Batsim is given, and a decision process that does anything allowed."""

import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

JSON = dict[str, Any]
MARGIN = 0.02
"""Seconds: calls are asked for at least so far ahead, more than all decisions of a reply cost."""


@dataclass
class Experiment:
    """The inputs that Batsim and the built-in simulator are given."""

    folder: Path
    arguments: list[str]
    sharing: bool
    dynamic: bool
    hosts: int


def make(folder: Path, seed: int) -> Experiment:
    """Write the files of an experiment."""
    chance = random.Random(seed)
    hosts = chance.randint(2, 6)
    (folder / "platform.xml").write_text(_platform(chance, hosts))
    workloads = chance.choice([1, 1, 1, 2])
    arguments = ["-p", "platform.xml"]
    for number in range(workloads):
        (folder / f"w{number}.json").write_text(json.dumps(_workload(chance, hosts)))
        arguments += ["-w", f"w{number}.json"]
    sharing, dynamic = chance.random() < 0.4, chance.random() < 0.3
    if sharing:
        arguments.append("--enable-compute-sharing")
    if dynamic:
        arguments.append("--enable-dynamic-jobs")
        if chance.random() < 0.5:
            arguments.append("--acknowledge-dynamic-jobs")
        if chance.random() < 0.3:
            arguments.append("--enable-profile-reuse")
    if chance.random() < 0.2:
        arguments.append("--forward-profiles-on-submission")
    if chance.random() < 0.5:
        (folder / "events.txt").write_text(_events(chance, hosts))
        arguments += ["--events", "events.txt", "--forward-unknown-events"]
    return Experiment(folder, arguments, sharing, dynamic, hosts)


def _platform(chance: random.Random, hosts: int) -> str:
    text = '<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd"><platform version="4.1">'
    if chance.random() < 0.5:
        text += '<zone id="z" routing="Full"><host id="master_host" speed="1Gf"/>'
        names = [f"h{number}" for number in range(hosts)]
        for name in names:
            text += f'<host id="{name}" speed="{chance.choice([1, 1, 2])}Gf" core="{chance.choice([1, 1, 4])}"/>'
        text += '<link id="loop" bandwidth="498MBps" latency="15us" sharing_policy="FATPIPE"/>'
        ends = ["master_host", *names]
        for number in range(len(ends)):
            latency = chance.choice(["13us", "250us", "600us", "1ms", "0us"])
            bandwidth = chance.choice(["125MBps", "1GBps", "10MBps"])
            text += f'<link id="l{number}" bandwidth="{bandwidth}" latency="{latency}"/>'
        for name in ends:
            if chance.random() < 0.5:
                text += f'<route src="{name}" dst="{name}"><link_ctn id="loop"/></route>'
        for one, name in enumerate(ends):
            for two in range(one + 1, len(ends)):
                text += f'<route src="{name}" dst="{ends[two]}"><link_ctn id="l{one}"/><link_ctn id="l{two}"/></route>'
        return text + "</zone></platform>"
    latency = chance.choice(["50us", "600us", "0us"])
    text += '<zone id="all" routing="Full">'
    text += '<cluster id="m" prefix="master_" suffix="" radical="0-0" speed="1Gf" bw="125MBps" lat="50us" '
    text += 'bb_bw="2GBps" bb_lat="500us"><prop id="role" value="master"/></cluster>'
    text += (
        f'<cluster id="c" prefix="c" suffix="" radical="0-{hosts - 1}" speed="{chance.choice(["1Gf", "3Gf"])}" '
        f'core="{chance.choice([1, 2])}" bw="{chance.choice(["125MBps", "1GBps"])}" lat="{latency}" '
        'bb_bw="2GBps" bb_lat="100us"/>'
    )
    text += '<link id="between" bandwidth="1GBps" latency="20us"/>'
    text += (
        '<zoneRoute src="m" dst="c" gw_src="master_m_router" gw_dst="cc_router"><link_ctn id="between"/></zoneRoute>'
    )
    return text + "</zone></platform>"


def _workload(chance: random.Random, hosts: int) -> JSON:
    profiles: JSON = {}
    for number in range(chance.randint(2, 7)):
        profiles[f"p{number}"] = _profile(chance)
    for number in range(chance.randint(0, 2)):
        seq = [chance.choice(_simple(profiles)) for _ in range(chance.randint(1, 4))]
        profiles[f"s{number}"] = {"type": "composed", "seq": seq, "repeat": chance.choice([1, 1, 2, 3])}
    jobs = []
    for number in range(chance.randint(1, 20)):
        job: JSON = {
            "id": chance.choice([str(number), f"j{number}"]),
            "subtime": chance.choice([0, 0, 1, chance.randint(0, 60), round(chance.random() * 60, 4), -2]),
            "res": chance.randint(1, hosts + (chance.random() < 0.1)),
            "profile": chance.choice(list(profiles)),
        }
        if chance.random() < 0.4:
            job["walltime"] = chance.choice([2, 5, 10, round(chance.random() * 30 + 0.1, 3)])
        jobs.append(job)
    # Batsim keeps or drops the elements of a sequence that no job uses by an order that only its hash table knows.
    used = {job["profile"] for job in jobs}
    kept = {name: profile for name, profile in profiles.items() if name in used or profile["type"] != "composed"}
    return {"nb_res": hosts, "jobs": jobs, "profiles": kept}


def _simple(profiles: JSON) -> list[str]:
    return [name for name, profile in profiles.items() if profile["type"] != "composed"]


def _profile(chance: random.Random) -> JSON:
    ret: JSON = {"ret": chance.choice([1, 3])} if chance.random() < 0.1 else {}
    kind = chance.random()
    if kind < 0.45:
        return {"type": "delay", "delay": chance.choice([1, 2, 5, 10, round(chance.random() * 20 + 0.001, 3)]), **ret}
    amounts = {
        "cpu": chance.choice([0, 1e9, 3e9, 5e9, 2.5e10]),
        "com": chance.choice([0, 0, 1e6, 5e7, 1e8]),
    }
    if kind < 0.7:
        return {"type": "parallel_homogeneous", **amounts, **ret}
    if kind < 0.85:
        return {"type": "parallel_homogeneous_total", **amounts, **ret}
    return {"type": "send", "msg": {"n": 1}, **({"sleeptime": 0.5} if chance.random() < 0.5 else {}), **ret}


def _events(chance: random.Random, hosts: int) -> str:
    down: set[int] = set()
    changed: set[int] = set()
    date = 0.0
    lines = []
    for _ in range(chance.randint(1, 8)):
        ahead = chance.choice([0, 1, 5, 10, round(chance.random() * 10, 3)])
        host = chance.randrange(hosts)
        if ahead:
            date, changed = date + ahead, set()
        elif host in changed:
            continue
        changed.add(host)
        if chance.random() < 0.15:
            lines.append({"type": "mine", "timestamp": date, "what": "ever"})
            continue
        kind = "machine_available" if host in down else "machine_unavailable"
        down ^= {host}
        lines.append({"type": kind, "resources": str(host), "timestamp": date})
    lines += [{"type": "machine_available", "resources": str(host), "timestamp": date + 30} for host in sorted(down)]
    return "\n".join(json.dumps(line) for line in lines)


@dataclass
class Chance:
    """A decision process. It only does what cannot be refused."""

    experiment: Experiment
    seed: int
    waiting: dict[str, int] = field(default_factory=dict)
    running: dict[str, tuple[int, ...]] = field(default_factory=dict)
    killed: set[str] = field(default_factory=set)
    down: set[int] = field(default_factory=set)
    gone: set[int] = field(default_factory=set)
    calls: int = 0
    registered: int = 0
    over: bool = False
    closed: bool = False

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)

    def answer(self, message: JSON) -> JSON:
        """The reply."""
        now = float(message["now"])
        for event in message["events"]:
            self._digest(event)
        if self.over:
            return {"now": now, "events": []}
        chance = self.chance
        events: list[JSON] = []
        at = now

        def say(kind: str, **data: Any) -> None:
            nonlocal at
            if chance.random() < 0.1:
                at = now + chance.choice([0.001, 0.5, 3])
            events.append({"timestamp": max(now, at) if chance.random() < 0.9 else now, "type": kind, "data": data})

        if self.calls < 60 and (chance.random() < 0.4 or (self.waiting and not self.running)):
            self.calls += 1
            date = now + chance.choice([MARGIN, 1, 5, 10, round(chance.random() * 10 + MARGIN, 4)])
            events.append({"timestamp": now, "type": "CALL_ME_LATER", "data": {"timestamp": date}})
        if self.experiment.dynamic:
            self._register(say)
        last = self.calls >= 60
        for job_id, res in list(self.waiting.items()):
            if chance.random() < 0.15 and not last:
                continue
            hosts = self._hosts(min(res, self.experiment.hosts))
            if res > self.experiment.hosts or (chance.random() < 0.05) or (last and hosts is None):
                say("REJECT_JOB", job_id=job_id)
                del self.waiting[job_id]
                continue
            if hosts is None:
                continue
            del self.waiting[job_id]
            self.running[job_id] = hosts
            data: JSON = {"job_id": job_id, "alloc": " ".join(map(str, hosts))}
            if chance.random() < 0.15:
                data["mapping"] = {str(executor): chance.randrange(len(hosts)) for executor in range(res)}
            say("EXECUTE_JOB", **data)
            if chance.random() < 0.1:
                say("SET_JOB_METADATA", job_id=job_id, metadata="meta")
        alive = [job_id for job_id in self.running if job_id not in self.killed]
        if alive and chance.random() < 0.25:
            chosen = chance.sample(alive, min(len(alive), chance.randint(1, 3)))
            self.killed |= set(chosen)
            say("KILL_JOB", job_ids=chosen)
        end = max([now, *(event["timestamp"] for event in events)])
        if chance.random() < 0.1:
            end += chance.choice([0.0001, 1, 20])
        return {"now": end, "events": events}

    def _digest(self, event: JSON) -> None:
        data = event["data"]
        match event["type"]:
            case "JOB_SUBMITTED":
                if not data["job_id"].startswith("dyn!"):
                    self.waiting[data["job_id"]] = data["job"]["res"]
            case "JOB_COMPLETED":
                self.running.pop(data["job_id"])
            case "NOTIFY" if data["type"].startswith("event_machine"):
                hosts = {int(data["resources"])}
                self.down = self.down | hosts if data["type"].endswith("unavailable") else self.down - hosts
            case "SIMULATION_ENDS":
                self.over = True

    def _register(self, say: Any) -> None:
        if self.closed:
            return
        if self.registered >= 5 or self.chance.random() < 0.1:
            say("NOTIFY", type="registration_finished")
            self.closed = True
            return
        if self.chance.random() < 0.3:
            number = self.registered
            self.registered += 1
            say(
                "REGISTER_PROFILE",
                workload_name="dyn",
                profile_name=f"d{number}",
                profile={"type": "delay", "delay": 3},
            )
            job = {"id": f"dyn!{number}", "subtime": 0, "res": 1, "profile": f"d{number}"}
            say("REGISTER_JOB", job_id=f"dyn!{number}", job=job)
            self.waiting[f"dyn!{number}"] = 1

    def _hosts(self, wanted: int) -> tuple[int, ...] | None:
        """Hosts that are surely free and up."""
        busy = set() if self.experiment.sharing else {host for hosts in self.running.values() for host in hosts}
        free = [host for host in range(self.experiment.hosts) if host not in busy | self.down]
        return tuple(sorted(self.chance.sample(free, wanted))) if len(free) >= wanted else None
