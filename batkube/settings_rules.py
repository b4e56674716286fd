"""Options that contradict each other, or mean nothing together: one table, which every command's settings are held to.

An option that has no effect is refused rather than ignored: its user would take the results for those of something
else. The rules speak of options as users type them. A rule holds for each command that has the options it names.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from batkube.batsim.options import Spelling
from batkube.bridge.decision_time import ZERO
from batkube.option import Option

KUBE_SCHEDULER, NOBODY, EMBEDDED, BATSIM = "kube-scheduler", "none", "embedded", "batsim"
OUTSIDE = (KUBE_SCHEDULER, NOBODY)
"""The values of ``--scheduler`` that are no policies inside batkube."""

DATED_BY_PACE = "--decision-time: at a pace, what a scheduler on the real clock does is dated when it does it"


class Given:
    """The options of a command, by name: their values, and which of them the user has given."""

    def __init__(self, settings: BaseModel) -> None:
        self._values: dict[str, Any] = {}
        self._given: set[str] = set()
        for name, value, given in _options(settings):
            self._values[name] = value
            if given:
                self._given.add(name)

    def __contains__(self, option: str) -> bool:
        return option in self._given

    def has(self, option: str) -> bool:
        """Tell whether the command has such an option at all."""
        return option in self._values

    def value(self, option: str) -> str:
        """Return its value as a word, given or not; "" where there is none."""
        value = self._values.get(option)
        return "" if value is None else str(value)

    @property
    def in_process(self) -> bool:
        """True if the scheduler is a policy inside batkube."""
        chosen = self.value("--scheduler")
        return bool(chosen) and "--scheduler-cmd" not in self and chosen not in OUTSIDE

    @property
    def on_the_real_clock(self) -> bool:
        """True if it is certain that the scheduler keeps the real clock."""
        started = self.value("--scheduler") != NOBODY or "--scheduler-cmd" in self
        return (
            not started
            or self.value("--clock") in ("real", "paced")
            or self.value("--quiescence") in ("metrics", "quiet")
        )


Condition = Callable[[Given], bool]


@dataclass(frozen=True)
class Rule:
    """An option, and when it is refused."""

    option: str
    refused: Condition
    """Of settings in which the option is given."""
    why: Callable[[Given], str]
    """The error, in a line; it names both sides."""
    unless: tuple[str, ...] = ()
    """Values of the option that say nothing against the others."""


def _says(text: str) -> Callable[[Given], str]:
    return lambda given: text


def needs(option: str, *others: str, text: str = "") -> Rule:
    """Require one of the other options; ``--name value``: where it has that value."""
    return Rule(
        option,
        lambda given: any(map(given.has, _names(others))) and not any(_met(given, other) for other in others),
        _says(text or f"{option} needs {' or '.join(others)}"),
    )


def excludes(option: str, other: str, why: str = "") -> Rule:
    """Return the rule that two options cannot be given together; ``--name value``: the other one has that value."""
    reason = f": {why}" if why else ""
    return Rule(option, lambda given: _met(given, other), _says(f"{option} and {other} exclude each other{reason}"))


def _names(others: tuple[str, ...]) -> list[str]:
    return [other.partition(" ")[0] for other in others]


def _met(given: Given, other: str) -> bool:
    name, _, value = other.partition(" ")
    if not value or value.isupper():
        return name in given
    return given.value(name) == value


def _for_a_process(option: str, *unless: str, or_programs: bool = False) -> Rule:
    """``or_programs``: it is about programs beside a policy as well."""
    return Rule(
        option,
        lambda given: given.in_process and not (or_programs and "--program" in given),
        lambda given: (
            f"{_shown(option, given)} is for a scheduler that is a process; {given.value('--scheduler')} runs inside "
            "batkube. As a process: --scheduler-cmd 'python -m batkube.schedulers.fifo'"
        ),
        unless,
    )


def _shown(option: str, given: Given) -> str:
    return f"{option} {given.value(option)}" if option in ("--clock", "--quiescence") else option


def _for_the_simulated_clock(option: str) -> Rule:
    return Rule(
        option,
        lambda given: given.has("--clock") and not given.in_process and given.on_the_real_clock,
        lambda given: f"{option} is for a scheduler on the simulated clock: not with {_real(given)}",
    )


def _real(given: Given) -> str:
    """Return the option by which the scheduler keeps the real clock."""
    for other in ("--clock", "--quiescence", "--scheduler"):
        if other in given:
            return f"{other} {given.value(other)}"
    return "--scheduler none"


_NOT_FOR_THE_API_ALONE = (
    *(
        "--batsim",
        "--platform",
        "--add-nodes",
        "--startup",
        "--energy",
        "--power-off-after",
        "--record",
        "--batsim-out",
    ),
    *(
        "--pace",
        "--paused",
        "--decision-time",
        "--on-deadlock",
        "--on-scheduler-loss",
        "--quiescence",
        "--quiet-period",
    ),
    *("--patience", "--scheduler-metrics", "--scheduler-metrics-token", "--scheduler-metrics-insecure"),
    *("--keep-finished", "--epoch", "--scheduler-name"),
)

RULES: tuple[Rule, ...] = (
    excludes("--scheduler-cmd", "--scheduler", "the command is the scheduler"),
    excludes("--scheduler-binary", "--scheduler-cmd"),
    excludes("--scheduler-config", "--scheduler-cmd"),
    needs("--scheduler-binary", f"--scheduler {KUBE_SCHEDULER}"),
    needs("--scheduler-config", f"--scheduler {KUBE_SCHEDULER}"),
    excludes("--scheduler-name", "--scheduler-config", "the profiles in that file have the names"),
    Rule(
        "--decision-time",
        lambda given: "--pace" in given and (not given.has("--clock") or given.on_the_real_clock),
        _says(DATED_BY_PACE),
        (str(ZERO),),
    ),
    _for_a_process("--clock", "auto", or_programs=True),
    _for_a_process("--quiescence", "auto"),
    *map(_for_a_process, ("--scheduler-metrics", "--scheduler-metrics-token", "--scheduler-metrics-insecure")),
    _for_a_process("--quiet-period"),
    Rule(
        "--program",
        lambda given: given.has("--clock") and given.on_the_real_clock,
        lambda given: f"--program is for the simulated clock: not with {_real(given)}",
    ),
    excludes("--program", "--bounds", "fifo and easy would be played without it"),
    Rule(
        "--quiescence",
        lambda given: given.value("--clock") in ("once", "tree"),
        lambda given: (
            f"--quiescence {given.value('--quiescence')} leaves the scheduler on the real clock: not with --clock "
            f"{given.value('--clock')}"
        ),
        ("auto",),
    ),
    Rule(
        "--quiescence",
        lambda given: given.value("--clock") == "paced",
        lambda given: (
            f"--quiescence {given.value('--quiescence')} means nothing with --clock paced, where nobody waits for rest"
        ),
        ("auto",),
    ),
    Rule(
        "--clock",
        lambda given: given.value("--scheduler") == NOBODY,
        lambda given: f"--clock {given.value('--clock')} needs a scheduler that is started here, not --scheduler none",
        ("auto", "real", "paced"),
    ),
    *map(_for_the_simulated_clock, ("--timers", "--timer-window")),
    Rule(
        "--determinism",
        lambda given: given.value("--scheduler") == NOBODY,
        _says("--determinism is for a scheduler that is started here, not for --scheduler none"),
        ("none",),
    ),
    needs("--on-scheduler-loss", f"--scheduler {NOBODY}"),
    needs("--jitter", "--workload"),
    needs("--schedule", "--workload"),
    needs("--add-nodes", "--platform"),
    needs("--format", "--workload"),
    needs("--packing", "--workload"),
    Rule(
        "--quiescence",
        lambda given: given.value("--quiescence") == "metrics" and "--scheduler-metrics" not in given,
        _says("--quiescence metrics needs --scheduler-metrics URL"),
    ),
    excludes("--scheduler-metrics", "--quiescence quiet"),
    needs("--scheduler-metrics-token", "--scheduler-metrics"),
    needs("--scheduler-metrics-insecure", "--scheduler-metrics"),
    needs("--exact", f"--simulator {EMBEDDED}"),
    needs("--batsim-binary", f"--simulator {BATSIM}"),
    Rule(
        "--batsim-out",
        lambda given: given.has("--simulator") and "://" not in given.value("--simulator"),
        _says("--batsim-out is for a Batsim that is started by hand (--simulator tcp://...)"),
    ),
    needs("--power-off-after", "--energy"),
    excludes("--power-off-after", "--failures", "a host that may fail is never switched off"),
    needs("--workflow-jobs-limit", "--workflow", "--workflow-start"),
    needs("--ignore-beyond-last-workflow", "--workflow", "--workflow-start"),
    needs("--acknowledge-dynamic-jobs", "--enable-dynamic-jobs"),
    needs("--forward-unknown-events", "--events"),
    *(excludes(option, "--api-only", "no simulation is played") for option in _NOT_FOR_THE_API_ALONE),
    needs("--no-node-lifecycle", "--api-only"),
    needs("--watch-history", "--api-only"),
    *(
        excludes("--insecure", option, f"that is plain HTTP, and {option} needs TLS")
        for option in ("--tls", "--client-certificate", "--in-cluster-dir")
    ),
    needs("--salt", "--anonymize"),
    excludes("--hold-out", "--test", "a file to compare with is given, and no rows are kept aside"),
    excludes("--seed", "--test", "no rows are kept aside by chance"),
)
"""The first that refuses tells the user."""


def check(settings: BaseModel) -> None:
    """Raise ValueError, which names both, where options that are given do not go together."""
    given = Given(settings)
    for rule in RULES:
        if rule.option in given and given.value(rule.option) not in rule.unless and rule.refused(given):
            raise ValueError(rule.why(given))


def option_of(name: str, field: FieldInfo) -> Option | None:
    """Return the option of a setting; None where it has none, or is a group of settings."""
    for what in field.metadata:
        match what:
            case Option():
                return what
            case Spelling():
                return Option(field.description or "", what.panel, what.metavar or "", names=what.names)
    return None


def _options(settings: BaseModel) -> Iterator[tuple[str, Any, bool]]:
    """Yield each option: its name, its value, and whether it is given. A switch that is off is not."""
    for name, field in type(settings).model_fields.items():
        value = getattr(settings, name)
        option = option_of(name, field)
        if option is None:
            if isinstance(value, BaseModel):
                yield from _options(value)
            continue
        given = name in settings.model_fields_set and value is not None and value != ()
        for long in option.names_of(name):
            on, _, off = long.partition("/")
            yield on, value, given and value is not False
            if off:
                yield off, value is False, given and value is False
