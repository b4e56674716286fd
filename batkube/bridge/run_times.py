"""The run times of pods that clients of the API make, and the ends of their processes.

The first of these that says something counts: the pod's annotations, a rule of ``--durations``, ``sleep`` in the
commands of its containers, its owner or restart policy (a server runs for ever), ``--default-duration``.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from batkube.batsim.profiles import parse_profile
from batkube.bridge.errors import InputError
from batkube.bridge.pods import PROFILE_ANNOTATION
from batkube.startup.durations import FOREVER, Durations, RunTime
from batkube.startup.errors import StartupError
from batkube.startup.lengths import read_length

JSON = dict[str, Any]

DURATION_ANNOTATION = "batkube.io/duration"
"""The annotation with the time that a pod's process takes: seconds, ``1h30m``, or ``forever``."""
EXIT_CODE_ANNOTATION = "batkube.io/exit-code"
"""The annotation with the exit code of its process."""
SERVERS = ("ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet")
"""The kinds of controllers whose pods run until they are deleted."""
LONGEST = 3_155_760_000.0
"""The length in seconds of a process that never ends by itself, for the simulator: a hundred years."""

_SHELLS = ("sh", "bash", "ash", "dash")
_STEP = re.compile(r"\s*(?:;|&&|\n)\s*")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


@dataclass(frozen=True, slots=True)
class Work:
    """The work of a pod's process."""

    run_time: RunTime
    """As far as it is known before it runs: a profile takes as long as the simulator says."""
    profile: JSON
    """For the simulator."""

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
        where = f"pod {pod['metadata']['namespace']}/{pod['metadata']['name']}"
        annotations: Mapping[str, str] = pod["metadata"].get("annotations") or {}
        code = _exit_code(where, annotations)
        if (text := annotations.get(DURATION_ANNOTATION)) is not None:
            try:
                seconds = None if text == FOREVER else read_length(text)
            except ValueError as error:
                raise InputError(f"{where}: {DURATION_ANNOTATION}: {error}") from None
            return _work(RunTime(seconds, code or 0))
        if (text := annotations.get(PROFILE_ANNOTATION)) is not None:
            return Work(RunTime(0.0, code or 0), self._read_profile(where, text))
        found = self._ruled(pod, run) or slept(pod) or self._by_kind(where, pod)
        return _work(found if code is None else RunTime(found.seconds, code))

    def _ruled(self, pod: JSON, run: int) -> RunTime | None:
        metadata = pod["metadata"]
        if self._durations is None:
            return None
        rule = self._durations.rule_for(metadata["namespace"], metadata.get("labels") or {}, owner_kind(pod))
        if rule is None:
            return None
        name = metadata["name"]
        try:
            return rule.run_time(f"{self._seed} {metadata['namespace']}/{name} {run}", name, name)
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
    owners = pod["metadata"].get("ownerReferences") or ()
    return next((str(owner["kind"]) for owner in owners if owner.get("controller")), "")


def _work(run_time: RunTime) -> Work:
    seconds = LONGEST if run_time.seconds is None else run_time.seconds
    return Work(run_time, {"type": "delay", "delay": seconds, "ret": run_time.exit_code})


def _exit_code(where: str, annotations: Mapping[str, str]) -> int | None:
    text = annotations.get(EXIT_CODE_ANNOTATION)
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal() and int(text) <= 255):
        raise InputError(f"{where}: {EXIT_CODE_ANNOTATION}: expected a number from 0 to 255, not {text!r}")
    return int(text)


def slept(pod: JSON) -> RunTime | None:
    """Return the run time by ``sleep`` in the commands of the containers, the longest; None if one does not sleep."""
    found = [
        _slept([*container.get("command", ()), *container.get("args", ())]) for container in pod["spec"]["containers"]
    ]
    known = [run_time for run_time in found if run_time is not None]
    if len(known) < len(found):
        return None
    code = next((run_time.exit_code for run_time in known if run_time.exit_code), 0)
    lengths = [run_time.seconds for run_time in known]
    return RunTime(None if None in lengths else max(length for length in lengths if length is not None), code)


def _slept(words: Sequence[str]) -> RunTime | None:
    """Return the run time of one container by its command: ``sleep 30``, ``sh -c 'sleep 1m; exit 3'``."""
    if not words:
        return None
    program = words[0].rpartition("/")[2]
    if program in _SHELLS and len(words) >= 3 and words[1] in ("-c", "-ec", "-exc"):
        steps = [step.split() for step in _STEP.split(words[2].strip()) if step]
    else:
        steps = [list(words)]
    total, sleeps, code = 0.0, False, 0
    for step in steps:
        match [step[0].rpartition("/")[2], *step[1:]]:
            case ["sleep", *lengths] if lengths:
                sleeps = True
                seconds = [_seconds(length) for length in lengths]
                if None in seconds:
                    return None
                total += sum(second for second in seconds if second is not None)
            case ["exit", number] if number.isdecimal():
                code = int(number) & 0xFF
    if not sleeps:
        return None
    return RunTime(None if total == float("inf") else total, code)


def _seconds(text: str) -> float | None:
    """Return the seconds of one word of ``sleep`` (GNU coreutils); None where it is none."""
    if text in ("infinity", "inf"):
        return float("inf")
    unit = _UNITS.get(text[-1:], 1)
    number = text[:-1] if text[-1:] in _UNITS else text
    try:
        seconds = float(number) * unit
    except ValueError:
        return None
    return seconds if 0 <= seconds <= LONGEST else None
