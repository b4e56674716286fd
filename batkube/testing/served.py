"""The process of an API server for tests: it serves until its standard input ends, and is empty again when told to.

It says ``{"url": ...}`` in a line when it is up. Each line ``reset`` is answered with a line ``{"reset": true}``.
"""

import asyncio
import json
import sys
import time
from pathlib import Path

from batkube.commands import event_loop
from batkube.kube.authentication.kubeconfig import write_kubeconfig
from batkube.kube.server import ApiServer


async def serve(kubeconfig: Path) -> None:
    """Serve on a free port of the loopback address."""
    server = ApiServer(now=time.time)
    await server.start("127.0.0.1", 0)
    write_kubeconfig(kubeconfig, server.kubeconfig())
    print(json.dumps({"url": server.url}), flush=True)
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    try:
        while line := await reader.readline():
            if line.strip() == b"reset":
                server.reset()
                print(json.dumps({"reset": True}), flush=True)
    finally:
        await server.stop()


if __name__ == "__main__":
    event_loop.run(serve(Path(sys.argv[1])))
