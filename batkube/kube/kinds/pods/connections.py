"""Logs, and connections into pods and nodes (exec, attach, port-forward, proxy). There is no kubelet to answer them.

The answers are the real server's for a pod whose node cannot be reached (`pkg/registry/core/pod/strategy.go`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...apimachinery.status import ApiError, FieldError, quote
from ...apimachinery.times import TimeError, read_time
from ..action import Action, ActionAnswer, ActionRequest, ObjectOperations

JSON = dict[str, Any]

_INTEGERS = ("tailLines", "limitBytes", "sinceSeconds")
# Types of addresses by which a kubelet is looked for, in this order (`--kubelet-preferred-address-types`).
_PREFERRED = ("Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP")
_NAMES = ("Hostname", "InternalDNS", "ExternalDNS")
_CONTAINER_LISTS = ("initContainers", "containers", "ephemeralContainers")


class _Connecting(Action):
    """An action that does the same for all methods."""

    def connect(self, request: ActionRequest, server: ObjectOperations) -> ActionAnswer:
        """Connect, or raise an error that says why not."""
        raise NotImplementedError

    def read(self, request: ActionRequest, server: ObjectOperations) -> ActionAnswer:
        return self.connect(request, server)

    def write(self, request: ActionRequest, server: ObjectOperations) -> ActionAnswer:
        return self.connect(request, server)

    def update(self, request: ActionRequest, server: ObjectOperations) -> ActionAnswer:
        return self.connect(request, server)

    def delete(self, request: ActionRequest, server: ObjectOperations) -> ActionAnswer:
        return self.connect(request, server)


class Log(Action):
    """The action `log`. `text` returns what the containers of a pod have written, if somebody knows."""

    def __init__(self, text: Callable[[JSON], str] = lambda pod: "") -> None:
        self._text = text

    def read(self, request: ActionRequest, server: ObjectOperations) -> ActionAnswer:
        """Answer 204 for a pod without a node, 404 for a pod whose node cannot be asked."""
        _check_log_options(request)
        pod = _pod(request)
        _check_container(request, pod)
        node = pod["spec"].get("nodeName")
        if not node:
            return ActionAnswer(204, "")
        if request.ctx.store.get("nodes", "", node) is None:
            raise ApiError.not_found("pods", node)
        return ActionAnswer(200, self._text(pod))


class Connections(_Connecting):
    """The actions `exec` and `attach`."""

    def check(self, request: ActionRequest, pod: JSON) -> None:
        """Raise ApiError if the request names no container of the pod."""
        _check_container(request, pod)

    def connect(self, request: ActionRequest, server: ObjectOperations) -> ActionAnswer:
        """Answer exec, attach and port-forward."""
        pod = _pod(request)
        name, node = request.ctx.name, pod["spec"].get("nodeName")
        self.check(request, pod)
        if not node:
            raise ApiError.bad_request(f"pod {name} does not have a host assigned")
        found = request.ctx.store.get("nodes", "", node)
        if found is None:
            raise ApiError.not_found("pods", node)
        addresses = {
            each.get("type"): each.get("address") for each in (found.get("status") or {}).get("addresses") or ()
        }
        kind = next((kind for kind in _PREFERRED if addresses.get(kind)), None)
        if kind is None:
            raise _without_address(found)
        if not request.upgrades:
            raise ApiError.bad_request("Upgrade request required")
        where = addresses[kind]
        why = f": lookup {where}: no such host" if kind in _NAMES else f" {where}:10250: connect: connection refused"
        raise ApiError.unforeseen(f"error dialing backend: dial tcp{why}")


class PortForward(Connections):
    """The action `portforward`."""

    def check(self, request: ActionRequest, pod: JSON) -> None:
        """Raise ApiError if the request names no ports."""
        _check_ports(request)


class PodProxy(_Connecting):
    def connect(self, request: ActionRequest, server: ObjectOperations) -> ActionAnswer:
        """Answer a request to a port of the pod."""
        pod = _pod(request)
        if not (pod.get("status") or {}).get("podIP"):
            raise ApiError.bad_request("address not allowed")
        raise ApiError(503, "ServiceUnavailable", "error trying to reach service: pods of a simulation have no network")


class NodeProxy(_Connecting):
    def connect(self, request: ActionRequest, server: ObjectOperations) -> ActionAnswer:
        """Answer a request to the kubelet of a node."""
        node = request.ctx.store.get("nodes", "", request.ctx.name)
        if node is None:
            raise ApiError.not_found("nodes", request.ctx.name)
        raise _without_address(node)


def _without_address(node: JSON) -> ApiError:
    """Return the error that no address of the node leads to its kubelet."""
    addresses = " ".join(
        f"{{{address.get('type', '')} {address.get('address', '')}}}"
        for address in (node.get("status") or {}).get("addresses") or ()
    )
    return ApiError.unforeseen(f"no preferred addresses found; known addresses: [{addresses}]")


def _pod(request: ActionRequest) -> JSON:
    ctx = request.ctx
    pod = ctx.store.get("pods", ctx.namespace, ctx.name)
    if pod is None:
        raise ApiError.not_found("pods", ctx.name)
    return pod


def _check_container(request: ActionRequest, pod: JSON) -> None:
    name = request.ctx.name
    names = [container["name"] for key in _CONTAINER_LISTS for container in pod["spec"].get(key) or ()]
    asked = request.query.get("container", "")
    if asked and asked not in names:
        raise ApiError.bad_request(f"container {asked} is not valid for pod {name}")
    if not asked and len(pod["spec"]["containers"]) > 1:
        default = (pod["metadata"].get("annotations") or {}).get("kubectl.kubernetes.io/default-container")
        if default not in names:
            message = f"a container name must be specified for pod {name}, choose one of: [{' '.join(names)}]"
            raise ApiError.bad_request(message)


def _check_ports(request: ActionRequest) -> None:
    if (text := request.query.get("ports", "")) and not (text.isascii() and text.isdigit()):
        why = f"cannot convert to []int32: strconv.ParseUint: parsing {quote(text)}: invalid syntax"
        raise ApiError.bad_request(why)


def _check_log_options(request: ActionRequest) -> None:
    values: dict[str, int] = {}
    for key in _INTEGERS:
        text = request.query.get(key)
        if text is None or text == "":
            continue
        try:
            values[key] = int(text)
        except ValueError:
            raise ApiError.bad_request(f'strconv.ParseInt: parsing "{text}": invalid syntax') from None
    since = request.query.get("sinceTime")
    if since:
        try:
            read_time(since)
        except TimeError as error:
            raise ApiError.bad_request(str(error)) from None
    errors = []
    if values.get("tailLines", 0) < 0:
        errors.append(FieldError.invalid("tailLines", values["tailLines"], "must be greater than or equal to 0"))
    if values.get("limitBytes", 1) < 1:
        errors.append(FieldError.invalid("limitBytes", values["limitBytes"], "must be greater than 0"))
    if values.get("sinceSeconds", 1) < 1:
        errors.append(FieldError.invalid("sinceSeconds", values["sinceSeconds"], "must be greater than 0"))
    if since and "sinceSeconds" in values:
        errors.append(FieldError.forbidden("[]", "at most one of `sinceTime` or `sinceSeconds` may be specified"))
    if request.query.get("stream"):  # needs the feature gate PodLogsQuerySplitStreams
        errors.append(FieldError.forbidden("stream", "may not be specified"))
    if errors:
        raise ApiError.invalid("PodLogOptions", request.ctx.name, errors)
