"""The file of rules (YAML): a list of conditions on figures, of invariants, and of what must be the same.

::

    rules:
      - mean_wait <= 1.05 * baseline
      - p99_slowdown < 50
      - invariants: all
      - same_schedule: true
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from batkube.checks.invariants import INVARIANTS
from batkube.comparison.expressions import Condition, ExpressionError, read_condition
from batkube.kube.codec.go_yaml import decoded, nodes
from batkube.kube.codec.yaml_scalars import YamlError
from batkube.named_file import read_named_text

SWITCHES = ("finished", "same_inputs", "same_schedule")
"""The thing that a rule says yes or no to."""
REJECTED = "rejected"
DEFAULTS = (f"{REJECTED} == 0",)
AGAINST_BASELINE = (
    "mean_wait <= 1.05 * baseline",
    "p99_wait <= 1.2 * baseline",
    "p95_slowdown <= 1.1 * baseline",
    "makespan <= 1.05 * baseline",
    "failed <= baseline",
    "unfinished <= baseline",
)
"""The rules where there is a baseline and no file of rules."""


class RulesError(ValueError):
    """A file of rules that cannot be used. The text, one line, names file and rule."""


@dataclass(frozen=True)
class Rules:
    """The rules that results are held to."""

    conditions: list[Condition]
    invariants: list[str] = field(default_factory=lambda: list(INVARIANTS))
    finished: bool = True
    """The run has come to its end."""
    same_inputs: bool = False
    """The run has the inputs of the baseline."""
    same_schedule: bool = False
    """The jobs have the dates and hosts that they have in the baseline."""

    @property
    def needing_baseline(self) -> list[str]:
        """The rules that cannot be judged without one."""
        switches = [f"{name}: true" for name in ("same_inputs", "same_schedule") if getattr(self, name)]
        return [condition.text for condition in self.conditions if condition.needs_baseline] + switches


def default_rules(*, baseline: bool) -> Rules:
    """Return the rules that hold without a file."""
    texts = (*DEFAULTS, *AGAINST_BASELINE) if baseline else DEFAULTS
    return Rules([read_condition(text) for text in texts])


def read_rules(path: Path) -> Rules:
    """Read a file. Raises RulesError."""
    try:
        trees = list(nodes(read_named_text(path)))
        content = decoded(trees[0]) if trees else None
    except OSError as error:
        raise RulesError(f"{path}: {error.strerror}") from None
    except YamlError as error:
        raise RulesError(f"{path}: line {error.line}: no YAML: {error.why}") from None
    except ValueError as error:
        raise RulesError(f"{path}: {error}") from None
    if len(trees) > 1:
        raise RulesError(f"{path}: line {trees[1].line}: expected one document, found another")
    if not isinstance(content, dict) or not isinstance(content.get("rules"), list):
        raise RulesError(f"{path}: expected `rules:` and a list")
    if unknown := next((name for name in content if name != "rules"), None):
        raise RulesError(f"{path}: there is nothing named {unknown}; expected `rules:` and a list")
    return rules_of(content["rules"], str(path))


def rules_of(entries: list[Any], where: str) -> Rules:
    """Return the rules that entries of a list stand for. Raises RulesError."""
    conditions: list[Condition] = []
    chosen: dict[str, Any] = {}
    for number, entry in enumerate(entries, start=1):
        at = f"{where}: rule {number}"
        if isinstance(entry, str):
            try:
                conditions.append(read_condition(entry))
            except ExpressionError as error:
                raise RulesError(f"{at}: {error}") from None
        elif isinstance(entry, dict) and len(entry) == 1:
            ((name, given),) = entry.items()
            chosen |= _choice(at, name, given)
        else:
            raise RulesError(f"{at}: expected a condition, as in mean_wait < 600, not {entry!r}")
    named = {figure.name for condition in conditions for figure in condition.figures() if figure.group is None}
    defaults = [] if REJECTED in named else [read_condition(text) for text in DEFAULTS]
    return Rules([*defaults, *conditions], **chosen)


def _choice(at: str, name: Any, given: Any) -> dict[str, Any]:
    if name == "invariants":
        names = {"all": list(INVARIANTS), "none": []}.get(given) if isinstance(given, str) else given
        if not isinstance(names, list) or (unknown := next((one for one in names if one not in INVARIANTS), None)):
            wrong = given if not isinstance(names, list) else unknown
            raise RulesError(
                f"{at}: invariants: expected all, none, or a list of {', '.join(INVARIANTS)}, not {wrong!r}"
            )
        return {"invariants": names}
    if name in SWITCHES:
        if not isinstance(given, bool):
            raise RulesError(f"{at}: {name}: expected true or false, not {given!r}")
        return {name: given}
    raise RulesError(f"{at}: there is nothing named {name}; expected a condition, invariants, {', '.join(SWITCHES)}")
