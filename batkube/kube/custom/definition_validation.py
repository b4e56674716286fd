"""The validation of a CustomResourceDefinition (`apiextensions-apiserver/pkg/apis/apiextensions/validation`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ..apimachinery.metadata import Errors, immutable, problems, validate_changed, validate_new
from ..apimachinery.names import Problems, dns_1035_label, dns_subdomain
from ..apimachinery.status import FieldError
from ..kinds.admissionregistration.webhooks import validate_client, validate_review_versions
from ..kinds.published import validate_field
from .schema_validation import has_defaults, unknown_formats, validate_schema
from .structural import field_at

JSON = dict[str, Any]

_TYPES = "apiextensions/v1"
_APPROVED = "api-approved.kubernetes.io"
_SCOPES = ("Cluster", "Namespaced")
_COLUMN_TYPES = ("boolean", "date", "integer", "number", "string")
_COLUMN_FORMATS = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")
_MAX_SELECTABLE = 8
# The parts of versions, and where the real server has those that all versions share.
_PARTS = {
    "schema": "validation",
    "subresources": "subresources",
    "additionalPrinterColumns": "additionalPrinterColumns",
    "selectableFields": "selectableFields",
}


def validate_definition(obj: JSON) -> Errors:
    """Return all errors in a new definition."""
    plural, group = obj["spec"]["names"].get("plural") or "", obj["spec"].get("group") or ""

    def name_rule(name: str) -> Problems:
        other = () if name == f"{plural}.{group}" else ('must be spec.names.plural+"."+spec.group',)
        return (*dns_subdomain(name), *other)

    errors = validate_new(obj["metadata"], name_rule, generic=True) + _validate_spec(obj["spec"], {})
    return errors + _validate_stored(obj) + _validate_approval(obj, None) + _validate_preserving(obj["spec"])


def validate_changed_definition(new: JSON, old: JSON) -> Errors:
    """Return all errors in a changed definition; `old` is the stored one."""
    errors = validate_changed(new["metadata"], old["metadata"], generic=True) + _validate_spec(new["spec"], old["spec"])
    spec, before = new["spec"], old["spec"]
    conditions = (old.get("status") or {}).get("conditions") or ()
    if any(one.get("type") == "Established" and one.get("status") == "True" for one in conditions):
        errors += immutable("spec.scope", spec.get("scope"), before.get("scope"))
        errors += immutable("spec.names.kind", spec["names"].get("kind"), before["names"].get("kind"))
    errors += immutable("spec.group", spec.get("group"), before.get("group"))
    errors += immutable("spec.names.plural", spec["names"].get("plural"), before["names"].get("plural"))
    return errors + _validate_stored(new) + _validate_approval(new, old) + _validate_preserving(spec)


def formats_of(spec: JSON) -> list[str]:
    """Return the unknown formats in the schemas. A schema that all versions share is checked once."""
    return [form for schema, _ in _schemas(spec) for form in unknown_formats(schema)]


def _validate_spec(spec: JSON, before: JSON) -> Errors:
    """Check the spec. `before` is the spec that the definition had."""
    of, scope, versions = f"{_TYPES}.CustomResourceDefinitionSpec", spec.get("scope") or "", spec.get("versions") or []
    errors = validate_field(of, spec, "group", "spec") or _validate_group(spec["group"])
    errors += validate_field(of, spec, "scope", "spec")
    if scope and scope not in _SCOPES:
        errors.append(FieldError.not_supported("spec.scope", scope, _SCOPES))
    errors += [
        FieldError.required(f"spec.versions[{index}].schema.openAPIV3Schema")
        for index, version in enumerate(versions)
        if (version.get("schema") or {}).get("openAPIV3Schema") is None
    ]
    preserving = spec.get("preserveUnknownFields")
    if preserving and any(has_defaults(schema) for schema, _ in _schemas(spec)):
        why = "must be false in order to use defaults in the schema"
        errors.append(FieldError.invalid("spec.preserveUnknownFields", True, why))
    known = {version.get("name") or "": version.get("schema") for version in before.get("versions") or ()}
    errors += _validate_versions(versions, _as_shown(spec.get("versions")), known) + _validate_names(spec["names"])
    errors += _validate_parts(versions, known)
    conversion = spec.get("conversion") or {}
    if preserving and conversion.get("strategy") != "None":
        why = "must be None if spec.preserveUnknownFields is true"
        errors.append(FieldError.invalid("spec.conversion.strategy", conversion.get("strategy"), why))
    return errors + _validate_conversion(conversion)


def _validate_preserving(spec: JSON) -> Errors:
    if not spec.get("preserveUnknownFields"):
        return []
    why = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
    return [FieldError.invalid("spec.preserveUnknownFields", True, why)]


def _shared(versions: list[JSON], key: str) -> bool:
    """Return True if all versions have the same value. The real server then has it once, for all of them."""
    first = versions[0].get(key) if versions else None
    return bool(first or first == {}) and all(version.get(key) == first for version in versions)


def _parts(versions: list[JSON], index: int | None = None) -> Iterator[tuple[str, Any, str]]:
    """Yield the parts of a version, with their names and paths; without an index those that all versions share."""
    for key, once in _PARTS.items():
        if _shared(versions, key):
            if index is None:
                yield key, versions[0][key], f"spec.{once}"
        elif index is not None and versions[index].get(key) is not None:
            yield key, versions[index][key], f"spec.versions[{index}].{key}"


def _schemas(spec: JSON) -> Iterator[tuple[JSON, str]]:
    versions = spec.get("versions") or []
    for index in (*range(len(versions)), None):
        for key, part, path in _parts(versions, index):
            if key == "schema" and part.get("openAPIV3Schema") is not None:
                yield part["openAPIV3Schema"], f"{path}.openAPIV3Schema"


def _validate_approval(new: JSON, old: JSON | None) -> Errors:
    """Check that a definition in a group of Kubernetes' own was approved."""
    group = new["spec"].get("group") or ""
    if not f".{group}".endswith((".k8s.io", ".kubernetes.io")):
        return []
    said, before = ((one or {}).get("metadata", {}).get("annotations") or {} for one in (new, old))
    if old is not None and bool(said.get(_APPROVED)) == bool(before.get(_APPROVED)):
        return []
    path, value = f"metadata.annotations[{_APPROVED}]", said.get(_APPROVED) or ""
    see = "https://github.com/kubernetes/enhancements/pull/1111"
    if not value:
        why = f'protected groups must have approval annotation "{_APPROVED}", see {see}'
        return [FieldError.required(path, why)]
    if value.startswith("unapproved") or ("://" in value and value.partition("://")[2].strip("/")):
        return []
    why = f'protected groups must have approval annotation "{_APPROVED}" with either a URL or a reason starting with '
    return [FieldError.invalid(path, value, f'{why}"unapproved", see {see}')]


