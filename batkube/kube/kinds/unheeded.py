"""The fields that are stored as in the real server, but that nothing here acts upon: their author is warned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

JSON = dict[str, Any]

_POD_SECURITY = "pod-security.kubernetes.io/"


def unheeded(storage: str, obj: JSON) -> str:
    """Return the warning about a new object of that kind; "" if there is none."""
    tell = _KINDS.get(storage)
    return tell(obj) if tell is not None else ""


def _webhooks(obj: JSON) -> str:
    return "batkube keeps this configuration and calls no webhook" if obj.get("webhooks") else ""


def _policy(obj: JSON) -> str:
    return "batkube keeps this policy and does not apply it: no request is refused or changed by it"


def _binding(obj: JSON) -> str:
    return "batkube keeps this binding and does not apply its policy"


def _definition(obj: JSON) -> str:
    if (obj["spec"].get("conversion") or {}).get("strategy") != "Webhook":
        return ""
    return "batkube calls no conversion webhook: objects are served in other versions with their fields as they are"


def _api_service(obj: JSON) -> str:
    if not (obj.get("spec") or {}).get("service"):
        return ""
    return "batkube keeps this APIService and passes no request on to its service"


def _flow_control(obj: JSON) -> str:
    return "batkube keeps this object and does not queue or limit requests by it"


def _service_account(obj: JSON) -> str:
    if obj["metadata"]["name"] == "default":
        return ""  # every namespace has one
    return (
        "batkube does not run the admission plugin ServiceAccount: pods get no token of this account, and pods of an "
        "account that does not exist are taken"
    )


def _namespace(obj: JSON) -> str:
    labels = obj["metadata"].get("labels") or {}
    if not any(name.startswith(_POD_SECURITY) for name in labels):
        return ""
    return f"batkube does not run the admission plugin PodSecurity: labels {_POD_SECURITY}* refuse no pod"


_ADMISSION = "admissionregistration.k8s.io"
_KINDS: dict[str, Callable[[JSON], str]] = {
    f"mutatingwebhookconfigurations.{_ADMISSION}": _webhooks,
    f"validatingwebhookconfigurations.{_ADMISSION}": _webhooks,
    f"mutatingadmissionpolicies.{_ADMISSION}": _policy,
    f"validatingadmissionpolicies.{_ADMISSION}": _policy,
    f"mutatingadmissionpolicybindings.{_ADMISSION}": _binding,
    f"validatingadmissionpolicybindings.{_ADMISSION}": _binding,
    "customresourcedefinitions.apiextensions.k8s.io": _definition,
    "apiservices.apiregistration.k8s.io": _api_service,
    "flowschemas.flowcontrol.apiserver.k8s.io": _flow_control,
    "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io": _flow_control,
    "serviceaccounts": _service_account,
    "namespaces": _namespace,
}
