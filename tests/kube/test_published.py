"""The rules that come from the published schema: `batkube/kube/kinds/published.py` and its data."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from batkube.kube.apimachinery.status import ApiError
from batkube.kube.kinds.published import validate_field, validate_required
from batkube.kube.schema.field_rules import rule_of
from batkube.kube.schema.generate import FOLDER
from batkube.kube.schema.generate_field_rules import generate
from batkube.kube.server import ApiServer

ROOT = Path(__file__).parents[2]
JSON = dict[str, Any]


def texts(errors: list[Any]) -> list[str]:
    return [str(error) for error in errors]


def test_the_rules_are_those_of_the_documents_that_the_server_publishes(tmp_path: Path) -> None:
    generate(FOLDER / "openapi.json.xz", tmp_path / "rules.json")
    assert (tmp_path / "rules.json").read_text() == (FOLDER / "field_rules.json").read_text()


def calls() -> Iterator[tuple[str, str, str]]:
    """Yield the place, type and field of each check that names both, of all modules."""
    for file in sorted((ROOT / "batkube/kube").rglob("*.py")):
        module = importlib.import_module(".".join(file.relative_to(ROOT).with_suffix("").parts))
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "validate_field":
                words = [ast.unparse(node.args[index]) for index in (0, 2)]
                try:
                    of, field = (eval(word, vars(module)) for word in words)
                except NameError:  # a loop has several
                    continue
                yield f"{file.relative_to(ROOT)}:{node.lineno}", of, field


@pytest.mark.parametrize("call", list(calls()), ids=lambda call: f"{call[1]}.{call[2]}")
def test_the_schema_says_something_of_each_field_that_is_looked_up(call: tuple[str, str, str]) -> None:
    place, of, field = call
    rule = rule_of(of, field)
    assert rule.required or rule.values, f"{place}: nothing is published of {of}.{field}"


@pytest.mark.parametrize(
    ("of", "obj", "field", "expected"),
    [
        ("core/v1.Container", {"name": ""}, "name", ["at.name: Required value"]),
        ("core/v1.Container", {}, "imagePullPolicy", []),
        (
            "core/v1.Container",
            {"imagePullPolicy": "never"},
            "imagePullPolicy",
            [
                'at.imagePullPolicy: Unsupported value: "never": supported values: "Always", "IfNotPresent", "Never"',
            ],
        ),
        # A pointer to an empty text says something, where a text without one is as good as absent.
        (
            "core/v1.PersistentVolumeClaimSpec",
            {"volumeMode": ""},
            "volumeMode",
            ['at.volumeMode: Unsupported value: "": supported values: "Block", "Filesystem"'],
        ),
        ("core/v1.PersistentVolumeSpec", {"persistentVolumeReclaimPolicy": ""}, "persistentVolumeReclaimPolicy", []),
        ("certificates/v1.CertificateSigningRequestSpec", {"usages": ["any", "server auth"]}, "usages", []),
        ("networking/v1.HTTPIngressRuleValue", {"paths": None}, "paths", ["at.paths: Required value"]),
        ("core/v1.ContainerPort", {"containerPort": 0}, "containerPort", ["at.containerPort: Required value"]),
    ],
)
def test_a_field_is_required_and_has_one_of_its_values(of: str, obj: JSON, field: str, expected: list[str]) -> None:
    assert texts(validate_field(of, obj, field, "at")) == expected


def test_each_item_of_a_list_has_one_of_the_values() -> None:
    rule = {"operations": ["CREATE", "READ"]}
    (error,) = validate_field("admissionregistration/v1.RuleWithOperations", rule, "operations", "rules[0]")
    assert error.field == "rules[0].operations[1]"
    assert error.message == (
        'Unsupported value: "READ": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"'
    )


def test_required_fields_of_a_source_are_told_in_the_order_of_its_fields() -> None:
    source = {"targetPortal": "", "lun": 0}
    assert texts(validate_required("core/v1.ISCSIVolumeSource", source, "at")) == [
        "at.targetPortal: Required value",
        "at.iqn: Required value",
    ]


def test_an_unknown_field_is_a_fault_of_the_program() -> None:
    with pytest.raises(LookupError, match=r"core/v1\.Container has no field 'pullPolicy'"):
        rule_of("core/v1.Container", "pullPolicy")


def test_causes_from_the_schema_stand_where_the_real_server_has_them() -> None:
    server = ApiServer(now=lambda: 0.0)
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "a"},
        "spec": {
            "accessModes": ["Once"],
            "storageClassName": "A",
            "volumeMode": "Tape",
            "resources": {"requests": {"storage": "0"}},
        },
    }
    with pytest.raises(ApiError) as refused:
        server.create("persistentvolumeclaims", claim, "default")
    causes = (refused.value.details or {})["causes"]
    assert [cause["field"] for cause in causes] == [
        "spec.accessModes",
        "spec.resources[storage]",
        "spec.storageClassName",
        "spec.volumeMode",
    ]
