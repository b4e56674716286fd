"""Custom resources of kinds made at random: both servers get the same definition, then the same requests in turn."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import httpx

from tests.conformance.levels import strict_view

from .asking import Request, ask, differences, message_of
from .definitions import DEFINITIONS, Kind

JSON = Any
WAIT = 20.0  # seconds for a definition to be served


async def compare(kind: Kind, count: int, one: httpx.AsyncClient, other: httpx.AsyncClient) -> list[str]:
    """Each request that the second server answers otherwise than the first, and how."""
    definition = kind.definition()
    made = Request("POST", DEFINITIONS, definition)
    found = list(_told(made, *await asyncio.gather(ask(one, made), ask(other, made))))
    try:
        if not found and await _served(kind, one) and await _served(kind, other):
            for request in kind.requests(count):
                expected, got = await asyncio.gather(ask(one, request, managed=True), ask(other, request, managed=True))
                found += _told(request, expected, got)
                if found:  # what is stored is no longer the same
                    break
    finally:
        for each in (one, other):
            await each.delete(f"{DEFINITIONS}/{definition['metadata']['name']}")
    return found


async def _served(kind: Kind, client: httpx.AsyncClient) -> bool:
    deadline = asyncio.get_running_loop().time() + WAIT
    for version in kind.versions:
        while (await client.get(kind.collection(version))).status_code != 200:
            if asyncio.get_running_loop().time() > deadline:
                return False
            await asyncio.sleep(0.05)
    return True


def _told(request: Request, expected: JSON, got: JSON) -> Iterator[str]:
    if not expected["status"]:
        return
    said = list(_differ(request, expected, got))[:6]
    if said:
        query = "&".join(f"{name}={value}" for name, value in request.query.items())
        told = "\n    ".join([f"{request.method} {request.path}?{query}", *said, json.dumps(request.body)])
        yield told


def _differ(request: Request, expected: JSON, got: JSON) -> Iterator[str]:
    if expected["status"] != got["status"]:
        yield f"expected {expected['status']} {message_of(expected)}, got {got['status']} {message_of(got)}"
    elif request.path != DEFINITIONS or expected["status"] != 201:  # controllers write to definitions at once
        yield from differences(_in_order(expected), _in_order(got), "")


def _in_order(answer: JSON) -> JSON:
    """The real server tells several things that are wrong in random order."""
    view = strict_view(answer)
    body = view["body"]
    if not isinstance(body, dict) or "errors:\n" not in str(body.get("message")):
        return view
    return {**view, "body": {**body, "message": "\n".join(sorted(body["message"].split("\n")))}}
