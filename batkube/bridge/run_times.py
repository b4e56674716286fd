"""The run times of pods that clients of the API make, and the ends of their processes.

The first of these that says something counts: the pod's annotations, a rule of ``--durations``, ``sleep`` in the
commands of its containers, its owner or restart policy (a server runs for ever), ``--default-duration``. An annotation
or a rule for one container goes before those for the pod. Init containers take no time of which nothing is said.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from batkube.batsim.profiles import parse_profile
from batkube.bridge.errors import InputError
from batkube.bridge.pods import PROFILE_ANNOTATION
from batkube.bridge.sleeping import LONGEST, slept
from batkube.controllers.owners import controller_of
from batkube.startup.durations import FOREVER, Durations, RunTime
from batkube.startup.errors import StartupError
from batkube.startup.lengths import read_length
from batkube.startup.pod_condition import PodFacts

JSON = dict[str, Any]

DURATION_ANNOTATION = "batkube.io/duration"
"""The annotation with the time that a pod's process takes: seconds, ``1h30m``, or ``forever``.

With ``.NAME`` it is about that container, or init container, alone.
"""
EXIT_CODE_ANNOTATION = "batkube.io/exit-code"
"""The annotation with the exit code of its process; with ``.NAME`` of that container."""
TERMINATION_ANNOTATION = "batkube.io/termination-duration"
"""The annotation with the time that its process takes to end after SIGTERM: none by default."""
SERVERS = ("ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet")
"""The kinds of controllers whose pods run until they are deleted."""


@dataclass(frozen=True, slots=True)
class Work:
    """The work of a pod's process."""

    run_time: RunTime
    """As far as it is known before it runs: a profile takes as long as the simulator says."""
    profile: JSON
    """For the simulator."""
    containers: Mapping[str, RunTime] = field(default_factory=dict)
    """The runs of its containers, by name, where they are known each: they may end one after the other."""

    def endless(self, restart_policy: str) -> bool:
        """Tell whether a pod never ends by itself whose process is started again by this policy."""
        fails = self.run_time.exit_code != 0 and not self.run_time.by_chance
        again = restart_policy == "Always" or (restart_policy == "OnFailure" and fails)
        return again or self.run_time.seconds is None


@dataclass(frozen=True)
class RunTimeRules:
    """The options that say how long pods run that clients make."""

    durations: Durations | None = None
    default: float | None = None
    """The simulated seconds that a pod runs of which nothing else is known; None for ever, with a warning."""
    oom_killer: bool = False
    """True if pods are killed that use more memory than there is."""


