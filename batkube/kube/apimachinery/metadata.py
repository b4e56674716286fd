"""The rules of ObjectMeta that hold for all kinds (k8s.io/apimachinery/pkg/api/validation/objectmeta.go).

The verbs set names, versions and uids. This module has the rules for labels, annotations, owners and finalizers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..schema.internal_json import internal
from .names import NameRule, dns_label, dns_subdomain, http_path, label_value, path_segment, qualified_name
from .status import ApiError, FieldError

JSON = dict[str, Any]
Errors = list[FieldError]

# What a client does not say of a new object, but for its names.
SYSTEM_FIELDS = (
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
)
MAX_ANNOTATIONS = 256 * 1024  # bytes, keys and values of all
# What no client changes, beside what the verbs keep as it was.
_IMMUTABLE = ("uid", "deletionTimestamp", "deletionGracePeriodSeconds")
_STANDARD_FINALIZERS = frozenset(("kubernetes", "orphan", "foregroundDeletion"))
_DUPLICATE_OWNERS = (
    ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject "
    "such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: "
)
_UNQUALIFIED = "name is neither a standard finalizer name nor is it fully qualified"


def check_namespace(metadata: JSON, namespace: str) -> None:
    """Check that an object in a request to a namespace names that namespace or none.

    In a request without a namespace the object's namespace is removed.
    """
    if not namespace:
        metadata.pop("namespace", None)
        return
    given = metadata.get("namespace") or namespace
    if given != namespace:
        what = "the namespace of the provided object does not match the namespace sent on the request"
        raise ApiError.bad_request(what)


def check_name(metadata: JSON, name: str) -> None:
    """Check that an object in a request for a name has that name."""
    given = metadata.get("name") or ""
    if given != name:
        raise ApiError.bad_request(
            f"the name of the object ({given}) does not match the name on the URL ({name})"
            if given
            else f"the name of the object ({name} based on URL) was undeterminable: name must be provided"
        )


def validate_new(
    metadata: JSON,
    name_rule: NameRule = dns_subdomain,
    path: str = "metadata",
    *,
    generic: bool = False,
    with_prefix: bool = True,
) -> Errors:
    """Return the errors in the metadata of a new object.

    `generic`: by the rules for objects of any kind, which do not know the finalizers of built-in kinds. `with_prefix`:
    generateName must be a valid name as well.
    """
    errors: Errors = []
    prefix = metadata.get("generateName")
    if prefix and with_prefix:
        masked = prefix[:-2] + "a" if prefix.endswith("-") and len(prefix) > 1 else prefix
        errors.extend(FieldError.invalid(f"{path}.generateName", prefix, why) for why in name_rule(masked))
    name = metadata.get("name", "")
    if name:
        errors.extend(FieldError.invalid(f"{path}.name", name, why) for why in name_rule(name))
    else:
        errors.append(FieldError.required(f"{path}.name", "name or generateName is required"))
    namespace = metadata.get("namespace")
    if namespace:
        errors.extend(FieldError.invalid(f"{path}.namespace", namespace, why) for why in dns_label(namespace))
    generation = metadata.get("generation") or 0
    if generation < 0:
        errors.append(FieldError.invalid(f"{path}.generation", generation, "must be greater than or equal to 0"))
    errors += _validate_common(metadata, path)
    finalizers = metadata.get("finalizers") or []
    return [*errors, *_validate_finalizers(finalizers, f"{path}.finalizers", generic)]


def validate_changed(new: JSON, old: JSON, path: str = "metadata", *, generic: bool = False) -> Errors:
    """Return the errors in the metadata of a changed object. Parts that did not change are not checked again."""
    if new == old:
        return []
    errors: Errors = []
    if old.get("deletionTimestamp") is not None:
        added = sorted(set(new.get("finalizers", ())) - set(old.get("finalizers", ())))
        if added:
            names = ", ".join(f'"{name}"' for name in added)
            why = "no new finalizers can be added if the object is being deleted, found new finalizers "
            errors.append(FieldError.forbidden(f"{path}.finalizers", f"{why}[]string{{{names}}}"))
    for field in _IMMUTABLE:
        errors.extend(immutable(f"{path}.{field}", new.get(field), old.get(field)))
    errors += _validate_common(new, path)
    return errors if generic else [*errors, *_validate_known(new.get("finalizers") or [], f"{path}.finalizers")]


def _validate_common(metadata: JSON, path: str) -> Errors:
    errors: Errors = []
    if labels := metadata.get("labels"):
        errors.extend(validate_labels(labels, f"{path}.labels"))
    if annotations := metadata.get("annotations"):
        errors.extend(validate_annotations(annotations, f"{path}.annotations"))
    if owners := metadata.get("ownerReferences"):
        errors.extend(_validate_owners(owners, f"{path}.ownerReferences"))
    return errors


def validate_labels(labels: Mapping[str, str], path: str) -> Errors:
    """Check labels, and fields of the same form (a node selector)."""
    errors: Errors = []
    for key, value in labels.items():
        errors.extend(FieldError.invalid(path, key, why) for why in qualified_name(key))
        errors.extend(FieldError.invalid(path, value, why) for why in label_value(value))
    return errors


def validate_annotations(annotations: Mapping[str, str], path: str) -> Errors:
    """Check the keys of annotations, and their total size."""
    errors: Errors = []
    size = 0
    for key, value in annotations.items():
        errors.extend(FieldError.invalid(path, key, why) for why in qualified_name(key.lower()))
        size += len(key.encode()) + len(value.encode())
    if size > MAX_ANNOTATIONS:
        errors.append(FieldError.too_long(path, MAX_ANNOTATIONS))
    return errors


def _validate_owners(owners: list[JSON], path: str) -> Errors:
    errors: Errors = []
    controller = ""
    for owner in owners:
        version = owner.get("apiVersion", "")
        if not version.rpartition("/")[2] or version.count("/") > 1:
            errors.append(FieldError.invalid(f"{path}.apiVersion", version, "version must not be empty"))
        for field in ("kind", "name", "uid"):
            if not owner.get(field):
                errors.append(FieldError.invalid(f"{path}.{field}", "", "must not be empty"))
        if version == "v1" and owner.get("kind") == "Event":
            errors.append(FieldError.invalid(path, owner, "/v1, Kind=Event is disallowed from being an owner"))
        if owner.get("controller"):
            name = f"{owner.get('kind', '')}/{owner.get('name', '')}"
            if controller:
                why = (
                    'Only one reference can have Controller set to true. Found "true" in references for '
                    f"{controller} and {name}"
                )
                errors.append(FieldError.invalid(path, owners, why))
            controller = controller or name
    return errors


def _validate_finalizers(finalizers: list[str], path: str, generic: bool) -> Errors:
    errors = [FieldError.invalid(path, name, why) for name in finalizers for why in qualified_name(name)]
    if "orphan" in finalizers and "foregroundDeletion" in finalizers:
        why = "finalizer orphan and foregroundDeletion cannot be both set"
        errors.append(FieldError.invalid(path, finalizers, why))
    return errors if generic else [*errors, *_validate_known(finalizers, path)]


def _validate_known(finalizers: list[str], path: str) -> Errors:
    return [
        FieldError.invalid(f"{path}[{index}]", name, _UNQUALIFIED)
        for index, name in enumerate(finalizers)
        if "/" not in name and name not in _STANDARD_FINALIZERS
    ]


def without_duplicate_owners(metadata: JSON, warnings: list[str] | None) -> None:
    """Keep one of several owners that are the same in all fields, and warn the client (`dedupOwnerReferences` of
    k8s.io/apiserver).
    """
    owners = metadata.get("ownerReferences")
    if not owners or len(owners) == 1:
        return
    kept: list[JSON] = []
    duplicates: list[str] = []
    for owner in owners:
        if owner in kept:
            duplicates.append(owner.get("uid", ""))
        else:
            kept.append(owner)
    if duplicates:
        metadata["ownerReferences"] = kept
        if warnings is not None:
            warnings.append(f"{_DUPLICATE_OWNERS}{', '.join(duplicates)}")


def problems(path: str, value: Any, found: Iterable[str]) -> Errors:
    """Return an error for each problem of a value."""
    return [FieldError.invalid(path, value, why) for why in found]


def kind_and_name(reference: JSON, path: str) -> Errors:
    """Check that a reference to an object of any kind has a kind and a name, and that both can stand in a path."""
    errors: Errors = []
    for key in ("kind", "name"):
        value = reference.get(key)
        if not value:
            errors.append(FieldError.required(f"{path}.{key}"))
        else:
            errors.extend(problems(f"{path}.{key}", value, path_segment(value)))
    return errors


def immutable(path: str, new: Any, old: Any, why: str = "field is immutable", of: str | None = None) -> Errors:
    """Return an error if the value changed. `of` is its type, if the real server shows its own struct for it."""
    return [] if new == old else [FieldError.invalid(path, internal(of, new) if of else new, why)]


def validate_domain_prefixed_path(value: str, path: str) -> Errors:
    """Check a path such as `example.com/some/path`, the form of names of controllers (`IsDomainPrefixedPath`)."""
    if not value:
        return [FieldError.required(path)]
    domain, _, rest = value.partition("/")
    if not domain or not rest:
        return [FieldError.invalid(path, value, 'must be a domain-prefixed path (such as "acme.io/foo")')]
    return [*problems(path, domain, dns_subdomain(domain)), *problems(path, rest, http_path(rest))]
