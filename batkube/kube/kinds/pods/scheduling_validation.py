"""The parts of a pod for schedulers: selectors, affinities, tolerations, spreading, gates, claims
(`pkg/apis/core/validation/validation.go`).
"""

from __future__ import annotations

from typing import Any

from ...apimachinery.label_selectors import validate_label_selector
from ...apimachinery.metadata import Errors, problems
from ...apimachinery.names import dns_label, dns_subdomain, label_value, qualified_name, whole_number
from ...apimachinery.status import FieldError
from ...schema.gates import COMPARISON_OPERATORS
from ..published import validate_field
from ..strategy import Context

JSON = dict[str, Any]

_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_SPREAD = "core/v1.TopologySpreadConstraint"
_UNSATISFIABLE = ("DoNotSchedule", "ScheduleAnyway")
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def validate_affinity(affinity: JSON, path: str) -> Errors:
    """Check the affinity of a pod."""
    errors: Errors = []
    if (node := affinity.get("nodeAffinity")) is not None:
        errors.extend(_validate_node_affinity(node, f"{path}.nodeAffinity"))
    for kind in ("podAffinity", "podAntiAffinity"):
        if (pods := affinity.get(kind)) is not None:
            errors.extend(_validate_pod_affinity(pods, f"{path}.{kind}"))
    return errors


def _validate_node_affinity(affinity: JSON, path: str) -> Errors:
    errors: Errors = []
    if (required := affinity.get(_REQUIRED)) is not None:
        errors.extend(validate_node_selector(required, f"{path}.{_REQUIRED}"))
    for index, term in enumerate(affinity.get(_PREFERRED) or ()):
        where = f"{path}.{_PREFERRED}[{index}]"
        errors.extend(_validate_weight(term, where))
        errors.extend(_validate_node_term(term.get("preference") or {}, f"{where}.preference", any_value=True))
    return errors


def _validate_weight(term: JSON, path: str) -> Errors:
    weight = term.get("weight", 0)
    if 1 <= weight <= 100:
        return []
    return [FieldError.invalid(f"{path}.weight", weight, "must be in the range 1-100")]


def validate_node_selector(selector: JSON, path: str) -> Errors:
    """Check a NodeSelector, which consists of terms of requirements."""
    terms = selector.get("nodeSelectorTerms") or ()
    if not terms:
        return [FieldError.required(f"{path}.nodeSelectorTerms", "must have at least one node selector term")]
    return [
        error
        for index, term in enumerate(terms)
        for error in _validate_node_term(term, f"{path}.nodeSelectorTerms[{index}]")
    ]


def _validate_node_term(term: JSON, path: str, *, any_value: bool = False) -> Errors:
    """Check a term. `any_value`: values that no label can have are let through, as always in preferences."""
    errors: Errors = []
    for index, requirement in enumerate(term.get("matchExpressions") or ()):
        errors.extend(_validate_node_requirement(requirement, f"{path}.matchExpressions[{index}]", any_value))
    for index, requirement in enumerate(term.get("matchFields") or ()):
        errors.extend(_validate_node_field(requirement, f"{path}.matchFields[{index}]"))
    return errors


def _validate_node_requirement(requirement: JSON, path: str, any_value: bool) -> Errors:
    errors: Errors = []
    operator, values = requirement.get("operator", ""), requirement.get("values") or []
    if operator in ("In", "NotIn"):
        if not values:
            why = "must be specified when `operator` is 'In' or 'NotIn'"
            errors.append(FieldError.required(f"{path}.values", why))
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            errors.append(FieldError.forbidden(f"{path}.values", why))
    elif operator in ("Gt", "Lt"):
        if len(values) != 1:
            why = "must be specified single value when `operator` is 'Lt' or 'Gt'"
            errors.append(FieldError.required(f"{path}.values", why))
    else:
        errors.append(FieldError.invalid(f"{path}.operator", operator, "not a valid selector operator"))
    key = requirement.get("key", "")
    errors.extend(problems(f"{path}.key", key, qualified_name(key)))
    if not any_value:
        for index, value in enumerate(values):
            errors.extend(problems(f"{path}.values[{index}]", value, label_value(value)))
    return errors


