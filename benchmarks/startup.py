"""Measure the time of an API server from its start to its first 200 on /readyz (not the very first time)."""

import argparse
import os
import statistics
import sys
import tempfile
from pathlib import Path

from processes import StartError
from servers import SERVERS, started


def measure(name: str) -> float:
    """Seconds until the server called ``name`` is ready. Raises StartError."""
    with tempfile.TemporaryDirectory(prefix="batkube-benchmark-") as folder, started(name, Path(folder)) as server:
        return server.ready_seconds


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", choices=SERVERS, default="batkube", help="which (%(default)s)")
    parser.add_argument("--repeat", type=int, default=5, help="how often (%(default)s)")
    options = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # as for users: the first start leaves bytecode to the next
    try:
        measure(options.server)
        seconds = [measure(options.server) for _ in range(options.repeat)]
    except StartError as error:
        print(f"startup: {error}", file=sys.stderr)
        return 1
    print(
        f"{options.server}: ready after {statistics.median(seconds):.2f} s "
        f"(median of {len(seconds)}; {min(seconds):.2f} to {max(seconds):.2f})"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
