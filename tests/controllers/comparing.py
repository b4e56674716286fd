"""The difference between two notes of a scenario, a line for each member that differs.

How often an event was told is passed over: kube-controller-manager tells some twice, as it tries again what it did on
an object that it had changed itself a moment before.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

JSON = dict[str, Any]


def differences(recorded: list[JSON], now: list[JSON]) -> list[str]:
    """Return a line for each difference."""
    found: list[str] = []
    for index in range(max(len(recorded), len(now))):
        was = recorded[index] if index < len(recorded) else {}
        new = now[index] if index < len(now) else {}
        at = f"at {was.get('at', new.get('at'))}"
        found += [f"{at}: {line}" for line in _differences("", was, new)]
    return found


def _differences(path: str, was: Any, now: Any) -> Iterator[str]:
    if isinstance(was, dict) and isinstance(now, dict):
        for key in [*was, *(key for key in now if key not in was)]:
            if key == "count" and " / event " in path:
                continue
            yield from _differences(f"{path} / {key}" if path else key, was.get(key, ...), now.get(key, ...))
    elif was != now:
        yield f"{path}: recorded {_text(was)}, now {_text(now)}"


def _text(value: Any) -> str:
    return "nothing" if value is ... else json.dumps(value, sort_keys=True)
