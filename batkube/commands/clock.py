"""``batkube clock``: control of a simulation that goes on in another process, through its server."""

import base64
import os
import ssl
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx

from batkube.commands.errors import tell
from batkube.kube.codec.yaml_text import YamlError, first_document
from batkube.named_file import read_named

JSON = dict[str, Any]

DEFAULT_SERVER = "http://127.0.0.1:8001"
"""The address at which ``batkube serve`` listens unless told otherwise."""
RUN_KUBECONFIG = Path("out") / "kubeconfig"
"""The kubeconfig that ``batkube run`` and ``serve`` write unless told otherwise, where they were started."""
TIMEOUT = 10.0
"""Real seconds for an answer."""
STEP = "/step"
POLL = 0.1
"""Real seconds between two looks at whether a step has been dealt with."""


class ClockError(Exception):
    """The clock cannot be controlled. The text says what was asked of whom, and why not."""


@dataclass(frozen=True)
class Server:
    """A server, and how one gets in."""

    url: str
    token: str | None = None
    authority: str | None = None
    """The authority that vouches for the server, in PEM; None: those that this machine trusts."""
    certificate: str | None = None
    """Ours with its key, in PEM."""

    def tls(self) -> ssl.SSLContext:
        """Return the TLS settings. Raises ClockError for certificates that are none."""
        try:
            context = ssl.create_default_context(cadata=self.authority)
            if self.certificate:
                with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:  # only its owner may read it
                    file.write(self.certificate)
                    file.flush()
                    context.load_cert_chain(file.name)
        except (ssl.SSLError, ValueError) as error:
            raise ClockError(f"{self.url}: the kubeconfig's certificates cannot be used: {error}") from None
        return context


def find_server(url: str | None, kubeconfig: Path | None) -> Server:
    """Return the server that is meant: named, or by the kubeconfig named, else of $KUBECONFIG, else here in out/.

    Raises ClockError.
    """
    paths = [kubeconfig] if kubeconfig else [Path(path) for path in os.environ.get("KUBECONFIG", "").split(":") if path]
    if url and not kubeconfig:
        return Server(url.rstrip("/"))
    if not paths and RUN_KUBECONFIG.exists():
        paths = [RUN_KUBECONFIG]
    found = _server_of(paths[0]) if paths else Server(DEFAULT_SERVER)
    return replace(found, url=url.rstrip("/")) if url else found


def _server_of(path: Path) -> Server:
    try:
        config = first_document(read_named(path))
        current = config["current-context"]
        context = next(entry["context"] for entry in config["contexts"] if entry["name"] == current)
        cluster = next(entry["cluster"] for entry in config["clusters"] if entry["name"] == context["cluster"])
        user = next((entry["user"] for entry in config["users"] if entry["name"] == context["user"]), None) or {}
        key, certificate = _pem(user, "client-key-data"), _pem(user, "client-certificate-data")
        return Server(
            str(cluster["server"]).rstrip("/"),
            token=user.get("token"),
            authority=_pem(cluster, "certificate-authority-data"),
            certificate=certificate + key if certificate and key else None,
        )
    except OSError as error:
        raise ClockError(f"{path}: {error.strerror}") from None
    except (YamlError, KeyError, TypeError, StopIteration, ValueError):
        raise ClockError(f"{path}: is no kubeconfig with a server in its current context") from None


def _pem(entry: JSON, name: str) -> str | None:
    return base64.b64decode(entry[name]).decode() if entry.get(name) else None


def connected(server: Server) -> httpx.Client:
    """Return a client of that server alone. Raises ClockError."""
    return httpx.Client(
        headers={"Authorization": f"Bearer {server.token}"} if server.token else {},
        verify=server.tls() if server.url.startswith("https:") else False,
        timeout=TIMEOUT,
        trust_env=False,  # a proxy for the internet has no part in this
    )


def call(client: httpx.Client, server: Server, method: str, action: str, body: JSON | None = None) -> JSON:
    """Ask the server's ``/batkube/v1/clock``; the state of the clock then. Raises ClockError."""
    try:
        answer = client.request(method, f"{server.url}/batkube/v1/clock{action}", json=body).raise_for_status()
        state: JSON = answer.json()
        return state
    except httpx.HTTPStatusError as error:
        raise ClockError(f"{server.url}: {_detail(error.response)}") from None
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        raise ClockError(
            f"no batkube answers at {server.url}: {error} (--server and --kubeconfig name another)"
        ) from None


def _detail(answer: httpx.Response) -> str:
    if answer.status_code in (401, 403):
        return f"lets us not in ({answer.status_code}): name the kubeconfig that it wrote with --kubeconfig"
    try:
        detail = answer.json()["detail"]
    except (ValueError, KeyError, TypeError):
        detail = "Not Found"
    if detail == "Not Found":
        return f"knows no clock ({answer.status_code}): is it a batkube, and not one with --api-only?"
    return detail if isinstance(detail, str) else "; ".join(str(one.get("msg", one)) for one in detail)


def told(state: JSON) -> str:
    """Return the state in a line: ``paused at 60 s, next 75.5 s; pace 60``."""
    words = state["state"]
    if state["paused"] and words != "paused":
        words += " (paused)"
    if state["told"] is not None:
        words += f" at {state['told']:g} s"
    if state["next"] is not None and state["state"] == "paused":
        words += f", next is {state['next']:g} s"
    pace = "as fast as it goes" if state["pace"] is None else f"pace {state['pace']:g}"
    behind = f", {state['behind']:g} s behind" if state["behind"] >= 0.1 else ""
    return f"{words}; {pace}{behind}"


def main(
    server: str | None, kubeconfig: Path | None, method: str, action: str = "", body: JSON | None = None, times: int = 1
) -> int:
    """Do it and say how it stands then; the exit code."""
    try:
        found = find_server(server, kubeconfig)
        with connected(found) as client:
            for _ in range(times):
                state = call(client, found, method, action, body)
                while action == STEP and state["stepping"]:
                    time.sleep(POLL)
                    state = call(client, found, "GET", "")
    except ClockError as error:
        tell(error)
        return 1
    print(told(state))
    return 0
