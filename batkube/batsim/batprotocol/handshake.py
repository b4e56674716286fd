"""The handshake: Batsim sends its init string; the decision process answers with a form of messages, and hello.

Batsim sends the string's size (four bytes, in the byte order of the machine) and the string. The answer has flags (four
bytes, 1 for binary and 2 for JSON), and in that form a message with only an EDCHelloEvent.
https://batsim.readthedocs.io/en/latest/protocol.html#initialization-phase
"""

import sys

from batkube import __version__
from batkube.batsim.batprotocol.document import Document
from batkube.batsim.batprotocol.form import read_document, write_document
from batkube.batsim.batprotocol.init_string import Form, Options
from batkube.batsim.errors import ProtocolError

VERSION = "1.0.0"
"""The version of batprotocol."""
_FLAGS: dict[Form, int] = {"binary": 1, "json": 2}
_SIZE = 4


def is_init(content: bytes) -> bool:
    """Tell whether these bytes are Batsim 5's first message: a size, and as many bytes."""
    return len(content) >= _SIZE and len(content) == _SIZE + int.from_bytes(content[:_SIZE], sys.byteorder)


def read_init(content: bytes) -> str:
    """Return the init string. Raises ProtocolError."""
    if not is_init(content):
        raise ProtocolError(f"not a handshake: {len(content)} bytes that do not begin with the size of the others")
    try:
        return content[_SIZE:].decode()
    except UnicodeDecodeError:
        raise ProtocolError(f"init string: no UTF-8: {content[_SIZE:][:60]!r}") from None


def write_init(init: str) -> bytes:
    """Return Batsim's message with an init string."""
    content = init.encode()
    return len(content).to_bytes(_SIZE, sys.byteorder) + content


def hello(options: Options) -> Document:
    """Return the hello: our name, and the features that we request from Batsim.

    Profiles come with their jobs. Batsim 5.0.0-rc2 crashes if it is to tell all of them at the beginning and a workload
    has one that no job uses.
    """
    features = {
        "dynamic_registration": options.dynamic_jobs,
        "profile_reuse": options.profile_reuse,
        "acknowledge_dynamic_jobs": options.acknowledge_dynamic_jobs,
        "forward_profiles_on_job_submission": True,
        "forward_profiles_on_jobs_killed": True,
    }
    event = {
        "batprotocol_version": VERSION,
        "decision_component_name": "batkube",
        "decision_component_version": __version__,
        "decision_component_commit": "",
        "requested_simulation_features": features,
    }
    return {"now": 0.0, "events": [{"timestamp": 0.0, "event_type": "EDCHelloEvent", "event": event}]}


def write_hello(document: Document, form: Form) -> bytes:
    """Return the answer to the init string."""
    content = write_document(document, form)
    return _FLAGS[form].to_bytes(_SIZE, sys.byteorder) + content


def is_hello(content: bytes) -> bool:
    """Tell whether these bytes are a decision process's answer to the init string.

    No message begins with such a number.
    """
    return len(content) > _SIZE and int.from_bytes(content[:_SIZE], sys.byteorder) in _FLAGS.values()


def read_hello(content: bytes) -> tuple[Form, Document]:
    """Read the bytes of ``write_hello``: the form, and the EDCHelloEvent, as strictly as Batsim does.

    Raises ProtocolError.
    """
    if not is_hello(content):
        raise ProtocolError(f"not a hello: expected flags 1 or 2 and a message, not {content[:60]!r}")
    form: Form = "json" if int.from_bytes(content[:_SIZE], sys.byteorder) == _FLAGS["json"] else "binary"
    message = read_document(content[_SIZE:], form, strict=True)
    events = message.get("events", [])
    if [event.get("event_type") for event in events] != ["EDCHelloEvent"]:
        raise ProtocolError("not a hello: expected a message with one EDCHelloEvent")
    event: Document = events[0]["event"]
    for name in ("decision_component_commit", "requested_simulation_features"):
        if name not in event:
            raise ProtocolError(f"EDCHelloEvent: {name} is missing: Batsim crashes without it")
    return form, event
