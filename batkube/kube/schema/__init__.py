"""The published data of the Kubernetes API: kinds, fields, OpenAPI schemas.

The files here are made by `python -m batkube.kube.schema.generate` from Kubernetes' own published documents and Go
types (Apache-2.0; see README.md). They are read when first needed.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import orjson


def read_bytes(name: str) -> bytes:
    """Return the content of a data file of this package."""
    return files(__name__).joinpath(name).read_bytes()


def read_json(name: str) -> Any:
    """Return the parsed content of a data file of this package."""
    return orjson.loads(read_bytes(name))
