"""`python -m tests.mixes.batsim5`: random experiments beside a real Batsim 5, in both forms of its protocol by turns.

The mixes are those of Batsim 4, in Batsim 5's words. Jobs whose profiles Batsim 5.0.0-rc2 does not know or crashes on
are left out: messages, data staging, traces (which it cannot kill), tasks without flops.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from batkube.batsim.batprotocol import command_line
from batkube.batsim.batprotocol.init_string import Form, Options
from batkube.batsim.batprotocol.profiles import OLD_TYPES
from batkube.batsim.endpoint import Endpoint
from batkube.batsim.process import BatsimProcess
from tests.mixes import playing
from tests.mixes.comparison import differences
from tests.mixes.mix import Files, Mix, mix
from tests.mixes.outcome import Outcome, read_jobs_csv
from tests.mixes.processes import ENDLESS, is_computing

JSON = dict[str, Any]

LEFT_OUT = ("send", "recv", "data_staging", "usage_trace", "smpi")
WITHIN = 0.05
"""Seconds that our dates may be from Batsim's: its control messages."""
TIMEOUT = 60.0
"""Real seconds a run."""
_OF_JOBS = {"id", "subtime", "res", "profile", "walltime"}
_OF_PROFILES = {"type", "delay", "cpu", "com", "seq", "repeat", "bytes_to_read", "bytes_to_write", "storage", "ret"}


def translate(files: Files) -> set[str]:
    """Write the files anew in Batsim 5's words; the full ids of the jobs that were left out."""
    missing = set()
    for index, path in enumerate(files.workloads):
        content = json.loads(path.read_text())
        profiles = content["profiles"]
        known = {name for name in profiles if _is_known(name, profiles)}
        missing |= {f"w{index}!{job['id']}" for job in content["jobs"] if job["profile"] not in known}
        content["jobs"] = [_job(job) for job in content["jobs"] if job["profile"] in known]
        content["profiles"] = {name: _profile(profiles[name]) for name in profiles if name in known}
        path.write_text(json.dumps(content))
    if files.events:
        files.events.write_text("".join(f"{json.dumps(event)}\n" for event in _events(files.events)))
    return missing


def _is_known(name: str, profiles: dict[str, JSON]) -> bool:
    profile = profiles[name]
    if profile["type"] in LEFT_OUT or (profile["type"].startswith("parallel_hom") and profile.get("cpu") == 0):
        return False
    return all(_is_known(part, profiles) for part in profile.get("seq", ()))


def _job(job: JSON) -> JSON:
    own = {name: value for name, value in job.items() if name in _OF_JOBS and (name, value) != ("walltime", -1)}
    theirs = {name: value for name, value in job.items() if name not in _OF_JOBS}
    return {**own, "extra_data": theirs} if theirs else own


def _profile(profile: JSON) -> JSON:
    kind, meant = OLD_TYPES[profile["type"]]
    own = {name: value for name, value in profile.items() if name in _OF_PROFILES}
    theirs = {name: value for name, value in profile.items() if name not in _OF_PROFILES}
    needed = {"cpu": 1, "com": 0} if kind == "ParallelTaskHomogeneousProfile" else {}
    return {**needed, **meant, **own, "type": kind, **({"extra_data": json.dumps(theirs)} if theirs else {})}


def _events(path: Path) -> Iterator[JSON]:
    for line in path.read_text().splitlines():
        event = json.loads(line)
        yield {"type": "generic", "timestamp": event.pop("timestamp"), "data": json.dumps(event)}


async def play(mix: Mix, files: Files, out: Path, form: Form) -> Outcome:
    """The outcome beside Batsim 5."""
    endpoint = Endpoint("tcp://127.0.0.1:*")
    words = command_line.arguments(
        endpoint.address,
        platform=files.platform,
        workloads=files.workloads,
        external_events=[files.events] if files.events else [],
        export_prefix=out / "batsim",
        quiet=True,
        options=Options(form=form, compute_sharing=mix.sharing),
    )
    log = (out / "log").open("w+b")  # closed with the process
    process = await asyncio.create_subprocess_exec(
        "batsim5", *words, stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
    )
    simulator = BatsimProcess(process, endpoint, log)
    task = asyncio.ensure_future(playing.play(mix, replace(files, events=None), simulator, out, latency=True))
    done, _ = await asyncio.wait([task], timeout=TIMEOUT)
    if not done:
        outcome = Outcome(error=ENDLESS if is_computing(simulator.pid) else f"no end within {TIMEOUT:g} s")
        task.cancel()
        await asyncio.wait([task])
        return outcome
    outcome = task.result()
    outcome.own = read_jobs_csv(out / "batsim_jobs.csv")
    return outcome


def check(seed: int, form: Form) -> tuple[int, list[str]]:
    """Tell how many jobs the mix of a seed has, and what is wrong with its outcome."""
    drawn = mix(seed)
    with tempfile.TemporaryDirectory() as name:
        files = drawn.write(Path(name) / "inputs")
        jobs = drawn.jobs.keys() - translate(files)
        out = Path(name) / "out"
        out.mkdir()
        outcome = asyncio.run(play(drawn, files, out, form))
    if outcome.error:
        return len(jobs), [outcome.error]
    found = [f"{job} is in the results {len(outcome.ends.get(job, []))} times" for job in sorted(jobs)
             if len(outcome.ends.get(job, [])) != 1]  # fmt: skip
    return len(jobs), found + differences(outcome.ends, outcome.own or {}, within=WITHIN)


def main() -> int:
    """Play mixes, tell what is wrong with each; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.mixes.batsim5", description=__doc__)
    parser.add_argument("--count", type=int, default=100, help="how many mixes (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the first (%(default)s)")
    options = parser.parse_args()
    total = wrong = 0
    for seed in range(options.seed, options.seed + options.count):
        form: Form = "binary" if seed % 2 else "json"
        jobs, found = check(seed, form)
        total += jobs
        wrong += bool(found)
        for what in found[:4]:
            print(f"seed {seed} ({form}): {what[:500]}", flush=True)
    print(f"{options.count} mixes, {total} jobs: {wrong} mixes with faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
