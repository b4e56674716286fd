"""A process that loads the modules of batkube, and becomes a program of it in as many children as it is asked for."""

from __future__ import annotations

import gc
import json
import os
import runpy
import signal
import socket
import sys
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Start:
    """A program to become: ``python -m MODULE WORDS`` in a folder, with an environment."""

    module: str
    words: list[str]
    folder: str
    environment: dict[str, str]

    def to_bytes(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_bytes(cls, content: bytes) -> Start:
        return cls(**json.loads(content))


LONGEST = 1 << 17  # bytes of a message; the kernel takes more than that


def load() -> None:
    """Load what runs and servers load, and what they load later."""

    import batkube.commands.cli
    import batkube.commands.clock
    import batkube.commands.run
    import batkube.commands.serve
    import batkube.kube.server
    import batkube.session.serving
    import batkube.simulator.controls.exact  # noqa: F401


def forked(asking: socket.socket) -> tuple[Start, list[int]] | None:
    """Fork for each message. Return in each child its message and files; in the parent nothing, when all is over."""
    while True:
        content, files, _, _ = socket.recv_fds(asking, LONGEST, 3)
        if not content:
            return None
        read, write = os.pipe()
        between = os.fork()
        if not between:
            # The child of a child that ends belongs to whoever asked: the nearest process that adopts.
            if child := os.fork():
                os.write(write, str(child).encode())
                os._exit(0)
            os.close(read)
            os.close(write)
            return Start.from_bytes(content), files
        os.waitpid(between, 0)
        asking.send(os.read(read, 64))
        for fd in (read, write, *files):
            os.close(fd)


def become(start: Start, files: list[int]) -> None:
    """Do what ``python -m`` does, in a process that has run nothing yet."""
    for own, fd in enumerate(files):
        os.dup2(fd, own)
    for fd in files:
        os.close(fd)
    os.chdir(start.folder)
    sys.path[:0] = [start.folder, *filter(None, start.environment.get("PYTHONPATH", "").split(os.pathsep))]
    os.environ.clear()
    os.environ.update(start.environment)
    sys.argv = [start.module, *start.words]
    sys.orig_argv = [sys.executable, "-m", *sys.argv]
    runpy.run_module(start.module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    load()
    gc.collect()
    gc.freeze()  # so that children write to fewer pages that they share
    on_interrupt = signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends with those who ask
    with socket.socket(fileno=int(sys.argv[1])) as asking:
        asked = forked(asking)
    if asked:
        signal.signal(signal.SIGINT, on_interrupt)
        become(*asked)
