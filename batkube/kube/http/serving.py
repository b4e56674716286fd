"""The serving of clients over the network: the address, the certificate, the application, the way of each request."""

from __future__ import annotations

import ssl
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..apimachinery.users import ADMIN
from ..authentication.kubeconfig import kubeconfig
from ..codec.answers import HttpAnswer
from .activity import Activity
from .browsers import Browsers
from .endpoint import Endpoint, send_answer
from .listener import Listener
from .request_body import read_ahead
from .turns import READS

if TYPE_CHECKING:
    from fastapi import APIRouter, FastAPI

    from ..authentication.certificates import Authority

JSON = dict[str, Any]

# First parts of paths that belong to the FastAPI application; all other paths are the Kubernetes API's.
APP_PATHS = frozenset(("batkube",))

# Who listens on all addresses is reached at this one, from the same machine.
_REACHED_AT = {"0.0.0.0": "127.0.0.1", "::": "::1"}


class Serving(Activity):
    """An endpoint at an address, once it has been started.

    With `authority` it speaks HTTPS. `token` is that of the administrator. `hostnames` are the names by which clients
    call the server, if they differ from the address it listens on.
    """

    def __init__(
        self, endpoint: Endpoint, *, authority: Authority | None, token: str | None, hostnames: Sequence[str]
    ) -> None:
        super().__init__(endpoint)
        self.authority = authority
        self.token = token
        self.routes: list[Callable[[], APIRouter]] = []
        """The makers of the routers that are included in ``app``."""
        self.home: Callable[[], bytes] | None = None
        """The maker of the page that a browser gets at `/`; other clients get the list of paths."""
        self._browsers = Browsers(lambda: ("http" if self.authority is None else "https", self._port))
        self._hostnames = tuple(hostnames)
        self._host, self._port = "", 0

    @cached_property
    def app(self) -> FastAPI:
        """The application that batkube's own paths belong to. It is made when first asked for.

        Loading FastAPI takes half of the time from start to ready.
        """
        from fastapi import FastAPI

        app = FastAPI(
            title="batkube",
            docs_url=None,  # its scripts would come from the network
            redoc_url=None,
            openapi_url="/batkube/v1/openapi.json",
        )
        app.router.default = self._endpoint  # for those who mount the application elsewhere
        for routes in self.routes:
            app.include_router(routes())
        return app

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> None:
        """Listen, in the running event loop. Port 0 is any free one. Raise OSError (with the address) if the port is
        taken.
        """
        listener = Listener(self.asgi, self._endpoint, lambda: self._heed())
        self._port = await listener.start(host, port, self._tls(host))
        self._host, self._listener = host, listener
        self._endpoint.hang_up = listener.hang_up

    async def stop(self) -> None:
        """End all watches and close all connections."""
        if self._listener is not None:
            self.turns.end()
            self._endpoint.end_watches()
            listener, self._listener = self._listener, None
            await listener.stop()

    @property
    def port(self) -> int:
        return self._port

    @property
    def url(self) -> str:
        """The URL at which clients find the server."""
        host = self._hostnames[0] if self._hostnames else _REACHED_AT.get(self._host, self._host)
        scheme = "http" if self.authority is None else "https"
        return f"{scheme}://{f'[{host}]' if ':' in host else host}:{self._port}"

    @property
    def page_url(self) -> str:
        """The URL at which a browser finds the page at `/`; with the secret that lets it in where one is needed."""
        return f"{self.url}/?{self._browsers.query}" if self.token is not None else f"{self.url}/"

    def kubeconfig(self, *, client_certificate: bool = False) -> JSON:
        """Return the kubeconfig of an administrator, with the token or, if asked, a client certificate.

        Raise ValueError if a certificate is asked of a server without TLS.
        """
        if self.authority is None:
            if client_certificate:
                raise ValueError("client certificates need TLS")
            return kubeconfig(self.url, token=self.token)
        certificate = self.authority.client(ADMIN.name, ADMIN.groups[:1]) if client_certificate else None
        return kubeconfig(self.url, authority=self.authority.certificate, token=self.token, certificate=certificate)

    async def asgi(
        self,
        scope: MutableMapping[str, Any],
        receive: Callable[[], Awaitable[MutableMapping[str, Any]]],
        send: Callable[[MutableMapping[str, Any]], Awaitable[None]],
    ) -> None:
        """Answer a request. Requests to Kubernetes come first: they pass by FastAPI and its middleware."""
        if scope["type"] == "http":
            path, method = scope.get("raw_path") or scope["path"].encode(), scope["method"].encode()
            body = b""
            if method not in READS and self.turns.takes(scope.get("client")):
                body, receive = await read_ahead(receive)
            await self.turns.turn(scope.get("client"), method, path, scope["query_string"], body)
        at_home = scope["type"] == "http" and scope["path"] == "/" and self.home is not None and _wants_page(scope)
        if scope["type"] == "http" and not at_home and scope["path"].lstrip("/").partition("/")[0] not in APP_PATHS:
            await self._endpoint(scope, receive, send)
            return
        refusal = self._endpoint.refusal(scope) if scope["type"] == "http" else None
        if refusal is not None:
            welcome = self._browsers.welcome(scope) if at_home else None
            refusal = welcome or (None if self._browsers.knows(scope) else refusal)
        if refusal is None and at_home and self.home is not None:
            await send_answer(
                HttpAnswer(200, self.home(), b"text/html; charset=utf-8"), scope["method"] == "HEAD", send
            )
        elif refusal is None:
            await self.app(scope, receive, send)
        else:
            await send_answer(refusal, scope["method"] == "HEAD", send)

    def _tls(self, host: str) -> ssl.SSLContext | None:
        if self.authority is None:
            return None
        from ..authentication.certificates import SERVER_NAMES, server_context  # they take a while to load

        listens_on = () if host in _REACHED_AT else (host,)
        return server_context(self.authority, (*SERVER_NAMES, *listens_on, *self._hostnames))


def _wants_page(scope: MutableMapping[str, Any]) -> bool:
    """Return True for a browser: it names HTML among what it takes, as no client of Kubernetes does."""
    accept = b",".join(value for name, value in scope["headers"] if name == b"accept")
    return scope["method"] in ("GET", "HEAD") and b"text/html" in accept
