"""2,500 requests at random, right and wrong, in batches; `make fuzz` asks more, from other seeds."""

from __future__ import annotations

import logging

import pytest

from .running import fuzzing


async def test_whatever_is_asked_the_server_answers_and_keeps_its_store_in_order(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with fuzzing(0) as fuzz:
        for _ in range(5):
            assert await fuzz.batch(500) == []
        assert {200, 201, 400, 404, 405, 406, 409, 415, 422} <= fuzz.answered.keys()
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []
