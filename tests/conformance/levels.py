"""The two levels of a comparison: what clients branch on, and everything."""

import json
import re
from typing import Any

from .paths import find

JSON = Any

# What a simulator may leave out without a client noticing. Dropped from both sides unless the level is strict.
NEW_NODE_TAINT = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
DEFAULT_TOLERATIONS = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
SERVICE_NETWORK = ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy", "nodePort")
ANNOTATIONS = ("deprecated.daemonset.template.generation",)


def strict_view(answer: JSON) -> JSON:
    """The whole answer. The real server lists several causes in random order, so here they and the text are sorted."""
    body = answer.get("body") if isinstance(answer, dict) else None
    causes = find(body, "details.causes")
    if not isinstance(body, dict) or not isinstance(causes, list) or len(causes) < 2:
        return answer
    in_order = sorted(causes, key=lambda cause: json.dumps(cause, sort_keys=True))
    words = sorted(re.split(r"[\s,\[\]]+", str(body.get("message"))))
    details = {**body["details"], "causes": in_order}
    return {**answer, "body": {**body, "message": " ".join(words), "details": details}}


def client_view(answer: JSON, keep: list[str]) -> JSON:
    """The part of an answer that clients branch on: see "Levels" in README.md."""
    if not isinstance(answer, dict):
        return answer
    view = dict(answer)
    headers = dict(view.get("headers") or {})
    shown: dict[str, JSON] = {}
    if "Content-Type" in headers:
        shown["Content-Type"] = re.sub(r";\s*charset=[^;]*|;stream=watch", "", str(headers["Content-Type"]))
    if "Warning" in headers and "warnings" in keep:
        shown["Warning"] = len(headers["Warning"])
    if "Content-Encoding" in headers:
        shown["Content-Encoding"] = headers["Content-Encoding"]
    view["headers"] = shown
    if "body" in view:
        view["body"] = _body(view["body"])
    if "events" in view:
        view["events"] = [{**event, "object": _body(event.get("object"))} for event in view["events"]]
    if view.get("status", 200) >= 400:
        view.pop("text", None)
    return view


def _body(body: JSON, key: str = "") -> JSON:
    if isinstance(body, list):
        return _items([_body(item, key) for item in body], key)
    if not isinstance(body, dict):
        return body
    if body.get("kind") == "Status" and "status" in body:
        return _status(body)
    condition = {"type", "status", "lastTransitionTime"} <= set(body)
    view = {}
    for name, item in body.items():
        if item is None or (name in SERVICE_NETWORK and key == "spec"):
            continue
        if name == "message" and (condition or body.get("kind") == "Status"):
            continue
        if name == "columnDefinitions":
            item = [{key: value for key, value in column.items() if key != "description"} for column in item]
        if name == "annotations" and isinstance(item, dict):
            item = {key: value for key, value in item.items() if key not in ANNOTATIONS}
        shown = _body(item, name)
        if shown in ([], {}) and item and name in ("tolerations", "taints", "volumes", "annotations"):
            continue
        view[name] = shown
    return view


def _items(items: list[JSON], key: str) -> list[JSON]:
    if key == "conditions" and all(isinstance(item, dict) for item in items):
        items.sort(key=lambda item: str(item.get("type")))
    if key == "tolerations":
        items = [item for item in items if not _default_toleration(item)]
    if key == "taints":
        items = [item for item in items if item != NEW_NODE_TAINT]
    if key == "volumes":
        items = [item for item in items if not str(item.get("name", "")).startswith("kube-api-access-")]
    return items


def _default_toleration(item: JSON) -> bool:
    return isinstance(item, dict) and item.get("key") in DEFAULT_TOLERATIONS and item.get("tolerationSeconds") == 300


def _status(body: JSON) -> JSON:
    if body.get("status") == "Success":
        return {key: value for key, value in body.items() if key != "message"}
    causes = find(body, "details.causes") or []
    pairs = sorted({(str(cause.get("field", "")), str(cause.get("reason", ""))) for cause in causes})
    view = {key: body.get(key) for key in ("kind", "apiVersion", "status", "reason", "code")}
    return {**view, "causes": [{"field": field, "reason": reason} for field, reason in pairs]}
