"""Which scheduler is under test, what it goes by, and how it is started."""

import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from batkube.schedulers import kube_scheduler
from batkube.schedulers.extenders import Extender, read_extenders, relayed
from batkube.schedulers.process import Launch, SchedulerProcess

PLACEHOLDERS = ("kubeconfig", "server", "port")
"""What ``{...}`` may stand for in the command of a scheduler of the user's own."""

DETERMINISM = {
    "GOMAXPROCS": "1",
    "GODEBUG": "randautoseed=0",
    "GOGC": "off",
    "GOMEMLIMIT": "1GiB",
    "PYTHONHASHSEED": "0",
}
"""An environment in which a program does the same each time: one Go thread at a time (slower where it has work for
several), and the same pseudo-random numbers (``math/rand``, Python's sets) in each run.

No garbage is collected below a gibibyte: Go does so every two minutes of its clock, that is after each longer jump, at
a moment that depends on real time, and interrupts whatever it is doing.
"""


class SchedulerChoiceError(ValueError):
    """There is no such scheduler, or it is not on this machine. The text says what to do."""


@dataclass(frozen=True)
class Access:
    """How a scheduler reaches the API."""

    kubeconfig: Path
    server: str
    port: int
    in_cluster: Mapping[str, str] = field(default_factory=dict)
    """Variables by which a pod finds it, where the files that go with them were asked for."""
    client_tls: Mapping[str, str] = field(default_factory=dict)
    """What a client without a kubeconfig needs where it speaks HTTPS: ``caData``, ``certData``, ``keyData``."""


@dataclass(frozen=True)
class SchedulerUnderTest:
    """What was chosen; ``start`` runs it."""

    kind: str
    """``fifo``, ``kube-scheduler``, ``command`` or ``none``."""
    names: tuple[str, ...]
    """The schedulerNames it serves."""
    words: tuple[str, ...] = ()
    """The command line, with placeholders."""
    configuration: dict[str, Any] | None = None
    """A KubeSchedulerConfiguration to be completed and written."""
    extenders: tuple[Extender, ...] = ()
    """Those that it names."""
    binary: Path | None = None

    def command(self, access: Access, folder: Path, *, exact_times: bool = False) -> list[str]:
        """The command line; for kube-scheduler its configuration is written into ``folder``.

        ``exact_times``: it shall see fractions of seconds, where it compares when pods have started.
        """
        if self.kind == "kube-scheduler":
            assert self.binary is not None
            path = folder / "kube-scheduler.yaml"
            given = (self.configuration or {}).get("extenders") or ()
            config = kube_scheduler.configuration(
                access.kubeconfig,
                self.names[0],
                self.configuration,
                exact_times=exact_times,
                extenders=relayed(given, self.extenders, access.server, access.client_tls),
            )
            kube_scheduler.write_configuration(path, config)
            return kube_scheduler.command(self.binary, path)
        values = (str(access.kubeconfig), access.server, str(access.port))
        words = list(self.words)
        for name, value in zip(PLACEHOLDERS, values, strict=True):
            words = [word.replace("{" + name + "}", value) for word in words]
        return words

    async def start(
        self, command: Sequence[str], access: Access, log: Path, launch: Launch, *, determinism: bool
    ) -> SchedulerProcess:
        """Run it, its output going to ``log``. Raises SchedulerError."""
        env = {"KUBECONFIG": str(access.kubeconfig), "PYTHONUNBUFFERED": "1", **access.in_cluster}
        if determinism:
            env |= DETERMINISM
        return await SchedulerProcess.start(self.kind, command, log=log, env=env, launch=launch)


def choose(
    kind: str,
    *,
    name: str,
    command: str | None = None,
    binary: Path | None = None,
    config: Path | None = None,
) -> SchedulerUnderTest:
    """What the user asked for. ``name`` is what it goes by, where its configuration does not say.

    Raises SchedulerChoiceError, and ConfigError or ExtenderError for a bad KubeSchedulerConfiguration.
    """
    if command is not None:
        return _own_command(command, name)
    match kind:
        case "fifo":
            words = (
                sys.executable, "-m", "batkube.schedulers.fifo",
                "--kubeconfig", "{kubeconfig}", "--scheduler-name", name,
            )  # fmt: skip
            return SchedulerUnderTest("fifo", (name,), words)
        case "kube-scheduler":
            configuration = kube_scheduler.read_configuration(config) if config else None
            names = kube_scheduler.scheduler_names(configuration) if configuration else (name,)
            extenders = tuple(read_extenders(configuration, str(config))) if configuration else ()
            return SchedulerUnderTest(
                "kube-scheduler", names, configuration=configuration, extenders=extenders, binary=_binary(binary)
            )
        case "none":
            return SchedulerUnderTest("none", (name,))
        case _:
            raise SchedulerChoiceError(
                f"--scheduler {kind}: expected fifo, kube-scheduler or none; another program goes into --scheduler-cmd"
            )


def _own_command(command: str, name: str) -> SchedulerUnderTest:
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise SchedulerChoiceError(f"--scheduler-cmd: {error}: {command}") from None
    if not words:
        raise SchedulerChoiceError("--scheduler-cmd: no program named")
    if "{" not in words[0] and shutil.which(words[0]) is None:
        raise SchedulerChoiceError(f"--scheduler-cmd: no program {words[0]} on this machine")
    return SchedulerUnderTest("command", (name,), words)


def _binary(given: Path | None) -> Path:
    wanted = str(given) if given else "kube-scheduler"
    found = shutil.which(wanted)
    if found is None:
        where = "is not a program" if given else "is not on PATH: name it with --scheduler-binary"
        raise SchedulerChoiceError(f"{wanted} {where}")
    return Path(found).absolute()
