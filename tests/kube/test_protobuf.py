"""Protobuf bodies: captured ones, those of Go's own encoder for every kind, and hostile ones."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batkube.kube.codec import protobuf
from batkube.kube.codec.protobuf.decode import MAX_DEPTH
from batkube.kube.codec.protobuf.wire import MAGIC, NotProtobuf, ProtobufError, UnknownKind, varint

# Bodies that kube-scheduler sent.
BINDING = bytes.fromhex(
    "6b3873000a0d0a027631120742696e64696e6712550a3d0a02703112001a0764656661756c7422002a2437393434386566312d626238342d343037"
    "312d383832662d39326165316637393032313432003800420012140a044e6f646512001a026e3122002a0032003a001a002200"
)
DELETE_OPTIONS = bytes.fromhex("6b3873000a130a027631120d44656c6574654f7074696f6e7312001a002200")
EVENT = bytes.fromhex(
    "6b3873000a190a106576656e74732e6b38732e696f2f763112054576656e7412f8010a2a0a1370312e313865633038383365353439373833621200"
    "1a0764656661756c7422002a00320038004200120c08c191a8d80610e8a09cda03221164656661756c742d7363686564756c65722a146465666175"
    "6c742d7363686564756c65722d766d320742696e64696e673a095363686564756c656442430a03506f64120764656661756c741a02703122243739"
    "3434386566312d626238342d343037312d383832662d3932616531663739303231342a02763132033130383a0052265375636365737366756c6c79"
    "2061737369676e65642064656661756c742f703120746f206e315a064e6f726d616c62040a0012006a00720078001a002200"
)

GO_PROGRAM = Path(__file__).parent / "go"


def body(kind: str, raw: bytes, api_version: str = "v1") -> bytes:
    return protobuf.enveloped(api_version, kind, raw)


def test_a_binding() -> None:
    assert protobuf.decode(BINDING) == {
        "kind": "Binding",
        "apiVersion": "v1",
        "metadata": {"name": "p1", "namespace": "default", "uid": "79448ef1-bb84-4071-882f-92ae1f790214"},
        "target": {"kind": "Node", "name": "n1"},
    }


def test_an_event_keeps_its_microseconds_and_the_fields_that_are_always_shown() -> None:
    event = protobuf.decode(EVENT)
    assert event["apiVersion"] == "events.k8s.io/v1"
    assert event["eventTime"] == "2026-11-27T22:48:33.994513Z"
    assert event["regarding"]["resourceVersion"] == "108"
    assert event["deprecatedFirstTimestamp"] is None
    assert "series" not in event


def test_empty_delete_options() -> None:
    assert protobuf.decode(DELETE_OPTIONS) == {"kind": "DeleteOptions", "apiVersion": "v1"}
    assert protobuf.decode(body("DeleteOptions", b"\x08\x00", "apps/v1"))["gracePeriodSeconds"] == 0


@pytest.mark.parametrize("captured", [BINDING, DELETE_OPTIONS, EVENT])
def test_a_body_is_written_as_it_was_read(captured: bytes) -> None:
    assert protobuf.encode(protobuf.decode(captured)) == captured


def test_nothing_sent_is_what_go_prints_of_an_empty_pod() -> None:
    assert protobuf.decode(body("Pod", b"")) == {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {},
        "spec": {"containers": None},
        "status": {},
    }


def test_unknown_fields_are_skipped() -> None:
    unknown = b"".join((b"\xc0\x3e\x05", b"\xca\x3e\x03abc", b"\xc1\x3e" + bytes(8), b"\xc5\x3e" + bytes(4)))
    assert protobuf.decode(body("Binding", unknown)) == protobuf.decode(body("Binding", b""))


def go_objects() -> list[dict[str, Any]]:
    if shutil.which("go") is None:
        pytest.skip("Go is not installed")
    environment = {**os.environ, "CGO_ENABLED": "0"}  # packages that the Makefile has compiled are not compiled again
    command = ["go", "run", "-trimpath", "."]
    run = subprocess.run(command, cwd=GO_PROGRAM, env=environment, capture_output=True, text=True)
    if run.returncode != 0 and ("dial tcp" in run.stderr or "module lookup disabled" in run.stderr):
        pytest.skip("Kubernetes' Go modules cannot be had here")
    assert run.returncode == 0, run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


@pytest.mark.slow
def test_objects_of_every_kind_are_read_and_written_as_go_does() -> None:
    """Same values, same order of fields; and the same bytes back."""
    objects = go_objects()
    assert len({line["kind"] for line in objects}) > 600
    for line in objects:
        sent = base64.b64decode(line["body"])
        decoded = protobuf.decode(sent)
        assert json.dumps(decoded) == json.dumps(line["object"]), line["kind"]
        assert protobuf.encode(decoded) == sent, line["kind"]


def test_what_is_no_protobuf_or_no_kind_is_told_apart() -> None:
    with pytest.raises(NotProtobuf, match=r"\[107 56 115 0\]"):
        protobuf.decode(b'{"kind":"Binding"}')
    with pytest.raises(NotProtobuf):
        protobuf.decode(b"")
    with pytest.raises(UnknownKind, match=r'no kind "Widget" is registered for version "example\.com/v1"') as caught:
        protobuf.decode(body("Widget", b"", "example.com/v1"))
    assert (caught.value.api_version, caught.value.kind) == ("example.com/v1", "Widget")


@pytest.mark.parametrize("captured", [BINDING, DELETE_OPTIONS, EVENT])
def test_a_truncated_body_is_refused_or_a_shorter_object(captured: bytes) -> None:
    refused = 0
    for length in range(len(captured)):
        try:
            protobuf.decode(captured[:length])
        except ProtobufError:
            refused += 1
    assert refused > len(captured) * 0.6


def test_lengths_beyond_the_body_are_refused() -> None:
    with pytest.raises(ProtobufError, match="unexpected EOF"):
        protobuf.decode(body("Binding", b"\x0a" + varint(2**62) + b"x"))
    with pytest.raises(ProtobufError, match="integer overflow"):
        protobuf.decode(body("Binding", b"\x0a" + b"\xff" * 10))


def test_another_wire_type_is_refused() -> None:
    with pytest.raises(ProtobufError, match="wrong wireType = 0 for field 1"):
        protobuf.decode(body("Binding", b"\x08\x01"))


def field(number: int, content: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(content)) + content


def definition(depth: int) -> bytes:
    """A CustomResourceDefinition whose schema says `not` so many times."""
    schema = b""
    for _ in range(depth):
        schema = field(28, schema)
    raw = field(2, field(7, field(4, field(1, schema))))
    return body("CustomResourceDefinition", raw, "apiextensions.k8s.io/v1")


def test_nesting_has_an_end() -> None:
    version = protobuf.decode(definition(20))["spec"]["versions"][0]
    assert json.dumps(version).count('"not"') == 20
    with pytest.raises(ProtobufError, match="nested more than"):
        protobuf.decode(definition(MAX_DEPTH))


def test_a_small_body_cannot_ask_for_a_million_objects() -> None:
    container = b"\x12\x00"
    spec = container * 1_000_000
    with pytest.raises(ProtobufError, match="parts"):
        protobuf.decode(body("Pod", b"\x12" + varint(len(spec)) + spec))


@given(st.binary(max_size=200), st.sampled_from(["Pod", "Node", "Binding", "Event", "Secret"]))
def test_any_bytes_are_an_object_or_an_error(raw: bytes, kind: str) -> None:
    try:
        decoded = protobuf.decode(body(kind, raw))
    except ProtobufError:
        return
    assert decoded["kind"] == kind
    json.dumps(decoded)


@given(st.binary(max_size=60))
def test_any_envelope_is_an_object_or_an_error(envelope: bytes) -> None:
    try:
        protobuf.decode(MAGIC + envelope)
    except ProtobufError:
        return


@given(st.data())
def test_changed_bytes_of_a_real_body_are_an_object_or_an_error(data: st.DataObject) -> None:
    changed = bytearray(EVENT)
    for _ in range(data.draw(st.integers(1, 4))):
        changed[data.draw(st.integers(4, len(changed) - 1))] = data.draw(st.integers(0, 255))
    try:
        protobuf.decode(bytes(changed))
    except ProtobufError:
        return


def test_a_list_and_a_watch_event_carry_whole_objects() -> None:
    pod = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p"}, "spec": {"containers": []}}
    item = protobuf.encode_object("v1", "Pod", pod)
    listed = protobuf.decode(protobuf.encode_list("v1", "PodList", {"resourceVersion": "7"}, [item, item]))
    assert listed["metadata"] == {"resourceVersion": "7"}
    assert [each["metadata"]["name"] for each in listed["items"]] == ["p", "p"]
    frame = protobuf.encode_watch_event("ADDED", protobuf.encode(pod))
    assert int.from_bytes(frame[:4], "big") == len(frame) - 4
    assert frame[4:].startswith(b"\x0a\x05ADDED\x12")


def test_a_value_of_another_type_is_not_written() -> None:
    with pytest.raises(ProtobufError, match=r"field restartPolicy of core/v1\.PodSpec"):
        protobuf.encode({"kind": "Pod", "apiVersion": "v1", "metadata": {}, "spec": {"restartPolicy": 5}})
    with pytest.raises(ProtobufError, match="RFC 3339"):
        protobuf.encode({"kind": "Pod", "apiVersion": "v1", "metadata": {"creationTimestamp": "now"}})


@pytest.mark.parametrize(("written", "read"), [("1000m", "1"), ("0.5Gi", "512Mi"), ("1e3", "1e3"), ("", "0")])
def test_quantities_are_read_as_such(written: str, read: str) -> None:
    node = {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n"}, "status": {"capacity": {"cpu": written}}}
    assert protobuf.decode(protobuf.encode(node))["status"]["capacity"] == {"cpu": read}


def test_what_is_no_quantity_is_refused() -> None:
    node = {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n"}, "status": {"capacity": {"cpu": "100:"}}}
    with pytest.raises(ProtobufError, match="quantities must match"):
        protobuf.decode(protobuf.encode(node))
