"""Objects with several faults at once, of those that the published schema tells: words that no enumeration has, and
required texts that are empty. The real server tells the causes in the order in which it looks at the fields.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any, NamedTuple

from batkube.kube.schema.api_types import Field, has_type, own_and_embedded_fields_of, type_of
from batkube.kube.schema.field_rules import FieldRule, rule_of

from .asking import Request
from .objects import Base

JSON = Any
Path = tuple[str | int, ...]

_AT_ONCE = (1, 2, 3, 5)


class _Spot(NamedTuple):
    """A field with a rule, in an object."""

    path: Path
    field: Field
    rule: FieldRule


def faulty(base: Base, number: int) -> Request:
    """Return the request that would create the object with some faults; the same ones for the same number."""
    chance = random.Random(f"{base.name} {number}")
    made = copy.deepcopy(base.object)
    made["metadata"].pop("ownerReferences", None)
    spots = [spot for spot in _spots(_type_of(made), made, ()) if spot.path[0] != "metadata"]
    for spot in chance.sample(spots, min(len(spots), chance.choice(_AT_ONCE))):
        _spoil(made, spot, chance)
    return Request("POST", base.collection, made, query={"dryRun": "All"})


def causes(answer: JSON) -> list[list[str]]:
    """Return the field and the message of each cause of a refusal, in their order; none if it was not refused for what
    the object says.
    """
    body = answer["body"]
    if answer["status"] != 422 or not isinstance(body, dict):
        return []
    return [[cause["field"], cause["message"]] for cause in body.get("details", {}).get("causes", ())]


def _type_of(obj: JSON) -> str:
    found = type_of(obj["apiVersion"], obj["kind"])
    assert found is not None, obj["kind"]
    return found


def _spots(type_name: str, obj: JSON, path: Path) -> Iterator[_Spot]:
    if not isinstance(obj, dict) or not has_type(type_name):
        return
    for field in own_and_embedded_fields_of(type_name):
        rule, value, at = rule_of(type_name, field.name), obj.get(field.name), (*path, field.name)
        if rule.values or (rule.required and field.type == "string"):
            yield _Spot(at, field, rule)
        within: list[tuple[Path, JSON]] = [(at, value)]
        if field.shape == "list":
            within = [((*at, index), item) for index, item in enumerate(value or ())]
        elif field.shape == "map":
            within = [((*at, key), item) for key, item in (value or {}).items()]
        for below, item in within:
            yield from _spots(field.type, item, below)


def _spoil(made: JSON, spot: _Spot, chance: random.Random) -> None:
    """Change the value in that place, unless another fault has taken away what it is in."""
    holder = made
    try:
        for step in spot.path[:-1]:
            holder = holder[step]
    except (KeyError, IndexError, TypeError):
        return
    name, values, how = spot.path[-1], list(spot.rule.values), chance.random()
    if spot.field.shape == "list":
        mixed = [[values[0], "Wrong"], values] if values else []
        holder[name] = chance.choice([[], ["wrong"], ["wrong", "wrong"], *mixed])
    elif spot.field.shape == "map":
        holder[name] = {"storage": "wrong"}
    elif values and how < 0.6:
        holder[name] = chance.choice(["Wrong", *values])
    elif how < 0.8:
        holder[name] = ""
    else:
        holder.pop(name, None)
