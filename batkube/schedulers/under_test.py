"""The scheduler under test: its names, and how it is started if it is not inside batkube."""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from batkube.schedulers import kube_scheduler
from batkube.schedulers.command_line import words_of
from batkube.schedulers.extenders import Extender, read_extenders, relayed
from batkube.schedulers.policies.loading import BUILT_IN, LoadedPolicy, PolicyError, is_policy, load
from batkube.schedulers.process import Launch, SchedulerProcess

PLACEHOLDERS = ("kubeconfig", "server", "port")
"""The placeholders, as ``{...}``, in the command of a scheduler of the user's own."""

DETERMINISM = {"GOMAXPROCS": "1", "GOGC": "off", "GOMEMLIMIT": "1GiB"}
"""An environment in which a Go program does the same each time.

It runs one thread at a time (slower if it has work for several). No garbage is collected below a gibibyte: Go collects
every two minutes of its clock, that is after each longer jump, at a moment that depends on real time, and interrupts
whatever it is doing.
"""
UNINTERRUPTED = "asyncpreemptoff=1"
"""A setting of GODEBUG: no goroutine is interrupted because it has run for long."""
UNSEEDED = "randautoseed=0"
"""A setting of GODEBUG: ``math/rand`` gives the same numbers each time, whatever thread draws."""


def deterministic(environment: Mapping[str, str], seed: int) -> dict[str, str]:
    """Return the additions to ``environment``: DETERMINISM, and the order of Python's sets by ``seed``.

    With a seed other than 0, ``math/rand`` follows from it: kube-scheduler chooses among equal nodes by it. Settings of
    GODEBUG in ``environment`` are kept.
    """
    # Of two settings for one name Go takes the last one.
    debug = [UNINTERRUPTED, *([] if seed else [UNSEEDED]), *filter(None, [environment.get("GODEBUG")])]
    return {**DETERMINISM, "GODEBUG": ",".join(debug), "PYTHONHASHSEED": str(seed % 2**32)}


class SchedulerChoiceError(ValueError):
    """The scheduler does not exist, or is not on this machine. The text says what to do."""


@dataclass(frozen=True)
class ApiAccess:
    """The data by which a scheduler reaches the API."""

    kubeconfig: Path
    server: str
    port: int
    in_cluster: Mapping[str, str] = field(default_factory=dict)
    """The variables by which a pod finds it, if the files that go with them were asked for."""
    client_tls: Mapping[str, str] = field(default_factory=dict)
    """The TLS data of a client without a kubeconfig, if it speaks HTTPS: ``caData``, ``certData``, ``keyData``."""


@dataclass(frozen=True)
class SchedulerUnderTest:
    """The scheduler that was chosen; ``start`` runs it."""

    kind: str
    """The name of a policy (``fifo``, ``my_module:Policy``), ``kube-scheduler``, ``command`` or ``none``."""
    names: tuple[str, ...]
    """The schedulerNames it serves."""
    words: tuple[str, ...] = ()
    """The command line, with placeholders."""
    configuration: dict[str, Any] | None = None
    """A KubeSchedulerConfiguration to be completed and written."""
    extenders: tuple[Extender, ...] = ()
    """The extenders that the configuration names."""
    binary: Path | None = None
    policy: LoadedPolicy | None = None
    """The policy that decides inside this process; nothing is started then."""

    @property
    def source(self) -> Path | None:
        """The file of a policy of the user's own."""
        return self.policy.source if self.policy else None

    def retries_on_events(self) -> bool:
        """Tell whether it is known to place, at an event, all pods that the room made there allows.

        Its timers then place nothing that it could not place before. This holds for kube-scheduler without changes,
        which takes pods out of back-off when it has nothing else to do (since 1.33, ``SchedulerPopFromBackoffQ``).
        Raises SchedulerChoiceError.
        """
        if self.kind != "kube-scheduler" or self.extenders or self.binary is None:
            return False
        profiles = (self.configuration or {}).get("profiles") or []
        if any("plugins" in profile or "pluginConfig" in profile for profile in profiles):
            return False
        try:
            return kube_scheduler.version(self.binary) >= kube_scheduler.POPS_FROM_BACKOFF
        except subprocess.TimeoutExpired as error:
            raise SchedulerChoiceError(f"{self.binary} --version says nothing for {error.timeout:g} s") from None

    def version(self) -> str | None:
        """Return the version as the program tells it; None for other programs than kube-scheduler."""
        return kube_scheduler.version_text(self.binary) if self.binary is not None else None

    def command(self, access: ApiAccess, folder: Path, *, repeatable_preemption: bool = False) -> list[str]:
        """Return the command line; for kube-scheduler, write its configuration into ``folder``.

        ``repeatable_preemption``: it shall choose the same victims each time.
        """
        if self.kind == "kube-scheduler":
            assert self.binary is not None
            path = folder / "kube-scheduler.yaml"
            given = (self.configuration or {}).get("extenders") or ()
            config = kube_scheduler.configuration(
                access.kubeconfig,
                self.names,
                self.configuration,
                repeatable_preemption=repeatable_preemption,
                extenders=relayed(given, self.extenders, access.server, access.client_tls),
            )
            kube_scheduler.write_configuration(path, config)
            return kube_scheduler.command(self.binary, path)
        return filled_in(self.words, access)

    async def start(
        self, command: Sequence[str], access: ApiAccess, log: Path, launch: Launch, *, seed: int | None
    ) -> SchedulerProcess:
        """Run it, with its output in ``log``. With a ``seed`` it does the same each time; None changes nothing.

        Raises SchedulerError.
        """
        env = environment(access, seed)
        return await SchedulerProcess.start(self.kind, command, log=log, env=env, launch=launch)


