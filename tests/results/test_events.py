"""The event log's hash is that of its bytes, and the same events give the same."""

import hashlib
from pathlib import Path

from batkube.results.events import EventLog


def test_hash_is_of_the_bytes_in_the_file(tmp_path: Path) -> None:
    with EventLog(tmp_path / "events.jsonl") as events:
        events.write(0, "simulation_begins", nodes=["a"])
        events.write(0.1 + 0.2, "pod_bound", pod="p", node="a")
    data = (tmp_path / "events.jsonl").read_bytes()
    assert data == (
        b'{"time":0.0,"event":"simulation_begins","nodes":["a"]}\n'
        b'{"time":0.3,"event":"pod_bound","pod":"p","node":"a"}\n'
    )
    assert events.sha256 == hashlib.sha256(data).hexdigest()
    assert events.count == 2
