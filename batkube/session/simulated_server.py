"""The API server of a simulated cluster: its clock is the simulation's, and its own paths tell how that goes on."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from batkube.bridge.cluster import ADMISSION_WITHOUT
from batkube.bridge.simulation import Simulation
from batkube.bridge.time import SimulatedTime
from batkube.clock.pace import Pace
from batkube.kube.server import ApiServer
from batkube.live.usage import log_of, serve_usage
from batkube.session.api_server import api_server
from batkube.settings import RunSettings, ServeSettings

if TYPE_CHECKING:
    from fastapi import APIRouter


def simulated_server(
    settings: RunSettings | ServeSettings,
    clock: SimulatedTime,
    pace: Pace,
    current: Callable[[], Simulation | None],
) -> ApiServer:
    """Return the server, not started. ``current`` is the simulation that goes on. Raises as ``api_server`` does."""
    server = api_server(
        settings.access,
        settings.api,
        without_plugins=ADMISSION_WITHOUT,
        holds_workloads=True,
        now=clock.unix,
        seed=settings.seed,
        time_stands=lambda: pace.paused,
    )

    # Nothing of FastAPI is loaded before somebody asks.
    def state_routes() -> "APIRouter":
        from batkube.bridge.api import router

        return router(server, current)

    def clock_routes() -> "APIRouter":
        from batkube.bridge.clock_api import clock_router

        return clock_router(pace, current)

    def live_routes() -> "APIRouter":
        from batkube.live.api import live_router
        from batkube.live.feed import Feed

        return live_router(server, Feed(server, pace, current))

    def page() -> bytes:
        from batkube.live.home import home

        return home()

    server.routes += [state_routes, clock_routes, live_routes]
    server.home = page

    def metrics() -> str:
        from batkube.live.metrics import exposition

        return exposition(server, pace, current)

    server.more_metrics.append(metrics)
    serve_usage(server, clock.rfc3339)
    server.tell_logs(log_of)
    return server
