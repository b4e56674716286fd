"""Recorded replies given again, word for word, to the exact simulator: it must say what Batsim said."""

import json
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from batkube.batsim.codec import decode, encode_as_batsim
from batkube.batsim.errors import SimulatorError
from batkube.batsim.messages import Message
from batkube.simulator.embedded import EmbeddedSimulator
from tests.batsim.transcripts import Scenario
from tests.simulator.replay import inputs

PRINTED = 1.0000001e-6
"""Seconds: a microsecond, and what is lost where dates are printed."""


@dataclass
class Exchange:
    """The outcome of a recording played again."""

    simulator: EmbeddedSimulator
    said: list[str] = field(default_factory=list)
    """The messages of the simulator, in Batsim's spelling."""
    error: SimulatorError | None = None
    """The reason why it stopped before the last recorded reply, if so."""


def play(scenario: Scenario) -> Exchange:
    """Give the recorded replies one by one, whatever the simulator says."""
    given = inputs(scenario)
    exchange = Exchange(EmbeddedSimulator(given.platform, given.workloads, replace(given.options, exact=True)))
    try:
        for _, reply in scenario.dialogue:
            message: Message = exchange.simulator.next_message()
            text = encode_as_batsim(message).decode().replace(f"{scenario.folder}/", "/SCENARIO/")
            exchange.said.append(text if scenario.name.startswith("v4") else _of_batsim_3(text))
            exchange.simulator.answer(decode(reply))
    except SimulatorError as error:
        exchange.error = error
    return exchange


def _of_batsim_3(text: str) -> str:
    """A message without what came with Batsim 4."""
    message = json.loads(text, parse_float=orjson.Fragment)
    for event in message["events"]:
        if event["type"] == "SIMULATION_BEGINS":
            for member in ("profile-reuse-enabled", "sched-config"):
                del event["data"]["config"][member]
            for host in (*event["data"]["compute_resources"], *event["data"]["storage_resources"]):
                del host["zone_properties"]
    return orjson.dumps(message).decode()


def difference(ours: str, theirs: str) -> str:
    """The first member in which two messages differ by more than how a microsecond is rounded; empty for none."""
    return _differs(json.loads(ours), json.loads(theirs), "message")


def _differs(ours: Any, theirs: Any, where: str) -> str:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        if ours.keys() != theirs.keys():
            return f"{where}: members {sorted(ours)}, Batsim has {sorted(theirs)}"
        parts = [(ours[key], theirs[key], f"{where}.{key}") for key in theirs]
    elif isinstance(ours, list) and isinstance(theirs, list):
        if len(ours) != len(theirs):
            return f"{where}: {len(ours)} elements {_types(ours)}, Batsim has {len(theirs)} {_types(theirs)}"
        parts = [(our, their, f"{where}[{index}]") for index, (our, their) in enumerate(zip(ours, theirs, strict=True))]
    elif isinstance(ours, float) and isinstance(theirs, float):
        # At a date of 1e12 s Batsim's own numbers are a tenth of a millisecond apart.
        same = abs(ours - theirs) <= PRINTED + 4e-16 * abs(theirs)
        return "" if same else f"{where}: {ours}, Batsim has {theirs}"
    else:
        return "" if (type(ours), ours) == (type(theirs), theirs) else f"{where}: {ours!r}, Batsim has {theirs!r}"
    return next((found for part in parts if (found := _differs(*part))), "")


def _types(values: list[Any]) -> list[Any]:
    return [value.get("type") if isinstance(value, dict) else value for value in values]
