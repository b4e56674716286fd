"""`python -m tests.mixes`: play random experiments beside a real Batsim and beside the built-in simulator; compare."""

import argparse
import asyncio
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.mixes import playing
from tests.mixes.comparison import LATE, differences, other_lives, own_files
from tests.mixes.demands import faults
from tests.mixes.dialogue import parting
from tests.mixes.mix import Files, Mix, living_mix, mix
from tests.mixes.outcome import Outcome
from tests.mixes.processes import ENDLESS, run
from tests.mixes.shrinking import shrunk

SHOWN = 4
"""Faults of a mix that are printed."""


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.mixes", description=__doc__)
    add = parser.add_argument
    add("--count", type=int, default=200, help="how many mixes (%(default)s)")
    add("--seed", type=int, default=1, help="of the first (%(default)s)")
    add("--scheduler", choices=("in-process", "fifo", "kube-scheduler"), default="in-process",
        help="in-process: the policy of fifo, bridge and API server in this process; quick")  # fmt: skip
    add("--batsim", type=Path, default=Path("/usr/local/bin/batsim"), help="the program (%(default)s)")
    add("--against", choices=("exact", "ideal", "nothing"), default="exact",
        help="what Batsim is compared with: the built-in simulator in one of its modes, or nothing")  # fmt: skip
    add("--life", action="store_true", help="with pods of clients, users, drains, failures, controllers (in-process)")
    add("--only", choices=("batsim", "built-in"), help="play on one side alone")
    add("--within", type=float, default=1.5e-6, help="seconds that dates may be apart (%(default)s)")
    add("--timeout", type=float, default=60, help="real seconds a run (%(default)s)")
    add("--dialogue", action="store_true", help="show the first message that differs (in-process)")
    add("--shrink", type=Path, metavar="DIR", help="look for the fewest jobs with the same fault; write them here")
    return parser.parse_args()


class Player:
    """Plays mixes as the command line says."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        # In this process nobody takes the dates from Batsim's files: they are those of its messages.
        self.ours_within = LATE if options.scheduler == "in-process" else options.within

    def check(self, mix: Mix) -> list[str]:
        """All that is wrong with a mix, each with a word before it that says whose affair it is."""
        with TemporaryDirectory() as name:
            folder = Path(name)
            files = mix.write(folder / "inputs")
            return list(self._check(mix, files, folder))

    def _check(self, mix: Mix, files: Files, folder: Path) -> Iterator[str]:
        options = self.options
        off = {"preempting": options.scheduler == "kube-scheduler", "within": self.ours_within}
        real = own = None
        if options.only != "built-in":
            real = self._play(mix, files, folder / "batsim", real=True)
            yield from (f"batsim: {fault}" for fault in faults(mix, real, **off))
            if real.error is None:
                yield from (f"files: {what}" for what in own_files(real, self.ours_within))
        if options.only != "batsim" and options.against != "nothing":
            own = self._play(mix, files, folder / "built-in", real=False)
            yield from (f"built-in: {fault}" for fault in faults(mix, own, **off))
        if real and own and not real.error and not own.error:
            apart = differences(real.own, own.own, within=options.within)
            yield from (f"apart: {what}" for what in apart)
            if mix.life:
                apart = other_lives(real, own)
                yield from (f"lives: {what}" for what in apart)
            if apart and options.dialogue:
                print(*parting(real.said, own.said), sep="\n")

    def _play(self, mix: Mix, files: Files, out: Path, *, real: bool) -> Outcome:
        options = self.options
        out.mkdir()
        program = options.batsim if real else None
        if options.scheduler != "in-process":
            return run(mix, files, out, scheduler=options.scheduler, batsim=program, timeout=options.timeout)
        exact = options.against == "exact"
        return asyncio.run(playing.play_within(mix, files, out, program, exact=exact, timeout=options.timeout))


def kind(fault: str) -> str:
    """Tell what two faults of a kind have in common: their words, without names and numbers."""
    return " ".join(word for word in fault.split()[:7] if not any(letter.isdigit() for letter in word))


def main() -> int:
    """Exit code 1 where something was found."""
    options = parse()
    player, draw = Player(options), living_mix if options.life else mix
    begun, kinds, bad = time.monotonic(), Counter[str](), []
    for seed in range(options.seed, options.seed + options.count):
        found = player.check(draw(seed))
        kinds.update({kind(fault) for fault in found})
        if found:
            bad.append(seed)
            print(f"mix {seed}: {len(found)} faults", *found[:SHOWN], sep="\n    ", flush=True)
            if options.shrink and not any(ENDLESS in fault for fault in found):
                _shrink(player, draw(seed), kind(found[0]), options.shrink / f"mix-{seed}")
    print(f"{options.count} mixes from seed {options.seed} in {time.monotonic() - begun:.0f} s: {len(bad)} with faults")
    for what, count in kinds.most_common():
        print(f"  {count:4} {what}")
    return int(bool(bad))


def _shrink(player: Player, found: Mix, wanted: str, folder: Path) -> None:
    smaller = shrunk(found, lambda tried: any(kind(fault) == wanted for fault in player.check(tried)))
    shutil.rmtree(folder, ignore_errors=True)
    smaller.write(folder)
    if smaller.life:
        print(f"    {smaller.life}", flush=True)
    print(f"    {len(smaller.jobs)} jobs and {len(smaller.outages or ())} events show it: {folder}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
