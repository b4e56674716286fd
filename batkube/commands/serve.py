"""``batkube serve``: the API stays up while one simulation after another uses it."""

import logging
import time
from collections.abc import Coroutine
from contextlib import AsyncExitStack

from batkube.batsim.errors import SimulatorError
from batkube.commands import event_loop
from batkube.commands.errors import tell
from batkube.session.access import check_access
from batkube.session.api_server import api_server, start_api
from batkube.session.results_folder import own_folder
from batkube.session.supervision import interruptible
from batkube.settings import BAD_INPUT, FINISHED, ServeSettings


def main(settings: ServeSettings) -> int:
    """Serve until Ctrl-C or SIGTERM. Return the exit code, which tells of a simulation that is cut short by it."""
    logging.basicConfig(level=logging.WARNING, format="batkube: %(message)s")
    try:
        check_access(settings.access, settings.host)
        return event_loop.run(_api_only(settings) if settings.api_only else _beside_batsim(settings))
    except (OSError, ValueError, SimulatorError) as error:
        if isinstance(error, OSError) and error.filename is None and error.strerror:
            tell(f"--port: {error.strerror}")  # the listener's, which names the address
        else:
            tell(error)
        return BAD_INPUT


async def _api_only(settings: ServeSettings) -> int:
    """Serve Kubernetes objects on the real clock, where nobody plays kubelet."""
    async with AsyncExitStack() as stack:
        if settings.kubeconfig is None:  # else nothing is written into the folder of results
            stack.enter_context(own_folder(settings))
        asked = stack.enter_context(interruptible())
        api = api_server(
            settings.access,
            settings.api,
            now=time.time,
            seed=settings.seed,
            node_lifecycle=settings.node_lifecycle,
            history=settings.watch_history,
        )
        server, path = await start_api(settings, api, stack)
        print(f"batkube: the Kubernetes API is at {server.url}\n  export KUBECONFIG={path}", flush=True)
        await asked.wait()
    return FINISHED


def _beside_batsim(settings: ServeSettings) -> Coroutine[None, None, int]:
    """Play cluster for whichever Batsim calls."""
    from batkube.session.serving import serve_beside_batsim  # the API alone starts without all that

    return serve_beside_batsim(settings)
