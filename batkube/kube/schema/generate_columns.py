"""The maker of columns.json: the columns of each kind's table.

Source: `AddHandlers` in `pkg/printers/internalversion/printers.go` of the module k8s.io/kubernetes, and the field
descriptions it refers to, in `types_swagger_doc_generated.go` of k8s.io/api and k8s.io/apimachinery.

Format: `kinds` maps a kind to its columns, each `[name, type, format, description, priority]`. The description is an
index of `texts`. The kind `""` has the columns of kinds without columns of their own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .api_types import fields_of

_STRING = r'"(?:[^"\\]|\\.)*"'
_IMPORT = re.compile(r'^\t(\w+) "(k8s\.io/[^"]+)"$', re.MULTILINE)
_TABLE = re.compile(r"(\w+) :?= (?:append\(\1, )?\[\]metav1\.TableColumnDefinition\{\n(.*?)\n\t\}", re.DOTALL)
_HANDLER = re.compile(r"h\.TableHandler\((\w+), print(\w+)\)")
_PRINTER = re.compile(r"^func print(\w+)\(\w+ \*(?:\w+)\.(\w+),", re.MULTILINE)
_TEXT = rf"{_STRING}|\w+\.\w+\{{\}}[\w.]*\(\)\[{_STRING}\]"
_ATTRIBUTE = re.compile(rf"(Name|Type|Format|Priority|Description): ({_TEXT}|\d+)(?:, |(?=\}}))")
_REFERENCE = re.compile(rf"(\w+)\.(\w+)\{{\}}(?:\.(\w+))?\.SwaggerDoc\(\)\[({_STRING})\]")
_DOCUMENT = re.compile(r"var map_(\w+) = map\[string\]string\{\n(.*?)\n\}", re.DOTALL)
_ENTRY = re.compile(rf"({_STRING}):\s+({_STRING})")

Column = list[Any]

# Has columns, which its registry does not ask for (`pkg/registry/storage/csistoragecapacity/storage`).
_UNUSED = "CSIStorageCapacity"

# pkg/registry/apiservice/etcd/etcd.go of k8s.io/kube-aggregator
_AGGREGATED = (
    ("Service", "The reference to the service that hosts this API endpoint."),
    ("Available", "Whether this service is available."),
)


def generate(releases: list[str], module: Callable[[str, str], Path], target: Path) -> None:
    """Generate the columns of all kinds.

    `releases` are versions (`1.36.3`); the first that knows a kind counts. `module` returns the folder of a module.
    """
    kinds: dict[str, list[Column]] = {}
    for release in releases:
        for kind, columns in _columns(release, module).items():
            kinds.setdefault(kind, [list(column) for column in columns])
    texts = sorted({column[3] for columns in kinds.values() for column in columns})
    for columns in kinds.values():
        for column in columns:
            column[3] = texts.index(column[3])
    rows = (f"{json.dumps(kind)}:{json.dumps(kinds[kind], separators=(',', ':'))}" for kind in sorted(kinds))
    parts = '"kinds":{\n' + ",\n".join(rows) + "\n}", '"texts":[\n' + ",\n".join(map(json.dumps, texts)) + "\n]"
    target.write_text("{\n" + ",\n".join(parts) + "\n}\n")


def _columns(release: str, module: Callable[[str, str], Path]) -> dict[str, list[Column]]:
    source = (module("k8s.io/kubernetes", release) / "pkg/printers/internalversion/printers.go").read_text()
    imports = dict(_IMPORT.findall(source))
    documents: dict[str, dict[str, dict[str, str]]] = {}

    def described(reference: str) -> str:
        found = _REFERENCE.fullmatch(reference)
        if found is None:
            return str(json.loads(reference))
        alias, type_name, member, field = found.groups()
        path = imports[alias]
        if member:  # of the type of a member: apiv1.Event{}.InvolvedObject
            folder = path.removeprefix("k8s.io/api/")
            name = member[0].lower() + member[1:]
            types = {each.name: each.type for each in fields_of(f"{folder}.{type_name}")}
            type_name = types[name].rpartition(".")[2]
        if path not in documents:
            documents[path] = _documents(path, release, module)
        return documents[path][type_name].get(json.loads(field), "")

    tables: dict[str, list[Column]] = {}
    for name, body in _TABLE.findall(source):
        columns: list[Column] = []
        for line in body.strip().splitlines():
            text = line.strip().rstrip(",")
            if text.startswith("//"):
                continue
            found = dict(_ATTRIBUTE.findall(text))
            if text != "{" + ", ".join(f"{key}: {value}" for key, value in found.items()) + "}":
                raise ValueError(f"column of {name} not understood: {line}")
            strings = [json.loads(found.get(key, '""')) for key in ("Name", "Type", "Format")]
            columns.append([*strings, described(found.get("Description", '""')), int(found.get("Priority", 0))])
        tables.setdefault(name, []).extend(columns)
    printers = dict(_PRINTER.findall(source))
    kinds = {printers[printer]: tables[table] for table, printer in _HANDLER.findall(source)}
    result = {kind: columns for kind, columns in kinds.items() if not kind.endswith("List") and kind != _UNUSED}
    # pkg/registry/rest/table.go of k8s.io/apiserver
    meta = 'metav1.ObjectMeta{}.SwaggerDoc()["%s"]'
    name_column = ["Name", "string", "name", described(meta % "name"), 0]
    created = described(meta % "creationTimestamp")
    result[""] = [name_column, ["Created At", "date", "", created, 0]]
    result["APIService"] = [name_column, *([name, "string", "", text, 0] for name, text in _AGGREGATED)]
    result["APIService"].append(["Age", "string", "", created, 0])
    return result


def _documents(path: str, release: str, module: Callable[[str, str], Path]) -> dict[str, dict[str, str]]:
    """Return the field descriptions of the types of a package."""
    name, folder = re.fullmatch(r"(k8s\.io/[\w-]+)/(.*)", path).groups()  # type: ignore[union-attr]
    source = module(name, "0" + release.removeprefix("1")) / folder / "types_swagger_doc_generated.go"
    return {
        type_name: {json.loads(key): json.loads(text) for key, text in _ENTRY.findall(body)}
        for type_name, body in _DOCUMENT.findall(source.read_text())
    }