def _validate_group(group: str) -> Errors:
    if wrong := dns_subdomain(group):
        return [FieldError.invalid("spec.group", group, ",".join(wrong))]
    if "." not in group:
        return [FieldError.invalid("spec.group", group, "should be a domain with at least one dot")]
    return []


def _validate_names(names: JSON) -> Errors:
    """Check the names that a definition asks for. All of them must be given."""
    missing = [key for key in ("plural", "singular", "kind", "listKind") if not names.get(key)]
    return [FieldError.required(f"spec.names.{key}") for key in missing] + validate_names(names, "spec.names")


def validate_names(names: JSON, path: str) -> Errors:
    """Check the given names."""
    errors: Errors = []
    for key in ("plural", "singular", "kind", "listKind"):
        name = names.get(key) or ""
        mixed = key in ("kind", "listKind")
        if name and (wrong := dns_1035_label(name.lower() if mixed else name)):
            told = "may have mixed case, but should otherwise match: " if mixed else ""
            errors.append(FieldError.invalid(f"{path}.{key}", name, told + ",".join(wrong)))
    for key in ("shortNames", "categories"):
        for index, name in enumerate(names.get(key) or ()):
            errors += problems(f"{path}.{key}[{index}]", name, dns_1035_label(name))
    if names.get("kind") and names.get("kind") == names.get("listKind"):
        errors.append(FieldError.invalid(f"{path}.listKind", names["kind"], "kind and listKind may not be the same"))
    return errors


