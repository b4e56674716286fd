"""The reviews of users, tokens and access: who is the user, and what is allowed?"""

from __future__ import annotations

from typing import Any

from ..apimachinery.metadata import Errors, problems
from ..apimachinery.names import qualified_name
from ..apimachinery.status import ApiError, FieldError
from ..schema.internal_json import internal
from .action import Action, ActionAnswer, ActionRequest, ObjectOperations
from .core.service_accounts import ISSUER

JSON = dict[str, Any]

_PATH = "authorization/v1.NonResourceAttributes"
_EVERYTHING: JSON = {
    "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}],
    "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
    "incomplete": False,
}


def _answer(request: ActionRequest, review: JSON, status: JSON, metadata: JSON | None = None) -> ActionAnswer:
    kind = {"kind": request.ctx.resource.kind, "apiVersion": request.ctx.resource.api_version}
    sent = metadata if metadata is not None else review.get("metadata") or {}
    answer: JSON = {**kind, "metadata": sent, "spec": review.get("spec") or {}, "status": status}
    return ActionAnswer(201, answer)


class AccessReviews(Action):
    def write(self, request: ActionRequest, server: ObjectOperations) -> ActionAnswer:
        """Answer a SubjectAccessReview, SelfSubjectAccessReview or LocalSubjectAccessReview."""
        review = request.body or {}
        spec, metadata = review.get("spec") or {}, review.get("metadata") or {}
        resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
        namespace = request.ctx.namespace
        if namespace and metadata.get("namespace", "") not in ("", namespace):
            why = "the namespace of the provided object does not match the namespace sent on the request"
            raise ApiError.bad_request(why)
        is_self, is_local = request.ctx.resource.kind.startswith("Self"), request.ctx.resource.namespaced
        errors: Errors = []
        if resource is not None and path is not None:
            why = "cannot be specified in combination with resourceAttributes"
            errors.append(FieldError.invalid("spec.nonResourceAttributes", internal(_PATH, path), why))
        if resource is None and path is None:
            why = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
            errors.append(FieldError.invalid("spec.resourceAttributes", None, why))
        if not is_self and not spec.get("user") and not spec.get("groups"):
            errors.append(FieldError.invalid("spec.user", "", "at least one of user or group must be specified"))
        for name in ("fieldSelector", "labelSelector"):
            if resource is not None and resource.get(name) is not None:
                errors += _validate_selector(resource[name], f"spec.resourceAttributes.{name}")
        if set(metadata) - {"managedFields", *(("namespace",) if is_local else ())}:
            why = "must be empty except for namespace" if is_local else "must be empty"
            errors.append(FieldError.invalid("metadata", metadata, why))
        if is_local and resource is not None and (resource.get("namespace") or "") != namespace:
            given = resource.get("namespace") or ""
            errors.append(
                FieldError.invalid("spec.resourceAttributes.namespace", given, "must match metadata.namespace")
            )
        if is_local and path is not None:
            why = "disallowed on this kind of request"
            errors.append(FieldError.invalid("spec.nonResourceAttributes", internal(_PATH, path), why))
        if errors:
            raise ApiError.invalid(".authorization.k8s.io", "", errors)
        if is_self:
            user, groups = request.ctx.user.name, request.ctx.user.groups
        else:
            user, groups = spec.get("user") or "", tuple(spec.get("groups") or ())
        asked = resource or path or {}
        where = (path.get("path") or "") if path is not None else None
        allowed = server.access.allows(user, groups, asked.get("verb") or "", where)
        sent = {key: value for key, value in metadata.items() if key != "managedFields"}
        return _answer(request, review, {"allowed": allowed}, {**sent, "namespace": namespace} if is_local else sent)


def _validate_selector(selector: JSON, path: str) -> Errors:
    """Check a field or label selector. Unknown operators are let through."""
    raw, requirements = selector.get("rawSelector") or "", selector.get("requirements") or []
    errors: Errors = []
    if raw and requirements:
        why = "may not specified at the same time as requirements"
        errors.append(FieldError.invalid(f"{path}.rawSelector", raw, why))
    if not raw and not requirements:
        why = f"when {path} is specified, requirements or rawSelector is required"
        errors.append(FieldError.required(f"{path}.requirements", why))
    for index, requirement in enumerate(requirements):
        at, operator, values = f"{path}.requirements[{index}]", requirement.get("operator"), requirement.get("values")
        key = requirement.get("key") or ""
        if path.endswith("labelSelector"):
            errors += problems(f"{at}.key", key, qualified_name(key))
        elif not key:
            errors.append(FieldError.required(f"{at}.key", "must be specified"))
        if operator in ("In", "NotIn") and not values:
            why = "must be specified when `operator` is 'In' or 'NotIn'"
            errors.append(FieldError.required(f"{at}.values", why))
        if operator in ("Exists", "DoesNotExist") and values:
            why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            errors.append(FieldError.forbidden(f"{at}.values", why))
    return errors


class RulesReviews(Action):
    def write(self, request: ActionRequest, server: ObjectOperations) -> ActionAnswer:
        """Answer a SelfSubjectRulesReview."""
        spec = (request.body or {}).get("spec") or {}
        if not spec.get("namespace"):
            raise ApiError.bad_request("no namespace on request")
        return _answer(request, {}, _EVERYTHING)


class TokenReviews(Action):
    def write(self, request: ActionRequest, server: ObjectOperations) -> ActionAnswer:
        """Answer a TokenReview: tell whose token it is.

        A server that delegates authentication asks it (kube-scheduler for its metrics).
        """
        review = dict(request.body or {})
        review["metadata"] = {key: value for key, value in (review.get("metadata") or {}).items() if key != "namespace"}
        token = (review.get("spec") or {}).get("token") or ""
        if not token:
            raise ApiError.bad_request("token is required for TokenReview in authentication")
        audiences = review["spec"].get("audiences") or [ISSUER]
        user = server.access.user_of_token(token.encode(errors="replace"))
        elsewhere = ISSUER not in audiences  # accounts have tokens for other audiences, too
        if user is None or (elsewhere and not user.name.startswith("system:serviceaccount:")):
            return _answer(request, review, {"user": {}, "error": "invalid bearer token"})
        return _answer(request, review, {"authenticated": True, "user": user.info()})


class SelfReviews(Action):
    def write(self, request: ActionRequest, server: ObjectOperations) -> ActionAnswer:
        """Answer a SelfSubjectReview."""
        kind = {"kind": request.ctx.resource.kind, "apiVersion": request.ctx.resource.api_version}
        metadata = {"creationTimestamp": request.ctx.now}
        return ActionAnswer(201, {**kind, "metadata": metadata, "status": {"userInfo": request.ctx.user.info()}})
