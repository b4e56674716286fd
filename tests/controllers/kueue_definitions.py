"""Kueue's CustomResourceDefinitions, as its own installation has them."""

from pathlib import Path
from typing import Any

import yaml

JSON = dict[str, Any]


def kueue_definitions(module: Path) -> list[JSON]:
    """Return them from Kueue's module, with its patches."""
    crd = module / "config" / "components" / "crd"
    found = [yaml.safe_load(path.read_text()) for path in sorted((crd / "bases").glob("*.yaml"))]
    for definition in found:
        patch = crd / "patches" / f"webhook_in_{definition['spec']['names']['plural']}.yaml"
        if patch.exists():
            definition["spec"]["conversion"] = yaml.safe_load(patch.read_text())["spec"]["conversion"]
    return found
