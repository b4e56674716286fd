"""Quotas, limit ranges, budgets, secrets and service accounts: what is refused, dropped or warned of."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from batkube.kube.authentication.certificates import Authority
from batkube.kube.kinds.core.key_pairs import key_pair_problem
from batkube.kube.server import ApiServer

from .conftest import refused_fields

JSON = dict[str, Any]
CORE = "/api/v1/namespaces/default"


def limits(kind: str, **item: JSON) -> JSON:
    return {"spec": {"limits": [{"type": kind, **item}]}}


def quota(scope: str, operator: str = "Exists", **hard: str) -> JSON:
    return {"spec": {"hard": hard, "scopeSelector": {"matchExpressions": [{"scopeName": scope, "operator": operator}]}}}


AT = "spec.limits[0]"
UNKNOWN = [f"{AT}.{each}[x]" for each in ("max", "max", "default", "default", "defaultRequest", "defaultRequest")]
SCOPED = "spec.scopeSelector.matchExpressions"


@pytest.mark.parametrize(
    ("storage", "obj", "fields"),
    [
        ("limitranges", limits("Container", max={"cpu": "1"}), []),
        ("limitranges", limits("Container", max={"x": "1"}), UNKNOWN),
        ("limitranges", limits("PersistentVolumeClaim", max={"pods": "1"}), [f"{AT}.limits"]),
        ("limitranges", limits("Pod", default={"x": "1"}), [f"{AT}.default"]),
        ("resourcequotas", quota("BestEffort", pods="1"), []),
        ("resourcequotas", quota("BestEffort", cpu="1"), [SCOPED]),
        ("resourcequotas", quota("Terminating", "In", pods="1"), [f"{SCOPED}.operator", f"{SCOPED}.values"]),
        ("secrets", {"type": "kubernetes.io/ssh-auth", "data": {"ssh-privatekey": ""}}, ["data[ssh-privatekey]"]),
        ("secrets", {"type": "kubernetes.io/dockercfg", "data": {".dockercfg": "WzFd"}}, ["data[.dockercfg]"]),
        ("poddisruptionbudgets.policy", {"spec": {"minAvailable": "101%"}}, ["spec.minAvailable"]),
        ("poddisruptionbudgets.policy", {"metadata": {"name": "No_Label"}, "spec": {"minAvailable": 1}}, []),
    ],
)  # fmt: skip
async def test_what_could_not_work_is_refused(server: ApiServer, storage: str, obj: JSON, fields: list[str]) -> None:
    assert refused_fields(server, storage, {"metadata": {"name": "x"}, **obj}) == fields


async def test_a_limit_range_without_a_name_gets_one(server: ApiServer) -> None:
    names = [server.create("limitranges", {"metadata": {}, **limits("Pod")})["metadata"]["name"] for _ in range(2)]
    assert len(set(names)) == 2


async def test_a_service_account_names_its_secrets_and_no_more(server: ApiServer) -> None:
    secret = {"name": "s", "namespace": "other", "kind": "Secret"}
    made = server.create("serviceaccounts", {"metadata": {"name": "a"}, "secrets": [secret]})
    assert made["secrets"] == [{"name": "s"}]


async def test_a_revision_changes_its_number_and_nothing_else(client: httpx.AsyncClient) -> None:
    path = "/apis/apps/v1/namespaces/default/controllerrevisions"
    body: JSON = {"metadata": {"name": "r"}, "data": {}, "revision": 1}
    assert (await client.post(path, json=body)).json()["data"] == {}
    assert (await client.put(f"{path}/r", json={**body, "revision": 2})).json()["revision"] == 2
    assert (await client.put(f"{path}/r", json={**body, "data": {"a": 1}})).status_code == 422


def test_a_key_fits_its_certificate_or_it_is_said_why_not() -> None:
    one, other = (Authority().server(["localhost"]) for _ in range(2))
    assert key_pair_problem(one.certificate, one.key) == ""
    assert key_pair_problem(one.certificate, other.key) == "tls: private key does not match public key"
    assert "may have been switched" in key_pair_problem(one.key, one.certificate)
    assert key_pair_problem(b"x", one.key) == "tls: failed to find any PEM data in certificate input"
    assert key_pair_problem(one.certificate, b"x") == "tls: failed to find any PEM data in key input"
