"""``/batkube/v1/clock``: how simulated time goes on, and control of it while it does."""

from typing import Annotated, Literal

from fastapi import APIRouter, HTTPException
from pydantic import BaseModel, ConfigDict, Field

from batkube.clock.pace import Pace

State = Literal["waiting", "running", "paused", "over"]


class ClockState(BaseModel):
    """How simulated time goes on. Dates are simulated seconds."""

    state: State
    """``waiting`` for a simulation to begin; ``over``: it has ended, and no other has begun."""
    paused: bool
    """Also before a simulation begins, which then begins paused."""
    pace: float | None
    """Simulated seconds a real one; null: as fast as it goes."""
    told: float | None
    """The date of the last message of the simulator that was told."""
    next: float | None
    """The date of the message that waits to be told; null while the last is being dealt with."""
    stepping: bool
    """Paused, but the last message or a step that was asked for has not been dealt with yet."""
    behind: float
    """By how many real seconds the last message was told late: more than a moment means that the pace is too fast."""


class PaceWanted(BaseModel):
    """The pace to go on at."""

    model_config = ConfigDict(extra="forbid")

    factor: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None
    """Simulated seconds a real one; null: as fast as it goes."""


class Conflict(BaseModel):
    """Why it cannot be done now."""

    detail: str


def clock_router(pace: Pace) -> APIRouter:
    """The routes, to be included in the server's FastAPI application."""
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

    @routes.get("")
    async def show() -> ClockState:
        """How simulated time goes on."""
        return shown()

    @routes.put("/pace")
    async def set_pace(wanted: PaceWanted) -> ClockState:
        """Go on at another pace, from the date reached."""
        pace.set(wanted.factor)
        return shown()

    @routes.post("/pause")
    async def pause() -> ClockState:
        """Stop before the next message of the simulator is told. What is being dealt with comes to its end first."""
        pace.pause()
        return shown()

    @routes.post("/resume")
    async def resume() -> ClockState:
        """Go on."""
        pace.resume()
        return shown()

    @routes.post("/step", status_code=202, responses={409: {"model": Conflict}})
    async def step() -> ClockState:
        """While paused: let exactly one message through. ``stepping`` is true until it has been dealt with.

        It is not waited for here: a request in work would be one more thing that is not at rest.
        """
        if not pace.paused:
            raise HTTPException(409, "the clock is not paused: pause it first")
        if pace.state != "under way":
            raise HTTPException(409, "there is no simulation to step through")
        pace.step()
        return shown()

    return routes
