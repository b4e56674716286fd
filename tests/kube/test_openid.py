"""Tokens of service accounts as a relying party checks them: by OpenID Connect's discovery and the public key."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.hashes import SHA256

from batkube.kube.server import ApiServer

from .conftest import Clock

CONFIGURATION = "/.well-known/openid-configuration"
KEYS = "/openid/v1/jwks"
ADMIN = {"Authorization": "Bearer admin"}


@pytest.fixture
async def server(clock: Clock) -> AsyncIterator[ApiServer]:
    """Serve with a token over plain HTTP, with a service account."""
    server = ApiServer(now=clock.now, token="admin")
    server.create("serviceaccounts", {"metadata": {"name": "robot"}})
    await server.start()
    yield server
    await server.stop()


@pytest.fixture
async def client(server: ApiServer) -> AsyncIterator[httpx.AsyncClient]:
    """Show nothing."""
    async with httpx.AsyncClient(base_url=server.url, trust_env=False, timeout=30) as client:
        yield client


async def token_of(client: httpx.AsyncClient, name: str = "robot") -> str:
    path = f"/api/v1/namespaces/default/serviceaccounts/{name}/token"
    answer = await client.post(path, json={"spec": {"audiences": ["vault"]}}, headers=ADMIN)
    assert answer.status_code == 201, answer.text
    token: str = answer.json()["status"]["token"]
    return token


def plain(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def check(token: str, key: dict[str, Any]) -> None:
    """Check a token as RFC 7515 and 7518 say. Raises InvalidSignature."""
    signed, _, signature = token.rpartition(".")
    x, y = (int.from_bytes(plain(key[name])) for name in ("x", "y"))
    r, s = (int.from_bytes(part) for part in (plain(signature)[:32], plain(signature)[32:]))
    public = ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()
    public.verify(utils.encode_dss_signature(r, s), signed.encode(), ec.ECDSA(SHA256()))


async def test_a_relying_party_finds_the_key_and_checks_a_token_with_it(client: httpx.AsyncClient) -> None:
    token = await token_of(client)
    headers = {"Authorization": f"Bearer {token}"}
    found = await client.get(CONFIGURATION, headers=headers)
    assert (found.status_code, found.headers["content-type"]) == (200, "application/json")
    assert found.headers["cache-control"] == "public, max-age=3600"
    assert found.json() == {
        "issuer": "https://kubernetes.default.svc",
        "jwks_uri": f"{str(client.base_url).rstrip('/')}{KEYS}",
        "response_types_supported": ["id_token"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["ES256"],
    }
    keys = await client.get(found.json()["jwks_uri"], headers=headers)
    assert (keys.status_code, keys.headers["content-type"]) == (200, "application/jwk-set+json")
    assert keys.headers["cache-control"] == "public, max-age=3600"
    (key,) = keys.json()["keys"]
    assert list(key) == ["use", "kty", "kid", "crv", "alg", "x", "y"]
    head, body, signature = token.split(".")
    assert json.loads(plain(head)) == {"alg": "ES256", "kid": key["kid"]}
    claims = json.loads(plain(body))
    assert (claims["iss"], claims["aud"]) == (found.json()["issuer"], ["vault"])
    assert claims["sub"] == "system:serviceaccount:default:robot"
    assert claims["nbf"] == claims["iat"] < claims["exp"]
    check(token, key)
    other = base64.urlsafe_b64encode(plain(body).replace(b"robot", b"admin")).rstrip(b"=").decode()
    with pytest.raises(InvalidSignature):
        check(f"{head}.{other}.{signature}", key)


async def test_whoever_is_known_may_read_it_and_strangers_may_not(client: httpx.AsyncClient) -> None:
    for path in (CONFIGURATION, KEYS, f"{CONFIGURATION}/", f"{KEYS}/"):
        assert (await client.get(path)).status_code == 401
        assert (await client.get(path, headers=ADMIN)).status_code == 200
        assert (await client.post(path, headers=ADMIN)).status_code == 405
        wrong = await client.get(path, headers={**ADMIN, "Accept": "text/html"})
        assert wrong.status_code == 406
        assert "Available representations: application/j" in wrong.text
    assert {CONFIGURATION, KEYS} < set((await client.get("/", headers=ADMIN)).json()["paths"])


async def test_a_token_ends_with_its_account(server: ApiServer, client: httpx.AsyncClient) -> None:
    token = {"Authorization": f"Bearer {await token_of(client)}"}
    assert (await client.get(KEYS, headers=token)).status_code == 200
    server.delete("serviceaccounts", "robot")
    assert (await client.get(KEYS, headers=token)).status_code == 401
    server.create("serviceaccounts", {"metadata": {"name": "robot"}})
    assert (await client.get(KEYS, headers=token)).status_code == 401


async def test_a_server_for_everybody_gives_the_same_tokens_each_time(clock: Clock) -> None:
    tokens = []
    for _ in range(2):
        server = ApiServer(now=clock.now)
        server.create("serviceaccounts", {"metadata": {"name": "robot"}})
        await server.start()
        try:
            async with httpx.AsyncClient(base_url=server.url, trust_env=False, timeout=30) as client:
                path = "/api/v1/namespaces/default/serviceaccounts/robot/token"
                tokens.append((await client.post(path, json={"spec": {}})).json()["status"]["token"])
                assert (await client.get(KEYS)).status_code == 200
        finally:
            await server.stop()
    assert tokens[0] == tokens[1]
