"""The maker of messages.json: the fields of every API type, in JSON and in protobuf.

Source: the Go types of k8s.io/api, k8s.io/apimachinery, k8s.io/apiextensions-apiserver and k8s.io/kube-aggregator, read
by reflection (`gotypes/main.go`). Reflection is used, rather than generated.proto: only the Go type tells if a field is
a pointer, and only its json tag tells if an empty one is written. Both decide what the server prints.

Format: `kinds` maps an API version to the folder of its types and the kinds in it; `messages` maps a type to its fields
in the order of the struct, each `[number, name, type, shape, flags]`. Shape: "" one value, "list", "map" (with string
keys). Flags: p pointer, e omitempty, z omitzero, i inline (of the parent's own fields in JSON). `merges` has the fields
that strategic merge patch does not simply replace: `[strategies, merge key]`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

JSON = dict[str, Any]

GO_MODULES = ("api", "apiextensions-apiserver", "apimachinery", "client-go", "kube-aggregator")

# Type names are shortened: `core/v1.Pod`, `meta/v1.ObjectMeta`, `Quantity`.
PREFIXES = {
    "k8s.io/api/": "",
    "k8s.io/apimachinery/pkg/apis/": "",
    "k8s.io/apiextensions-apiserver/pkg/apis/": "",
    "k8s.io/kube-aggregator/pkg/apis/": "",
    "k8s.io/apimachinery/pkg/api/resource.": "",
    "k8s.io/apimachinery/pkg/util/intstr.": "",
    "k8s.io/apimachinery/pkg/runtime.": "",
}
META = "meta/v1"


def generate(releases: dict[str, str], first: str, target: Path) -> None:
    """Generate the types. `releases` maps minor releases to versions (`1.36.3`).

    If releases differ, `first` counts, then the newest.
    """
    order = [first, *sorted((name for name in releases if name != first), reverse=True)]
    kinds: dict[str, tuple[str, set[str]]] = {}
    messages: dict[str, list[list[Any]]] = {}
    merges: dict[str, dict[str, list[str]]] = {}
    for release in order:
        types = _types(releases[release].removeprefix("1."))
        for key, name in types["kinds"].items():
            api_version, kind = key.split(" ")
            folder = _short(name).rpartition(".")[0]
            if folder != META or api_version == "v1":  # ListOptions and their like are in every group
                kinds.setdefault(f"{api_version} {folder}", (folder, set()))[1].add(kind)
        for name, fields in types["messages"].items():
            short = _short(name)
            new = [_row(field) for field in fields]
            known = messages.setdefault(short, new)
            numbers = {field[0] for field in known}
            known.extend(_optional(row) for row in new if row[0] not in numbers)
            for field in fields:
                if field.get("patch"):
                    merge = [field["patch"], field.get("mergeKey", "")]
                    merges.setdefault(short, {}).setdefault(field["name"], merge)
    by_version: dict[str, list[list[Any]]] = {}
    for key, (folder, names) in sorted(kinds.items()):
        by_version.setdefault(key.split(" ")[0], []).append([folder, sorted(names)])
    parts = [f'"kinds":{_lines(by_version)}', f'"messages":{_lines(messages)}', f'"merges":{_lines(merges)}']
    target.write_text("{\n" + ",\n".join(parts) + "\n}\n")


def _lines(table: dict[str, Any]) -> str:
    rows = (f"{json.dumps(key)}:{json.dumps(table[key], separators=(',', ':'))}" for key in sorted(table))
    return "{\n" + ",\n".join(rows) + "\n}"


def _row(field: JSON) -> list[Any]:
    flags = "".join(
        letter
        for letter, key in (("p", "pointer"), ("e", "omitEmpty"), ("z", "omitZero"), ("i", "inline"))
        if field.get(key)
    )
    return [field["number"], field["name"], _short(field["type"]), field["shape"], flags]


def _optional(row: list[Any]) -> list[Any]:
    """Return a field that `first` does not have. It is written only if a client sends it."""
    return row if row[3] else [*row[:4], "pe"]


def _short(name: str) -> str:
    for prefix, short in PREFIXES.items():
        if name.startswith(prefix):
            name = short + name.removeprefix(prefix)
            break
    own_encoding = ("meta/v1.Time", "meta/v1.MicroTime", "meta/v1.Duration", "meta/v1.FieldsV1")
    return name.removeprefix("meta/v1.") if name in own_encoding else name


def _types(version: str) -> JSON:
    """Return the output of gotypes, compiled against the modules of that version."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(Path(__file__).parent / "gotypes" / "main.go", folder)
        requires = "\n".join(f"\tk8s.io/{name} v0.{version}" for name in GO_MODULES)
        Path(folder, "go.mod").write_text(f"module gotypes\n\ngo 1.26.0\n\nrequire (\n{requires}\n)\n")
        environment = {**os.environ, "GOFLAGS": "-mod=mod"}
        run = subprocess.run(["go", "run", "."], cwd=folder, env=environment, check=True, stdout=subprocess.PIPE)
        types: JSON = json.loads(run.stdout)
        return types
