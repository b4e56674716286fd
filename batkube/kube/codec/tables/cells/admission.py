"""Admission policies and webhooks, certificates."""

from __future__ import annotations

from typing import Any

from ..ages import Ages, human_duration
from .text import JSON, NONE, UNSET, Cells, age, labels, name, spec, status


def webhooks(obj: JSON, ages: Ages) -> list[Any]:
    return [name(obj), len(obj.get("webhooks") or ()), age(obj, ages)]


def validating_policy(obj: JSON, ages: Ages) -> list[Any]:
    return _policy(obj, "validations", ages)


def mutating_policy(obj: JSON, ages: Ages) -> list[Any]:
    return _policy(obj, "mutations", ages)


def _policy(obj: JSON, rules: str, ages: Ages) -> list[Any]:
    parameters = spec(obj).get("paramKind")
    shown = UNSET if parameters is None else f"{parameters.get('apiVersion', '')}/{parameters.get('kind', '')}"
    return [name(obj), len(spec(obj).get(rules) or ()), shown, age(obj, ages)]


def policy_binding(obj: JSON, ages: Ages) -> list[Any]:
    reference = spec(obj).get("paramRef") or {}
    shown = UNSET
    if reference.get("name"):
        shown = f"{reference.get('namespace') or '*'}/{reference['name']}"
    elif reference.get("selector") is not None:
        shown = _as_go_prints(reference["selector"])
    return [name(obj), spec(obj).get("policyName", ""), shown, age(obj, ages)]


def _as_go_prints(selector: JSON) -> str:
    """Return the text of `LabelSelector.String()`, which is not the notation of selectors."""
    labels = "".join(f"{key}: {value}," for key, value in sorted((selector.get("matchLabels") or {}).items()))
    requirements = "".join(
        f"LabelSelectorRequirement{{Key:{one.get('key', '')},Operator:{one.get('operator', '')},"
        f"Values:[{' '.join(one.get('values') or ())}],}},"
        for one in selector.get("matchExpressions") or ()
    )
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{labels}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{requirements}}},}}"
    )


def signing_request(obj: JSON, ages: Ages) -> list[Any]:
    its_spec = spec(obj)
    seconds = its_spec.get("expirationSeconds")
    conditions = {found.get("type") for found in status(obj).get("conditions") or ()}
    state = "Denied" if "Denied" in conditions else "Approved" if "Approved" in conditions else "Pending"
    if "Failed" in conditions:
        state += ",Failed"
    if status(obj).get("certificate"):
        state += ",Issued"
    return [
        name(obj),
        age(obj, ages),
        its_spec.get("signerName") or NONE,
        its_spec.get("username", ""),
        NONE if seconds is None else human_duration(seconds),
        state,
    ]


def trust_bundle(obj: JSON, ages: Ages) -> list[Any]:
    return [name(obj), spec(obj).get("signerName") or NONE]


def pod_certificate_request(obj: JSON, ages: Ages) -> list[Any]:
    state = "Pending"
    for found in status(obj).get("conditions") or ():
        if found.get("type") in ("Issued", "Denied", "Failed"):
            state = found["type"]
    fields = ("podName", "serviceAccountName", "nodeName", "signerName")
    shown = (spec(obj).get(field, "") for field in fields)
    return [name(obj), *shown, state, labels(spec(obj).get("unverifiedUserAnnotations"))]


CELLS: dict[str, Cells] = {
    "CertificateSigningRequest": signing_request,
    "ClusterTrustBundle": trust_bundle,
    "MutatingAdmissionPolicy": mutating_policy,
    "MutatingAdmissionPolicyBinding": policy_binding,
    "MutatingWebhookConfiguration": webhooks,
    "PodCertificateRequest": pod_certificate_request,
    "ValidatingAdmissionPolicy": validating_policy,
    "ValidatingAdmissionPolicyBinding": policy_binding,
    "ValidatingWebhookConfiguration": webhooks,
}
