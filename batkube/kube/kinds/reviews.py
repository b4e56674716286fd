"""Reviews: who am I, may I? Whoever asks is an administrator, and everybody may do everything
(authorization mode AlwaysAllow).
"""

from __future__ import annotations

from typing import Any

from ..status import ApiError, FieldError
from ..strategy import ActionRequest, Answer
from .service_accounts import read_token

JSON = dict[str, Any]

_ALLOWED: JSON = {"allowed": True}
_EVERYTHING: JSON = {
    "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}],
    "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
    "incomplete": False,
}


def _answer(request: ActionRequest, review: JSON, status: JSON, metadata: JSON | None = None) -> Answer:
    kind = {"kind": request.ctx.resource.kind, "apiVersion": request.ctx.resource.api_version}
    sent = metadata if metadata is not None else review.get("metadata") or {}
    answer: JSON = {**kind, "metadata": sent, "spec": review.get("spec") or {}, "status": status}
    return Answer(201, answer)


def review_access(request: ActionRequest) -> Answer:
    """SubjectAccessReview, SelfSubjectAccessReview and LocalSubjectAccessReview."""
    review = request.body or {}
    spec = review.get("spec") or {}
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    errors = []
    if resource is not None and path is not None:
        why = "cannot be specified in combination with resourceAttributes"
        errors.append(FieldError.invalid("spec.nonResourceAttributes", path, why))
    if resource is None and path is None:
        why = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        errors.append(FieldError.invalid("spec.resourceAttributes", None, why))
    is_self = request.ctx.resource.kind.startswith("Self")
    if not is_self and not spec.get("user") and not spec.get("groups"):
        errors.append(FieldError.invalid("spec.user", "", "at least one of user or group must be specified"))
    if errors:
        raise ApiError.invalid(".authorization.k8s.io", "", errors)
    if request.ctx.resource.namespaced and (resource or {}).get("namespace") != request.ctx.namespace:
        why = f"must match metadata.namespace: {request.ctx.namespace}"
        wrong = FieldError.invalid("spec.resourceAttributes.namespace", (resource or {}).get("namespace", ""), why)
        raise ApiError.invalid(".authorization.k8s.io", "", [wrong])
    return _answer(request, review, _ALLOWED)


def review_rules(request: ActionRequest) -> Answer:
    """SelfSubjectRulesReview."""
    spec = (request.body or {}).get("spec") or {}
    if not spec.get("namespace"):
        raise ApiError.bad_request("no namespace on request")
    return _answer(request, {}, _EVERYTHING)


def review_token(request: ActionRequest) -> Answer:
    """TokenReview: knows the tokens that this server gave to service accounts."""
    review = request.body or {}
    token = (review.get("spec") or {}).get("token") or ""
    if not token:
        raise ApiError.bad_request("token is required for TokenReview in authentication")
    account = read_token(token, request.ctx.store)
    if account is None:
        return _answer(request, review, {"user": {}, "error": "invalid bearer token"})
    return _answer(request, review, {"authenticated": True, "user": account})


def review_self(request: ActionRequest) -> Answer:
    """SelfSubjectReview."""
    user = {"username": request.ctx.user, "groups": ["system:masters", "system:authenticated"]}
    kind = {"kind": request.ctx.resource.kind, "apiVersion": request.ctx.resource.api_version}
    metadata = {"creationTimestamp": request.ctx.now}
    return Answer(201, {**kind, "metadata": metadata, "status": {"userInfo": user}})
