"""CertificateSigningRequests: their content, and who may change which part (`pkg/registry/certificates/certificates`,
`pkg/apis/certificates/validation`).

Nobody signs here: that is the work of a controller.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..apimachinery.names import Problems, dns_label, dns_subdomain, path_segment
from ..apimachinery.status import FieldError, quote
from .strategy import Context, Strategy

if TYPE_CHECKING:
    from cryptography.x509 import CertificateSigningRequest
from .published import validate_field

JSON = dict[str, Any]
Errors = list[FieldError]

_FINAL = ("Approved", "Denied", "Failed")
"""The conditions that stay true once they are set."""
_DECISIONS = ("Approved", "Denied")
"""The conditions that only `/approval` may change."""
_CONDITIONS = "status.conditions"

FOR_CLIENTS = "kubernetes.io/kube-apiserver-client"
_LEGACY = "kubernetes.io/legacy-unknown"
_SHORTEST = 600
"""The shortest validity of a certificate, in seconds."""

_PEM = re.compile(rb"-----BEGIN ([^\n-]*)-----\s*\n(.*?)-----END \1-----", re.DOTALL)


class CertificateSigningRequests(Strategy):
    """The rules of certificate requests. The spec never changes; `/approval` changes the conditions, `/status` all but
    the decision.
    """

    counts_generation = False
    fixed_spec = True
    selectable_fields = frozenset(("spec.signerName",))
    selectable_metadata = ("metadata.name",)
    name_rule = staticmethod(path_segment)

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        super().prepare_create(obj, ctx)
        spec = obj.setdefault("spec", {})
        for field in ("username", "uid", "groups", "extra"):
            spec.pop(field, None)
        spec.update(ctx.user.info())

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        return super().validate_create(obj, ctx) + _validate_spec(obj["spec"])

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        new["spec"], new["status"] = old["spec"], old.get("status") or {}

    def prepare_status(self, new: JSON, old: JSON, ctx: Context) -> None:
        new["spec"], before = old["spec"], old.get("status") or {}
        status = new.get("status") or {}
        _keep_decision(status, before)
        _date_conditions(status, before, ctx.now)
        new["status"] = status

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        return self._validate(new, old, ctx, approves=False)

    validate_status = validate_update

    def _validate(self, new: JSON, old: JSON, ctx: Context, *, approves: bool) -> Errors:
        now, before = new.get("status") or {}, old.get("status") or {}
        errors = _validate_conditions(now, before)
        certificate = now.get("certificate")
        if certificate and certificate != before.get("certificate"):
            why = _wrong_certificate(base64.b64decode(certificate))
            errors += [FieldError.invalid("status.certificate", "<certificate data>", why)] if why else []
        errors += _removed(now, before)
        if not approves:
            errors += _decided(now, before)
        if certificate != before.get("certificate") and before.get("certificate"):
            why = "updates may not modify existing certificate content"
            errors.append(FieldError.forbidden("status.certificate", why))
        return errors + Strategy.validate_update(self, new, old, ctx)

    def field_labels(self, obj: JSON) -> dict[str, str]:
        return {"spec.signerName": (obj.get("spec") or {}).get("signerName", "")}


class Approval(CertificateSigningRequests):
    """The rules of `/approval`."""

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        new["spec"], before = old["spec"], old.get("status") or {}
        status = new.get("status") or {}
        _date_conditions(status, before, ctx.now)
        new["status"] = {key: value for key, value in before.items() if key != "conditions"}
        if status.get("conditions"):
            new["status"]["conditions"] = status["conditions"]

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        return self._validate(new, old, ctx, approves=True)


def _validate_spec(spec: JSON) -> Errors:
    request, usages = spec.get("request") or None, spec.get("usages") or []
    why = _wrong_request(base64.b64decode(request or ""))
    errors = [FieldError.invalid("spec.request", request, why)] if why else []
    if not usages:
        errors.append(FieldError.required("spec.usages"))
    errors += validate_field("certificates/v1.CertificateSigningRequestSpec", spec, "usages", "spec")
    for index, usage in enumerate(usages):
        if usage in usages[:index]:
            errors.append(FieldError.duplicate(f"spec.usages[{index}]", usage))
    signer = spec.get("signerName") or ""
    if signer == _LEGACY:
        why = "the legacy signerName is not allowed via this API version"
        errors.append(FieldError.invalid("spec.signerName", signer, why))
    else:
        errors += validate_signer_name("spec.signerName", signer)
    seconds = spec.get("expirationSeconds")
    if seconds is not None and seconds < _SHORTEST:
        why = "may not specify a duration less than 600 seconds (10 minutes)"
        errors.append(FieldError.invalid("spec.expirationSeconds", seconds, why))
    return errors


def validate_signer_name(path: str, name: str) -> Errors:
    """Return the errors in the name of a signer: `example.com/name` (`ValidateSignerName`)."""
    if not name:
        return [FieldError.required(path)]
    segments = name.split("/")
    if len(segments) != 2:
        why = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
        return [FieldError.invalid(path, name, why)]
    domain, last = segments
    errors = [FieldError.too_long(path, 253)] if len(domain) > 253 else []
    labels = domain.split(".")
    errors += _first_wrong(path, domain, ((label, dns_label(label)) for label in labels))
    if len(labels) < 2:
        errors.append(
            FieldError.invalid(path, domain, "should be a domain with at least two segments separated by dots")
        )
    errors += _first_wrong(path, last, ((label, dns_subdomain(label)) for label in last.split(".")))
    longest = 253 + 1 + 63 + 1 + 253
    if len(name) > longest:
        errors.append(FieldError.too_long(path, longest))
    return errors


def _first_wrong(path: str, segment: str, labels: Iterable[tuple[str, Problems]]) -> Errors:
    for label, problems in labels:
        if problems:
            return [FieldError.invalid(path, segment, f"validating label {quote(label)}: {why}") for why in problems]
    return []


def _keep_decision(status: JSON, before: JSON) -> None:
    """Keep the details of a decision when a client writes `/status` and repeats the decision."""
    for decision in _DECISIONS:
        old, new = _of_type(before, decision), _of_type(status, decision)
        if old and len(old) == len(new):
            kept = iter(old)
            status["conditions"] = [
                next(kept) if condition.get("type") == decision else condition for condition in status["conditions"]
            ]


def _date_conditions(status: JSON, before: JSON, now: str) -> None:
    conditions = status.get("conditions")
    if not conditions:
        return
    since = {
        (old.get("type"), old.get("status")): old.get("lastTransitionTime") for old in before.get("conditions") or ()
    }
    dated = []
    for condition in conditions:
        times = {"lastUpdateTime": condition.get("lastUpdateTime") or now}
        then = since.get((condition.get("type"), condition.get("status")))
        times["lastTransitionTime"] = condition.get("lastTransitionTime") or then or now
        dated.append({**condition, **times})
    status["conditions"] = dated


def _validate_conditions(status: JSON, before: JSON) -> Errors:
    """Return the errors in the conditions, except those that the conditions had before."""
    errors: Errors = []
    had = [condition.get("type") or "" for condition in before.get("conditions") or ()]
    seen: list[str] = []
    for index, condition in enumerate(status.get("conditions") or ()):
        path, kind = f"{_CONDITIONS}[{index}]", condition.get("type") or ""
        if not kind and "" not in had:
            errors.append(FieldError.required(f"{path}.type"))
        allowed = ("True",) if kind in _FINAL else ("False", "True", "Unknown")
        errors += validate_field("certificates/v1.CertificateSigningRequestCondition", condition, "status", path)
        if condition.get("status") and condition["status"] not in allowed:
            errors.append(FieldError.not_supported(f"{path}.status", condition["status"], allowed))
        other = {"Approved": "Denied", "Denied": "Approved"}.get(kind)
        if other in seen and not set(_DECISIONS) <= set(had):
            why = "Approved and Denied conditions are mutually exclusive"
            errors.append(FieldError.invalid(_CONDITIONS, kind, why))
        if kind in seen and len(set(had)) == len(had):
            errors.append(FieldError.duplicate(f"{path}.type", kind))
        seen.append(kind)
    return errors


def _removed(status: JSON, before: JSON) -> Errors:
    return [
        FieldError.forbidden(_CONDITIONS, f'updates may not remove a condition of type "{kind}"')
        for kind in _FINAL
        if len(_of_type(status, kind)) < len(_of_type(before, kind))
    ]


def _decided(status: JSON, before: JSON) -> Errors:
    """Return the errors of a write that may not decide but changes the decision."""
    errors = []
    for kind in _DECISIONS:
        new, old = _of_type(status, kind), _of_type(before, kind)
        if len(new) > len(old):
            errors.append(FieldError.forbidden(_CONDITIONS, f'updates may not add a condition of type "{kind}"'))
        elif len(new) == len(old) and new != old:
            errors.append(FieldError.forbidden(_CONDITIONS, f'updates may not modify a condition of type "{kind}"'))
    return errors


def _of_type(status: JSON, kind: str) -> list[JSON]:
    return [condition for condition in status.get("conditions") or () if condition.get("type") == kind]


def parse_request(text: bytes) -> CertificateSigningRequest:
    """Return the request in a PEM block. Raise ValueError if it cannot be read."""
    from cryptography.x509 import load_der_x509_csr

    block = _PEM.search(text)
    if block is None or block[1] != b"CERTIFICATE REQUEST":
        raise ValueError("PEM block type must be CERTIFICATE REQUEST")
    return load_der_x509_csr(base64.b64decode(block[2]))


def _wrong_request(text: bytes) -> str:
    try:
        parsed = parse_request(text)
        signed = parsed.is_signature_valid
    except Exception as error:  # of many kinds, the library's own and ValueError
        return str(error)
    return "" if signed else "crypto/rsa: verification error"  # as is said of the commonest keys


def _wrong_certificate(text: bytes) -> str:
    """Return why a text is not one or several PEM blocks with certificates; "" if it is."""
    from cryptography.x509 import load_der_x509_certificate

    blocks = list(_PEM.finditer(text))
    for block in blocks:
        if block[1] != b"CERTIFICATE":
            return f"only CERTIFICATE PEM blocks are allowed, found {quote(block[1].decode())}"
        if b":" in block[2]:
            return "no PEM block headers are permitted"
        try:
            load_der_x509_certificate(base64.b64decode(block[2]))
        except Exception as error:
            return str(error)
    return "" if blocks else "must contain at least one CERTIFICATE PEM block"
