"""Traces of SimKube (MessagePack, version 2): what was applied to a cluster, and for how long pods ran.

https://github.com/acrlabs/simkube
"""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from batkube.batsim.input_file import quote
from batkube.kube.apimachinery.quantity import Quantity, QuantityError
from batkube.workloads.msgpack import decoded
from batkube.workloads.reader import Reader, Record
from batkube.workloads.source import Head, Source

JSON = dict[str, Any]

_CPU, _MEMORY, _GPU = "cpu", "memory", "nvidia.com/gpu"
_NAMES = {_CPU: "cpu", _MEMORY: "memory", _GPU: "gpu"}
_BEGIN = b"\xa7version"
"""The first member of the map that a trace is."""


class SimkubeReader(Reader):
    """Pods that were applied by themselves, each with the length that was seen. Others need a controller."""

    name = "simkube"
    title = "traces of SimKube (MessagePack)"

    def claims(self, head: Head) -> bool:
        """Tell whether it is a map of MessagePack that begins with a version."""
        return head.content[:1] in (b"\x84", b"\x85", b"\x86") and head.content[1 : 1 + len(_BEGIN)] == _BEGIN

    def records(self, source: Source) -> Iterator[Record]:
        """Yield the pods, counted in seconds from the first event."""
        try:
            trace = decoded(source.content())
        except ValueError as error:
            raise source.error(None, f"not MessagePack: {error}") from None
        if not isinstance(trace, dict) or trace.get("version") != 2:
            raise source.error(None, "expected a trace of SimKube of version 2")
        events, lives = trace.get("events"), trace.get("pod_lifecycles")
        if not isinstance(events, tuple) or not isinstance(lives, dict):
            raise source.error(None, "expected the members events and pod_lifecycles")
        first: int | None = None
        times: Counter[str] = Counter()
        for index, event in enumerate(events):
            where = f"events[{index}]"
            if not isinstance(event, dict) or type(event.get("ts")) is not int:
                raise source.error(None, f"{where}.ts: expected a whole number of seconds")
            first = event["ts"] if first is None else first
            applied = event.get("applied_objs")
            if event["ts"] < first or not isinstance(applied, tuple):
                raise source.error(None, f"{where}: expected applied_objs, and a ts not before the first one")
            for obj in applied:
                record = _record(source, where, obj, event["ts"] - first, lives)
                if isinstance(record, str):
                    source.skip(record)
                    continue
                times[record.id] += 1
                if times[record.id] > 1:
                    source.skip("change a pod that is there already")
                    continue
                yield record


def _record(source: Source, where: str, obj: object, submit: int, lives: dict[Any, Any]) -> Record | str:
    """Return the job of a pod, or why an object is none."""
    if not isinstance(obj, dict) or not isinstance(obj.get("kind"), str) or not isinstance(obj.get("metadata"), dict):
        raise source.error(None, f"{where}: expected objects of Kubernetes', not {quote(obj)}")
    if obj["kind"] != "Pod":
        return f"are of kind {obj['kind'][:40]}, whose pods a controller makes"
    name, namespace = obj["metadata"].get("name"), obj["metadata"].get("namespace", "default")
    if not isinstance(name, str) or not name or not set(name).isdisjoint('",|}!'):
        raise source.error(None, f"{where}: a pod without a proper name: {quote(name)}")
    duration = _length(lives.get(("v1.Pod", f"{namespace}/{name}")))
    if duration is None:
        return "are pods of which no end was seen"
    return Record(name, submit, duration, wants=_wants(source, f"{where}: pod {name}", obj.get("spec")))


def _length(life: object) -> int | None:
    """Return the seconds that a pod ran, if it was seen to begin and to end."""
    for runs in life.values() if isinstance(life, dict) else ():
        for run in runs if isinstance(runs, tuple) else ():
            span = run.get("Finished") if isinstance(run, dict) else None
            if isinstance(span, tuple) and len(span) == 2 and all(type(date) is int for date in span):
                length: int = span[1] - span[0]
                return length if length > 0 else None
    return None


def _wants(source: Source, where: str, spec: object) -> JSON:
    """Return the requests of all containers together, node selector and priority."""
    if not isinstance(spec, dict) or not isinstance(spec.get("containers"), tuple):
        raise source.error(None, f"{where}: spec.containers: missing")
    sums: dict[str, Fraction] = {}
    for container in spec["containers"]:
        resources = container.get("resources") if isinstance(container, dict) else None
        requests = resources.get("requests") if isinstance(resources, dict) else None
        for name, amount in requests.items() if isinstance(requests, dict) else ():
            try:
                sums[name] = sums.get(name, Fraction(0)) + Quantity.parse(str(amount)).value
            except QuantityError:
                raise source.error(None, f"{where}: requests.{name}: {quote(amount)} is no quantity") from None
    wants: JSON = {_NAMES[name]: str(Quantity(amount)) for name, amount in sums.items() if name in _NAMES}
    selector = spec.get("nodeSelector")
    if isinstance(selector, dict) and selector:
        wants["nodeSelector"] = {str(key): str(value) for key, value in selector.items()}
    return wants
