"""All requests of a run about one object: it is created, replaced and patched, each in as many ways as asked for."""

from __future__ import annotations

import random
from collections.abc import Iterator

from .asking import Request
from .mutations import Schemas
from .objects import Base
from .patches import patches

DRY = {"dryRun": "All"}  # nothing is stored, so requests do not depend on each other


def creations(base: Base, schemas: Schemas, count: int, seed: int) -> Iterator[tuple[str, Request]]:
    """Objects of which one value is another, to be made: what was changed, and the request."""
    for what, body in _mutated(base, schemas, count, seed):
        yield what, Request("POST", base.collection, body, query=DRY)


def changes(base: Base, schemas: Schemas, count: int, seed: int) -> Iterator[tuple[str, Request]]:
    """The same in place of the object, which has to be there; and patches of it."""
    for what, body in _mutated(base, schemas, count, seed):
        yield what, Request("PUT", base.path, body, query=DRY)
    for patch in patches(base.object, f"{seed} {base.name}", count):
        query = DRY | patch.query
        yield f"{patch.body}", Request("PATCH", base.path, patch.body, patch.media_type, query)


def _mutated(base: Base, schemas: Schemas, count: int, seed: int) -> Iterator[tuple[str, object]]:
    mutations = list(schemas.mutations(base.object))
    random.Random(f"{seed} {base.name}").shuffle(mutations)
    for mutation in mutations[:count]:
        yield f"{'.'.join(map(str, mutation.path))} = {mutation.value!r}"[:200], mutation.object
