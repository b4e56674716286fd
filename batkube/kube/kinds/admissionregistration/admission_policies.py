"""Admission policies and their bindings (`pkg/apis/admissionregistration/validation`): they are stored and checked, but
not applied.
"""

from __future__ import annotations

import re
from typing import Any

from ...apimachinery.label_selectors import validate_label_selector
from ...apimachinery.metadata import Errors, problems
from ...apimachinery.names import dns_1035_label, dns_subdomain, path_segment, qualified_name
from ...apimachinery.status import FieldError
from ...schema.field_rules import rule_of
from ..conditions import validate_conditions as validate_status_conditions
from ..published import validate_field
from ..strategy import USERS_METADATA, Context, GuardedGeneric
from .webhooks import (
    VARIABLES,
    default_matches,
    validate_choice,
    validate_conditions,
    validate_expression,
    validate_rule,
    warned_of_name,
)

JSON = dict[str, Any]

_RULES = ("resourceRules", "excludeResourceRules")
_REASONS = ("Forbidden", "Invalid", "RequestEntityTooLarge")
_NOT_FOUND_ACTIONS = ("Deny", "Allow")
_MAX_ANNOTATIONS = 20
_MAX_ANNOTATION = 5 * 1024
_IDENTIFIER = re.compile(r"[_a-zA-Z][_a-zA-Z0-9]*")
_RESERVED = frozenset(
    [
        "true",
        "false",
        "null",
        "in",
        "as",
        "break",
        "const",
        "continue",
        "else",
        "for",
        "function",
        "if",
        "import",
        "let",
        "loop",
        "package",
        "namespace",
        "return",
        "var",
        "void",
        "while",
    ]
)
_VALIDATING = "admissionregistration/v1.ValidatingAdmissionPolicySpec"
_MUTATING = "admissionregistration/v1.MutatingAdmissionPolicySpec"
_BINDING = "admissionregistration/v1.ValidatingAdmissionPolicyBindingSpec"
_MUTABLE = ("*", "CONNECT", "CREATE", "UPDATE")
_PATCHES = {"ApplyConfiguration": "applyConfiguration", "JSONPatch": "jsonPatch"}
_NO_EXPRESSION = "expression is not specified"
_ONE_ITEM = "validations or auditAnnotations must contain at least one item"


class AdmissionPolicies(GuardedGeneric):
    """Policies of one of the two kinds."""

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        super().prepare_create(obj, ctx)
        obj["metadata"]["generation"] = 1
        _default_policy(obj)

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        _default_policy(new)
        super().prepare_update(new, old, ctx)

    def prepare_status(self, new: JSON, old: JSON, ctx: Context) -> None:
        _default_policy(new)
        super().prepare_status(new, old, ctx)


