"""Whatever is asked, the server answers, and knows why."""

from __future__ import annotations

import json
import logging

import pytest

from batkube.kube.discovery.openapi_v2 import swagger
from batkube.kube.schema.resources import default_registry
from batkube.kube.server import ApiServer
from tests.conformance.servers import Server

from .asking import Request, ask, client
from .mutations import Schemas
from .objects import Base, read_objects
from .questions import changes, creations
from .reads import reads
from .subresources import read_writes, variations

COUNT = 6  # mutations, and patches, of each object


@pytest.fixture(scope="module")
def schemas() -> Schemas:
    """Of all kinds."""
    return Schemas(swagger(default_registry()))


@pytest.mark.parametrize("base", read_objects(), ids=lambda base: base.name)
async def test_no_request_is_unforeseen(base: Base, schemas: Schemas, caplog: pytest.LogCaptureFixture) -> None:
    """Objects and patches with things wrong: no internal error, no traceback, and what is stored stays as it is."""
    server = ApiServer(now=lambda: 0.0, seed=1)
    await server.start()
    try:
        async with client(Server(server.url, "")) as asking:
            made = await ask(asking, Request("POST", base.collection, base.object))
            assert made["status"] == 201, made
            before = server.store.revision
            requests = [*creations(base, schemas, COUNT, 1), *changes(base, schemas, COUNT, 1)]
            for write in read_writes(base):
                requests += variations(base, write, base.object, schemas, COUNT, "1")
            requests += reads(base, "1", COUNT // 2)
            for what, request in requests:
                answer = await ask(asking, request)
                assert answer["status"], what
                assert "Internal error" not in json.dumps(answer), what
            assert server.store.revision == before
    finally:
        await server.stop()
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []
