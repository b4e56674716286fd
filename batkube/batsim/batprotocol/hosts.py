"""Hosts in batprotocol and in the messages of protocol 4."""

from batkube.batsim.batprotocol.document import Document
from batkube.batsim.messages import Resource

SLEEP_PSTATES = "sleep_pstates"
"""The property with the power states in which a host is off: ``SLEEP:SWITCH_ON:SWITCH_OFF``, comma-separated."""


def read_host(host: Document) -> Resource:
    """Read a Host. Batsim 5 tells no ``role`` for a compute host."""
    properties = {item["key"]: item["value"] for item in host.get("properties", ())}
    properties.setdefault("role", "")
    return Resource(
        id=host["id"],
        name=host["name"],
        state=host["state"].lower(),
        properties=properties,
        zone_properties={item["key"]: item["value"] for item in host.get("zone_properties", ())},
        cores=host["core_count"],
        speeds=host.get("computation_speed"),
        pstate=host["pstate"],
    )


def write_host(resource: Resource) -> Document:
    """Return the Host of a resource, the inverse of ``read_host``."""
    properties = {key: value for key, value in resource.properties.items() if (key, value) != ("role", "")}
    return {
        "id": resource.id,
        "name": resource.name,
        "pstate": resource.pstate or 0,
        "pstate_count": len(resource.speeds or [0]),
        "state": resource.state.upper(),
        "properties": _pairs(properties),
        "zone_properties": _pairs(resource.zone_properties or {}),
        "core_count": resource.cores or 1,
        "computation_speed": resource.speeds or [],
    }


def sleep_pstates(resource: Resource) -> frozenset[int]:
    """Return the power states in which the host is off."""
    found = set()
    for triple in resource.properties.get(SLEEP_PSTATES, "").split(","):
        number = triple.partition(":")[0].strip()
        if number.isdecimal():
            found.add(int(number))
    return frozenset(found)


def _pairs(properties: dict[str, str]) -> list[Document]:
    return [{"key": key, "value": value} for key, value in properties.items()]
