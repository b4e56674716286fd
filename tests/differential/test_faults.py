"""The causes of a refusal, word by word and in the order in which kube-apiserver tells them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from batkube.kube.server import ApiServer
from tests.conformance.servers import Server

from .asking import ask, client
from .faults import causes, faulty
from .objects import read_objects

RECORDED = [json.loads(line) for line in Path(__file__).with_name("faults.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda recorded: recorded["object"])
async def test_several_faults_are_told_in_order(recorded: dict[str, Any]) -> None:
    (base,) = (base for base in read_objects() if base.name == recorded["object"])
    server = ApiServer(now=lambda: 0.0, seed=1)
    await server.start()
    try:
        async with client(Server(server.url, "")) as asking:
            answer = await ask(asking, faulty(base, recorded["number"]))
    finally:
        await server.stop()
    assert causes(answer) == recorded["causes"]
