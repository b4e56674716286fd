"""Reviews: who am I, who is that, may I, may he?"""

from __future__ import annotations

from typing import Any

from ..status import ApiError, FieldError
from ..strategy import ActionRequest, Answer

JSON = dict[str, Any]

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
    if is_self:
        user, groups = request.user.name, request.user.groups
    else:
        user, groups = spec.get("user") or "", tuple(spec.get("groups") or ())
    asked = resource or path or {}
    where = (path.get("path") or "") if path is not None else None
    allowed = request.access.allows(user, groups, asked.get("verb") or "", where)
    return _answer(request, review, {"allowed": allowed})


def review_rules(request: ActionRequest) -> Answer:
    """SelfSubjectRulesReview."""
    spec = (request.body or {}).get("spec") or {}
    if not spec.get("namespace"):
        raise ApiError.bad_request("no namespace on request")
    return _answer(request, {}, _EVERYTHING)


def review_token(request: ActionRequest) -> Answer:
    """TokenReview: whose token is that? How a server that delegates authentication (kube-scheduler's metrics) asks."""
    review = request.body or {}
    token = (review.get("spec") or {}).get("token") or ""
    if not token:
        raise ApiError.bad_request("token is required for TokenReview in authentication")
    user = request.access.user_of_token(token.encode(errors="replace"))
    if user is None:
        return _answer(request, review, {"user": {}, "error": "invalid bearer token"})
    return _answer(request, review, {"authenticated": True, "user": user.info()})


def review_self(request: ActionRequest) -> Answer:
    """SelfSubjectReview."""
    kind = {"kind": request.ctx.resource.kind, "apiVersion": request.ctx.resource.api_version}
    metadata = {"creationTimestamp": request.ctx.now}
    return Answer(201, {**kind, "metadata": metadata, "status": {"userInfo": request.user.info()}})
