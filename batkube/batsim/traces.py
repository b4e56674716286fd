"""Trace files of profiles: which ranks there are, and the actions of each.

The member ``trace`` of a profile names a file, found from the workload's folder, with one line for each rank: the file
of its actions, found from the folder of the first file. An action is a line of words: the rank, the name of the action,
and its amounts (``profiles.cpp`` of Batsim, ``xbt_replay.cpp`` of SimGrid).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from batkube.batsim.profiles import TraceProfile
from batkube.named_file import read_named_text

Action = Sequence[str]
"""The name of an action of a rank, and its arguments."""


@dataclass(frozen=True)
class Trace:
    """The actions of a profile, by rank."""

    ranks: list[list[Action]]


def read_trace(profile: TraceProfile, folder: Path) -> Trace:
    """Return the trace of a profile of a workload in ``folder``. Raises ValueError, whose text names file and line."""
    path = folder / profile.trace
    lines = _text(path, f"trace: {profile.trace}").splitlines()
    if not lines:
        raise ValueError(f"trace: {path}: names no file")
    ranks = []
    for rank, line in enumerate(lines):
        name = line.rstrip()
        if not name:
            raise ValueError(f"trace: {path}: line {rank + 1}: is empty, expected the file of rank {rank}")
        ranks.append(_actions(path.parent / name, rank))
    return Trace(ranks)


def _actions(path: Path, rank: int) -> list[Action]:
    found: list[Action] = []
    # SimGrid ignores a last line that does not end.
    for number, line in enumerate(_text(path, f"rank {rank}").split("\n")[:-1], 1):
        words = line.split()
        if not words or words[0].startswith("#") or words[0] != str(rank):
            continue
        if len(words) < 2:
            raise ValueError(f"trace: {path}: line {number}: expected an action behind the rank")
        found.append(words[1:])
    return found


def _text(path: Path, what: str) -> str:
    try:
        return read_named_text(path)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ValueError(f"{what}: cannot read {path}: {reason}") from None
