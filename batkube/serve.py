"""``batkube serve``: the API stays up while one simulation after another uses it."""

import asyncio
import signal
import sys
import time
from pathlib import Path

from batkube.kube.kubeconfig import write_kubeconfig
from batkube.kube.server import ApiServer
from batkube.settings import ServeSettings


def main(settings: ServeSettings) -> int:
    """Serve until Ctrl-C or SIGTERM; the exit code."""
    try:
        asyncio.run(_serve_api(settings))
    except OSError as error:
        print(f"batkube: {error}", file=sys.stderr)
        return 2
    return 0


async def _serve_api(settings: ServeSettings) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    server = ApiServer(now=time.time, seed=settings.seed)
    await server.start(settings.host, settings.port)
    try:
        path = settings.kubeconfig or settings.out / "kubeconfig"
        write_kubeconfig(Path(path), server.url)
        print(f"batkube: the Kubernetes API is at {server.url}\n  export KUBECONFIG={path}", flush=True)
        await stop.wait()
    finally:
        await server.stop()
