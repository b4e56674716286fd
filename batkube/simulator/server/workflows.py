"""The submitter of a workflow: it brings each task as a job once all that it depends on has completed.

As in Batsim's ``workflow_submitter_process`` (``job_submitter.cpp``), it brings one task in each message, in the order
in which they became ready, and no more than a limit at a time.
"""

from collections import deque
from collections.abc import Callable

from batkube.batsim.job_id import job_id
from batkube.batsim.jobs import JobDescription
from batkube.batsim.profiles import DelayProfile
from batkube.batsim.topology import Host
from batkube.batsim.workflow import Task, Workflow
from batkube.simulator.books.jobs import SimulatedJob
from batkube.simulator.books.known_profiles import KnownProfiles
from batkube.simulator.controls.control import Control
from batkube.simulator.server.server import Server
from batkube.simulator.time.clock import Clock
from batkube.simulator.time.dates import picoseconds, seconds
from batkube.simulator.time.event_queue import Rank

GRACE = 10.0
"""Seconds by which the walltime of a task's job is longer than its runtime."""


class WorkflowSubmitter:
    """Brings the tasks of a workflow. ``add`` makes a job known; ``limit`` is the most jobs at a time, 0 for none."""

    def __init__(
        self,
        workflow: Workflow,
        profiles: KnownProfiles,
        server: Server,
        control: Control,
        clock: Clock,
        master: Host | None,
        *,
        place: int,
        limit: int,
        add: Callable[[SimulatedJob], None],
    ) -> None:
        self._workflow = workflow
        self._profiles = profiles
        self._server = server
        self._control = control
        self._clock = clock
        self._master = master
        self._place = place
        self._limit = limit
        self._add = add
        self._ready = deque(task for task in workflow.tasks if not task.parents)
        self._left = {task: len(task.parents) for task in workflow.tasks}
        """The number of parents that have not completed, by task."""
        self._completed: deque[Task] = deque()
        """Tasks for which the server has called back, and the submitter has not handled that yet."""
        self._submitted = 0
        """The number of tasks under way."""
        self._count = 0
        self._waiting = False

    def launch(self) -> None:
        """Make it an actor on the master."""
        control = self._control
        control.launch(Rank.SUBMISSION, lambda: control.send(self._master, lambda: None, self._wait_for_start))

    def _wait_for_start(self) -> None:
        wait = picoseconds(self._workflow.start) - self._clock.now
        if wait > 0:
            self._control.sleep(wait, Rank.SUBMISSION, self._go_on)
        else:
            self._go_on()

    def _go_on(self) -> None:
        while True:
            if self._ready and (not self._limit or self._submitted < self._limit):
                self._submit(self._ready.popleft())
                return
            if not self._completed:
                break
            self._take_notice(self._completed.popleft())
        if self._submitted:
            self._waiting = True
        else:
            self._control.send(self._master, self._server.no_more_tasks)

    def _submit(self, task: Task) -> None:
        job = self._job(task)
        self._add(job)
        job.on_completed = lambda: self._called_back(task)
        self._submitted += 1
        self._control.send(self._master, lambda: self._server.submitted([job], self._place), self._go_on)

    def _job(self, task: Task) -> SimulatedJob:
        name = self._workflow.name
        profile_name = f"{name}_{task.id}"
        # Batsim writes the job as text, with six decimals.
        profile = DelayProfile.made(profile_name, task.runtime)
        self._profiles.add(name, profile)
        number = str(self._count)
        self._count += 1
        raw = {
            "id": number,
            "subtime": float(f"{seconds(self._clock.now):.6f}"),
            "walltime": float(f"{task.runtime + GRACE:.6f}"),
            "res": task.processors,
            "profile": profile_name,
        }
        full = job_id(name, number)
        return SimulatedJob(
            full, name, JobDescription.model_validate(raw), {profile_name: profile}, {**raw, "id": full}
        )

    def _called_back(self, task: Task) -> None:
        self._completed.append(task)
        if self._waiting:
            self._waiting = False
            self._go_on()

    def _take_notice(self, task: Task) -> None:
        self._submitted -= 1
        for child in task.children:
            self._left[child] -= 1
            if not self._left[child]:
                self._ready.append(child)
