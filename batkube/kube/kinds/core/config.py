"""Config maps and secrets (`pkg/apis/core/validation`, `pkg/registry/core/{configmap,secret}`)."""

from __future__ import annotations

import base64
from types import NoneType
from typing import Any

import orjson

from ...apimachinery.metadata import Errors, immutable, problems
from ...apimachinery.names import config_key
from ...apimachinery.status import FieldError
from ..strategy import Context, Strategy
from .key_pairs import key_pair_problem

JSON = dict[str, Any]

MAX_SIZE = 1024 * 1024  # bytes, of all values together
_FROZEN = "field is immutable when `immutable` is set"
_OPAQUE = "Opaque"
# What a secret of a type must have in it.
_NEEDED = {
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
}
_TLS, _SSH_KEY = "kubernetes.io/tls", "ssh-privatekey"
_ACCOUNT = "kubernetes.io/service-account.name"


class ConfigMaps(Strategy):
    revalidates_metadata = True
    counts_generation = False

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        return [*super().validate_create(obj, ctx), *_validate_map(obj)]

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_update(new, old, ctx)
        errors.extend(_validate_frozen(new, old, ("data", "binaryData")))
        return [*errors, *_validate_map(new)]


class Secrets(Strategy):
    revalidates_metadata = True
    counts_generation = False
    selectable_fields = frozenset(("type",))

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        _default_secret(obj)

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        _default_secret(new)

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        errors = [*super().validate_create(obj, ctx), *_validate_secret(obj)]
        ctx.warnings.extend(() if errors else _secret_warnings(obj))
        return errors

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_update(new, old, ctx)
        errors.extend(immutable("type", new["type"], old.get("type")))
        errors.extend(_validate_frozen(new, old, ("data",)))
        errors.extend(_validate_secret(new))
        ctx.warnings.extend(() if errors else _secret_warnings(new))
        return errors

    def field_labels(self, obj: JSON) -> dict[str, str]:
        return {"type": obj.get("type", "")}


def _default_secret(secret: JSON) -> None:
    secret["type"] = secret.get("type") or _OPAQUE
    plain = secret.pop("stringData", None)
    if plain:
        encoded = {key: base64.b64encode(value.encode()).decode() for key, value in plain.items()}
        secret["data"] = {**(secret.get("data") or {}), **encoded}


def _validate_frozen(new: JSON, old: JSON, names: tuple[str, ...]) -> Errors:
    """Check that an immutable object does not change."""
    if not old.get("immutable"):
        return []
    errors: Errors = []
    if not new.get("immutable"):
        errors.append(FieldError.forbidden("immutable", _FROZEN))
    errors.extend(
        FieldError.forbidden(name, _FROZEN) for name in names if (new.get(name) or {}) != (old.get(name) or {})
    )
    return errors


def _validate_map(obj: JSON) -> Errors:
    errors: Errors = []
    data, binary = obj.get("data") or {}, obj.get("binaryData") or {}
    size = 0
    for key, value in data.items():
        errors.extend(problems(f"data[{key}]", key, config_key(key)))
        if key in binary:
            errors.append(FieldError.invalid(f"data[{key}]", key, "duplicate of key present in binaryData"))
        size += len(value.encode())
    for key, value in binary.items():
        errors.extend(problems(f"binaryData[{key}]", key, config_key(key)))
        size += _decoded_size(value)
    if size > MAX_SIZE:
        errors.append(FieldError.too_long("[]", MAX_SIZE))  # as Go prints a path without a name
    return errors


def _validate_secret(secret: JSON) -> Errors:
    errors: Errors = []
    data, kind = secret.get("data") or {}, secret["type"]
    size = 0
    for key, value in data.items():
        errors.extend(problems(f"data[{key}]", key, config_key(key)))
        size += _decoded_size(value)
    if size > MAX_SIZE:
        errors.append(FieldError.too_long("data", MAX_SIZE))
    missing = [key for key in _NEEDED.get(kind, ()) if key not in data or (not data[key] and key == _SSH_KEY)]
    errors.extend(FieldError.required(f"data[{key}]") for key in missing)
    if kind.startswith("kubernetes.io/docker"):
        for key in _NEEDED.get(kind, ()):
            if key in data and not _is_json_object(data[key]):
                why = "invalid character 'x' looking for beginning of value"
                errors.append(FieldError.invalid(f"data[{key}]", "<secret contents redacted>", why))
    if kind == "kubernetes.io/basic-auth" and not {"username", "password"} & set(data):
        errors.append(FieldError.required("data[username]"))
        errors.append(FieldError.required("data[password]"))
    if kind == "kubernetes.io/service-account-token":
        annotations = secret["metadata"].get("annotations") or {}
        if not annotations.get(_ACCOUNT):
            errors.append(FieldError.required(f"metadata.annotations[{_ACCOUNT}]"))
    return errors


def _decoded_size(value: str) -> int:
    return len(value) * 3 // 4 - value[-2:].count("=")


def _is_json_object(value: str) -> bool:
    try:
        return isinstance(orjson.loads(base64.b64decode(value)), dict | NoneType)
    except ValueError:
        return False


def _secret_warnings(secret: JSON) -> list[str]:
    """Warn of a key that does not fit its certificate. The secret is stored all the same."""
    if secret["type"] != _TLS:
        return []
    certificate, key = (base64.b64decode(secret["data"].get(name) or "") for name in _NEEDED[_TLS])
    wrong = key_pair_problem(certificate, key)
    return [wrong] if wrong else []
