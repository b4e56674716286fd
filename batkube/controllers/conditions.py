"""The conditions in the status of an object."""

from typing import Any

JSON = dict[str, Any]


def condition(status: JSON, kind: str) -> JSON | None:
    """Return the condition of this type, whether it holds or not."""
    found: JSON | None = next((each for each in status.get("conditions") or () if each["type"] == kind), None)
    return found


def held(status: JSON, kind: str) -> JSON | None:
    """Return the condition of this type if it holds."""
    found = condition(status, kind)
    return found if found is not None and found["status"] == "True" else None


def is_true(obj: JSON, kind: str) -> bool:
    """Tell whether the object's condition of this type holds."""
    return held(obj.get("status", {}), kind) is not None
