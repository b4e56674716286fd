"""One request to two servers, and how their answers differ."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import httpx
import yaml

from tests.conformance.levels import client_view, strict_view
from tests.conformance.servers import Server

JSON = Any

_UID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
_AGE = re.compile(r"(\d+[smhdy])+")
_REVISION = re.compile(r"in record \(\d+\)|current: \d+")
_CHOSEN = ("resourceVersion", "continue", "clusterIP", "clusterIPs", "nodePort", "healthCheckNodePort", "token")
"""Fields whose values a server chooses."""
_MANAGED = "managedFields"
_LEFT_OUT = ("storageVersionHash",)

MAX_PAGES = 4
_NOW = "${now}"

PRESENT = "${resourceVersion}"
"""In a body: the version of the object that the path names, as the server has it."""


class Request(NamedTuple):
    """One that both servers get."""

    method: str
    path: str
    body: JSON
    media_type: str = "application/json"
    query: Mapping[str, str] = MappingProxyType({})
    headers: Mapping[str, str] = MappingProxyType({})


def client(server: Server) -> httpx.AsyncClient:
    """For requests to a server, as its administrator."""
    headers = {"Authorization": f"Bearer {server.token}"} if server.token else {}
    return httpx.AsyncClient(base_url=server.url, headers=headers, verify=False, timeout=60, trust_env=False)


async def ask(client: httpx.AsyncClient, request: Request, *, managed: bool = False) -> JSON:
    """The answer without what differs from run to run; status 0 where the server let the connection go. `managed`: with
    managedFields. Of a list that comes in pages, the next ones as well. `${now}` in the query is the server's present
    resourceVersion.
    """
    query = dict(request.query)
    content = b"" if request.body is None else json.dumps(request.body, separators=(",", ":")).encode()
    try:
        if PRESENT.encode() in content:
            there = await _version(client, request.path)
            content = content.replace(PRESENT.encode(), there.encode())
        if _NOW in query.values():
            now = await _version(client, "/api/v1/namespaces/default/configmaps?limit=1")
            query = {name: now if value == _NOW else value for name, value in query.items()}
        answer = await _send(client, request, query, content)
        body = _content(answer)
        pages = [body]
        while isinstance(body, dict) and request.method == "GET" and len(pages) < MAX_PAGES:
            if not isinstance(body.get("metadata"), dict) or not body["metadata"].get("continue"):
                break
            query = {name: value for name, value in query.items() if not name.startswith("resourceVersion")}
            body = _content(await _send(client, request, query | {"continue": body["metadata"]["continue"]}, content))
            pages.append(body)
    except httpx.RemoteProtocolError:
        return {"status": 0, "headers": {}}
    headers: JSON = {"Warning": [value for name, value in answer.headers.multi_items() if name.lower() == "warning"]}
    if "content-type" in answer.headers:
        headers["Content-Type"] = answer.headers["content-type"]
    shown = [_masked(page, managed=managed) for page in pages]
    return {"status": answer.status_code, "headers": headers, "body": shown[0] if len(shown) == 1 else shown}


async def _version(client: httpx.AsyncClient, path: str) -> str:
    """The resourceVersion of what is there."""
    found = (await client.get(path)).json()
    return str(found.get("metadata", {}).get("resourceVersion", "1"))


async def _send(client: httpx.AsyncClient, request: Request, query: dict[str, str], content: bytes) -> httpx.Response:
    return await client.request(
        request.method,
        request.path,
        content=content,
        params=query,
        headers={"Content-Type": request.media_type, **request.headers},
    )


def _content(answer: httpx.Response) -> JSON:
    """Of an answer: JSON, the events of a watch, or text."""
    media_type = answer.headers.get("content-type", "")
    if "protobuf" in media_type:
        return "protobuf"
    try:
        if "yaml" in media_type:
            return yaml.load(answer.text, yaml.CSafeLoader)
        if "stream=watch" in media_type or answer.text.startswith('{"type":'):
            return {"events": [json.loads(line) for line in answer.text.splitlines()]}
        return answer.json()
    except (ValueError, yaml.YAMLError):
        return answer.text


async def difference(request: Request, one: httpx.AsyncClient, other: httpx.AsyncClient, *, texts: bool = False) -> str:
    """Return how the second answer differs from the first in what clients branch on, or in texts as well; "" if it
    does not, or if the first gave none (a panic of kube-apiserver's ends the connection).
    """
    expected, got = await asyncio.gather(ask(one, request), ask(other, request))
    if not expected["status"]:
        return ""
    if expected["status"] != got["status"]:
        return f"expected {expected['status']} {message_of(expected)}, got {got['status']} {message_of(got)}"
    if texts:
        pair = strict_view(expected), strict_view(got)
    else:
        pair = client_view(expected, ["warnings"]), client_view(got, ["warnings"])
    return "; ".join(list(differences(*pair, ""))[:3])


def message_of(answer: JSON) -> str:
    """Return what a refusal says."""
    body = answer.get("body")
    text = body.get("message", "") if isinstance(body, dict) and body.get("kind") == "Status" else ""
    return repr(str(text)[:400]) if text else ""


def _masked(value: JSON, key: str = "", managed: bool = False) -> JSON:
    if key in _CHOSEN and value:
        return "chosen"
    if isinstance(value, dict):
        left = {name: item for name, item in value.items() if name not in _LEFT_OUT and (managed or name != _MANAGED)}
        return {name: _masked(item, name, managed) for name, item in left.items()}
    if isinstance(value, list):
        if key == "cells":
            return ["<age>" if isinstance(item, str) and _AGE.fullmatch(item) else _masked(item) for item in value]
        items = [_masked(item, managed=managed) for item in value if not _servers_own(item)]
        return sorted(items, key=_text) if key == _MANAGED else items  # the server orders them by time
    return _REVISION.sub("<now>", _TIME.sub("<time>", _UID.sub("<uid>", value))) if isinstance(value, str) else value


def _servers_own(item: JSON) -> bool:
    """One of the objects that a server makes for itself, or the event of one."""
    about = item.get("object", item) if isinstance(item, dict) else None
    metadata = about.get("metadata") if isinstance(about, dict) else None
    return isinstance(metadata, dict) and str(metadata.get("namespace", "")).startswith("kube-")


def _text(value: JSON) -> str:
    return json.dumps(value, sort_keys=True)


def differences(expected: JSON, got: JSON, path: str) -> Iterator[str]:
    """Return where two values differ."""
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
