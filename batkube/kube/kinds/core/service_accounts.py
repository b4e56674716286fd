"""Service accounts and their tokens (`pkg/registry/core/serviceaccount`).

A token is a JSON Web Token that names its account and the account's uid, so that it ends with the account. It is signed
with a key pair of the server's.
"""

from __future__ import annotations

import base64
from typing import Any

import orjson

from ...apimachinery.status import ApiError, FieldError, quote
from ...apimachinery.times import read_second, write_second
from ...apimachinery.users import AUTHENTICATED, User, service_account_groups
from ..action import Action, ActionAnswer, ActionRequest, ObjectOperations, Signer
from ..strategy import Context, Reader, Strategy

JSON = dict[str, Any]

SERVICE_ACCOUNTS = "serviceaccounts"
ISSUER = "https://kubernetes.default.svc"
"""The issuer of tokens. It is their audience, too, unless they name another one."""
_LEAST, _MOST, _DEFAULT = 600, 1 << 32, 3600  # seconds
_TOKEN_REQUEST = "TokenRequest.authentication.k8s.io"
_BOUND = {"Pod": "pods", "Node": "nodes", "Secret": "secrets"}


class ServiceAccounts(Strategy):
    revalidates_metadata = True
    counts_generation = False
    answers_deleted_object = True

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        super().prepare_create(obj, ctx)
        _clean_references(obj)

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        super().prepare_update(new, old, ctx)
        _clean_references(new)


def _clean_references(account: JSON) -> None:
    """Keep only the names of the account's secrets."""
    if account.get("secrets"):
        account["secrets"] = [{"name": each["name"]} if each.get("name") else {} for each in account["secrets"]]


class TokenRequests(Action):
    """The action `serviceaccounts/NAME/token`."""

    def write(self, request: ActionRequest, server: ObjectOperations) -> ActionAnswer:
        """Answer POST serviceaccounts/NAME/token."""
        ctx = request.ctx
        body = request.body or {}
        given = body.get("metadata") or {}
        if given.get("namespace", "") not in ("", ctx.namespace):
            why = "the namespace of the provided object does not match the namespace sent on the request"
            raise ApiError.bad_request(why)
        if given.get("name") and given["name"] != ctx.name:
            why = "must match the service account name if specified"
            raise ApiError.invalid(_TOKEN_REQUEST, ctx.name, [FieldError.invalid("metadata.name", given["name"], why)])
        account = ctx.store.get(SERVICE_ACCOUNTS, ctx.namespace, ctx.name)
        if account is None:
            raise ApiError.not_found(SERVICE_ACCOUNTS, ctx.name)
        uid = account["metadata"]["uid"]
        if given.get("uid") and given["uid"] != uid:
            why = f"the UID in the token request ({given['uid']}) does not match the UID of the service account ({uid})"
            raise ApiError.conflict(_TOKEN_REQUEST, ctx.name, why)
        spec = dict(body.get("spec") or {})
        seconds = spec.get("expirationSeconds")
        spec["expirationSeconds"] = seconds = _DEFAULT if seconds is None else seconds
        errors = []
        if seconds < _LEAST:
            why = "may not specify a duration less than 10 minutes"
            errors.append(FieldError.invalid("spec.expirationSeconds", seconds, why))
        if seconds > _MOST:
            why = "may not specify a duration larger than 2^32 seconds"
            errors.append(FieldError.invalid("spec.expirationSeconds", seconds, why))
        if errors:
            raise ApiError.invalid(_TOKEN_REQUEST, "", errors)
        bound = _bound_object(spec.get("boundObjectRef"), ctx)
        spec["audiences"] = spec.get("audiences") or [ISSUER]
        issued = read_second(ctx.now)
        claims = {
            "aud": spec["audiences"],
            "exp": issued + seconds,
            "iat": issued,
            "iss": ISSUER,
            "kubernetes.io": {
                "namespace": ctx.namespace,
                "serviceaccount": {"name": ctx.name, "uid": account["metadata"]["uid"]},
                **bound,
            },
            "nbf": issued,
            "sub": f"system:serviceaccount:{ctx.namespace}:{ctx.name}",
        }
        expires = f"{write_second(min(issued + seconds, 253402300799))}Z"
        answer = {
            "kind": "TokenRequest",
            "apiVersion": "authentication.k8s.io/v1",
            "metadata": {
                **given,
                "name": ctx.name,
                "namespace": ctx.namespace,
                "uid": account["metadata"]["uid"],
                "creationTimestamp": ctx.now,
            },
            "spec": {"boundObjectRef": None, **spec},
            "status": {"token": _token(claims, server.access.signer), "expirationTimestamp": expires},
        }
        return ActionAnswer(201, answer)


def _bound_object(reference: JSON | None, ctx: Context) -> JSON:
    """Return the claims of a token about the object that it is bound to: a pod of the account, a node or a secret.

    The token is valid no longer than this object exists.
    """
    if reference is None:
        return {}
    kind, api_version, name = (reference.get(key) or "" for key in ("kind", "apiVersion", "name"))
    if "/" in api_version or kind not in _BOUND:
        raise ApiError.bad_request(f"cannot bind token to object of type {api_version}, Kind={kind}")
    if not name:
        raise ApiError.bad_request("Name parameter required.")
    found = ctx.store.get(_BOUND[kind], "" if kind == "Node" else ctx.namespace, name)
    if found is None:
        raise ApiError.not_found(_BOUND[kind], name)
    if kind == "Pod" and found["spec"].get("serviceAccountName", "") != ctx.name:
        why = (
            f"cannot bind token for serviceaccount {quote(ctx.name)} to pod running with different serviceaccount name."
        )
        raise ApiError.bad_request(why)
    uid = reference.get("uid")
    if uid and uid != found["metadata"]["uid"]:
        why = (
            f"the UID in the bound object reference ({uid}) does not match the UID in record. "
            "The object might have been deleted and then recreated"
        )
        raise ApiError.conflict(kind, name, why)
    return {kind.lower(): {"name": name, "uid": found["metadata"]["uid"]}}


def _token(claims: JSON, signer: Signer) -> str:
    header = {"alg": signer.algorithm, "kid": signer.key_id}
    parts = b".".join((_encode(orjson.dumps(header)), _encode(orjson.dumps(claims))))
    return b".".join((parts, _encode(signer.sign(parts)))).decode()


def _encode(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")


def _decode(data: bytes) -> bytes:
    return base64.urlsafe_b64decode(data + b"=" * (-len(data) % 4))


def read_token(token: bytes, store: Reader, signer: Signer, now: float) -> User | None:
    """Return the user of a token at a time (Unix seconds); None if no account of this server has this token."""
    parts, _, signature = token.rpartition(b".")
    try:
        claims = orjson.loads(_decode(parts.split(b".")[1]))
        whose = claims["kubernetes.io"]
        namespace, name = whose["namespace"], whose["serviceaccount"]["name"]
        account = store.get(SERVICE_ACCOUNTS, namespace, name)
        uid = account["metadata"]["uid"] if account is not None else ""
        if not uid or uid != whose["serviceaccount"]["uid"] or claims["exp"] <= now:
            return None
        if not signer.verify(parts, _decode(signature)):
            return None
    except (IndexError, KeyError, TypeError, ValueError):
        return None
    return User(claims["sub"], (*service_account_groups(namespace), AUTHENTICATED), uid)
