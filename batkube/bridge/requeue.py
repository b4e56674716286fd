"""Jobs that the cluster disrupts, submitted anew (Slurm calls it requeue): from their beginning, or from a checkpoint.

A job is disrupted when its node is lost, or a pod of it is taken away with the condition DisruptionTarget: by
preemption, by an eviction, by a controller. Batsim kills a job and leaves it at that. What is left of it becomes a
dynamic job of the same workload, ``w0!1.attempt2``, with pods of its own; its walltime begins anew. Checkpoints take no
time. Of a delay what was done by the last of them is known to the second; of a parallel task it is taken to have gone
on evenly.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

from batkube.batsim.jobs import JobState
from batkube.batsim.messages import LeafProgress, Progress
from batkube.batsim.profiles import parse_profile
from batkube.bridge.errors import InvariantBroken
from batkube.bridge.job_control import JobControl
from batkube.bridge.job_files import JobFiles
from batkube.bridge.jobs import Attempt, Job
from batkube.bridge.registration import Registration
from batkube.bridge.requeue_rule import SHORTEST, RequeueRule
from batkube.bridge.time import SimulatedTime
from batkube.results.events import EventLog
from batkube.results.run import Requeued

JSON = dict[str, Any]

_DELAYS = ("delay", "DelayProfile")
_PARALLEL = (
    *("parallel", "parallel_homogeneous", "parallel_homogeneous_total"),
    *("ParallelTaskProfile", "ParallelTaskHomogeneousProfile"),
)
_AMOUNTS = ("cpu", "com")
_EQUAL = 1e-3
"""Core-seconds by which sums of many dates may differ."""
_DIGITS = 6


class Requeue:
    """Submits jobs anew, and keeps the books of work: what was done, and what was lost."""

    def __init__(
        self,
        rule: RequeueRule | None,
        control: JobControl,
        files: JobFiles,
        registration: Registration,
        time: SimulatedTime,
        events: EventLog,
        warn: Callable[[str], None],
    ) -> None:
        self._rule = rule
        self._control = control
        self._files = files
        self._registration = registration
        self._time = time
        self._events = events
        self._warn = warn
        self._causes: Counter[str] = Counter()
        """The number of jobs that were submitted anew, by what had disrupted them."""
        self._run = self._done = self._lost = 0.0

    def completed(self, job: Job) -> None:
        """Note what of a job's work is kept. To be called before its pods end."""
        if self._rule is None or job.client is not None:
            return
        start, finish = job.life.starting_time, job.life.finish_time
        ran = (finish or 0.0) - (start or 0.0)
        attempt = job.attempt = job.attempt or Attempt()
        killed = job.life.state is JobState.COMPLETED_KILLED
        if killed and job.disruption:
            attempt.profile = attempt.profile or self._files.profile_of(job.id, job.description.profile)
            attempt.again = self._may_run_again(job, attempt.profile)
            kind = (attempt.profile or {}).get("type")
            attempt.saved = self._rule.saved(ran) if attempt.again and kind in (*_DELAYS, *_PARALLEL) else 0.0
        lost = ran - attempt.saved if killed else 0.0
        cores = sum(self._control.pods[name].cpu for name in job.pods)
        self._run += ran * cores
        self._lost += lost * cores
        self._done += (attempt.saved if killed else ran) * cores
        attempt.note(ran=ran, lost=lost)
        self._check(job, attempt, ran)

    def killed(self, job: Job, progress: Progress) -> None:
        """Submit what is left of a job that was disrupted. ``progress`` is what Batsim tells of it."""
        attempt = job.attempt
        if attempt is None or not attempt.again or job.life.state is not JobState.COMPLETED_KILLED:
            return
        assert attempt.profile is not None
        attempt.again = False
        ran = (job.life.finish_time or 0.0) - (job.life.starting_time or 0.0)
        profile = _rest(attempt.profile, ran, attempt.saved, progress)
        workload, _, name = job.id.partition("!")
        number = attempt.number + 1
        first = name if attempt.number == 1 else name.removesuffix(f".attempt{attempt.number}")
        following = f"{first}.attempt{number}"
        new = Job(
            id=f"{workload}!{following}",
            description=job.description.model_copy(
                update={"id": following, "subtime": self._time.now, "profile": following}
            ),
            number=self._control.numbered,
            requirements=job.requirements,
            scheduler=job.scheduler,
            served=job.served,
            storage_mapping=job.storage_mapping,
            attempt=Attempt(number, profile, before=attempt.before + attempt.saved, whole=attempt.whole),
        )
        attempt.next = following
        self._causes[job.disruption or ""] += 1
        self._events.write(
            self._time.now, "job_requeued", job=job.id, attempt=new.id, saved=attempt.saved,
            lost=round(ran - attempt.saved, _DIGITS), reason=job.reason, cause=job.disruption,
        )  # fmt: skip
        self._control.decisions.register(new.id, new.description, profile)
        self._control.submit(new)

    @property
    def account(self) -> Requeued | None:
        """The work of all jobs that have ended, for ``run.json``; None where no job is submitted anew."""
        if self._rule is None:
            return None
        return Requeued(
            rule=self._rule.text,
            jobs=self._causes.total(),
            causes=dict(sorted(self._causes.items())),
            work_run=round(self._run, _DIGITS),
            work_done=round(self._done, _DIGITS),
            work_lost=round(self._lost, _DIGITS),
        )

    def _may_run_again(self, job: Job, profile: JSON | None) -> bool:
        if not self._registration.open:
            self._warn("disrupted jobs are not submitted anew: Batsim was started without dynamic jobs")
            return False
        if profile is None:
            self._warn(f"job {job.id} is not submitted anew: nobody has told its profile")
            return False
        try:
            parse_profile(job.description.profile, profile).check_registered()
        except ValueError as error:
            self._warn(f"job {job.id} is not submitted anew: {error}")
            return False
        return True

    def _check(self, job: Job, attempt: Attempt, ran: float) -> None:
        """Raise InvariantBroken where work came from nowhere, or went there."""
        if abs(self._done + self._lost - self._run) > _EQUAL * max(1, self._causes.total()):
            raise InvariantBroken(f"work done {self._done} and lost {self._lost} are not the work run {self._run}")
        profile = attempt.profile
        if attempt.number == 1 and profile is not None and profile.get("type") in _DELAYS:
            attempt.whole = float(profile["delay"])
        if not self._control.decisions.at_once:  # dates of ends are not ours
            return
        if attempt.whole is not None and job.life.state is JobState.COMPLETED_SUCCESSFULLY:
            done = attempt.before + ran
            if abs(done - attempt.whole) > _EQUAL * attempt.number:
                raise InvariantBroken(f"job {job.id} has done {done} s of work in all, and not {attempt.whole} s")


def _rest(profile: JSON, ran: float, saved: float, progress: Progress) -> JSON:
    """Return the profile of what is left to do."""
    if not saved:
        return profile
    if profile["type"] in _DELAYS:
        return {**profile, "delay": max(round(float(profile["delay"]) - saved, _DIGITS), SHORTEST)}
    share = progress.progress if isinstance(progress, LeafProgress) else 0.0
    left = max(1.0 - share * saved / ran, 0.0)
    return {**profile, **{name: _scaled(profile[name], left) for name in _AMOUNTS if name in profile}}


def _scaled(amount: Any, part: float) -> Any:
    return [_scaled(one, part) for one in amount] if isinstance(amount, list) else amount * part
