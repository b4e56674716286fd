"""The OpenAPI documents by which kubectl checks what it sends."""

from __future__ import annotations

from .answers import Answer
from .options import Query
from .resources import Registry
from .status import TextError


def answer(registry: Registry, parts: list[str], accept: str, query: Query) -> Answer:
    """The answer to a GET below `/openapi`."""
    raise TextError.page_not_found()
