"""A kube-scheduler's own figures at /metrics: how many pods are in which queue, and what it has handled.

Names and meanings: pkg/scheduler/metrics of Kubernetes 1.34 to 1.37. Only counters that kube-scheduler writes at once
are used, not those that it batches for up to a second (plugin durations, ``scheduler_inflight_events``).
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_SAMPLE = re.compile(
    rb"^scheduler_(pending_pods|goroutines|pending_async_api_calls|schedule_attempts_total|queue_incoming_pods_total"
    rb"|event_handling_duration_seconds_count)\{([^}]*)\} (\S+)$",
    re.MULTILINE,
)
_LABEL = re.compile(rb'(\w+)="([^"]*)"')

READ_TIMEOUT = 10.0
"""Real seconds for one answer."""


class MetricsError(Exception):
    """The metrics cannot be read. The text says where and why."""


class NotYet(MetricsError):
    """The metrics cannot be read now: the connection fails."""


@dataclass(frozen=True)
class Snapshot:
    """One reading of the metrics. If two readings in a row are equal, nothing has moved between them."""

    active: int = 0
    """Pods that are to be tried as soon as possible."""
    backoff: int = 0
    """Pods that are to be tried after a time."""
    unschedulable: int = 0
    """Pods that wait for an event, or are gated."""
    goroutines: int = 0
    """Pieces of work that go on: binding, waiting on permit, filtering, asking extenders."""
    api_calls: int = 0
    """Writes not yet sent (SchedulerAsyncAPICalls)."""
    attempts: int = 0
    incoming: int = 0
    """Moves of pods into queues."""
    handled: Counter[str] = field(default_factory=Counter)
    """Watch events that have been handled, by kube-scheduler's name of the event."""
    profiles: frozenset[str] = frozenset()
    """Names of profiles that have tried pods."""

    @classmethod
    def parse(cls, text: bytes) -> "Snapshot":
        """Read an answer in Prometheus' text format. Raises MetricsError if it is not kube-scheduler's."""
        sums: Counter[str] = Counter()
        handled: Counter[str] = Counter()
        profiles = set()
        queues: Counter[str] = Counter()
        for name, labels, number in _SAMPLE.findall(text):
            label = {key.decode(): value.decode() for key, value in _LABEL.findall(labels)}
            count = round(float(number))
            sums[name.decode()] += count
            if name == b"pending_pods":
                queues[label.get("queue", "")] = count
            elif name == b"event_handling_duration_seconds_count":
                handled[label.get("event", "")] = count
            elif name == b"schedule_attempts_total":
                profiles.add(label.get("profile", ""))
        if "active" not in queues:
            raise MetricsError("has no scheduler_pending_pods: this is no kube-scheduler")
        return cls(
            active=queues["active"],
            backoff=queues["backoff"],
            unschedulable=queues["unschedulable"] + queues["gated"],
            goroutines=sums["goroutines"],
            api_calls=sums["pending_async_api_calls"],
            attempts=sums["schedule_attempts_total"],
            incoming=sums["queue_incoming_pods_total"],
            handled=handled,
            profiles=frozenset(profiles),
        )

    def at_work(self) -> str:
        """Say what it has to do without waiting for an event; empty if there is nothing."""
        if self.active:
            return f"{self.active} pods are in its active queue"
        if self.backoff:
            return f"{self.backoff} pods are in back-off"
        if self.api_calls:
            return f"{self.api_calls} of its API calls are not sent yet"
        return ""


class MetricsEndpoint:
    """The address at which a kube-scheduler serves its metrics: plain HTTP, or HTTPS as on its port 10259."""

    def __init__(self, url: str, *, token: Path | None = None, insecure: bool = False) -> None:
        """``token``: a file with the bearer token. ``insecure``: accept any certificate."""
        import httpx  # only here: it takes a while to load

        self.url = url if httpx.URL(url).path not in ("", "/") else url.rstrip("/") + "/metrics"
        self._token = token
        self._httpx = httpx
        self._client = httpx.AsyncClient(verify=not insecure, timeout=READ_TIMEOUT, trust_env=False)

    async def read(self) -> Snapshot:
        """Read the metrics once.

        Raises NotYet if nobody answers, MetricsError for an answer that will not get better.
        """
        # Uncompressed: packing it takes the scheduler longer than sending it.
        headers = {"Accept": "text/plain", "Accept-Encoding": "identity"}
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._read_token(self._token)}"
        try:
            answer = await self._client.get(self.url, headers=headers)
        except self._httpx.TransportError as error:
            raise self._failed(error) from None
        if answer.status_code != 200:
            raise MetricsError(f"{self.url}: {self._refusal(answer)}")
        try:
            return Snapshot.parse(answer.content)
        except (MetricsError, ValueError) as error:
            raise MetricsError(f"{self.url} {error}") from None

    async def close(self) -> None:
        """Close the connection."""
        await self._client.aclose()

    def _failed(self, error: Exception) -> MetricsError:
        reason = str(error) or type(error).__name__
        if "CERTIFICATE_VERIFY_FAILED" in reason:
            return MetricsError(
                f"{self.url}: its certificate is not known here: --scheduler-metrics-insecure takes any"
            )
        return NotYet(f"{self.url}: {reason}")

    def _refusal(self, answer: Any) -> str:
        said = f"answers {answer.status_code} {answer.reason_phrase}"
        if answer.status_code in (401, 403):
            hint = "start it with --authorization-always-allow-paths=/metrics, or give --scheduler-metrics-token"
            return f"{said}: {hint}"
        return said

    @staticmethod
    def _read_token(path: Path) -> str:
        try:
            return path.read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            raise MetricsError(f"{path}: {getattr(error, 'strerror', None) or 'not a text file'}") from None
