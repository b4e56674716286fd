"""Flow schemas and priority levels (`pkg/apis/flowcontrol`). They are stored and checked; here no request
has to wait.
"""

from __future__ import annotations

from typing import Any

from ..apimachinery.metadata import Errors, problems
from ..apimachinery.names import dns_label, dns_subdomain
from ..apimachinery.status import FieldError
from .published import validate_field
from .strategy import USERS_METADATA, Context, Strategy

JSON = dict[str, Any]

_TYPES = "flowcontrol/v1"
_EXEMPT, _LIMITED = "Exempt", "Limited"
_MAX_PRECEDENCE = 10_000
_METHODS = ("ByNamespace", "ByUser")
_SUBJECTS = {"Group": "group", "ServiceAccount": "serviceAccount", "User": "user"}
_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch")
_MEMBER = "each member of this list must be '*' or a DNS-1123 label; "
_QUEUES: JSON = {"queues": 64, "handSize": 8, "queueLengthLimit": 50}
_MAX_QUEUES = 10_000_000


class _FlowControl(Strategy):
    """The common part of both kinds: defaults are set before anything is compared, and the status has
    conditions only.
    """

    revalidates_metadata = True
    kept_by_status = USERS_METADATA

    def default(self, obj: JSON) -> None:
        """Fill in what is absent."""
        raise NotImplementedError

    def validate(self, obj: JSON) -> Errors:
        """Return the errors in all fields but the metadata."""
        raise NotImplementedError

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        super().prepare_create(obj, ctx)
        self.default(obj)

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        self.default(new)
        super().prepare_update(new, old, ctx)

    def prepare_status(self, new: JSON, old: JSON, ctx: Context) -> None:
        self.default(new)
        super().prepare_status(new, old, ctx)

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        return super().validate_create(obj, ctx) + self.validate(obj)

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        return super().validate_update(new, old, ctx) + self.validate(new)

    def validate_status(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        return super().validate_status(new, old, ctx) + _validate_conditions(new)


class FlowSchemas(_FlowControl):
    """The rules that say which requests go to which priority level."""

    def default(self, obj: JSON) -> None:
        _default_schema(obj)

    def validate(self, obj: JSON) -> Errors:
        return _validate_schema(obj)


class PriorityLevels(_FlowControl):
    """The limits of requests that are served at a time in a level, and what becomes of the others."""

    def default(self, obj: JSON) -> None:
        _default_level(obj)

    def validate(self, obj: JSON) -> Errors:
        return _validate_level(obj)


def _default_schema(obj: JSON) -> None:
    spec = obj.setdefault("spec", {})
    spec["matchingPrecedence"] = spec.get("matchingPrecedence") or 1000


def _default_level(obj: JSON) -> None:
    spec = obj.setdefault("spec", {})
    for name, shares in (("exempt", 0), ("limited", 30)):
        limits = spec.get(name)
        if limits is not None:
            limits.setdefault("nominalConcurrencyShares", shares)
            limits.setdefault("lendablePercent", 0)
    queuing = ((spec.get("limited") or {}).get("limitResponse") or {}).get("queuing")
    if queuing is not None:
        for name, number in _QUEUES.items():
            queuing[name] = queuing.get(name) or number


def _validate_conditions(obj: JSON) -> Errors:
    errors: Errors = []
    types: list[str] = []
    for index, condition in enumerate((obj.get("status") or {}).get("conditions") or ()):
        path, condition_type = f"status.conditions[{index}].type", condition.get("type") or ""
        if condition_type in types:
            errors.append(FieldError.duplicate(path, condition_type))
        if not condition_type:
            errors.append(FieldError.required(path))
        types.append(condition_type)
    return errors


def _validate_schema(obj: JSON) -> Errors:
    spec, name = obj["spec"], obj["metadata"].get("name") or ""
    precedence, method = spec["matchingPrecedence"], spec.get("distinguisherMethod")
    path = "spec.matchingPrecedence"
    errors: Errors = []
    if precedence <= 0:
        errors.append(FieldError.invalid(path, precedence, "must be a positive value"))
    if precedence > _MAX_PRECEDENCE:
        errors.append(FieldError.invalid(path, precedence, f"must not be greater than {_MAX_PRECEDENCE}"))
    if precedence == 1 and name != "exempt":
        why = "only the schema named 'exempt' may have matchingPrecedence 1"
        errors.append(FieldError.invalid(path, precedence, why))
    if method is not None and method.get("type") not in _METHODS:
        shown = {"Type": method.get("type") or ""}
        errors.append(FieldError.not_supported("spec.distinguisherMethod.type", shown, _METHODS))
    of, level = f"{_TYPES}.PriorityLevelConfigurationReference", spec.get("priorityLevelConfiguration") or {}
    path, missing = "spec.priorityLevelConfiguration", "must reference a priority level"
    errors += validate_field(of, level, "name", path, dns_subdomain, missing)
    for index, rule in enumerate(spec.get("rules") or ()):
        errors += _validate_rule(rule, f"spec.rules[{index}]")
    return errors


def _validate_rule(rule: JSON, path: str) -> Errors:
    resources, others = (rule.get(key) or [] for key in ("resourceRules", "nonResourceRules"))
    missing = "subjects must contain at least one value"
    errors = validate_field(f"{_TYPES}.PolicyRulesWithSubjects", rule, "subjects", path, missing=missing)
    for index, subject in enumerate(rule.get("subjects") or ()):
        errors += _validate_subject(subject, f"{path}.subjects[{index}]")
    if not resources and not others:
        why = "at least one of resourceRules and nonResourceRules has to be non-empty"
        errors.append(FieldError.required(path, why))
    for index, each in enumerate(resources):
        errors += _validate_resources(each, f"{path}.resourceRules[{index}]")
    for index, each in enumerate(others):
        errors += _validate_urls(each, f"{path}.nonResourceRules[{index}]")
    return errors


def _validate_subject(subject: JSON, path: str) -> Errors:
    kind = subject.get("kind") or ""
    if kind not in _SUBJECTS:
        return [FieldError.not_supported(f"{path}.kind", kind, tuple(_SUBJECTS))]
    field = _SUBJECTS[kind]
    named, at = subject.get(field), f"{path}.{field}"
    errors: Errors = []
    if named is None:
        errors.append(FieldError.required(at, f"{field} is required when subject kind is '{kind}'"))
    else:
        of, plain = f"{_TYPES}.{kind}Subject", kind != "ServiceAccount" or named.get("name") == "*"
        errors += validate_field(of, named, "name", at, None if plain else dns_subdomain)
        if kind == "ServiceAccount":
            why = "must specify namespace for service account"
            errors += validate_field(of, named, "namespace", at, dns_label, why)
    for other, name in _SUBJECTS.items():
        if other != kind and subject.get(name) is not None:
            why = f"{name} is forbidden when subject kind is not '{other}'"
            errors.append(FieldError.forbidden(f"{path}.{name}", why))
    return errors


def _alone(values: list[str], path: str, what: str, missing: str) -> Errors:
    """Check that there is at least one value, and that "*" stands alone."""
    if not values:
        return [FieldError.required(path, missing)]
    if "*" in values and len(values) > 1:
        return [FieldError.invalid(path, values, f"if '*' is present, must not specify other {what}")]
    return []


def _validate_verbs(rule: JSON, path: str) -> Errors:
    verbs = rule.get("verbs") or []
    errors = _alone(verbs, f"{path}.verbs", "verbs", "verbs must contain at least one value")
    if not errors and "*" not in verbs and not set(verbs) <= set(_VERBS):
        errors.append(FieldError.not_supported(f"{path}.verbs", verbs, _VERBS))
    return errors


def _validate_resources(rule: JSON, path: str) -> Errors:
    errors = _validate_verbs(rule, path)
    for field, one, many in (("apiGroups", "api group", "api groups"), ("resources", "resource", "resources")):
        missing = f"resource rules must supply at least one {one}"
        errors += _alone(rule.get(field) or [], f"{path}.{field}", many, missing)
    namespaces, at = rule.get("namespaces") or [], f"{path}.namespaces"
    if namespaces or not rule.get("clusterScope"):
        missing = "resource rules that are not cluster scoped must supply at least one namespace"
        errors += _alone(namespaces, at, "namespaces", missing)
    if "*" not in namespaces:
        for index, namespace in enumerate(namespaces):
            errors += problems(f"{at}[{index}]", namespace, [_MEMBER + why for why in dns_label(namespace)])
    return errors


def _validate_urls(rule: JSON, path: str) -> Errors:
    urls, at = rule.get("nonResourceURLs") or [], f"{path}.nonResourceURLs"
    missing = "nonResourceURLs must contain at least one value"
    errors = _validate_verbs(rule, path) + _alone(urls, at, "non-resource URLs", missing)
    if "*" not in urls:
        for index, url in enumerate(urls):
            if why := _wrong_url(url):
                errors.append(FieldError.invalid(f"{at}[{index}]", url, why))
    return errors


def _wrong_url(url: str) -> str:
    if not url:
        return "must not be empty"
    if url == "/":
        return ""
    if not url.startswith("/"):
        return "must start with slash"
    if " " in url:
        return "must not contain white-space"
    if "//" in url:
        return "must not contain double slash"
    if "*" in url.removesuffix("*"):
        return "wildcard can only do suffix matching"
    return ""


def _validate_level(obj: JSON) -> Errors:
    spec, name = obj["spec"], obj["metadata"].get("name") or ""
    level_type, exempt, limited = spec.get("type") or "", spec.get("exempt"), spec.get("limited")
    errors: Errors = []
    if (name == "exempt") != (level_type == _EXEMPT):
        errors.append(FieldError.invalid("spec.type", level_type, "must be 'Exempt' if and only if `name` is 'exempt'"))
    if level_type == _EXEMPT:
        if limited is not None:
            errors.append(FieldError.forbidden("spec.limited", "must be nil if the type is not Limited"))
        if exempt is not None:
            errors += _validate_shares(exempt, "spec.exempt") + _validate_lent(exempt, "spec.exempt")
        return errors
    if level_type == _LIMITED:
        if exempt is not None:
            errors.append(FieldError.forbidden("spec.exempt", "must be nil if the type is Limited"))
        if limited is None:
            return [*errors, FieldError.required("spec.limited", "must not be empty when type is Limited")]
        return errors + _validate_limited(limited, "spec.limited")
    if level_type:
        return [*errors, FieldError.not_supported("spec.type", level_type, (_EXEMPT, _LIMITED))]
    return errors + validate_field(f"{_TYPES}.PriorityLevelConfigurationSpec", spec, "type", "spec")


def _validate_shares(limits: JSON, path: str) -> Errors:
    shares = limits["nominalConcurrencyShares"]
    if shares >= 0:
        return []
    return [FieldError.invalid(f"{path}.nominalConcurrencyShares", shares, "must be a non-negative integer")]


def _validate_lent(limits: JSON, path: str) -> Errors:
    lendable = limits["lendablePercent"]
    if 0 <= lendable <= 100:
        return []
    return [FieldError.invalid(f"{path}.lendablePercent", lendable, "must be between 0 and 100, inclusive")]


def _validate_limited(limited: JSON, path: str) -> Errors:
    errors = _validate_shares(limited, path) + _validate_response(limited, path) + _validate_lent(limited, path)
    borrowing = limited.get("borrowingLimitPercent")
    if borrowing is not None and borrowing < 0:
        why = "if specified, must be a non-negative integer"
        errors.append(FieldError.invalid(f"{path}.borrowingLimitPercent", borrowing, why))
    return errors


def _validate_response(limited: JSON, path: str) -> Errors:
    errors: Errors = []
    response, at = limited.get("limitResponse") or {}, f"{path}.limitResponse"
    response_type, queuing = response.get("type") or "", response.get("queuing")
    if response_type == "Reject":
        if queuing is not None:
            why = "must be nil if limited.limitResponse.type is not Limited"
            errors.append(FieldError.forbidden(f"{at}.queuing", why))
    elif response_type == "Queue":
        if queuing is None:
            why = "must not be empty if limited.limitResponse.type is Limited"
            return [*errors, FieldError.required(f"{at}.queuing", why)]
        return errors + _validate_queuing(queuing, f"{at}.queuing")
    elif response_type:
        errors.append(FieldError.not_supported(f"{at}.type", response_type, ("Queue", "Reject")))
    return errors + validate_field(f"{_TYPES}.LimitResponse", response, "type", at)


def _validate_queuing(queuing: JSON, path: str) -> Errors:
    errors: Errors = []
    hand, queues, length = queuing["handSize"], queuing["queues"], queuing["queueLengthLimit"]
    if length <= 0:
        errors.append(FieldError.invalid(f"{path}.queueLengthLimit", length, "must be positive"))
    if queues <= 0:
        errors.append(FieldError.invalid(f"{path}.queues", queues, "must be positive"))
    elif queues > _MAX_QUEUES:
        why = f"must not be greater than {_MAX_QUEUES}"
        errors.append(FieldError.invalid(f"{path}.queues", queues, why))
    if hand <= 0:
        errors.append(FieldError.invalid(f"{path}.handSize", hand, "must be positive"))
    elif hand > queues:
        why = f"should not be greater than queues ({queues})"
        errors.append(FieldError.invalid(f"{path}.handSize", hand, why))
    return errors