def environment(access: ApiAccess, seed: int | None) -> dict[str, str]:
    """Return what the environment of a program has besides ours; ``seed`` as for ``start``."""
    env = {"KUBECONFIG": str(access.kubeconfig), "PYTHONUNBUFFERED": "1", **access.in_cluster}
    return env if seed is None else env | deterministic(os.environ, seed)


def filled_in(words: Sequence[str], access: ApiAccess) -> list[str]:
    """Return the words of a command with the values of PLACEHOLDERS."""
    filled = list(words)
    for name, value in zip(PLACEHOLDERS, (str(access.kubeconfig), access.server, str(access.port)), strict=True):
        filled = [word.replace("{" + name + "}", value) for word in filled]
    return filled


def choose(
    kind: str,
    *,
    names: tuple[str, ...],
    command: str | None = None,
    binary: Path | None = None,
    config: Path | None = None,
    folder: Path | None = None,
) -> SchedulerUnderTest:
    """Return the scheduler that the user asked for. ``names`` are its names if its configuration has none.

    A command runs in ``folder``, and a policy is looked for there; by default in the current one.

    Raises SchedulerChoiceError, and ConfigError or ExtenderError for a bad KubeSchedulerConfiguration.
    """
    if command is not None:
        return _own_command(command, names, folder)
    match kind:
        case "kube-scheduler":
            configuration = kube_scheduler.read_configuration(config) if config else None
            names = kube_scheduler.scheduler_names(configuration) if configuration else names
            extenders = tuple(read_extenders(configuration, str(config))) if configuration else ()
            return SchedulerUnderTest(
                "kube-scheduler", names, configuration=configuration, extenders=extenders, binary=_binary(binary)
            )
        case "none":
            return SchedulerUnderTest("none", names)
        case _ if is_policy(kind):
            try:
                return SchedulerUnderTest(kind, names, policy=load(kind, folder))
            except PolicyError as error:
                raise SchedulerChoiceError(f"--scheduler {error}") from None
        case _:
            raise SchedulerChoiceError(
                f"--scheduler {kind}: expected {', '.join(BUILT_IN)}, module:Class, kube-scheduler or none; "
                "another program goes into --scheduler-cmd"
            )


def _own_command(command: str, names: tuple[str, ...], folder: Path | None) -> SchedulerUnderTest:
    try:
        return SchedulerUnderTest("command", names, tuple(words_of(command, folder)))
    except ValueError as error:
        raise SchedulerChoiceError(f"--scheduler-cmd: {error}") from None


def _binary(given: Path | None) -> Path:
    wanted = str(given) if given else "kube-scheduler"
    found = shutil.which(wanted)
    if found is None:
        where = "is not a program" if given else "is not on PATH: name it with --scheduler-binary"
        raise SchedulerChoiceError(f"{wanted} {where}")
    return Path(found).absolute()
