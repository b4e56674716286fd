"""Watches: a stream of events, read to its end."""

import json
import re
import threading
import time
from typing import Any

import httpx

from .exchange import Client, answer_of, headers_of
from .varying import Normaliser

JSON = Any

STREAM_GRACE, WITHOUT_END = 60.0, 6.0
"""Seconds that a watch may outlive its timeoutSeconds before it counts as endless, and for which one is read that has
none."""


class Stream:
    """One watch, read in a thread of its own from the moment it is made."""

    def __init__(
        self, client: Client, step: JSON, path: str, headers: dict[str, str], normaliser: Normaliser, keep: list[str]
    ) -> None:
        self._client, self._step, self._path, self._headers = client, step, path, headers
        self._normaliser, self._keep = normaliser, keep
        self._result: dict[str, JSON] = {}
        self._opened = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def wait_until_open(self) -> None:
        """Until the server has answered, so that what is written from here on must be seen."""
        self._opened.wait(180)

    def join(self) -> JSON:
        """Return what was read, once the stream has ended."""
        self._thread.join()
        return self._result

    def _read(self) -> None:
        seconds = re.search(r"timeoutSeconds=(\d+)", self._path)
        deadline = time.monotonic() + (int(seconds[1]) + STREAM_GRACE if seconds else WITHOUT_END)
        events: list[JSON] = []
        ended = False
        try:
            request = self._client.request("GET", self._path, self._headers, None)
            left = deadline - time.monotonic()
            request.extensions["timeout"] = {"connect": 60, "read": left, "write": 60, "pool": 60}
            response = self._client.http.send(request, stream=True)
            self._opened.set()
            try:
                if response.status_code != 200:
                    response.read()
                    self._result |= answer_of(self._step, response, self._normaliser)
                    return
                self._result |= {"status": 200, "headers": headers_of(response, self._normaliser)}
                for line in response.iter_lines():
                    if line.strip():
                        events.append(_event(line))
                    if time.monotonic() > deadline:
                        break
                else:
                    ended = True
            finally:
                response.close()
        except httpx.ReadTimeout:
            pass
        except httpx.HTTPError as error:
            self._result["error"] = type(error).__name__
        finally:
            self._opened.set()
        self._result["events"] = self._shown(events)
        if not ended:
            self._result["ended"] = "not at timeoutSeconds"

    def _shown(self, events: list[JSON]) -> list[JSON]:
        """Bookmarks that mark time come when the server likes: dropped, or one for many where a case is about them."""
        shown: list[JSON] = []
        for event in events:
            if _marks_time(event):
                if "bookmarks" not in self._keep:
                    continue
                if shown and _marks_time(shown[-1]):
                    shown.pop()
            shown.append(event)
        return [
            {**event, "object": self._normaliser.body(event.get("object"), bookmark=event.get("type") == "BOOKMARK")}
            for event in shown
        ]


def _event(line: str) -> JSON:
    try:
        event = json.loads(line)
    except ValueError:
        event = None
    return event if isinstance(event, dict) else {"type": "(no event)", "object": line}


def _marks_time(event: JSON) -> bool:
    """A bookmark other than the one that ends the initial events (in a table it stands in a row)."""
    return event.get("type") == "BOOKMARK" and "k8s.io/initial-events-end" not in json.dumps(event)
