"""The start-up model: how long a pod takes from its binding to Running, and from its process's end to its own end.
It is a YAML file with a delay for each stage. A stage that it leaves out takes no time. ::
    pulling: {quantiles: [0.4, 0.5, 2.9]}       # from binding until the image begins to be pulled
    pulled: 0.95                                # ... until it is there
    created: {lognormal: {median: 0.04, sigma: 0.4}}
    started: {exponential: {mean: 0.03, shift: 0.02}}
    ended: {trace: {file: ends.csv, column: seconds}}   # from the end of the process to the end of the pod
"""

from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from pydantic import BaseModel, ValidationError, model_validator

from batkube.kube.codec.go_yaml import MAPPING, SCALAR, SEQUENCE, Node, decoded, nodes
from batkube.kube.codec.yaml_scalars import YamlError
from batkube.named_file import read_named_text
from batkube.startup.delays import STRICT, Delay
from batkube.startup.errors import StartupError

STAGES = ("pulling", "pulled", "created", "started", "ended")
"""The stages in order. All but the last lie before Running."""

MICROSECONDS = 6
"""The decimals of a delay: those of all dates that Batsim tells."""

NO_TIME = Delay(constant=0.0)


@dataclass(frozen=True, slots=True)
class PodDelays:
    """The delays of one pod, in simulated seconds, each since the stage before."""

    pulling: float
    pulled: float
    created: float
    started: float
    ended: float


class StartupModel(BaseModel):
    """The whole file."""

    model_config = STRICT

    pulling: Delay = NO_TIME
    """The delay from the binding until the kubelet pulls the image: its own work, volumes and network of the pod."""
    pulled: Delay = NO_TIME
    created: Delay = NO_TIME
    started: Delay = NO_TIME
    ended: Delay = NO_TIME
    """The delay from the end of the process until the pod is seen to have ended."""

    @model_validator(mode="before")
    @classmethod
    def _mapping(cls, value: Any) -> Any:
        if not isinstance(value, dict) or not value:
            raise ValueError(f"expected some of {', '.join(STAGES)}, each with a delay")
        return value

    def delays(self, seed: int, pod: str, job: str) -> PodDelays:
        """Return the delays of the pod with this name: the same for the same seed, whatever other pods there are.

        ``job``: the name of its job, by which a trace may know it. Raises StartupError if a trace does not.
        """
        return PodDelays(*(self._delay(stage, seed, pod, job) for stage in STAGES))

    def _delay(self, stage: str, seed: int, pod: str, job: str) -> float:
        delay: Delay = getattr(self, stage)
        # The seed is a text, and used for one number only: neither the order of stages nor that of pods matters.
        p = Random(f"{seed} {pod} {stage}").random() or 0.5
        return round(delay.of(pod, job, p), MICROSECONDS)


def read_startup(path: Path) -> StartupModel:
    """Read a model. Raises StartupError, which names the file, the line and the field."""
    try:
        text = read_named_text(path)
    except OSError as error:
        raise StartupError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise StartupError(f"{path}: {error}") from None
    try:
        tree, *others = nodes(text) if text.strip() else (None,)
        content = decoded(tree) if tree else None
    except YamlError as error:
        raise StartupError(f"{path}: line {error.line}: no YAML: {error.why}") from None
    if others:
        raise StartupError(f"{path}: line {others[0].line}: expected one document, found another")
    if twice := _named_twice(tree):
        raise StartupError(f"{path}: line {twice.line}: {twice.text} is there twice")
    try:
        return StartupModel.model_validate(content, context=path.parent)
    except ValidationError as error:
        first = error.errors()[0]
        where = [str(part) for part in first["loc"]]
        field = f" {'.'.join(where)}:" if where else ""
        what = first["msg"].removeprefix("Value error, ")
        given = f", not {first['input']!r}" if not isinstance(first["input"], dict | list | type(None)) else ""
        raise StartupError(f"{path}: line {_line(tree, where)}:{field} {what}{given}") from None


def _line(tree: Node | None, path: list[str]) -> int:
    """Return the line, from 1, on which the field at ``path`` stands, or the line that should hold it."""
    line = tree.line if tree else 1
    for part in path:
        if tree is None:
            break
        if tree.kind == MAPPING:
            found = next((pair for pair in tree.pairs() if pair[0].text == part), None)
            if found is None:
                break
            line, tree = found[0].line, found[1]
        elif tree.kind == SEQUENCE and part.isdecimal() and int(part) < len(tree.children):
            tree = tree.children[int(part)]
            line = tree.line
    return line


def _named_twice(tree: Node | None) -> Node | None:
    """Return a key that its mapping has twice, if there is one."""
    if tree is None or tree.kind not in (SEQUENCE, MAPPING):
        return None
    if tree.kind == SEQUENCE:
        return next((twice for node in tree.children if (twice := _named_twice(node))), None)
    seen: set[str] = set()
    for key, value in tree.pairs():
        if key.kind == SCALAR:
            if key.text in seen:
                return key
            seen.add(key.text)
        if twice := _named_twice(value):
            return twice
    return None
