"""`python -m tests.differential`: where batkube answers otherwise than kube-apiserver."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from functools import partial
from pathlib import Path

import httpx

from tests.conformance.servers import Server, batkube, kube_apiserver

from .asking import Request, ask, client, difference
from .custom import compare
from .definitions import Kind
from .faults import causes, faulty
from .mutations import Schemas
from .objects import Base, read_objects
from .questions import changes, creations
from .reads import reads
from .subresources import itself, read_writes, variations

AT_ONCE = 8  # requests


def main() -> int:
    """Print each difference, then how many there are; exit code 1 where there is one."""
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=__doc__)
    parser.add_argument("--kind", action="append", help="of the objects that are changed; default: all")
    parser.add_argument("--count", type=int, default=40, help="mutations, and patches, of each object (%(default)s)")
    parser.add_argument("--subresources", action="store_true", help="nothing but writes to subresources")
    parser.add_argument("--reads", action="store_true", help="nothing but requests that change nothing")
    parser.add_argument(
        "--custom", type=int, default=0, metavar="KINDS", help="custom resources of that many kinds alone"
    )
    parser.add_argument("--faults", action="store_true", help="objects with several faults, and the order of causes")
    parser.add_argument("--record", type=Path, metavar="FILE", help="with --faults: what kube-apiserver answers")
    parser.add_argument("--texts", action="store_true", help="compare texts as well")
    parser.add_argument("--seed", type=int, default=1, help="which ones (%(default)s)")
    options = parser.parse_args()
    try:
        bases = read_objects(options.kind)
        with kube_apiserver() as real, batkube() as ours:
            if options.faults:
                compare_all = _compare_faults(bases, options, real, ours)
            elif options.custom:
                compare_all = _compare_custom(options, real, ours)
            else:
                compare_all = _compare(bases, options, real, ours)
            asked, different = asyncio.run(compare_all)
    except (ValueError, RuntimeError) as error:
        print(f"differential: {error}", file=sys.stderr)
        return 2
    print(f"{asked} requests, {different} answered otherwise")
    return int(different > 0)


async def _compare_custom(options: argparse.Namespace, real: Server, ours: Server) -> tuple[int, int]:
    """Of each kind all requests until one is answered otherwise; counted as if there were as many as asked for."""
    at_once = asyncio.Semaphore(AT_ONCE)
    async with client(real) as one, client(ours) as other:

        async def about(seed: str) -> int:
            async with at_once:
                found = await compare(Kind(seed), options.count, one, other)
            for said in found:
                print(f"kind {seed}: {said}", flush=True)
            return len(found)

        seeds = [f"{options.seed} {index}" for index in range(options.custom)]
        different = sum(await asyncio.gather(*(about(seed) for seed in seeds)))
    return options.custom * options.count, different


async def _compare_faults(
    bases: list[Base], options: argparse.Namespace, real: Server, ours: Server
) -> tuple[int, int]:
    """Of each object those with several faults, their causes in order; the one with most of them is recorded."""
    different = 0
    recorded: list[str] = []
    async with client(real) as one, client(ours) as other:
        for base in bases:
            most: list[list[str]] = []
            chosen = 0
            for number in range(options.seed, options.seed + options.count):
                request = faulty(base, number)
                expected, got = [causes(it) for it in await asyncio.gather(ask(one, request), ask(other, request))]
                if expected != got:
                    different += 1
                    print(f"{base.name} {number}: expected {expected}\n    got {got}", flush=True)
                if len(expected) > len(most):
                    most, chosen = expected, number
            if len(most) > 1:
                recorded.append(json.dumps({"object": base.name, "number": chosen, "causes": most}, ensure_ascii=False))
    if options.record:
        options.record.write_text("\n".join(recorded) + "\n")
    return len(bases) * options.count, different


async def _compare(bases: list[Base], options: argparse.Namespace, real: Server, ours: Server) -> tuple[int, int]:
    asked = different = 0
    count, seed = options.count, options.seed
    only_subresources, only_reads = options.subresources, options.reads
    async with client(real) as one, client(ours) as other:
        schemas = Schemas((await one.get("/openapi/v2")).json())

        async def about(base: Base, requests: list[tuple[str, Request]]) -> None:
            nonlocal asked, different
            for start in range(0, len(requests), AT_ONCE):
                batch = requests[start : start + AT_ONCE]
                found = await asyncio.gather(
                    *(difference(request, one, other, texts=options.texts) for _, request in batch)
                )
                asked += len(batch)
                for (what, request), said in zip(batch, found, strict=True):
                    if said:
                        different += 1
                        print(f"{base.name}: {request.method} {what}\n    {said}", flush=True)

        for base in bases:
            if not only_subresources and not only_reads:
                await about(base, list(creations(base, schemas, count, seed)))
            if await _exists(base, one) and await _exists(base, other):
                if not only_subresources:
                    await about(base, list(reads(base, f"{seed} {base.name}", count)))
                if not only_subresources and not only_reads:
                    await about(base, list(changes(base, schemas, count, seed)))
                current = base.object
                for write in () if only_reads else read_writes(base):
                    varied = partial(variations, base, write, schemas=schemas, count=count, seed=str(seed))
                    await about(base, list(varied(current)))
                    if not write.only_dry:
                        await about(base, [itself(base, write, current)])
                        current = write.on(current) if write.merge is not None else current
                        await about(base, [itself(base, write, current), *varied(current)])
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
