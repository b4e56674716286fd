"""`python -m tests.differential`: where batkube answers otherwise than kube-apiserver."""

from __future__ import annotations

import argparse
import asyncio
import sys

import httpx

from tests.conformance.servers import Server, batkube, kube_apiserver

from .asking import Request, ask, client, difference
from .mutations import Schemas
from .objects import Base, read_objects
from .questions import changes, creations

AT_ONCE = 8  # requests


def main() -> int:
    """Print each difference, then how many there are; exit code 1 where there is one."""
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=__doc__)
    parser.add_argument("--kind", action="append", help="of the objects that are changed; default: all")
    parser.add_argument("--count", type=int, default=40, help="mutations, and patches, of each object (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="which ones (%(default)s)")
    options = parser.parse_args()
    try:
        bases = read_objects(options.kind)
        with kube_apiserver() as real, batkube() as ours:
            asked, different = asyncio.run(_compare(bases, options.count, options.seed, real, ours))
    except (ValueError, RuntimeError) as error:
        print(f"differential: {error}", file=sys.stderr)
        return 2
    print(f"{asked} requests, {different} answered otherwise")
    return int(different > 0)


async def _compare(bases: list[Base], count: int, seed: int, real: Server, ours: Server) -> tuple[int, int]:
    asked = different = 0
    async with client(real) as one, client(ours) as other:
        schemas = Schemas((await one.get("/openapi/v2")).json())

        async def about(base: Base, requests: list[tuple[str, Request]]) -> None:
            nonlocal asked, different
            for start in range(0, len(requests), AT_ONCE):
                batch = requests[start : start + AT_ONCE]
                found = await asyncio.gather(*(difference(request, one, other) for _, request in batch))
                asked += len(batch)
                for (what, request), said in zip(batch, found, strict=True):
                    if said:
                        different += 1
                        print(f"{base.name}: {request.method} {what}\n    {said}", flush=True)

        for base in bases:
            await about(base, list(creations(base, schemas, count, seed)))
            if await _exists(base, one) and await _exists(base, other):
                await about(base, list(changes(base, schemas, count, seed)))
                for each in (one, other):
                    await each.delete(base.path, params={"gracePeriodSeconds": "0"})
    return asked, different


async def _exists(base: Base, client: httpx.AsyncClient) -> bool:
    made = await ask(client, Request("POST", base.collection, base.object, query={"fieldManager": "maker"}))
    if made["status"] != 201:
        print(f"{base.name}: not made: {made}")
    return bool(made["status"] == 201)


if __name__ == "__main__":
    sys.exit(main())
