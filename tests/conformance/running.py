"""One run of one case: its steps in order, and nothing left behind."""

import json
import random
import re
import string
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import httpx

from .cases import Case
from .exchange import Client, ExchangeError, Variables, answer_of, json_of
from .paths import find
from .streams import Stream
from .varying import Normaliser

JSON = Any

UNTIL = 120.0
"""Seconds an `until` step keeps asking."""

_LETTERS = string.ascii_lowercase + string.digits


@dataclass(frozen=True)
class Outcome:
    """The answers of a server to a case."""

    answers: list[JSON]
    """One for each step, not yet tokens; None where a step is not compared."""
    normaliser: Normaliser
    complaints: list[str]
    """About the case itself: what prepares it did not work."""


def run(case: Case, client: Client) -> Outcome:
    """Send the steps of the case, and remove what it made. Raises ExchangeError where the server broke off."""
    names = {"ns": f"conf-{_unique(8)}", "id": f"x{_unique(7)}"}
    running = _Run(case, client, names)
    try:
        return Outcome(running.steps(), running.normaliser, running.complaints)
    finally:
        running.clean_up()


def _unique(length: int) -> str:
    return "".join(random.choices(_LETTERS, k=length))


class _Run:
    """Its variables, its open watches and what it has to remove."""

    def __init__(self, case: Case, client: Client, names: dict[str, str]) -> None:
        self.complaints: list[str] = []
        self.normaliser = Normaliser(case["steps"], names, case.get("keep", []))
        self._case, self._client = case, client
        self._variables = Variables(names, token=client.token)
        self._created: list[str] = []
        self._position = 0
        self._watches: dict[str, Stream] = {}
        self._own_namespace = "${ns}" in json.dumps(case["steps"]) and case.get("namespace") != "manual"

    def steps(self) -> list[JSON]:
        if self._own_namespace:
            body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self._variables["ns"]}}
            made = self._send("POST", "/api/v1/namespaces", {}, json.dumps(body).encode())
            if made.status_code >= 400:
                raise ExchangeError(f"no namespace could be made: {made.status_code} {made.text.strip()[:300]}")
        answers = []
        for step in self._case["steps"]:
            answer = self._step(step)
            answers.append(_identity(step, answer) if step.get("compare") is False else answer)
        return answers

    def _step(self, step: JSON) -> JSON:
        self._position += 1
        if "sleep" in step:
            time.sleep(step["sleep"])
            return None
        if "join" in step:
            return self._watches.pop(step["join"]).join()
        if step.get("watch"):
            return self._watch(step)
        response = self._answered(step)
        body = json_of(response)
        answer = answer_of(step, response, self.normaliser)
        for name, path in step.get("save", {}).items():
            value = find(body, path)
            self._variables[name] = "" if value is None else str(value)
            if path == "metadata.resourceVersion" and str(find(body, "kind")).endswith(("List", "Table")):
                self.normaliser.saved_lists[self._variables[name]] = name
        return answer

    def _watch(self, step: JSON) -> JSON:
        path, headers = self._variables.fill(step["path"]), self._variables.headers(step)
        stream = Stream(self._client, step, path, headers, self.normaliser, self._case.get("keep", []))
        if not step.get("background"):
            return stream.join()
        stream.wait_until_open()
        self._watches[step["background"]] = stream
        return None

    def _answered(self, step: JSON) -> httpx.Response:
        """The answer to the request of a step, asked for until it is as wanted."""
        method, path = step["method"], self._variables.fill(step["path"])
        headers, content = self._variables.headers(step), self._variables.content(step)
        wanted = step.get("until")
        deadline = time.monotonic() + UNTIL
        while True:
            response = self._send(method, path, headers, content)
            self._note_created(method, path, response)
            said = response.text.strip()[:300]
            if not wanted or self._reached(wanted, response):
                break
            if time.monotonic() > deadline:
                self._complain(f"never reached {wanted}: {said}")
                break
            time.sleep(0.05)
        if step.get("compare") is False and not wanted and response.status_code >= 400:
            self._complain(f"a preparation failed: {response.status_code} {said}")
        return response

    def _complain(self, what: str) -> None:
        self.complaints.append(f"step {self._position}: {what}")

    def _reached(self, wanted: JSON, response: httpx.Response) -> bool:
        status = wanted.get("status", response.status_code)
        return response.status_code == status and self._variables.fill(wanted.get("contains", "")) in response.text

    def _send(self, method: str, path: str, headers: dict[str, str], content: bytes | None) -> httpx.Response:
        return self._client.send(method, path, headers, content)

    # -- leaving nothing behind

    def _note_created(self, method: str, path: str, response: httpx.Response) -> None:
        name = find(json_of(response), "metadata.name")
        if response.status_code not in (200, 201, 202) or not isinstance(name, str) or "dryRun" in path:
            return
        bare = path.split("?")[0].rstrip("/")
        if method == "POST" and not re.search(r"/(binding|eviction|token|bindings|\w+reviews)$", bare):
            self._created.append(f"{bare}/{name}")
        elif response.status_code == 201 and method in ("PUT", "PATCH"):
            self._created.append(bare)

    def clean_up(self) -> None:
        for stream in self._watches.values():
            stream.join()
        namespace = f"/api/v1/namespaces/{self._variables['ns']}"
        if self._own_namespace:
            # Pods also as a whole: some answers (protobuf, tables) do not tell their names.
            self._created = [namespace, f"{namespace}/pods", *self._created]
        for path in reversed(self._created):
            with suppress(ExchangeError):  # a server that fails here shows it in cases that are about deletion
                self._remove(path)

    def _remove(self, path: str) -> None:
        query = "?gracePeriodSeconds=0&propagationPolicy=Background"
        body = json_of(self._send("DELETE", path + query, {}, None))
        if not find(body, "metadata.name") or "customresourcedefinitions" in path:
            return
        if re.fullmatch(r"/api/v1/namespaces/[^/]+", path):  # without a controller manager nobody else would finish it
            finished = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": path.rsplit("/", 1)[1]}}
            headers = {"Content-Type": "application/json"}
            self._send("PUT", path + "/finalize", headers, json.dumps(finished).encode())
        if find(body, "metadata.finalizers"):
            headers = {"Content-Type": "application/merge-patch+json"}
            self._send("PATCH", path, headers, b'{"metadata":{"finalizers":null}}')
        elif find(body, "metadata.deletionTimestamp"):
            self._send("DELETE", path + query, {}, None)


def _identity(step: JSON, answer: JSON) -> JSON:
    """All that is compared of a step that only prepares: which object it made, and that it wrote."""
    if "until" in step:
        return None
    parts = {key: find(answer, f"body.metadata.{key}") for key in ("uid", "resourceVersion")}
    identity = {key: value for key, value in parts.items() if value is not None}
    return {"body": {"metadata": identity}} if identity else None
