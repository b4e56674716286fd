"""Configurations of admission webhooks (`pkg/apis/admissionregistration/validation`): they are stored and checked, but
not called.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any
from urllib.parse import urlsplit

from ...apimachinery.label_selectors import validate_label_selector
from ...apimachinery.metadata import Errors, problems
from ...apimachinery.names import dns_1035_label, dns_subdomain, port_number, qualified_name
from ...apimachinery.status import FieldError
from ...cel import compilation_problem
from ..published import validate_field
from ..strategy import Context, GuardedGeneric

JSON = dict[str, Any]

VARIABLES = ("object", "oldObject", "request", "authorizer", "namespaceObject")
"""The variables that expressions may use."""

_RULE = "admissionregistration/v1.RuleWithOperations"
_NO_SIDE_EFFECTS = ("None", "NoneOnDryRun")
_SIDE_EFFECTS = ("None", "NoneOnDryRun", "Some", "Unknown")
_REVIEW_VERSIONS = ("v1", "v1beta1")
_MAX_CONDITIONS = 64
_STATIC = ".static.k8s.io"
_FORM = "; desired format: https://host[/path]"
_UNTYPED = ("object", "oldObject", "params")


class WebhookConfigurations(GuardedGeneric):
    """Webhooks of one of the two kinds. Changes of them count as generations."""

    def __init__(self, *, mutating: bool = False) -> None:
        self._mutating = mutating

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        obj["metadata"]["generation"] = 1
        self._default(obj)

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        self._default(new)
        if new.get("webhooks") != old.get("webhooks"):
            new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        errors = super().validate_create(obj, ctx)
        return warned_of_name(obj, ctx, errors + self._validate(_webhooks(obj), []))

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_update(new, old, ctx)
        return warned_of_name(new, ctx, errors + self._validate(_webhooks(new), _webhooks(old)))

    def _default(self, obj: JSON) -> None:
        for webhook in _webhooks(obj):
            webhook.setdefault("failurePolicy", "Fail")
            webhook.setdefault("timeoutSeconds", 10)
            if self._mutating:
                webhook.setdefault("reinvocationPolicy", "Never")
            default_matches(webhook, webhook.get("rules"))
            if (service := (webhook.get("clientConfig") or {}).get("service")) is not None:
                service.setdefault("port", 443)

    def _validate(self, webhooks: list[JSON], before: list[JSON]) -> Errors:
        """Check the webhooks. A fault that the webhooks had in `before` is still let through."""
        no_effects = all(webhook.get("sideEffects") in _NO_SIDE_EFFECTS for webhook in before)
        side_effects = _NO_SIDE_EFFECTS if no_effects else _SIDE_EFFECTS
        known = all(_reviewable(versions) for webhook in before if (versions := webhook.get("admissionReviewVersions")))
        former = [webhook.get("name") or "" for webhook in before]
        unique = len(set(former)) == len(former)
        conditions = [webhook.get("matchConditions") for webhook in before]
        same = bool(before) and conditions == [webhook.get("matchConditions") for webhook in webhooks]
        errors: Errors = []
        names: set[str] = set()
        for index, webhook in enumerate(webhooks):
            at, name = f"webhooks[{index}]", webhook.get("name") or ""
            errors += _validate_webhook(webhook, at, side_effects, self._mutating)
            if not same:
                errors += validate_conditions(webhook.get("matchConditions") or [], f"{at}.matchConditions")
            errors += validate_review_versions(
                webhook.get("admissionReviewVersions") or [], f"{at}.admissionReviewVersions", known
            )
            if unique and name and name in names:
                errors.append(FieldError.duplicate(f"{at}.name", name))
            names.add(name)
        return errors


def warned_of_name(obj: JSON, ctx: Context, errors: Errors) -> Errors:
    """Return the errors unchanged. If there are none, warn of a name that is reserved."""
    if not errors and obj["metadata"]["name"].endswith(_STATIC):
        ctx.warnings.append(
            f'metadata.name: names ending with "{_STATIC}" are reserved for static manifest-based configurations and '
            "cannot be managed via the API"
        )
    return errors


def default_matches(obj: JSON, *rules: list[JSON] | None) -> None:
    """Fill in what a webhook or a policy is about, where it says nothing."""
    obj.setdefault("matchPolicy", "Equivalent")
    obj.setdefault("namespaceSelector", {})
    obj.setdefault("objectSelector", {})
    for some in rules:
        for rule in some or ():
            rule.setdefault("scope", "*")


def validate_rule(rule: JSON, path: str) -> Errors:
    """Check the operations and resources of a rule."""
    errors = _validate_words(rule.get("operations") or [], f"{path}.operations", "operations", empty=True)
    errors += validate_field(_RULE, rule, "operations", path)
    errors += _validate_words(rule.get("apiGroups") or [], f"{path}.apiGroups", "API groups", empty=True)
    errors += _validate_words(rule.get("apiVersions") or [], f"{path}.apiVersions", "API versions")
    errors += _validate_resources(rule.get("resources") or [], f"{path}.resources")
    return errors + validate_field(_RULE, rule, "scope", path)


def validate_conditions(conditions: list[JSON], path: str, variables: tuple[str, ...] = VARIABLES) -> Errors:
    """Check the expressions that must be true of a request."""
    errors: Errors = []
    if len(conditions) > _MAX_CONDITIONS:
        errors.append(FieldError.too_many(path, len(conditions), _MAX_CONDITIONS))
    names: set[str] = set()
    for index, condition in enumerate(conditions):
        at, name = f"{path}[{index}]", condition.get("name") or ""
        errors += validate_expression(condition.get("expression") or "", f"{at}.expression", variables)
        errors += validate_field("admissionregistration/v1.MatchCondition", condition, "name", at, qualified_name)
        if name and name in names:
            errors.append(FieldError.duplicate(f"{at}.name", name))
        names.add(name)
    return errors


def validate_expression(
    text: str,
    path: str,
    variables: tuple[str, ...] = VARIABLES,
    *,
    result: str = "bool",
    missing: str = "",
    composed: Collection[str] = (),
) -> Errors:
    """Check an expression in CEL that uses these variables.

    `missing` is the message of the error if there is no expression. `composed` are the fields of `variables`.
    """
    text = text.strip()
    if not text:
        return [FieldError.required(path, missing)]
    fields = {"variables": composed}
    return problems(path, text, filter(None, [compilation_problem(text, variables, result, _UNTYPED, fields)]))


def validate_choice(value: str | None, path: str, choices: tuple[str, ...]) -> Errors:
    """Check that a value, if it is given, is one of the choices."""
    return [] if value is None or value in choices else [FieldError.not_supported(path, value, choices)]


def _webhooks(obj: JSON) -> list[JSON]:
    return obj.get("webhooks") or []


def _validate_webhook(webhook: JSON, path: str, side_effects: tuple[str, ...], mutating: bool) -> Errors:
    of = f"admissionregistration/v1.{'Mutating' if mutating else 'Validating'}Webhook"
    errors = validate_field(of, webhook, "name", path) or _validate_name(webhook["name"], f"{path}.name")
    for index, rule in enumerate(webhook.get("rules") or ()):
        errors += validate_rule(rule, f"{path}.rules[{index}]")
    for field in ("failurePolicy", "matchPolicy"):
        errors += validate_field(of, webhook, field, path)
    effects, seconds = webhook.get("sideEffects"), webhook.get("timeoutSeconds", 10)
    if effects is None:
        errors.append(FieldError.required(f"{path}.sideEffects", f"must specify one of {', '.join(side_effects)}"))
    errors += validate_choice(effects, f"{path}.sideEffects", side_effects)
    if not 1 <= seconds <= 30:
        why = "the timeout value must be between 1 and 30 seconds"
        errors.append(FieldError.invalid(f"{path}.timeoutSeconds", seconds, why))
    for field in ("namespaceSelector", "objectSelector"):
        errors += validate_label_selector(webhook.get(field), f"{path}.{field}")
    if mutating:
        errors += validate_field(of, webhook, "reinvocationPolicy", path)
    return errors + validate_client(webhook.get("clientConfig") or {}, f"{path}.clientConfig")


def _validate_name(name: str, path: str) -> Errors:
    if wrong := dns_subdomain(name):
        return [FieldError.invalid(path, name, ",".join(wrong))]
    if name.count(".") < 2:
        why = "should be a domain with at least three segments separated by dots"
        return [FieldError.invalid(path, name, why)]
    return []


def validate_client(client: JSON, path: str) -> Errors:
    """Check where a webhook is: its URL or its service."""
    url, service = client.get("url"), client.get("service")
    if (url is None) == (service is None):
        return [FieldError.required(path, "exactly one of url or service is required")]
    return _validate_url(url, f"{path}.url") if service is None else _validate_service(service, f"{path}.service")


def _validate_url(url: Any, path: str) -> Errors:
    try:
        parts = urlsplit(url)
    except ValueError as error:
        return [FieldError.required(path, f"url must be a valid URL: {error}{_FORM}")]
    user, _, host = parts.netloc.rpartition("@")
    found = (
        (parts.scheme != "https", parts.scheme, f"'https' is the only allowed URL scheme{_FORM}"),
        (not host, host, f"host must be specified{_FORM}"),
        (bool(user), user, "user information is not permitted in the URL"),
        (bool(parts.fragment), parts.fragment, "fragments are not permitted in the URL"),
        (bool(parts.query), parts.query, "query parameters are not permitted in the URL"),
    )
    return [FieldError.invalid(path, shown, why) for wrong, shown, why in found if wrong]


def _validate_service(service: JSON, path: str) -> Errors:
    # The real server takes the name for the namespace in these two.
    errors = [
        FieldError.required(f"{path}.{field}")
        for field, given in (("name", "namespace"), ("namespace", "name"))
        if not service.get(given)
    ]
    port, place = service.get("port", 0), service.get("path")
    if wrong := port_number(port):
        errors.append(FieldError.invalid(f"{path}.port", port, f"port is not valid: {', '.join(wrong)}"))
    if place in (None, "", "/"):
        return errors
    if place == "//":
        return [*errors, FieldError.invalid(f"{path}.path", place, "segment[0] may not be empty")]
    if not place.startswith("/"):
        errors.append(FieldError.invalid(f"{path}.path", place, "must start with a '/'"))
    for index, step in enumerate(place[1:].removesuffix("/").split("/")):
        found = [f": {why}" for why in dns_subdomain(step)] if step else [" may not be empty"]
        errors += [FieldError.invalid(f"{path}.path", place, f"segment[{index}]{why}") for why in found]
    return errors


def _reviewable(versions: list[str]) -> bool:
    return any(version in _REVIEW_VERSIONS for version in versions)


def validate_review_versions(versions: list[str], path: str, known: bool = True) -> Errors:
    """Check the versions that a webhook understands. `known`: at least one must be a version that this
    server speaks.
    """
    accepted = ", ".join(_REVIEW_VERSIONS)
    if not versions:
        return [FieldError.required(path, f"must specify one of {accepted}")]
    errors: Errors = []
    for index, version in enumerate(versions):
        wrong = ("duplicate version",) if version in versions[:index] else dns_1035_label(version)
        errors += problems(f"{path}[{index}]", version, wrong)
    if known and not _reviewable(versions):
        errors.append(FieldError.invalid(path, versions, f"must include at least one of {accepted}"))
    return errors


def _validate_words(words: list[str], path: str, what: str, *, empty: bool = False) -> Errors:
    """Check a list of words in which `*` must stand alone. `empty`: a word may be empty."""
    errors = [] if words else [FieldError.required(path)]
    if len(words) > 1 and "*" in words:
        errors.append(FieldError.invalid(path, words, f"if '*' is present, must not specify other {what}"))
    if not empty:
        errors += [FieldError.required(f"{path}[{index}]") for index, word in enumerate(words) if not word]
    return errors


def _validate_resources(resources: list[str], path: str) -> Errors:
    errors = [] if resources else [FieldError.required(path)]
    whole: set[str] = set()  # resources with all their subresources
    everywhere: set[str] = set()  # subresources of all resources
    plain = False
    for index, resource in enumerate(resources):
        name, slash, sub = resource.partition("/")
        at = f"{path}[{index}]"
        if not resource:
            errors.append(FieldError.required(at))
            continue
        if not slash:
            plain = resource != "*"
            continue
        if name in whole:
            why = f"if '{name}/*' is present, must not specify {resource}"
            errors.append(FieldError.invalid(at, resource, why))
        if sub in everywhere:
            why = f"if '*/{sub}' is present, must not specify {resource}"
            errors.append(FieldError.invalid(at, resource, why))
        whole |= {name} if sub == "*" else set()
        everywhere |= {sub} if name == "*" else set()
    if len(resources) > 1 and "*/*" in resources:
        errors.append(FieldError.invalid(path, resources, "if '*/*' is present, must not specify other resources"))
    if "*" in resources and plain:
        why = "if '*' is present, must not specify other resources without subresources"
        errors.append(FieldError.invalid(path, resources, why))
    return errors
