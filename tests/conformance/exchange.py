"""Requests to one server, and what of an answer is recorded."""

import base64
import json
import re
from typing import Any
from urllib.parse import quote

import httpx

from .paths import find
from .varying import Normaliser

JSON = Any

HEADERS = ("Content-Type", "Content-Encoding", "Allow", "Retry-After", "Warning", "Location")
"""Those of an answer that are recorded."""


class ExchangeError(RuntimeError):
    """A server broke off. The text says at which request."""


class Client:
    """Sends requests to one server, over connections of its own."""

    def __init__(self, server: str, token: str) -> None:
        self.server = server.rstrip("/")
        self.token = token
        # Certificates are not checked: the servers under test are throw-away ones with their own.
        self.http = httpx.Client(verify=False, timeout=60, trust_env=False, limits=httpx.Limits(keepalive_expiry=3))

    def request(self, method: str, path: str, headers: dict[str, str], content: bytes | None) -> httpx.Request:
        """A request with the usual headers; one that is given empty is not sent."""
        url = self.server + quote(path, safe="/?&=%,:;+@!~*'()-._")
        sent = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "replay"}
        if self.token:
            sent["Authorization"] = f"Bearer {self.token}"
        sent |= headers
        used = {name: value for name, value in sent.items() if value}
        return self.http.build_request(method, url, headers=used, content=content)

    def send(
        self, method: str, path: str, headers: dict[str, str] | None = None, content: bytes | None = None
    ) -> httpx.Response:
        """Raises ExchangeError."""
        try:
            return self.http.send(self.request(method, path, headers or {}, content))
        except httpx.HTTPError as error:
            raise ExchangeError(f"{type(error).__name__} at {method} {path}") from error


class Variables(dict[str, str]):
    """The values that `${name}` in a case stands for."""

    def fill(self, text: str) -> str:
        """Also `${'text'*1000}`: a long text that would only fatten the corpus."""
        text = re.sub(r"\$\{'([^']*)'\*(\d+)\}", lambda match: match[1] * int(match[2]), text)
        return re.sub(r"\$\{(\w+)\}", lambda match: self.get(match[1], match[0]), text)

    def headers(self, step: JSON) -> dict[str, str]:
        """Those of the request of a step."""
        headers = {name: self.fill(value) for name, value in step.get("headers", {}).items()}
        if "body" in step:
            headers.setdefault("Content-Type", "application/json")
        return headers

    def content(self, step: JSON) -> bytes | None:
        """The body of the request of a step."""
        if "base64" in step:
            content = base64.b64decode(step["base64"])
            for literal, value in step.get("replace", {}).items():
                new = self.fill(value)
                if len(new) != len(literal):
                    raise ValueError(f"{literal!r} cannot stand for {new!r}: another length")
                content = content.replace(literal.encode(), new.encode())
            return content
        if "body" in step:
            return self.fill(json.dumps(step["body"])).encode()
        if "text" in step:
            return self.fill(step["text"]).encode()
        return None


def json_of(response: httpx.Response) -> JSON:
    """The body of an answer; None where it is no JSON."""
    try:
        return response.json()
    except ValueError:
        return None


def answer_of(step: JSON, response: httpx.Response, normaliser: Normaliser) -> JSON:
    """Return what is recorded of an answer."""
    answer: dict[str, JSON] = {"status": response.status_code, "headers": headers_of(response, normaliser)}
    body = None if step.get("raw") else json_of(response)
    if isinstance(body, dict | list):
        whole = normaliser.body(body)
        answer["body"] = {path: find(whole, path) for path in step["pick"]} if "pick" in step else whole
    elif response.text and "protobuf" not in answer["headers"].get("Content-Type", ""):
        answer["text"] = normaliser.text(response.text)
    return answer


def headers_of(response: httpx.Response, normaliser: Normaliser) -> dict[str, JSON]:
    """Those of HEADERS that it has; of warnings there may be several."""
    headers: dict[str, JSON] = {}
    for name in HEADERS:
        values = [normaliser.text(value) for value in response.headers.get_list(name)]
        if values:
            headers[name] = values if name == "Warning" else values[0]
    return headers
