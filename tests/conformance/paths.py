"""Paths into an answer: `a.b[0].c`, `a[name=x].b`, `~1` for a dot in a key."""

import re
from typing import Any

JSON = Any


def find(value: JSON, path: str) -> JSON:
    """The value at the path; None where there is none."""
    for name, selector in re.findall(r"([^.\[\]]+)|\[([^\]]*)\]", path):
        if name:
            value = value.get(name.replace("~1", ".")) if isinstance(value, dict) else None
        elif not isinstance(value, list):
            return None
        elif "=" in selector:
            key, wanted = selector.replace("~1", ".").split("=", 1)
            value = next((item for item in value if str(find(item, key)) == wanted), None)
        else:
            value = value[int(selector)] if int(selector) < len(value) else None
    return value
