"""The command that makes the data files of this package: `python -m batkube.kube.schema.generate [PART ...]`.

It needs Go, whose module cache has (or fetches) the modules named in RELEASES. Parts: resources, messages, columns,
list_types, internal, openapi, field_rules (of what openapi has made). Without a part it makes all. The output depends
on these modules alone.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from . import (
    generate_columns,
    generate_field_rules,
    generate_internal,
    generate_list_types,
    generate_messages,
    generate_openapi,
    generate_resources,
)

RELEASES = {"1.34": "1.34.3", "1.35": "1.35.4", "1.36": "1.36.3", "1.37": "1.37.2"}

EMULATED = "1.36"  # the release that a server is by default

FOLDER = Path(__file__).parent


def module(path: str, version: str) -> Path:
    """Return the folder of a Go module in the module cache."""
    run = subprocess.run(
        ["go", "mod", "download", "-json", f"{path}@v{version}"], check=True, capture_output=True, text=True, cwd="/"
    )
    return Path(json.loads(run.stdout)["Dir"])


def resources() -> None:
    modules = {release: module("k8s.io/kubernetes", version) for release, version in RELEASES.items()}
    generate_resources.generate(modules, FOLDER / "resources.json")


def messages() -> None:
    generate_messages.generate(RELEASES, EMULATED, FOLDER / "messages.json")


def columns() -> None:
    generate_columns.generate([RELEASES[EMULATED], RELEASES["1.37"]], module, FOLDER / "columns.json")


def list_types() -> None:
    generate_list_types.generate(module("k8s.io/kubernetes", RELEASES[EMULATED]), FOLDER / "list_types.json")


def internal() -> None:
    generate_internal.generate(module("k8s.io/kubernetes", RELEASES[EMULATED]), FOLDER / "internal.json")


def openapi() -> None:
    order = [EMULATED, *(release for release in reversed(RELEASES) if release != EMULATED)]
    modules = [module("k8s.io/kubernetes", RELEASES[release]) for release in order]
    generate_openapi.generate(modules, FOLDER / "openapi.json.xz")


def field_rules() -> None:
    generate_field_rules.generate(FOLDER / "openapi.json.xz", FOLDER / "field_rules.json")


PARTS = {
    "resources": resources,
    "messages": messages,
    "columns": columns,
    "list_types": list_types,
    "internal": internal,
    "openapi": openapi,
    "field_rules": field_rules,
}


def main(names: list[str]) -> None:
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        raise SystemExit(f"unknown part {unknown[0]!r}: choose from {', '.join(PARTS)}")
    for name in names or PARTS:
        PARTS[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
