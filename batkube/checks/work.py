"""The rule of runs whose disrupted jobs are submitted anew: what ran is done or lost, and no attempt is forgotten."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from batkube.comparison.facts import RecordedRun
from batkube.results.jobs import JobRow
from batkube.results.pods import REPLACED
from batkube.results.run import Requeued

_NEAR = 0.01
"""Seconds by which dates that a simulator tells itself may differ from those by which work was counted."""


def work_accounted_for(run: RecordedRun, shared: bool) -> Iterator[str]:
    """Yield the jobs whose work is not what they ran, the attempts that follow none, and sums that are wrong."""
    if (record := run.run) is None or (account := record.requeued) is None:
        return
    cores: defaultdict[str, float] = defaultdict(float)
    for pod in run.each_pod():
        if pod.reason != REPLACED:
            cores[pod.job_id] += pod.cpu
    told = {row.id: notes for row in run.job_rows if "attempt" in (notes := _notes(row))}
    ended = {row.id for row in run.job_rows}
    done = lost = room = 0.0
    for row in run.job_rows:
        if row.id not in told:
            continue
        kept, gone = float(told[row.id]["done"]), float(told[row.id]["lost"])
        ran = (row.finish_time or 0.0) - (row.starting_time or 0.0)
        if abs(kept + gone - ran) > _NEAR or min(kept, gone) < 0 or (row.success and gone):
            yield f"job {row.id} ran for {ran:.6f} s, of which {kept:.6f} s are done and {gone:.6f} s lost"
        done += kept * cores[row.id]
        lost += gone * cores[row.id]
        room += _NEAR * cores[row.id]
    yield from _chains(told, ended, account, record.jobs.unfinished)
    for what, found, wanted in (("done", done, account.work_done), ("lost", lost, account.work_lost)):
        if abs(found - wanted) > room:
            yield f"work {what} is {wanted:.6f} core-seconds in run.json, {found:.6f} in the sum of all jobs"
    if abs(account.work_done + account.work_lost - account.work_run) > room:
        yield f"{account.work_run:.6f} core-seconds ran, {account.work_done + account.work_lost:.6f} are done or lost"


def _chains(told: dict[str, dict[str, str]], ended: set[str], account: Requeued, unfinished: int) -> Iterator[str]:
    """Yield the attempts that were announced and did not come, those that nobody announced, and wrong counts."""
    following: Counter[str] = Counter()
    missing = []
    for name, notes in told.items():
        if "next" not in notes:
            continue
        new = f"{name.partition('!')[0]}!{notes['next']}"
        following[new] += 1
        if new not in ended:
            missing.append(new)
        elif new in told and int(told[new]["attempt"]) != int(notes["attempt"]) + 1:
            yield f"job {new} is attempt {told[new]['attempt']}, after attempt {notes['attempt']}"
    if len(missing) > unfinished:
        for new in missing:
            yield f"job {new} was submitted anew, and is nowhere"
    for name, notes in told.items():
        if int(notes["attempt"]) > 1 and following[name] != 1:
            yield f"job {name} is attempt {notes['attempt']}, and follows {following[name]} others"
    if account.jobs != following.total():
        yield f"{account.jobs} jobs were submitted anew, {following.total()} are named"


def _notes(row: JobRow) -> dict[str, str]:
    """Return what ``metadata`` says of an attempt."""
    pairs = (part.partition("=") for part in row.metadata.split(";"))
    return {name: value for name, equals, value in pairs if equals}