def _validate_node_field(requirement: JSON, path: str) -> Errors:
    errors: Errors = []
    operator, values = requirement.get("operator", ""), requirement.get("values") or []
    if operator in ("In", "NotIn"):
        if len(values) != 1:
            why = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
            errors.append(FieldError.required(f"{path}.values", why))
    else:
        errors.append(FieldError.invalid(f"{path}.operator", operator, "not a valid selector operator"))
    key = requirement.get("key", "")
    if key != "metadata.name":
        errors.append(FieldError.invalid(f"{path}.key", key, "not a valid field selector key"))
    else:
        for index, value in enumerate(values):
            errors.extend(problems(f"{path}.values[{index}]", value, dns_subdomain(value)))
    return errors


def _validate_pod_affinity(affinity: JSON, path: str) -> Errors:
    errors: Errors = []
    for index, term in enumerate(affinity.get(_REQUIRED) or ()):
        errors.extend(_validate_pod_term(term, f"{path}.{_REQUIRED}[{index}]"))
    for index, weighted in enumerate(affinity.get(_PREFERRED) or ()):
        where = f"{path}.{_PREFERRED}[{index}]"
        errors.extend(_validate_weight(weighted, where))
        errors.extend(_validate_pod_term(weighted.get("podAffinityTerm") or {}, f"{where}.podAffinityTerm"))
    return errors


def _validate_pod_term(term: JSON, path: str) -> Errors:
    errors = validate_label_selector(term.get("labelSelector"), f"{path}.labelSelector")
    errors.extend(validate_label_selector(term.get("namespaceSelector"), f"{path}.namespaceSelector"))
    errors.extend(_validate_key_fields(term, path))
    for namespace in term.get("namespaces") or ():
        errors.extend(problems(f"{path}.namespace", namespace, dns_label(namespace)))
    key = term.get("topologyKey", "")
    if not key:
        errors.append(FieldError.required(f"{path}.topologyKey", "can not be empty"))
    errors.extend(problems(f"{path}.topologyKey", key, qualified_name(key)))
    return errors


def _validate_key_fields(term: JSON, path: str) -> Errors:
    """Check matchLabelKeys and mismatchLabelKeys.

    In a pod their values are already merged into the selector. A key that stands there twice was in the selector
    before.
    """
    errors: Errors = []
    selector = term.get("labelSelector")
    match, mismatch = term.get("matchLabelKeys") or [], term.get("mismatchLabelKeys") or []
    for name, keys in (("matchLabelKeys", match), ("mismatchLabelKeys", mismatch)):
        if keys and selector is None:
            why = "must not be specified when labelSelector is not set"
            errors.append(FieldError.forbidden(f"{path}.{name}", why))
            continue
        for index, key in enumerate(keys):
            errors.extend(problems(f"{path}.{name}[{index}]", key, qualified_name(key)))
    if selector is not None and match:
        selected = set(selector.get("matchLabels") or ())
        for requirement in selector.get("matchExpressions") or ():
            key = requirement.get("key", "")
            if key in match and key in selected:
                why = "exists in both matchLabelKeys and labelSelector"
                errors.append(FieldError.invalid(f"{path}[{match.index(key)}]", key, why))
            selected.add(key)
    for index, key in enumerate(match):
        if key in mismatch:
            why = "exists in both matchLabelKeys and mismatchLabelKeys"
            errors.append(FieldError.invalid(f"{path}.matchLabelKeys[{index}]", key, why))
    return errors


def validate_tolerations(tolerations: list[JSON], path: str, *, comparing: bool = False) -> Errors:
    """Check the tolerations of a pod. `comparing`: they may compare numbers, with Gt and Lt."""
    errors: Errors = []
    for index, toleration in enumerate(tolerations):
        where = f"{path}[{index}]"
        key, value = toleration.get("key", ""), toleration.get("value", "")
        operator, effect = toleration.get("operator", ""), toleration.get("effect", "")
        if key:
            errors.extend(problems(f"{where}.key", key, qualified_name(key)))
        elif operator != "Exists":
            why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
            errors.append(FieldError.invalid(f"{where}.operator", operator, why))
        if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
            why = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            errors.append(FieldError.invalid(f"{where}.effect", effect, why))
        if operator in ("", "Equal"):
            if wrong := label_value(value):
                errors.append(FieldError.invalid(f"{where}.operator", value, ";".join(wrong)))
        elif operator == "Exists":
            if value:
                why = "value must be empty when `operator` is 'Exists'"
                errors.append(FieldError.invalid(f"{where}.operator", value, why))
        elif operator in ("Gt", "Lt") and comparing:
            errors.extend(problems(f"{where}.value", value, whole_number(value)))
        else:
            known = ("Equal", "Exists", "Lt", "Gt") if operator in ("Lt", "Gt") else ("Equal", "Exists")
            errors.append(FieldError.not_supported(f"{where}.operator", operator, known))
        if effect and effect not in _EFFECTS:
            errors.append(FieldError.not_supported(f"{where}.effect", effect, _EFFECTS))
    return errors


