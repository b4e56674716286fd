"""The jobs that waited longest, each with its story: when it was tried, what the scheduler said, how it ended."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from batkube.report.quantities import count, duration
from batkube.report.run_data import ReportJob, RunData
from batkube.report.wait_spans import Span, between, drawn
from batkube.results.attempts import Attempt
from batkube.results.metrics import WAIT_REASONS
from batkube.results.pods import PodRecord
from batkube.results.wait_log import Wait

_NUMBERS = re.compile("[0-9]+")
TOLD = 15
"""The number of jobs whose story is told."""
MOST_MOMENTS = 14
"""The moments of a story beyond which those in the middle are left out."""


@dataclass(slots=True)
class Moment:
    """Something that happened to a pod."""

    time: float
    what: str
    """A word or two: ``submitted``, ``could not be placed``, ``bound`` ..."""
    said: str = ""
    """The scheduler's own words."""
    times: int = 1
    """The number of times that the same was said in a row."""
    until: float | None = None
    """The date of the last of them."""
    waited: list[Span] = field(default_factory=list)
    """The reasons for which the pod waited from then until the next moment."""


@dataclass(slots=True)
class Story:
    """The story of a job: of that of its pods that waited longest."""

    job: ReportJob
    waited: float
    """The seconds for which it waited, or has waited so far."""
    pod: PodRecord | None
    moments: list[Moment]
    reasons: list[tuple[str, float]]
    """The reasons why that pod waited, with their seconds; the longest first."""
    course: list[Span]
    """The same in order of time; empty where that is not known."""


def slowest(data: RunData, most: int = TOLD) -> list[Story]:
    """Return the stories of the jobs that waited longest, those that never started among them."""
    waits = ((_waited(job, data.end), job) for job in data.jobs)
    chosen = sorted((wait for wait in waits if wait[0] > 0), key=lambda wait: -wait[0])[:most]
    pods = {job.id: max(job.pods, key=lambda pod: pod.waiting_time or 0.0, default=None) for _, job in chosen}
    wanted = {pod.pod for pod in pods.values() if pod is not None}
    attempts: dict[str, list[Attempt]] = {name: [] for name in wanted}
    if wanted:
        for attempt in data.attempts:
            if attempt.pod in attempts:
                attempts[attempt.pod].append(attempt)
    known = data.waits_of(wanted)
    stories = []
    for waited, job in chosen:
        pod = pods[job.id]
        moments = _moments(job, pod, attempts[pod.pod] if pod else [], data)
        stretches = _stretches(pod, known)
        for moment, following in pairwise(moments):
            moment.waited = between(stretches, moment.time, following.time)
        stories.append(Story(job, waited, pod, moments, _reasons(pod), drawn(stretches)))
    return stories


def _stretches(pod: PodRecord | None, waits: Mapping[str, Sequence[Wait]]) -> list[Wait]:
    """Return the stretches of the pod's own wait: one that it replaced has the same name."""
    if pod is None:
        return []
    begin, end = pod.created_time, pod.created_time + (pod.waiting_time or 0.0)
    return [wait for wait in waits.get(pod.pod, ()) if begin <= wait.start < end]


def _waited(job: ReportJob, end: float) -> float:
    if job.waited is not None:
        return job.waited
    if job.pods:
        return max(pod.waiting_time or 0.0 for pod in job.pods)
    return end - job.submitted if job.state == "waiting" else 0.0


def _reasons(pod: PodRecord | None) -> list[tuple[str, float]]:
    if pod is None:
        return []
    found = [(name, getattr(pod, f"wait_{name}") or 0.0) for name in WAIT_REASONS]
    return sorted((reason for reason in found if reason[1] > 0), key=lambda reason: -reason[1])


def _moments(job: ReportJob, pod: PodRecord | None, attempts: Sequence[Attempt], data: RunData) -> list[Moment]:
    moments = [Moment(job.submitted, "submitted")]
    if pod is None:
        return moments + _end(job, data)
    if pod.created_time > job.submitted:
        moments.append(Moment(pod.created_time, "made anew", "its pod takes the place of one that was taken away"))
    moments += _tried(attempts)
    others = len(job.pods) - 1
    if pod.starting_time is not None:
        with_others = f", with {count(others, 'other pod')}" if others else ""
        moments.append(Moment(pod.starting_time, f"started on {pod.node}{with_others}"))
    if pod.preempted and pod.finish_time is not None:
        moments.append(Moment(pod.finish_time, "preempted"))
    return _shortened(moments) + _end(job, data)


def _tried(attempts: Iterable[Attempt]) -> list[Moment]:
    """Return the attempts; the same words in a row, whatever their numbers, are one moment."""
    words = {"failed": "could not be placed", "bound": "bound", "preempting": "makes room by preemption"}
    moments: list[Moment] = []
    for attempt in attempts:
        what = words.get(attempt.outcome, attempt.outcome)
        if attempt.outcome == "bound":
            moments.append(Moment(attempt.time, f"bound to {attempt.message}"))
            continue
        last = moments[-1] if moments else None
        if last is not None and (last.what, _NUMBERS.sub("", last.said)) == (what, _NUMBERS.sub("", attempt.message)):
            last.times, last.until = last.times + 1, attempt.time
        else:
            moments.append(Moment(attempt.time, what, attempt.message))
    return moments


def _end(job: ReportJob, data: RunData) -> list[Moment]:
    rejected = data.run.rejected if data.run else {}
    if job.state == "rejected":
        date = max((pod.finish_time or 0.0 for pod in job.pods), default=job.submitted)
        return [Moment(max(date, job.submitted), "rejected", rejected.get(job.id, ""))]
    if job.finished is None:
        return [Moment(data.end, "the run ended; it was still " + job.state)]
    ran = f" after {duration(job.finished - job.started)}" if job.started is not None else ""
    return [Moment(job.finished, job.state + ran)]


def _shortened(moments: list[Moment]) -> list[Moment]:
    if len(moments) <= MOST_MOMENTS:
        return moments
    half = MOST_MOMENTS // 2
    left_out = moments[half:-half]
    times = sum(moment.times for moment in left_out)
    gap = Moment(left_out[0].time, f"tried {times} more times; attempts.csv has them all", until=left_out[-1].time)
    return [*moments[:half], gap, *moments[-half:]]
