"""A server in this process, asked over the wire."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import httpx
import orjson
import yaml

from batkube.kube.server import ApiServer
from tests.differential.objects import read_objects

from .consistency import contents, faults_of_answers, faults_of_history, faults_of_store
from .grammar import NAMESPACES, Grammar, Request

JSON = Any

_WATCHED = 1 << 16  # bytes read of a stream
_AS_THE_REAL_SERVER = re.compile(
    "|".join(
        (
            "resourceVersion should not be set on objects to be created",
            r"strconv\.ParseUint: ",
            "Too large resource version",
            "failed to create typed patch object",
            "failed to convert new object",
            "unknown patch type: ",
            "does not contain declared merge key",
            "list element types are not identical",
            r"doesn't match \$setElementOrder list",
            "merging lists cannot yet be specified in the patch",
            "no preferred addresses found",
        )
    )
)
"""500s and 504s that kube-apiserver gives to the same requests."""

_DEFINITION = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.fuzz.example.com}
spec:
  group: fuzz.example.com
  scope: Namespaced
  names: {plural: gadgets, singular: gadget, kind: Gadget, shortNames: [gd]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}
    additionalPrinterColumns: [{name: Size, type: integer, jsonPath: .spec.size}]
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [size]
            x-kubernetes-validations: [{rule: self.size < 100}]
            properties:
              size: {type: integer, minimum: 0, default: 1}
              replicas: {type: integer}
              labels: {type: object, additionalProperties: {type: string}}
              parts:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items: {type: object, required: [name], properties: {name: {type: string}, size: {type: integer}}}
              free: {type: object, x-kubernetes-preserve-unknown-fields: true}
          status: {type: object, properties: {replicas: {type: integer}}}
"""


class Fuzz:
    """Sends what the grammar makes, and gathers what should not be."""

    def __init__(self, server: ApiServer, asking: httpx.AsyncClient, seed: int) -> None:
        self._server = server
        self._asking = asking
        self._grammar = Grammar(seed, server.registry, read_objects())
        self.answered: dict[int, int] = {}  # by status

    async def batch(self, count: int) -> list[str]:
        """So many requests; what of the answers, and what of the store after them, is not as it must be."""
        before, revision = contents(self._server), self._server.store.revision
        faults = []
        for _ in range(count):
            request = self._grammar.request()
            if fault := await self._ask(request):
                faults.append(
                    f"{request.method} {request.target[:200]} {request.headers} {request.body[:400]!r}: {fault}"
                )
        faults += faults_of_store(self._server)
        faults += faults_of_history(self._server, before, revision)
        stored = self._server.store.revision
        faults += await faults_of_answers(self._server, self._asking)
        if self._server.store.revision != stored:
            faults.append("reading, and writing what was read, made new versions")
        return faults

    async def _ask(self, request: Request) -> str:
        """Ask, and return what is wrong with the answer; "" if nothing."""
        asked = self._asking.build_request(request.method, "/", headers=request.headers, content=request.body or None)
        asked.extensions["target"] = request.target.encode("latin-1")
        try:
            answer = await self._asking.send(asked, stream=request.is_watch)
        except httpx.TransportError as error:
            return f"no answer: {type(error).__name__} {error}"
        self.answered[answer.status_code] = self.answered.get(answer.status_code, 0) + 1
        content = await _start_of(answer) if request.is_watch else answer.content
        said = content.decode(errors="replace")
        if answer.status_code >= 500 and not _AS_THE_REAL_SERVER.search(said):
            return f"{answer.status_code} {said[:400]}"
        if request.is_watch or request.method == "HEAD":
            return ""
        return _fault_of_body(answer, content)


def _fault_of_body(answer: httpx.Response, content: bytes) -> str:
    media_type = answer.headers.get("Content-Type", "")
    try:
        if media_type.startswith("application/json"):
            body = orjson.loads(content)
        elif media_type.startswith("application/yaml"):
            body = yaml.load(content, yaml.CSafeLoader)
        elif media_type.startswith("application/vnd.kubernetes.protobuf"):
            return "" if content.startswith(b"k8s\x00") else f"no protobuf: {content[:80]!r}"
        else:
            return ""
    except ValueError as error:
        return f"{media_type} that is none: {error}: {content[:200]!r}"
    failed = isinstance(body, dict) and body.get("kind") == "Status" and body.get("status") == "Failure"
    if failed and body.get("code") != answer.status_code:
        return f"status {answer.status_code}, and says {body.get('code')}"
    if answer.status_code >= 400 and not failed and media_type.startswith("application/json"):
        return f"{answer.status_code} without a Status: {content[:200]!r}"
    return ""


async def _start_of(answer: httpx.Response) -> bytes:
    """Of a stream; the rest is left, as clients do that go away."""
    content = b""
    with suppress(httpx.ReadTimeout):
        async for chunk in answer.aiter_raw():
            content += chunk
            if len(content) > _WATCHED:
                break
    await answer.aclose()
    return content


@asynccontextmanager
async def fuzzing(seed: int) -> AsyncIterator[Fuzz]:
    """With a server of its own: namespaces, a custom resource, and a clock that goes on a second a look."""
    clock = iter(range(1_800_000_000, 2_000_000_000))
    server = ApiServer(now=lambda: float(next(clock)), seed=seed)
    for namespace in sorted({*NAMESPACES} - {"default"}):
        server.create("namespaces", {"metadata": {"name": namespace}})
    server.define(yaml.safe_load(_DEFINITION))
    await server.start()
    try:
        async with httpx.AsyncClient(
            base_url=server.url, trust_env=False, timeout=httpx.Timeout(20, read=20)
        ) as asking:
            yield Fuzz(server, asking, seed)
    finally:
        await server.stop()
