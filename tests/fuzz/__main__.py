"""`python -m tests.fuzz`: ask at random until so many requests are answered; print what should not be."""

from __future__ import annotations

import argparse
import asyncio
import sys
from time import monotonic

from .running import fuzzing

BATCH = 500


def main() -> int:
    """Exit code 1 where something was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--requests", type=int, default=10_000, help="how many (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="which ones (%(default)s)")
    options = parser.parse_args()
    return asyncio.run(_fuzz(options.requests, options.seed))


async def _fuzz(requests: int, seed: int) -> int:
    begun, found = monotonic(), 0
    async with fuzzing(seed) as fuzz:
        for asked in range(0, requests, BATCH):
            faults = await fuzz.batch(min(BATCH, requests - asked))
            found += len(faults)
            for fault in faults:
                print(fault, flush=True)
    answered = ", ".join(f"{count} of {status}" for status, count in sorted(fuzz.answered.items()))
    print(f"seed {seed}: {requests} requests in {monotonic() - begun:.0f} s ({answered}): {found} faults")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
