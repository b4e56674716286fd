"""Create: POST of an object to its collection."""

from __future__ import annotations

from typing import Any

from ..storage.store import Version
from .pipeline import carry_out
from .write import Write

JSON = dict[str, Any]


def create(write: Write, obj: JSON) -> Version:
    """Store a new object, which belongs to the call from now on. A dry run returns the object as it would be stored."""
    return carry_out(write, obj)
