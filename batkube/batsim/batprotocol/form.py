"""The two forms of a message of batprotocol: JSON and binary."""

from batkube.batsim.batprotocol.document import Document
from batkube.batsim.batprotocol.init_string import Form
from batkube.batsim.batprotocol.text import read_text, write_text

# The binary form needs flatbuffers, which loads numpy in a third of a second: only those that meet a Batsim 5 need it.


def read_document(content: bytes, form: Form, *, strict: bool = False) -> Document:
    """Return the message in ``content``. Raises ProtocolError."""
    if form == "json":
        return read_text(content, strict=strict)
    from batkube.batsim.batprotocol.binary import read_binary

    return read_binary(content, strict=strict)


def write_document(document: Document, form: Form) -> bytes:
    """Return ``document`` in that form. Raises ProtocolError if the schema does not allow it."""
    if form == "json":
        return write_text(document)
    from batkube.batsim.batprotocol.binary import write_binary

    return write_binary(document)
