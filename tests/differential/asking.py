"""One request to two servers, and how their answers differ."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import httpx

from tests.conformance.levels import client_view, strict_view
from tests.conformance.servers import Server

JSON = Any

_UID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
_CHOSEN = ("resourceVersion", "clusterIP", "clusterIPs", "nodePort", "healthCheckNodePort", "token")
"""Fields whose values a server chooses."""


PRESENT = "${resourceVersion}"
"""In a body: the version of the object that the path names, as the server has it."""


class Request(NamedTuple):
    """One that both servers get."""

    method: str
    path: str
    body: JSON
    media_type: str = "application/json"
    query: Mapping[str, str] = MappingProxyType({})


def client(server: Server) -> httpx.AsyncClient:
    """For requests to a server, as its administrator."""
    headers = {"Authorization": f"Bearer {server.token}"} if server.token else {}
    return httpx.AsyncClient(base_url=server.url, headers=headers, verify=False, timeout=60, trust_env=False)


async def ask(client: httpx.AsyncClient, request: Request, *, managed: bool = False) -> JSON:
    """The answer without what differs from run to run; status 0 where the server let the connection go. `managed`: with
    managedFields.
    """
    content = b"" if request.body is None else json.dumps(request.body, separators=(",", ":")).encode()
    if PRESENT.encode() in content:
        there = (await client.get(request.path)).json().get("metadata", {})
        content = content.replace(PRESENT.encode(), there.get("resourceVersion", "1").encode())
    try:
        answer = await client.request(
            request.method,
            request.path,
            content=content,
            params=dict(request.query),
            headers={"Content-Type": request.media_type},
        )
    except httpx.RemoteProtocolError:
        return {"status": 0, "headers": {}}
    warnings = [value for name, value in answer.headers.multi_items() if name.lower() == "warning"]
    try:
        body = _masked(answer.json(), managed=managed)
    except ValueError:
        body = answer.text
    return {"status": answer.status_code, "headers": {"Warning": warnings}, "body": body}


async def difference(request: Request, one: httpx.AsyncClient, other: httpx.AsyncClient, *, texts: bool = False) -> str:
    """How the second server's answer differs from the first's in what clients branch on, or in texts as well; "" if it
    does not, or if the first gave none (a panic of kube-apiserver's ends the connection).
    """
    expected, got = await asyncio.gather(ask(one, request), ask(other, request))
    if not expected["status"]:
        return ""
    if expected["status"] != got["status"]:
        return f"expected {expected['status']} {_message(expected)}, got {got['status']} {_message(got)}"
    if texts:
        pair = strict_view(expected), strict_view(got)
    else:
        pair = client_view(expected, ["warnings"]), client_view(got, ["warnings"])
    return "; ".join(list(differences(*pair, ""))[:3])


def _message(answer: JSON) -> str:
    body = answer.get("body")
    text = body.get("message", "") if isinstance(body, dict) and body.get("kind") == "Status" else ""
    return repr(str(text)[:160]) if text else ""


def _masked(value: JSON, key: str = "", managed: bool = False) -> JSON:
    if key in _CHOSEN and value:
        return "chosen"
    if isinstance(value, dict):
        left = {name: item for name, item in value.items() if managed or name != "managedFields"}
        return {name: _masked(item, name, managed) for name, item in left.items()}
    if isinstance(value, list):
        items = [_masked(item, managed=managed) for item in value]
        return sorted(items, key=_text) if key == "managedFields" else items  # the server orders them by time
    return _TIME.sub("<time>", _UID.sub("<uid>", value)) if isinstance(value, str) else value


def _text(value: JSON) -> str:
    return json.dumps(value, sort_keys=True)


def differences(expected: JSON, got: JSON, path: str) -> Iterator[str]:
    """Where two values differ."""
    if isinstance(expected, dict) and isinstance(got, dict):
        for name in {**expected, **got}:
            if expected.get(name) != got.get(name):
                below = f"{path}.{name}" if path else name
                yield from differences(expected.get(name, "nothing"), got.get(name, "nothing"), below)
    elif isinstance(expected, list) and isinstance(got, list) and len(expected) == len(got):
        for index, (one, other) in enumerate(zip(expected, got, strict=True)):
            if one != other:
                yield from differences(one, other, f"{path}[{index}]")
    else:
        yield f"{path}: expected {json.dumps(expected)[:160]}, got {json.dumps(got)[:160]}"