def _validate_versions(versions: list[JSON], shown: Any, known: JSON) -> Errors:
    errors: Errors = []
    names = [version.get("name") or "" for version in versions]
    for index, version in enumerate(versions):
        path = f"spec.versions[{index}]"
        if wrong := dns_1035_label(names[index]):
            errors.append(FieldError.invalid(f"{path}.name", names[index], ",".join(wrong)))
        errors += problems(f"{path}.deprecationWarning", version.get("deprecationWarning"), _deprecation(version))
        errors += _validate_parts(versions, known, index)
    if len(set(names)) != len(names):
        errors.append(FieldError.invalid("spec.versions", shown, "must contain unique version names"))
    if sum(bool(version.get("storage")) for version in versions) != 1:
        why = "must have exactly one version marked as storage version"
        errors.append(FieldError.invalid("spec.versions", shown, why))
    if names and names[0] and (wrong := dns_1035_label(names[0])):
        errors.append(FieldError.invalid("spec.version", names[0], ",".join(wrong)))
    return errors


def _validate_parts(versions: list[JSON], known: JSON, index: int | None = None) -> Errors:
    """Check the schema and what goes with it: of a version, or what all versions share. `known` are the schemas that
    the definition had, by version.
    """
    errors: Errors = []
    those = versions if index is None else [versions[index]]
    for key, part, path in _parts(versions, index):
        if key == "schema" and part.get("openAPIV3Schema") is not None:
            with_status = any("status" in (one.get("subresources") or {}) for one in those)
            unchanged = part == known.get(those[0].get("name") or "")
            errors += validate_schema(
                part["openAPIV3Schema"], f"{path}.openAPIV3Schema", has_status=with_status, unchanged=unchanged
            )
        elif key == "subresources" and part.get("scale") is not None:
            errors += _validate_scale(part["scale"], f"{path}.scale")
        elif key == "additionalPrinterColumns":
            errors += [error for at, column in enumerate(part) for error in _validate_column(column, f"{path}[{at}]")]
        elif key == "selectableFields":
            schema = (those[0].get("schema") or {}).get("openAPIV3Schema")
            # The real server has the schema for all versions, or for each: it looks for it where the fields are.
            if not schema or _shared(versions, "schema") != (index is None):
                of = "validations.schema is" if index is None else "`version.schema.openAPIV3Schema` is not"
                errors.append(FieldError.invalid(path, "", f"may only be set when {of} included"))
            else:
                errors += _validate_selectable(part, schema, path)
    return errors


def _as_shown(versions: list[JSON] | None) -> Any:
    """Return versions as the real server shows its internal structs.

    If all versions share their schema, subresources, columns and selectable fields, these are not in the structs. If
    not, return the names of the versions.
    """
    versions = versions or []
    if any(version.get(key) and not _shared(versions, key) for version in versions for key in _PARTS):
        return [version.get("name") or "" for version in versions]
    plain = {"Schema": None, "Subresources": None, "AdditionalPrinterColumns": None, "SelectableFields": None}
    return [
        {
            "Name": version.get("name") or "",
            "Served": bool(version.get("served")),
            "Storage": bool(version.get("storage")),
            "Deprecated": bool(version.get("deprecated")),
            "DeprecationWarning": version.get("deprecationWarning"),
            **plain,
        }
        for version in versions
    ]


def _deprecation(version: JSON) -> list[str]:
    text = version.get("deprecationWarning")
    if text is None:
        return []
    if not version.get("deprecated"):
        return ["can only be set for deprecated versions"]
    wrong = ["must be <= 256 characters long"] if len(text.encode()) > 256 else []
    if not text:
        wrong.append("must not be an empty string")
    bad = next((index for index, sign in enumerate(text) if not sign.isprintable()), None)
    if bad is not None:
        why = "must only contain printable UTF-8 characters; non-printable character found at index"
        wrong.append(f"{why} {len(text[:bad].encode())}")
    return wrong


def _json_path(value: str) -> Problems:
    return () if value.startswith(".") else ("must be a simple json path starting with .",)


def _validate_scale(scale: JSON, path: str) -> Errors:
    errors: Errors = []
    for key, parents, needed in (
        ("specReplicasPath", (".spec.",), True),
        ("statusReplicasPath", (".status.",), True),
        ("labelSelectorPath", (".spec.", ".status."), False),
    ):
        value = scale.get(key) or ""
        under = parents[0].rstrip(".") if needed else "either .spec or .status"
        if value and not _json_path(value) and not value.startswith(parents):
            errors.append(FieldError.invalid(f"{path}.{key}", value, f"should be a json path under {under}"))
        elif value:
            errors += problems(f"{path}.{key}", value, _json_path(value))
        elif needed:
            errors.append(FieldError.required(f"{path}.{key}"))
    return errors


