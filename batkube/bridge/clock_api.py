"""``/batkube/v1/clock``: the pace of simulated time, shown and controlled while a simulation runs."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException
from pydantic import BaseModel, ConfigDict, Field

from batkube.bridge.simulation import Simulation
from batkube.clock.pace import Pace

Current = Callable[[], Simulation | None]
"""A function that returns the current simulation, if there is one."""
State = Literal["waiting", "running", "paused", "over"]


class ClockState(BaseModel):
    """The progress of simulated time. Dates are simulated seconds."""

    state: State
    """``waiting`` for a simulation to begin; ``over``: it has ended, and no other has begun."""
    paused: bool
    """True also before a simulation begins, which then begins paused."""
    pace: float | None
    """Simulated seconds per real second; null: as fast as possible."""
    told: float | None
    """The date of the simulator's last message that was told."""
    next: float | None
    """The date of the message that waits to be told; null while the last one is being handled."""
    stepping: bool
    """Paused, but the last message, or a step that was asked for, has not been handled yet."""
    behind: float
    """The real seconds by which the last message was told late. More than a moment means that the pace is too fast."""


class PaceWanted(BaseModel):
    """The pace that is asked for."""

    model_config = ConfigDict(extra="forbid")

    factor: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None
    """Simulated seconds per real second; null: as fast as possible."""


class Conflict(BaseModel):
    """The reason why a request cannot be carried out now."""

    detail: str


def clock_router(pace: Pace, current: Current) -> APIRouter:
    """Return the routes, to be included in the server's FastAPI application. Each control is noted as a user's deed."""
    routes = APIRouter(prefix="/batkube/v1/clock", tags=["clock"])

    def shown() -> ClockState:
        state: State = "paused" if pace.paused else "running"
        if pace.state != "under way":
            state = pace.state
        return ClockState(
            state=state,
            paused=pace.paused,
            pace=pace.factor,
            told=pace.told,
            next=pace.next,
            stepping=pace.stepping,
            behind=round(pace.behind, 3),
        )

    def note(action: str, **details: Any) -> None:
        if (found := current()) is not None:
            found.deeds.controlled(action, **details)

    @routes.get("")
    async def show() -> ClockState:
        """Return the progress of simulated time."""
        return shown()

    @routes.put("/pace")
    async def set_pace(wanted: PaceWanted) -> ClockState:
        """Go on at another pace, from the date reached."""
        note("pace", factor=wanted.factor)
        pace.set(wanted.factor)
        return shown()

    @routes.post("/pause")
    async def pause() -> ClockState:
        """Stop before the simulator's next message is told. A message that is being handled comes to its end first."""
        note("pause")
        pace.pause()
        return shown()

    @routes.post("/resume")
    async def resume() -> ClockState:
        """Go on."""
        note("resume")
        pace.resume()
        return shown()

    @routes.post("/step", status_code=202, responses={409: {"model": Conflict}})
    async def step() -> ClockState:
        """Let exactly one message through while paused. ``stepping`` is true until it has been handled.

        This does not wait for the step: a request in work would itself keep the server from being at rest.
        """
        if not pace.paused:
            raise HTTPException(409, "the clock is not paused: pause it first")
        if pace.state != "under way":
            raise HTTPException(409, "there is no simulation to step through")
        note("step")
        pace.step()
        return shown()

    return routes
