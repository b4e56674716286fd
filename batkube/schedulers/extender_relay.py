"""Asking scheduler extenders on kube-scheduler's behalf.

Extenders live on the real clock, and a scheduler that waits for an answer of another process looks as if it were at
rest. So it asks them through the API server, which is busy while a call is out: an extender may take its time, on any
machine.
"""

import asyncio
from collections.abc import Callable, Sequence
from http import HTTPStatus

import httpx
import orjson
from fastapi import APIRouter, Request, Response

from batkube.schedulers.extenders import RELAY, Extender


class Relay:
    """Passes kube-scheduler's calls on to extenders. ``close`` it in the end.

    ``on_failure`` is called with a line for each call that failed, and with True if the call took too long.
    """

    def __init__(self, extenders: Sequence[Extender]) -> None:
        self.on_failure: Callable[[str, bool], None] = lambda text, timed_out: None
        self._extenders = extenders
        self._clients = [
            httpx.AsyncClient(verify=one.context, timeout=None, follow_redirects=True, trust_env=False)
            for one in extenders
        ]

    def router(self) -> APIRouter:
        """Return the route, to be included in the server's FastAPI application."""
        routes = APIRouter()

        @routes.post(RELAY + "/{index}/{address:path}", include_in_schema=False)
        async def ask(index: int, address: str, request: Request) -> Response:
            if not 0 <= index < len(self._extenders):
                return Response(status_code=HTTPStatus.NOT_FOUND)
            return await self._ask(index, address, request)

        return routes

    async def close(self) -> None:
        """Close the connections."""
        for client in self._clients:
            await client.aclose()

    async def _ask(self, index: int, address: str, request: Request) -> Response:
        extender, body = self._extenders[index], await request.body()
        verb = address.removeprefix(f"{extender.address}/")
        url = f"{extender.url}/{verb}"
        headers = {"Content-Type": request.headers.get("content-type", "application/json")}
        names = {"sni_hostname": extender.server_name} if extender.server_name else {}
        timed_out = False
        try:
            async with asyncio.timeout(extender.timeout):
                answer = await self._clients[index].post(url, content=body, headers=headers, extensions=names)
        except TimeoutError:
            timed_out, code = True, int(HTTPStatus.GATEWAY_TIMEOUT)
            why = f'Post "{url}": no answer within {extender.timeout:g} s (httpTimeout)'
        except httpx.HTTPError as error:
            code, why = int(HTTPStatus.BAD_GATEWAY), f'Post "{url}": {_cause(error)}'
        else:
            if answer.status_code == HTTPStatus.OK:
                return Response(answer.content, media_type=answer.headers.get("content-type"))
            code = answer.status_code
            why = f"failed {verb} with extender at URL {url}, code {code}"  # as kube-scheduler says it
        self.on_failure(why, timed_out)
        if verb in extender.errors_in_answers:
            # As an error of the extender's own it comes to the user with the extender's address, not with the relay's.
            return Response(_error(why), media_type="application/json")
        return Response(why, status_code=code)


def _error(text: str) -> bytes:
    """Return an ExtenderFilterResult, or ExtenderBindingResult, with an error."""
    return orjson.dumps({"Error": text})


def _cause(error: BaseException) -> str:
    """Return the operating system's text for an error if it has one, else the error's own."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, BaseExceptionGroup):
            cause = cause.exceptions[0]
        elif isinstance(cause, OSError) and cause.strerror:
            return cause.strerror.lower()
        else:
            cause = cause.__cause__ or cause.__context__
    return " ".join(str(error).split()) or type(error).__name__
