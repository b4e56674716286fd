"""The maker of internal.json: the fields of the real server's internal structs, in their order and by Go's names.

Some errors of the real server print these structs. Source: `pkg/apis/GROUP/types.go` of k8s.io/kubernetes. Its structs
are those of the published types, except for the order and the place of some fields.

Format: the published type, and the names of the fields of its internal struct. An embedded struct has its own name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

_STRUCT = re.compile(r"^type (\w+) struct \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"^\t(?:\w+\.)?([A-Z]\w*(?:, [A-Z]\w*)*)(?=\s)", re.MULTILINE)
# Those that errors print, and all that are in them.
_ROOTS = {
    "core": ("PodSpec", "EphemeralContainer", "PersistentVolumeSpec", "PersistentVolumeClaimSpec", "ObjectReference"),
    "resource": ("ResourceClaimSpec", "ResourceClaimTemplateSpec", "AllocationResult"),
}


def generate(module: Path, target: Path) -> None:
    """Generate the names of internal fields. `module` is the folder of k8s.io/kubernetes."""
    rows = []
    for group, roots in _ROOTS.items():
        types = _types((module / "pkg/apis" / group / "types.go").read_text(), roots)
        rows += [f'"{group}/v1.{name}":{json.dumps(types[name], separators=(",", ":"))}' for name in sorted(types)]
    target.write_text("{\n" + ",\n".join(rows) + "\n}\n")


def _types(source: str, roots: Iterable[str]) -> dict[str, list[str]]:
    """Return the fields of some structs and of all structs inside them."""
    structs = dict(_STRUCT.findall(source))
    types: dict[str, list[str]] = {}
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name in types or name not in structs:
            continue
        body = re.sub(r"//.*", "", structs[name])
        types[name] = [field for names in _FIELD.findall(body) for field in names.split(", ")]
        waiting += re.findall(r"[\s\]*]([A-Z]\w+)\s*$", body, re.MULTILINE)
    return types