def may_compare(ctx: Context, before: JSON | None = None) -> bool:
    """Return True if tolerations may compare numbers: by a feature gate, or because one in `before` did."""
    if COMPARISON_OPERATORS in ctx.gates:
        return True
    return any(toleration.get("operator") in ("Gt", "Lt") for toleration in (before or {}).get("tolerations") or ())


def validate_spread(constraints: list[JSON], path: str) -> Errors:
    """Check the topologySpreadConstraints of a pod."""
    errors: Errors = []
    for index, constraint in enumerate(constraints):
        where = f"{path}[{index}]"
        skew, key = constraint.get("maxSkew", 0), constraint.get("topologyKey", "")
        when, least = constraint.get("whenUnsatisfiable", ""), constraint.get("minDomains")
        if skew <= 0:
            errors.append(FieldError.invalid(f"{where}.maxSkew", skew, "must be greater than zero"))
        errors.extend(validate_field(_SPREAD, constraint, "topologyKey", where, missing="can not be empty"))
        if when not in _UNSATISFIABLE:  # an empty one is told as a wrong one, though it is required
            errors.append(FieldError.not_supported(f"{where}.whenUnsatisfiable", when, _UNSATISFIABLE))
        pair = (key, when)
        if any(
            (other.get("topologyKey", ""), other.get("whenUnsatisfiable", "")) == pair
            for other in constraints[index + 1 :]
        ):
            named = f"{{{key}, {when}}}"
            errors.append(FieldError.duplicate(f"{where}.{{topologyKey, whenUnsatisfiable}}", named))
        if least is not None:
            if least <= 0:
                errors.append(FieldError.invalid(f"{where}.minDomains", least, "must be greater than zero"))
            if when != "DoNotSchedule":
                why = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {when}"
                errors.append(FieldError.invalid(f"{where}.minDomains", least, why))
        for name in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            errors.extend(validate_field(_SPREAD, constraint, name, where))
        errors.extend(_validate_key_fields(constraint, where))
        errors.extend(validate_label_selector(constraint.get("labelSelector"), f"{where}.labelSelector"))
    return errors


def validate_gates(gates: list[JSON], path: str) -> Errors:
    """Check the scheduling gates of a pod."""
    errors: Errors = []
    names: set[str] = set()
    for index, gate in enumerate(gates):
        name = gate.get("name", "")
        errors.extend(problems(f"{path}[{index}]", name, qualified_name(name)))
        if name in names:
            errors.append(FieldError.duplicate(f"{path}[{index}]", name))
        names.add(name)
    return errors


def validate_claims(claims: list[JSON], path: str) -> Errors:
    """Check the resource claims of a pod."""
    errors: Errors = []
    names: set[str] = set()
    for index, claim in enumerate(claims):
        where = f"{path}[{index}]"
        name = claim.get("name", "")
        given, template = claim.get("resourceClaimName"), claim.get("resourceClaimTemplateName")
        shown = {"Name": name, "ResourceClaimName": given, "ResourceClaimTemplateName": template}
        if name in names:
            errors.append(FieldError.duplicate(f"{where}.name", name))
        else:
            errors.extend(validate_field("core/v1.PodResourceClaim", claim, "name", where, dns_label))
            names.update([name] if name else ())
        if given is not None and template is not None:
            why = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
            errors.append(FieldError.invalid(where, shown, why))
        elif given is None and template is None:
            why = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
            errors.append(FieldError.invalid(where, shown, why))
        for field, value in (("resourceClaimName", given), ("resourceClaimTemplateName", template)):
            if value is not None:
                errors.extend(problems(f"{where}.{field}", value, dns_subdomain(value)))
    return errors
