"""Programs of batkube in processes of their own that have all modules already: forked from one that did nothing else.

Loading them takes half a second of processor time, which hundreds of small runs and servers need not pay each.
"""

from __future__ import annotations

import atexit
import ctypes
import itertools
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from tests.warm_start import Start

ROOT = Path(__file__).parent.parent
RANDOM = "random"
SEEDS = ("0", RANDOM)
"""Of the hashes (PYTHONHASHSEED) of the processes that fork. Where a test names none they take turns, so that what is
run twice is run with two orders of all sets.
"""

_SEED = "PYTHONHASHSEED"
_SET_CHILD_SUBREAPER = 36  # of prctl(2)


class Popen(subprocess.Popen[str]):
    """``subprocess.Popen``, for which ``python -m batkube...`` is a process that is forked.

    It is a child of this process, with the files, folder and environment that it is given. Only its command line, as
    /proc has it, is another one. Commands of other programs are started as usual.
    """

    def _execute_child(self, args: Any, *more: Any) -> None:
        words = [] if isinstance(args, str | bytes) else [os.fspath(word) for word in args]
        executable, preexec_fn, _, pass_fds, cwd, env, _, _, shell, stdin, _, _, stdout, _, stderr = more[:15]
        environment = dict(os.environ if env is None else env)
        seed = environment.get(_SEED, RANDOM)
        usual = sys.platform != "linux" or words[:2] != [sys.executable, "-m"] or not words[2].startswith("batkube")
        if usual or executable or preexec_fn or pass_fds or shell or seed not in SEEDS:
            super()._execute_child(args, *more)  # type: ignore[misc]
            return
        files = [own if fd == -1 else fd for own, fd in enumerate((stdin, stdout, stderr))]
        starter = _starter(next(_turns) if seed == RANDOM else seed)
        self.pid = starter.start(Start(words[2], words[3:], str(cwd or Path.cwd()), environment), files)
        self._child_created = True
        self._close_pipe_fds(*more[9:15])  # type: ignore[attr-defined]


def run(
    words: Sequence[object],
    *,
    timeout: float,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    stdin: str | None = None,
) -> subprocess.CompletedProcess[str]:
    """Do what ``subprocess.run`` does, with all that is printed captured."""
    command, pipe = [str(word) for word in words], subprocess.PIPE
    source = subprocess.DEVNULL if stdin is None else pipe
    with Popen(command, stdin=source, stdout=pipe, stderr=pipe, text=True, env=env, cwd=cwd) as process:
        try:
            output, errors = process.communicate(stdin, timeout=timeout)
        finally:
            if process.returncode is None:
                process.kill()
    return subprocess.CompletedProcess(command, process.returncode, output, errors)


class _Starter:
    """A process that has loaded all modules, and forks when it is told to."""

    def __init__(self, seed: str) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.warm_start", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env={**os.environ, _SEED: seed},
                cwd=ROOT,  # where it finds these tests, and no other package of the name
                pass_fds=[theirs.fileno()],
            )
        atexit.register(self.close)

    def start(self, start: Start, files: Sequence[int]) -> int:
        """Return the id of a new process that has these files as its first ones. RuntimeError if there is none."""
        with _adopting():
            socket.send_fds(self._socket, [start.to_bytes()], files)
            answer = self._socket.recv(64)
        if not answer:
            raise RuntimeError("what forks the programs under test has ended")
        return int(answer)

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._socket.close()


_starter = cache(_Starter)
_turns = itertools.cycle(SEEDS)


@contextmanager
def _adopting() -> Iterator[None]:
    """Make this process the parent of those below it whose own parent ends, as long as the context lasts."""
    control = ctypes.CDLL(None, use_errno=True).prctl
    if control(_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")
    try:
        yield
    finally:
        control(_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
