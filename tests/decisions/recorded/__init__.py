"""Decisions of kube-schedulers on kube-apiserver: a file for each version of theirs, a line for each scenario."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

JSON = dict[str, Any]
VERSIONS = ("1.36.3", "1.34.3")


def read(version: str) -> dict[str, list[JSON]]:
    """The decisions in each scenario, by its number; nothing where none are recorded."""
    file = _file(version)
    found: dict[str, list[JSON]] = json.loads(file.read_text()) if file.exists() else {}
    return found


def write(version: str, decisions: dict[str, list[JSON]]) -> None:
    lines = (f'"{number}": {json.dumps(decisions[number])}' for number in sorted(decisions, key=int))
    _file(version).write_text("{\n" + ",\n".join(lines) + "\n}\n")


def _file(version: str) -> Path:
    return Path(__file__).with_name(f"{version}.json")
