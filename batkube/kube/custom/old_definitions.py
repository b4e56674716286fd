"""The conversion of definitions of apiextensions.k8s.io/v1beta1 to v1. Schedulers from before Kubernetes 1.16 bring
them.

In v1beta1 the parts that all versions share are once in the spec itself. Objects keep fields that no schema knows,
unless the definition forbids it. Schemas need not name the type of every part. Nobody has to approve names below k8s.io
(`pkg/apis/apiextensions/v1beta1` of k8s.io/apiextensions-apiserver). v1 demands all of this.
"""

from __future__ import annotations

from typing import Any

JSON = dict[str, Any]

API_VERSION = "apiextensions.k8s.io/v1beta1"

_ALIKE = ("subresources", "additionalPrinterColumns")
_KEEP_ALL = "x-kubernetes-preserve-unknown-fields"
_APPROVED = "api-approved.kubernetes.io"
_PROTECTED = (".k8s.io", ".kubernetes.io")


def modernized(definition: JSON) -> JSON:
    """Return the same definition in v1. An object that is not a definition is left for validation to refuse."""
    spec = dict(definition.get("spec") or {})
    alike = {name: spec.pop(name, None) for name in _ALIKE}
    alike["schema"] = spec.pop("validation", None)
    only = spec.pop("version", None)
    keeps_all = spec.pop("preserveUnknownFields", True) is not False
    versions = spec.get("versions") or [{"name": only, "served": True, "storage": True}]
    spec["versions"] = [_version(version, alike, keeps_all) for version in versions]
    if conversion := spec.get("conversion"):
        spec["conversion"] = _conversion(conversion)
    metadata = dict(definition.get("metadata") or {})
    if str(spec.get("group")).endswith(_PROTECTED):
        unapproved = {_APPROVED: "unapproved, from before approvals"}
        metadata["annotations"] = unapproved | (metadata.get("annotations") or {})
    return {**definition, "apiVersion": "apiextensions.k8s.io/v1", "metadata": metadata, "spec": spec}


def _version(version: JSON, alike: JSON, keeps_all: bool) -> JSON:
    new = {**{name: value for name, value in alike.items() if value is not None}, **version}
    if columns := new.get("additionalPrinterColumns"):
        new["additionalPrinterColumns"] = [
            {("jsonPath" if name == "JSONPath" else name): value for name, value in column.items()}
            for column in columns
        ]
    schema = _structural((new.get("schema") or {}).get("openAPIV3Schema") or {"type": "object"}, keeps_all)
    if "metadata" in schema.get("properties", ()):
        schema["properties"]["metadata"] = {"type": "object"}  # whose fields every object has
    new["schema"] = {"openAPIV3Schema": schema}
    return new


def _structural(schema: JSON, keeps_all: bool) -> JSON:
    """Return the schema with the type that its parts imply. An empty schema allows any value."""
    new = dict(schema)
    if "properties" in new:
        new["properties"] = {name: _structural(part, keeps_all) for name, part in new["properties"].items()}
    for name in ("items", "additionalProperties"):
        if isinstance(new.get(name), dict):
            new[name] = _structural(new[name], keeps_all)
    if "type" not in new and not new.get("x-kubernetes-int-or-string"):
        if "items" in new:
            new["type"] = "array"
        elif "properties" in new or "additionalProperties" in new:
            new["type"] = "object"
        else:
            new[_KEEP_ALL] = True
    if keeps_all and new.get("type") == "object" and "additionalProperties" not in new:
        new[_KEEP_ALL] = True
    return new


def _conversion(conversion: JSON) -> JSON:
    new = dict(conversion)
    client, versions = new.pop("webhookClientConfig", None), new.pop("conversionReviewVersions", None)
    if client is not None or versions is not None:
        new["webhook"] = {"clientConfig": client, "conversionReviewVersions": versions}
    return new