class ValidatingAdmissionPolicies(AdmissionPolicies):
    """Policies that refuse requests."""

    kept_by_status = USERS_METADATA

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        return warned_of_name(obj, ctx, super().validate_create(obj, ctx) + _validate_policy(obj, {}))

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_update(new, old, ctx)
        return warned_of_name(new, ctx, errors + _validate_policy(new, old.get("spec") or {}))

    def validate_status(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        return super().validate_status(new, old, ctx) + _validate_status(new.get("status") or {})


class MutatingAdmissionPolicies(AdmissionPolicies):
    """Policies that change the objects of requests."""

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        return warned_of_name(obj, ctx, super().validate_create(obj, ctx) + _validate_mutating(obj["spec"], {}))

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_update(new, old, ctx)
        return warned_of_name(new, ctx, errors + _validate_mutating(new["spec"], old.get("spec") or {}))


class AdmissionPolicyBindings(GuardedGeneric):
    """The bindings of one of the two kinds of policies: each says where a policy is at work."""

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        obj["metadata"]["generation"] = 1
        _default_binding(obj)

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        _default_binding(new)
        super().prepare_update(new, old, ctx)


class ValidatingAdmissionPolicyBindings(AdmissionPolicyBindings):
    """Bindings of policies that refuse requests."""

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        errors = super().validate_create(obj, ctx)
        return warned_of_name(obj, ctx, errors + _validate_binding(obj.get("spec") or {}))

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_update(new, old, ctx)
        return warned_of_name(new, ctx, errors + _validate_binding(new.get("spec") or {}))


class MutatingAdmissionPolicyBindings(AdmissionPolicyBindings):
    """Bindings of policies that change the objects of requests."""

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        errors = super().validate_create(obj, ctx)
        return warned_of_name(obj, ctx, errors + _validate_mutating_binding(obj.get("spec") or {}))

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_update(new, old, ctx)
        return warned_of_name(new, ctx, errors + _validate_mutating_binding(new.get("spec") or {}))


def _default_policy(obj: JSON) -> None:
    spec = obj.setdefault("spec", {})
    spec.setdefault("failurePolicy", "Fail")
    if (matches := spec.get("matchConstraints")) is not None:
        default_matches(matches, *(matches.get(field) for field in _RULES))


def _default_binding(obj: JSON) -> None:
    if (matches := obj.setdefault("spec", {}).get("matchResources")) is not None:
        default_matches(matches, *(matches.get(field) for field in _RULES))


def _validate_status(status: JSON) -> Errors:
    """Return the errors in a policy's status: the warnings of its expressions' types, and its conditions."""
    errors: Errors = []
    for index, warning in enumerate((status.get("typeChecking") or {}).get("expressionWarnings") or ()):
        path = f"status.typeChecking.expressionWarnings[{index}]"
        errors += validate_field("admissionregistration/v1.ExpressionWarning", warning, "warning", path)
        where = (warning.get("fieldRef") or "").strip()
        if not where:
            errors.append(FieldError.required(f"{path}.fieldRef"))
    return errors + validate_status_conditions(status.get("conditions") or [], "status.conditions")


def _validate_policy(obj: JSON, before: JSON) -> Errors:
    spec = obj["spec"]
    errors, variables, composed = _validate_scope(_VALIDATING, spec, before)
    validations, annotations = spec.get("validations") or [], spec.get("auditAnnotations") or []
    if not validations and not annotations:
        return [*errors, *(FieldError.required(f"spec.{at}", _ONE_ITEM) for at in ("validations", "auditAnnotations"))]
    for index, validation in enumerate(validations):
        errors += _validate_validation(validation, f"spec.validations[{index}]", variables, composed)
    return errors + _validate_annotations(annotations, obj["metadata"]["name"], variables, composed)


def _validate_mutating(spec: JSON, before: JSON) -> Errors:
    errors, _, _ = _validate_scope(_MUTATING, spec, before)
    mutations = spec.get("mutations") or []
    if not mutations:
        errors.append(FieldError.required("spec.mutations", "mutations must contain at least one item"))
    for index, mutation in enumerate(mutations):
        errors += _validate_mutation(mutation, f"spec.mutations[{index}]")
    if not spec.get("reinvocationPolicy"):
        return [*errors, FieldError.required("spec.reinvocationPolicy")]
    return errors + validate_field(_MUTATING, spec, "reinvocationPolicy", "spec")


def _validate_mutation(mutation: JSON, path: str) -> Errors:
    errors = validate_field("admissionregistration/v1.Mutation", mutation, "patchType", path)
    if errors:
        return errors
    patch_type = mutation["patchType"]
    for kind, field in sorted(_PATCHES.items(), key=lambda patch: patch[0] != patch_type):
        part, at = mutation.get(field), f"{path}.{field}"
        if kind != patch_type:
            if part is not None:
                why = f"must not be specified when patchType is {patch_type}"
                errors.append(FieldError.invalid(at, f"{{{field}}}", why))
        elif part is None:
            errors.append(FieldError.required(at, f"must be specified when patchType is {patch_type}"))
        elif not (part.get("expression") or "").strip():
            # More is not looked at: these make objects, which no other expressions do.
            errors.append(FieldError.required(f"{at}.expression", _NO_EXPRESSION))
    return errors


def _validate_scope(type_name: str, spec: JSON, before: JSON) -> tuple[Errors, tuple[str, ...], set[str]]:
    """Check the part that policies of both kinds have: the objects that a policy is about, and its conditions.

    Return the errors, the variables that the policy's expressions may use, and those among them that are the policy's
    own.
    """
    parameters, matches = spec.get("paramKind"), spec.get("matchConstraints")
    variables = (*VARIABLES, "params") if parameters is not None else VARIABLES
    errors = validate_field(type_name, spec, "failurePolicy", "spec")
    if parameters is not None:
        errors += _validate_parameter_kind(parameters)
    if matches is None:
        errors.append(FieldError.required("spec.matchConstraints"))
    else:
        errors += _validate_matches(matches, "spec.matchConstraints")
        if not matches.get("resourceRules"):
            errors.append(FieldError.required("spec.matchConstraints.resourceRules"))
        if type_name == _MUTATING:
            errors += _validate_operations(matches, "spec.matchConstraints")
    if not before or any(spec.get(field) != before.get(field) for field in ("paramKind", "matchConditions")):
        errors += validate_conditions(spec.get("matchConditions") or [], "spec.matchConditions", variables)
    composed: set[str] = set()
    if spec.get("variables"):
        variables = (*variables, "variables")
    for index, variable in enumerate(spec.get("variables") or ()):
        errors += _validate_variable(variable, f"spec.variables[{index}]", variables, composed)
    return errors, variables, composed


def _validate_parameter_kind(of: JSON) -> Errors:
    version, kind = of.get("apiVersion") or "", of.get("kind") or ""
    path = "spec.paramKind.apiVersion"
    group, _, number = version.rpartition("/")
    errors: Errors = []
    if not version:
        errors.append(FieldError.required(path))
    elif version.count("/") > 1:
        errors.append(FieldError.invalid(path, version, f"unexpected GroupVersion string: {version}"))
    else:
        if group and (wrong := dns_subdomain(group)):
            errors.append(FieldError.invalid(path, group, ",".join(wrong)))
        if not number:
            errors.append(FieldError.invalid(path, version, "version must be specified"))
        elif wrong := dns_1035_label(number):
            errors.append(FieldError.invalid(path, number, ",".join(wrong)))
    if not kind:
        errors.append(FieldError.required("spec.paramKind.kind"))
    elif wrong := dns_1035_label(kind.lower()):
        why = f"may have mixed case, but should otherwise match: {','.join(wrong)}"
        errors.append(FieldError.invalid("spec.paramKind.kind", kind, why))
    return errors


def _validate_matches(matches: JSON, path: str) -> Errors:
    errors = validate_field("admissionregistration/v1.MatchResources", matches, "matchPolicy", path)
    for field in ("namespaceSelector", "objectSelector"):
        errors += validate_label_selector(matches.get(field), f"{path}.{field}")
    for field in _RULES:
        for index, rule in enumerate(matches.get(field) or ()):
            at, names = f"{path}.{field}[{index}]", rule.get("resourceNames") or []
            for place, name in enumerate(names):
                errors += problems(f"{at}.resourceNames[{place}]", name, path_segment(name))
                if name in names[:place]:
                    errors.append(FieldError.duplicate(f"{at}.resourceNames[{place}]", name))
            errors += validate_rule(rule, at)
    return errors


def _validate_operations(matches: JSON, path: str) -> Errors:
    """Check that no rule of a policy that changes objects is about their deletion."""
    return [
        FieldError.not_supported(f"{path}.resourceRules.operations", operation, _MUTABLE)
        for rule in matches.get("resourceRules") or ()
        for operation in rule.get("operations") or ()
        if operation not in _MUTABLE
    ]


def _validate_variable(variable: JSON, path: str, known: tuple[str, ...], composed: set[str]) -> Errors:
    """Check a variable, and add it to those that later expressions may use, even if its expression is wrong."""
    name = variable.get("name") or ""
    errors: Errors = []
    if not name.strip():
        errors.append(FieldError.required(f"{path}.name", "name is not specified"))
    elif not _IDENTIFIER.fullmatch(name) or name in _RESERVED:
        errors.append(FieldError.invalid(f"{path}.name", name, "must be a valid CEL identifier"))
    text, where = variable.get("expression") or "", f"{path}.expression"
    errors += validate_expression(text, where, known, result="", missing=_NO_EXPRESSION, composed=composed)
    if text.strip():
        composed.add(name)
    return errors


def _validate_validation(validation: JSON, path: str, known: tuple[str, ...], composed: set[str]) -> Errors:
    text, told = validation.get("expression") or "", validation.get("messageExpression") or ""
    message, reason = validation.get("message") or "", validation.get("reason")
    errors = validate_expression(text, f"{path}.expression", known, missing=_NO_EXPRESSION, composed=composed)
    if told.strip():
        known = tuple(name for name in known if name != "authorizer")
        errors += validate_expression(told, f"{path}.messageExpression", known, result="string", composed=composed)
    elif told:
        errors.append(FieldError.invalid(f"{path}.messageExpression", told, "must be non-empty if specified"))
    if message and not message.strip():
        errors.append(FieldError.invalid(f"{path}.message", message, "must be non-empty if specified"))
    elif re.search(r"[\n\r]", message.strip()):
        errors.append(FieldError.invalid(f"{path}.message", message, "must not contain line breaks"))
    return errors + validate_choice(reason, f"{path}.reason", _REASONS)


def _validate_annotations(annotations: list[JSON], policy: str, known: tuple[str, ...], composed: set[str]) -> Errors:
    errors: Errors = []
    if len(annotations) > _MAX_ANNOTATIONS:
        why = f"must not have more than {_MAX_ANNOTATIONS} auditAnnotations"
        errors.append(FieldError.invalid("spec.auditAnnotations", annotations, why))
    keys: set[str] = set()
    for index, annotation in enumerate(annotations):
        at, key = f"spec.auditAnnotations[{index}]", annotation.get("key") or ""
        text, where = annotation.get("valueExpression") or "", f"{at}.valueExpression"
        errors += problems(f"{at}.key", f"{policy}/{key}", qualified_name(f"{policy}/{key}"))
        if len(text.strip().encode()) > _MAX_ANNOTATION:
            errors.append(FieldError.required(where, f"must not exceed {_MAX_ANNOTATION} bytes in length"))
        else:
            missing = "valueExpression is not specified"
            errors += validate_expression(text, where, known, result="string", missing=missing, composed=composed)
        if key in keys:
            errors.append(FieldError.duplicate(f"{at}.key", key))
        keys.add(key)
    return errors


def _validate_reference(spec: JSON) -> Errors:
    """Check the policy that a binding names, the parameters, and the objects it is for."""
    errors = validate_field(_BINDING, spec, "policyName", "spec", dns_subdomain)
    if (parameters := spec.get("paramRef")) is not None:
        errors += _validate_parameters(parameters)
    if (matches := spec.get("matchResources")) is not None:
        errors += _validate_matches(matches, "spec.matchResources")
    return errors


def _validate_mutating_binding(spec: JSON) -> Errors:
    return _validate_reference(spec) + _validate_operations(spec.get("matchResources") or {}, "spec.matchResources")


def _validate_binding(spec: JSON) -> Errors:
    actions, errors = spec.get("validationActions") or [], _validate_reference(spec)
    path, known = "spec.validationActions", rule_of(_BINDING, "validationActions").values
    for index, action in enumerate(actions):
        errors += validate_choice(action, f"{path}[{index}]", known)
        if action in actions[:index]:
            errors.append(FieldError.duplicate(f"{path}[{index}]", action))
    if "Deny" in actions and "Warn" in actions:
        why = (
            "must not contain both Deny and Warn (repeating the same validation failure information in the API "
            "response and headers serves no purpose)"
        )
        errors.append(FieldError.invalid(path, actions, why))
    if not actions:
        errors.append(FieldError.required(path, "at least one validation action is required"))
    return errors


def _validate_parameters(parameters: JSON) -> Errors:
    path, exclusive = "spec.paramRef", "name and selector are mutually exclusive"
    name, selector = parameters.get("name") or "", parameters.get("selector")
    errors = problems(f"{path}.name", name, path_segment(name)) if name else []
    errors += validate_label_selector(selector, f"{path}.selector")
    if name and selector is not None:
        errors += [FieldError.forbidden(f"{path}.{field}", exclusive) for field in ("name", "selector")]
    if not name and selector is None:
        errors.append(FieldError.required(path, "one of name or selector must be specified"))
    action = parameters.get("parameterNotFoundAction")
    if not action:
        return [*errors, FieldError.required(f"{path}.parameterNotFoundAction")]
    return errors + validate_choice(action, f"{path}.parameterNotFoundAction", _NOT_FOUND_ACTIONS)