class RunTimes:
    """``profile``: finds a profile of the workloads by its name. ``warn`` is told of pods of which nothing is known."""

    def __init__(
        self,
        rules: RunTimeRules,
        *,
        seed: int,
        profile: Callable[[str], JSON | None],
        warn: Callable[[str], None],
    ) -> None:
        self._durations, self._default = rules.durations, rules.default
        self._seed = seed
        self._profile = profile
        self._warn = warn
        self._warned = False

    def of(self, pod: JSON, run: int) -> Work:
        """Return the work of a pod's process; ``run``: its number, from 0, where the process is started again.

        Raises InputError, which names the pod and what is wrong with it.
        """
        where = _where(pod)
        annotations: Mapping[str, str] = pod["metadata"].get("annotations") or {}
        code = _exit_code(where, annotations, EXIT_CODE_ANNOTATION)
        containers = pod["spec"]["containers"]
        own = {container["name"]: self._of_container(pod, container["name"], run) for container in containers}
        told = any(own.values())
        whole = _length(where, annotations, DURATION_ANNOTATION)
        if whole is None and (text := annotations.get(PROFILE_ANNOTATION)) is not None:
            if told:
                raise InputError(f"{where}: {PROFILE_ANNOTATION}: its containers have durations of their own")
            return Work(RunTime(0.0, code or 0), self._read_profile(where, text))
        whole = whole or self._ruled(pod, run)
        if whole is None or told:
            each = {container["name"]: own[container["name"]] or whole or slept(container) for container in containers}
            known = {name: found for name, found in each.items() if found is not None}
            if len(known) == len(each) or told:
                if len(known) < len(each):
                    others = self._by_kind(where, pod)
                    known = {name: found or others for name, found in each.items()}
                return _together(known, code)
            whole = self._by_kind(where, pod)
        return _work(whole if code is None else RunTime(whole.seconds, code))

    def termination(self, pod: JSON) -> float:
        """Return the seconds that a pod's process takes to end after SIGTERM. Raises InputError."""
        told = _length(_where(pod), pod["metadata"].get("annotations") or {}, TERMINATION_ANNOTATION)
        if told is None:
            return 0.0
        return LONGEST if told.seconds is None else told.seconds

    def of_init_container(self, pod: JSON, container: JSON, run: int) -> RunTime:
        """Return the run of an init container, which takes no time if nothing is said of it. Raises InputError.

        ``run``: its number, from 0, where it is started again.
        """
        where, annotations = _where(pod), pod["metadata"].get("annotations") or {}
        found = self._of_container(pod, container["name"], run) or slept(container) or RunTime(0.0)
        code = _exit_code(where, annotations, f"{EXIT_CODE_ANNOTATION}.{container['name']}")
        return found if code is None else RunTime(found.seconds, code)

    def _of_container(self, pod: JSON, name: str, run: int) -> RunTime | None:
        """Return the run of one container; None if no annotation and no rule is about it."""
        where, annotations = _where(pod), pod["metadata"].get("annotations") or {}
        told = _length(where, annotations, f"{DURATION_ANNOTATION}.{name}") or self._ruled(pod, run, name)
        if told is None:
            return None
        code = _exit_code(where, annotations, f"{EXIT_CODE_ANNOTATION}.{name}")
        return told if code is None else RunTime(told.seconds, code)

    def _ruled(self, pod: JSON, run: int, container: str | None = None) -> RunTime | None:
        if self._durations is None or (rule := self._durations.rule_for(facts_of(pod), container)) is None:
            return None
        metadata = pod["metadata"]
        name, which = metadata["name"], f"{run}" if container is None else f"{container} {run}"
        try:
            return rule.run_time(f"{self._seed} {metadata['namespace']}/{name} {which}", name, name)
        except StartupError as error:
            raise InputError(str(error)) from None

    def _by_kind(self, where: str, pod: JSON) -> RunTime:
        if owner_kind(pod) in SERVERS or pod["spec"].get("restartPolicy", "Always") == "Always":
            return RunTime(None)
        if self._default is None and not self._warned:
            self._warned = True
            self._warn(
                f"{where}: nothing says how long it runs: it runs until the end. Annotation {DURATION_ANNOTATION}, "
                "--durations and --default-duration say so"
            )
        return RunTime(self._default)

    def _read_profile(self, where: str, text: str) -> JSON:
        """Return a profile that is written in the annotation, or that a workload has by that name."""
        if not text.lstrip().startswith("{"):
            found = self._profile(text)
            if found is None:
                raise InputError(f"{where}: {PROFILE_ANNOTATION}: no workload has a profile {text!r}")
            return found
        try:
            raw: JSON = json.loads(text)
            parse_profile("of its own", raw).check_registered()
        except ValueError as error:
            raise InputError(f"{where}: {PROFILE_ANNOTATION}: {error}") from None
        return raw


def owner_kind(pod: JSON) -> str:
    """Return the kind of the pod's controller; empty for none."""
    owner = controller_of(pod)
    return "" if owner is None else str(owner["kind"])


def facts_of(pod: JSON) -> PodFacts:
    """Return the properties of a pod by which rules choose."""
    metadata = pod["metadata"]
    return PodFacts(metadata.get("namespace", ""), metadata.get("labels") or {}, owner_kind(pod))


def _work(run_time: RunTime) -> Work:
    seconds = LONGEST if run_time.seconds is None else run_time.seconds
    return Work(run_time, {"type": "delay", "delay": seconds, "ret": run_time.exit_code})


def _together(containers: Mapping[str, RunTime], code: int | None) -> Work:
    """Return the work of several containers: it is over with the last. ``code``: the exit code of all; None if own."""
    if code is not None:
        containers = {name: RunTime(run_time.seconds, code) for name, run_time in containers.items()}
    codes = [run_time.exit_code for run_time in containers.values() if run_time.exit_code]
    lengths = [run_time.seconds for run_time in containers.values()]
    known = [length for length in lengths if length is not None]
    by_chance = any(run_time.by_chance for run_time in containers.values())
    run_time = RunTime(max(known) if len(known) == len(lengths) else None, codes[0] if codes else 0, by_chance)
    work = _work(run_time)
    return Work(run_time, work.profile, containers) if len(containers) > 1 else work


def _where(pod: JSON) -> str:
    return f"pod {pod['metadata']['namespace']}/{pod['metadata']['name']}"


def _length(where: str, annotations: Mapping[str, str], name: str) -> RunTime | None:
    """Return the run time that an annotation says; None if there is none of this name."""
    text = annotations.get(name)
    if text is None:
        return None
    try:
        return RunTime(None if text == FOREVER else read_length(text))
    except ValueError as error:
        raise InputError(f"{where}: {name}: {error}") from None


def _exit_code(where: str, annotations: Mapping[str, str], name: str) -> int | None:
    text = annotations.get(name)
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal() and int(text) <= 255):
        raise InputError(f"{where}: {name}: expected a number from 0 to 255, not {text!r}")
    return int(text)
