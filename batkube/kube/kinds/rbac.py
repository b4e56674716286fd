"""Roles and the bindings of roles (`pkg/apis/rbac`). They are stored and checked, but not applied: everybody may do
everything here.
"""

from __future__ import annotations

from typing import Any

from ..apimachinery.label_selectors import validate_label_selector
from ..apimachinery.metadata import Errors, immutable, problems
from ..apimachinery.names import dns_subdomain, path_segment
from ..apimachinery.status import FieldError
from .published import validate_field
from .strategy import Context, Strategy

JSON = dict[str, Any]

_GROUP = "rbac.authorization.k8s.io"
_SUBJECTS = ("ServiceAccount", "User", "Group")
_ROLES = ("Role", "ClusterRole")


class _Granting(Strategy):
    """The rules that roles and their bindings share. `cluster`: they hold in all namespaces."""

    revalidates_metadata = True
    counts_generation = False
    name_rule = staticmethod(path_segment)
    create_on_update = True

    def __init__(self, *, cluster: bool = False) -> None:
        self._cluster = cluster


class Roles(_Granting):
    """Rules of roles and, if `cluster` is set, of cluster roles."""

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        return [*super().validate_create(obj, ctx), *self._validate_rules(obj)]

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        return [*super().validate_update(new, old, ctx), *self._validate_rules(new)]

    def _validate_rules(self, role: JSON) -> Errors:
        aggregation = role.get("aggregationRule")
        errors = [] if aggregation is None else _validate_aggregation(aggregation)
        for index, rule in enumerate(role.get("rules") or ()):
            where = f"rules[{index}]"
            if not rule.get("verbs"):
                errors.append(FieldError.required(f"{where}.verbs", "verbs must contain at least one value"))
            urls = rule.get("nonResourceURLs")
            if urls:
                if not self._cluster:
                    why = "namespaced rules cannot apply to non-resource URLs"
                    errors.append(FieldError.invalid(f"{where}.nonResourceURLs", urls, why))
                if rule.get("apiGroups") or rule.get("resources") or rule.get("resourceNames"):
                    why = "rules cannot apply to both regular resources and non-resource URLs"
                    errors.append(FieldError.invalid(f"{where}.nonResourceURLs", urls, why))
                continue
            for name, what in (("apiGroups", "api group"), ("resources", "resource")):
                if not rule.get(name):
                    why = f"resource rules must supply at least one {what}"
                    errors.append(FieldError.required(f"{where}.{name}", why))
        return errors


def _validate_aggregation(rule: JSON) -> Errors:
    path = "aggregationRule.clusterRoleSelectors"
    selectors = rule.get("clusterRoleSelectors")
    if not selectors:
        why = "at least one clusterRoleSelector required if aggregationRule is non-nil"
        return [FieldError.required(path, why)]
    errors: Errors = []
    for index, selector in enumerate(selectors):
        if wrong := validate_label_selector(selector, f"{path}[{index}]"):
            errors.extend((*wrong, FieldError.invalid(f"{path}[{index}]", None, "invalid label selector.")))
    return errors


class RoleBindings(_Granting):
    """Rules of bindings of roles and, if `cluster` is set, of cluster roles to all namespaces."""

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        _default_subjects(obj)

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        _default_subjects(new)

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        return [*super().validate_create(obj, ctx), *self._validate(obj)]

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = [*super().validate_update(new, old, ctx), *self._validate(new)]
        return [
            *errors,
            *immutable(
                "roleRef", new.get("roleRef"), old.get("roleRef"), "cannot change roleRef", of="rbac/v1.RoleRef"
            ),
        ]

    def _validate(self, binding: JSON) -> Errors:
        errors: Errors = []
        role = binding.get("roleRef") or {}
        group, kind = role.get("apiGroup", ""), role.get("kind", "")
        kinds = ("ClusterRole",) if self._cluster else _ROLES
        if group != _GROUP:
            errors.append(FieldError.not_supported("roleRef.apiGroup", group, (_GROUP,)))
        if kind not in kinds:
            errors.append(FieldError.not_supported("roleRef.kind", kind, kinds))
        errors.extend(validate_field("rbac/v1.RoleRef", role, "name", "roleRef", path_segment))
        for index, subject in enumerate(binding.get("subjects") or ()):
            errors.extend(self._validate_subject(subject, f"subjects[{index}]"))
        return errors

    def _validate_subject(self, subject: JSON, path: str) -> Errors:
        kind, name, group = subject.get("kind", ""), subject.get("name", ""), subject.get("apiGroup", "")
        errors = validate_field("rbac/v1.Subject", subject, "name", path)
        if kind not in _SUBJECTS:
            errors.append(FieldError.not_supported(f"{path}.kind", kind, _SUBJECTS))
        elif kind == "ServiceAccount":
            errors.extend(problems(f"{path}.name", name, dns_subdomain(name)) if name else ())
            if group:
                errors.append(FieldError.not_supported(f"{path}.apiGroup", group, ("",)))
            if self._cluster and not subject.get("namespace"):
                errors.append(FieldError.required(f"{path}.namespace"))
        elif group != _GROUP:
            errors.append(FieldError.not_supported(f"{path}.apiGroup", group, (_GROUP,)))
        return errors


def _default_subjects(binding: JSON) -> None:
    role = binding.get("roleRef")
    if role is not None:
        role["apiGroup"] = role.get("apiGroup") or _GROUP
    for subject in binding.get("subjects") or ():
        if subject.get("kind") in ("User", "Group"):
            subject["apiGroup"] = subject.get("apiGroup") or _GROUP