def _validate_column(column: JSON, path: str) -> Errors:
    column_type, form, place = (column.get(key) or "" for key in ("type", "format", "jsonPath"))
    of, why = f"{_TYPES}.CustomResourceColumnDefinition", f"must be one of {','.join(_COLUMN_TYPES)}"
    errors = validate_field(of, column, "name", path) + validate_field(of, column, "type", path, missing=why)
    if column_type and column_type not in _COLUMN_TYPES:
        errors.append(FieldError.invalid(f"{path}.type", column_type, why))
    if form and form not in _COLUMN_FORMATS:
        errors.append(FieldError.invalid(f"{path}.format", form, f"must be one of {','.join(_COLUMN_FORMATS)}"))
    if not place:
        return [*errors, FieldError.required(f"{path}.JSONPath")]
    return errors + problems(f"{path}.JSONPath", place, _json_path(place))


def _validate_selectable(fields: list[JSON], schema: JSON, path: str) -> Errors:
    errors: Errors = []
    seen: set[str] = set()
    for index, field in enumerate(fields):
        at, place = f"{path}[{index}].jsonPath", field.get("jsonPath") or ""
        if not place:
            errors += validate_field(f"{_TYPES}.SelectableField", field, "jsonPath", f"{path}[{index}]")
            continue
        named = field_at(schema, place)
        if named is None:
            why = "does not refer to a valid field"
            if not place.startswith((".", "[")):
                why = f"expected [ or . but got: {re.split(r'[.[]', place)[0]}"
            elif "[" in place:
                why = "array notation is not allowed"
            errors.append(FieldError.invalid(at, place, f"is an invalid path: {why}"))
            continue
        if place.startswith(".metadata"):
            errors.append(FieldError.invalid(at, place, "must not point to fields in metadata"))
        if named.get("type") not in ("string", "boolean", "integer"):
            why = (
                "must point to a field of type string, boolean or integer. Enum string fields and strings with formats "
                "are allowed."
            )
            errors.append(FieldError.invalid(at, place, why))
        if place in seen:
            errors.append(FieldError.duplicate(at, place))
        seen.add(place)
    return [*errors, FieldError.too_many(path, len(seen), _MAX_SELECTABLE)] if len(seen) > _MAX_SELECTABLE else errors


def _validate_conversion(conversion: JSON) -> Errors:
    path, strategy, webhook = "spec.conversion", conversion.get("strategy") or "", conversion.get("webhook")
    client, reviews = (webhook or {}).get("clientConfig"), (webhook or {}).get("conversionReviewVersions") or []
    errors = validate_field(f"{_TYPES}.CustomResourceConversion", conversion, "strategy", path)
    if strategy not in ("", "None", "Webhook"):
        errors.append(FieldError.not_supported(f"{path}.strategy", strategy, ("None", "Webhook")))
    if strategy != "Webhook":
        why = "should not be set when strategy is not set to Webhook"
        told = (("webhookClientConfig", client is not None), ("conversionReviewVersions", bool(reviews)))
        return errors + [FieldError.forbidden(f"{path}.{field}", why) for field, given in told if given]
    if client is None:
        why = "required when strategy is set to Webhook"
        errors.append(FieldError.required(f"{path}.webhookClientConfig", why))
    else:
        errors += validate_client(client, f"{path}.webhookClientConfig")
    if not reviews:
        return [*errors, FieldError.required(f"{path}.conversionReviewVersions")]
    return errors + validate_review_versions(reviews, f"{path}.conversionReviewVersions")


def _validate_stored(obj: JSON) -> Errors:
    path, versions = "status.storedVersions", obj["spec"].get("versions") or []
    stored: list[str] = (obj.get("status") or {}).get("storedVersions") or []
    if not stored:
        return [FieldError.invalid(path, None, "must have at least one stored version")]
    errors: Errors = []
    left = {name: index for index, name in enumerate(stored)}
    for version in versions:
        if left.pop(version.get("name") or "", None) is None and version.get("storage"):
            why = f"must have the storage version {version.get('name')}"
            errors.append(FieldError.invalid(path, stored, why))
    for name, index in left.items():
        why = (
            f"missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions "
            f"until a storage migration ensures no data remains persisted in {name} and removes {name} from "
            "status.storedVersions"
        )
        errors.append(FieldError.invalid(f"{path}[{index}]", name, why))
    return errors
