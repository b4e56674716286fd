"""Access by token, by client certificate and without; and the reviews of it."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from batkube.kube.authentication.certificates import Authority, Certificate
from batkube.kube.server import ApiServer

from .conftest import CONFIGMAPS, Clock, config_map

TOKEN = "correct-horse"
AUTHENTICATION = "/apis/authentication.k8s.io/v1"
AUTHORIZATION = "/apis/authorization.k8s.io/v1"
MONTH = 30 * 86_400


def trust(authority: Authority, shown: Certificate | None = None, folder: Path | None = None) -> ssl.SSLContext:
    """A client that trusts the authority, and shows a certificate."""
    context = ssl.create_default_context(cadata=authority.certificate.decode())
    if shown is not None:
        assert folder is not None
        (folder / "client.pem").write_bytes(shown.certificate + shown.key)
        context.load_cert_chain(folder / "client.pem")
    return context


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


@pytest.fixture(params=["https", "http"])
async def server(request: pytest.FixtureRequest, clock: Clock, authority: Authority) -> AsyncIterator[ApiServer]:
    """One that asks for a token, over either."""
    server = ApiServer(now=clock.now, token=TOKEN, authority=authority if request.param == "https" else None)
    await server.start()
    yield server
    await server.stop()


@pytest.fixture
async def client(server: ApiServer, authority: Authority) -> AsyncIterator[httpx.AsyncClient]:
    """It shows nothing of its own accord."""
    async with httpx.AsyncClient(base_url=server.url, trust_env=False, timeout=60, verify=trust(authority)) as client:
        yield client


async def who(client: httpx.AsyncClient, **how: Any) -> Any:
    """Return whom the server takes the client for."""
    answer = await client.post(f"{AUTHENTICATION}/selfsubjectreviews", json={}, **how)
    return answer.json()["status"]["userInfo"] if answer.status_code == 201 else answer.status_code


async def test_a_token_lets_in_a_wrong_one_does_not(client: httpx.AsyncClient) -> None:
    good, bad = bearer(TOKEN), bearer(TOKEN + "x")
    assert (await client.get(CONFIGMAPS, headers=good)).status_code == 200
    assert (await client.post(CONFIGMAPS, json=config_map("a"), headers=good)).status_code == 201
    for answer in (
        await client.get(CONFIGMAPS, headers=bad),
        await client.post(CONFIGMAPS, json=config_map("b"), headers=bad),
        await client.get("/healthz", headers=bad),
        await client.get("/nonsense", headers=bad),
        await client.get("/batkube/v1/docs", headers=bad),
    ):
        assert answer.status_code == 401
        assert answer.json() == {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": "Unauthorized",
            "reason": "Unauthorized",
            "code": 401,
        }
    assert (await client.get(f"{CONFIGMAPS}/b", headers=good)).status_code == 404


@pytest.mark.parametrize("header", ["", "Bearer", "Basic YTpi", f"Basic {TOKEN}", TOKEN])
async def test_strangers_learn_health_and_version_only(client: httpx.AsyncClient, header: str) -> None:
    headers = {"Authorization": header} if header else {}
    for path, code in (
        ("/healthz", 200),
        ("/livez?verbose", 200),
        ("/readyz", 200),
        ("/version", 200),
        ("/readyz/ping", 401),
        ("/metrics", 401),
        ("/api", 401),
        ("/openapi/v2", 401),
        ("/batkube/v1/docs", 401),
        (CONFIGMAPS, 401),
        (f"{CONFIGMAPS}?watch=1", 401),
    ):
        assert (await client.get(path, headers=headers)).status_code == code, path
    assert (await client.post("/healthz", headers=headers)).status_code == 401
    assert (await client.delete(CONFIGMAPS, headers=headers)).status_code == 401


async def test_the_words_of_a_header_are_taken_as_the_real_server_takes_them(client: httpx.AsyncClient) -> None:
    for header in (f"bearer {TOKEN}", f"BEARER {TOKEN} and more"):
        assert (await client.get(CONFIGMAPS, headers={"Authorization": header})).status_code == 200
    odd = {"Authorization": b"Bearer \xff\xfe"}
    assert (await client.get(CONFIGMAPS, headers=odd)).status_code == 401  # type: ignore[arg-type]


async def test_a_client_certificate_says_who_one_is(server: ApiServer, authority: Authority, tmp_path: Path) -> None:
    if server.authority is None:
        pytest.skip("certificates need TLS")
    for shown, seen in (
        (
            authority.client("jane", ["devs", "ops"]),
            {"username": "jane", "groups": ["devs", "ops", "system:authenticated"]},
        ),
        (None, 401),
    ):
        context = trust(authority, shown, tmp_path)
        async with httpx.AsyncClient(base_url=server.url, verify=context, trust_env=False, timeout=60) as client:
            assert await who(client) == seen
            assert await who(client, headers=bearer("wrong")) == seen  # the certificate goes first


async def test_a_certificate_of_another_authority_is_refused(
    server: ApiServer, authority: Authority, tmp_path: Path
) -> None:
    if server.authority is None:
        pytest.skip("certificates need TLS")
    context = trust(authority, Authority().client("system:admin", ["system:masters"]), tmp_path)
    async with httpx.AsyncClient(base_url=server.url, verify=context, trust_env=False, timeout=60) as client:
        with pytest.raises((httpx.TransportError, ssl.SSLError)):  # with TLS 1.3 the first read tells
            await client.get(CONFIGMAPS)


async def test_a_service_account_comes_in_with_its_token_until_that_expires(
    server: ApiServer, client: httpx.AsyncClient, clock: Clock
) -> None:
    server.create("serviceaccounts", {"metadata": {"name": "robot"}})
    uid = server.get("serviceaccounts", "robot")["metadata"]["uid"]
    path = "/api/v1/namespaces/default/serviceaccounts/robot/token"
    answer = await client.post(path, json={"spec": {"expirationSeconds": MONTH}}, headers=bearer(TOKEN))
    token = answer.json()["status"]["token"]
    assert await who(client, headers=bearer(token)) == {
        "username": "system:serviceaccount:default:robot",
        "uid": uid,
        "groups": ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
    }
    clock.seconds += MONTH
    assert await who(client, headers=bearer(token)) == 401


async def test_knowing_an_account_is_not_enough_to_make_its_token(clock: Clock, client: httpx.AsyncClient) -> None:
    """Another server of the same seed has the same uids, and signs otherwise."""
    other = ApiServer(now=clock.now, token="another")
    other.create("serviceaccounts", {"metadata": {"name": "robot"}})
    await other.start()
    try:
        path = "/api/v1/namespaces/default/serviceaccounts/robot/token"
        async with httpx.AsyncClient(base_url=other.url, trust_env=False, timeout=60) as its_client:
            answer = await its_client.post(path, json={"spec": {}}, headers=bearer("another"))
        forged = answer.json()["status"]["token"]
    finally:
        await other.stop()
    created = await client.post(
        "/api/v1/namespaces/default/serviceaccounts", json={"metadata": {"name": "robot"}}, headers=bearer(TOKEN)
    )
    assert created.status_code == 201
    assert await who(client, headers=bearer(forged)) == 401


async def test_a_token_review_tells_whose_token_it_is(client: httpx.AsyncClient) -> None:
    async def review(token: str) -> Any:
        body = {"spec": {"token": token}}
        answer = await client.post(f"{AUTHENTICATION}/tokenreviews", json=body, headers=bearer(TOKEN))
        return answer.json()["status"]

    assert await review(TOKEN) == {
        "authenticated": True,
        "user": {"username": "admin", "uid": "admin", "groups": ["system:masters", "system:authenticated"]},
    }
    assert await review("nonsense") == {"user": {}, "error": "invalid bearer token"}


async def test_an_access_review_allows_strangers_what_the_server_does(client: httpx.AsyncClient) -> None:
    async def allowed(**spec: Any) -> Any:
        body = {"spec": spec}
        answer = await client.post(f"{AUTHORIZATION}/subjectaccessreviews", json=body, headers=bearer(TOKEN))
        return answer.json()["status"]["allowed"]

    pods = {"verb": "list", "resource": "pods"}
    assert await allowed(user="anybody", resourceAttributes=pods)
    assert not await allowed(user="system:anonymous", groups=["system:unauthenticated"], resourceAttributes=pods)
    assert not await allowed(user="system:anonymous", nonResourceAttributes={"path": "/metrics", "verb": "get"})
    assert await allowed(user="system:anonymous", nonResourceAttributes={"path": "/healthz", "verb": "get"})


async def test_the_config_map_for_delegated_authentication_has_the_authority(
    server: ApiServer, authority: Authority
) -> None:
    found = server.get("configmaps", "extension-apiserver-authentication", "kube-system")
    expected = {"client-ca-file": authority.certificate.decode()} if server.authority else {}
    assert found.get("data", {}) == expected


async def test_without_authentication_everybody_is_an_administrator_but_for_wrong_tokens(clock: Clock) -> None:
    server = ApiServer(now=clock.now)
    await server.start()
    try:
        async with httpx.AsyncClient(base_url=server.url, trust_env=False, timeout=60) as client:
            admin = {"username": "admin", "uid": "admin", "groups": ["system:masters", "system:authenticated"]}
            assert await who(client) == admin
            assert await who(client, headers=bearer("wrong")) == 401
            review = {"spec": {"user": "system:anonymous", "resourceAttributes": {"verb": "get", "resource": "pods"}}}
            answer = await client.post(f"{AUTHORIZATION}/subjectaccessreviews", json=review)
            assert answer.json()["status"]["allowed"] is True
    finally:
        await server.stop()


async def test_an_embedding_program_gets_a_token_and_a_kubeconfig(clock: Clock, authority: Authority) -> None:
    server = ApiServer(now=clock.now, authority=authority, hostnames=["cluster.example"])
    await server.start()
    try:
        assert server.token
        assert server.url == f"https://cluster.example:{server.port}"
        config = server.kubeconfig()
        assert config["clusters"][0]["cluster"]["server"] == server.url
        assert config["users"][0]["user"] == {"token": server.token}
        assert set(server.kubeconfig(client_certificate=True)["users"][0]["user"]) == {
            "client-certificate-data",
            "client-key-data",
        }

        # Verified against the name it goes by, wherever it is.
        async def called(name: str) -> str:
            async with httpx.AsyncClient(verify=trust(authority), trust_env=False, timeout=60) as client:
                url = f"https://127.0.0.1:{server.port}/healthz"
                return (await client.get(url, extensions={"sni_hostname": name})).text

        for name in ("cluster.example", "localhost", "127.0.0.1", "::1", "kubernetes.default.svc"):
            assert await called(name) == "ok"
        with pytest.raises(httpx.ConnectError, match="stranger"):
            await called("stranger.example")
    finally:
        await server.stop()


async def test_client_certificates_cannot_be_had_without_tls(clock: Clock) -> None:
    with pytest.raises(ValueError, match="need TLS"):
        ApiServer(now=clock.now, token=TOKEN).kubeconfig(client_certificate=True)
