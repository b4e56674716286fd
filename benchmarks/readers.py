"""Time and memory that readers of workloads take: ``python benchmarks/readers.py [--lines N]``.

A log of so many lines (SWF, packed) is made and converted to a workload of Batsim's, each in a process of its own.
"""

import argparse
import gzip
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random


def write_log(path: Path, lines: int) -> None:
    """Write a log of jobs of whole seconds up to a day, one every 30 seconds."""
    random = Random(0)
    with gzip.open(path, "wt", compresslevel=1) as file:
        file.write("; Version: 2.2\n; Note: made for a measurement\n")
        for number in range(1, lines + 1):
            length, processors = random.randint(1, 86_400), 2 ** random.randint(0, 7)
            user, queue = random.randint(1, 500), random.randint(1, 5)
            file.write(
                f"{number} {number * 30} -1 {length} {processors} -1 -1 {processors} {2 * length} 1048576 1 "
                f"{user} 1 -1 {queue} -1 -1 -1\n"
            )


def convert(path: Path) -> None:
    """Convert the log, and say what that took."""
    from batkube.workloads.conversion import write_workload
    from batkube.workloads.formats import reader_for
    from batkube.workloads.packing import Packing
    from batkube.workloads.source import Source

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    source = Source(path)
    out = path.with_suffix(".json")
    write_workload(out, source, reader_for(source).records(source), Packing())
    took, after = time.process_time() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"{source.taken} jobs, {out.stat().st_size / 1e6:.0f} MB of JSON: {took:.1f} s of processor time, "
        f"{after / 1024:.0f} MiB at most, {(after - before) / 1024:.0f} MiB of them for the log"
    )


def main() -> None:
    """Make the log, and convert it in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--convert", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.convert is not None:
        return convert(given.convert)
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.swf.gz"
        write_log(log, given.lines)
        subprocess.run([sys.executable, __file__, "--convert", str(log)], check=True)
    return None


if __name__ == "__main__":
    main()
