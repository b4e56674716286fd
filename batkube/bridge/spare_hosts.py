"""Hosts that have no node at first: nodes that clients create get them.

A host is spare by its property ``batkube.io/spare``, by the label of this name that its node would have, or because a
user names it (``--spare-hosts``). A real Batsim knows nothing of it: to Batsim they are hosts on which no job runs yet.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Protocol

from batkube.bridge.errors import InputError
from batkube.bridge.hosts import NODE_PROPERTY, SPARE_PROPERTY

_OPTION = "--spare-hosts"
_RANGE = re.compile(r"([^\[\],]*)\[([0-9]+)-([0-9]+)\]([^\[\],]*)")
_MOST = 1_000_000
"""The most hosts of one range."""


class Described(Protocol):
    """A host as Batsim tells of it, or a platform file."""

    @property
    def name(self) -> str:
        """Its name in the platform."""
        ...

    @property
    def properties(self) -> Mapping[str, str]:
        """Its own properties."""
        ...

    @property
    def zone_properties(self) -> Mapping[str, str] | None:
        """The properties of the zones that hold it."""
        ...


def read_spare(text: str) -> int | list[str]:
    """Read a number of hosts, or names with commas between them: ``n1,n[8-15]``. Raises ValueError."""
    text = text.strip()
    if text.isdecimal():
        return int(text)
    names: list[str] = []
    for part in text.split(","):
        part = part.strip()
        if found := _RANGE.fullmatch(part):
            before, first, last, after = found.groups()
            if not int(first) <= int(last) < int(first) + _MOST:
                raise ValueError(f"{part}: expected a range such as n[8-15]")
            names += [f"{before}{number:0{len(first)}}{after}" for number in range(int(first), int(last) + 1)]
        elif not part or "[" in part or "]" in part:
            raise ValueError(f"expected a number, or names of hosts such as n1,n[8-15], not {text!r}")
        else:
            names.append(part)
    return names


def spare_hosts(resources: Sequence[Described], texts: Sequence[str] = ()) -> set[str]:
    """Return the names of the hosts that are spare: by their property, and by values of ``--spare-hosts``.

    A number stands for the last hosts. Raises InputError for a host that there is not, and if no other is left.
    """
    names = [resource.name for resource in resources]
    known = set(names)
    spare = {resource.name for resource in resources if _is_spare(resource)}
    for text in texts:
        wanted = [text] if text in known else read_spare(text)  # a host may be called 8
        if isinstance(wanted, int):
            wanted = names[len(names) - wanted :] if wanted < len(names) else names
        for name in wanted:
            if name not in known:
                raise InputError(f"{_OPTION} {text}: there is no host {name!r}")
        spare.update(wanted)
    if spare and len(spare) == len(known):
        raise InputError(
            f"{f'{_OPTION}: ' if texts else ''}all hosts are spare: at least one must have a node at first"
        )
    return spare


def _labels(fragment: str) -> Mapping[str, str]:
    """Return the labels in a fragment of a node. One that is none is refused where nodes are made of it."""
    if SPARE_PROPERTY not in fragment:
        return {}
    try:
        labels = json.loads(fragment)["metadata"]["labels"]
    except (ValueError, KeyError, TypeError):
        return {}
    return labels if isinstance(labels, dict) else {}


def _is_spare(resource: Described) -> bool:
    said = (resource.properties, _labels(resource.properties.get(NODE_PROPERTY, "")), resource.zone_properties or {})
    text = next((each[SPARE_PROPERTY] for each in said if SPARE_PROPERTY in each), "false")
    if text not in ("true", "false"):
        raise InputError(f"host {resource.name}: property {SPARE_PROPERTY}: expected true or false, not {text!r}")
    return text == "true"
