"""The codec of a simulation that Batsim 5 runs: bytes in the form agreed on, and the bridge's messages."""

from batkube.batsim.batprotocol.decisions import DecisionWriter
from batkube.batsim.batprotocol.document import Document
from batkube.batsim.batprotocol.events import EventReader
from batkube.batsim.batprotocol.form import read_document, write_document
from batkube.batsim.batprotocol.handshake import hello, is_hello, is_init, read_init, write_hello
from batkube.batsim.batprotocol.init_string import Form, read_options
from batkube.batsim.batprotocol.memory import Memory
from batkube.batsim.messages import Message


class BatprotocolCodec:
    """A Codec (see batkube.batsim.codec) for one simulation; ``greeting`` answers its init string."""

    def __init__(self, init: bytes) -> None:
        """``init``: the first message of Batsim.

        Raises ProtocolError if it is no init string, or its options are wrong.
        """
        text = read_init(init)
        options = read_options(text)
        memory = Memory()
        self.form: Form = options.form
        self.greeting = write_hello(hello(options), options.form)
        self._reader = EventReader(memory, options, text)
        self._writer = DecisionWriter(memory)

    @property
    def protocol(self) -> str:
        return f"v5-{self.form}"

    def decode(self, content: bytes) -> Message:
        """Return Batsim's message. Raises ProtocolError, naming the member."""
        return self._reader.read(read_document(content, self.form))

    def encode(self, message: Message) -> bytes:
        """Return the answer to Batsim. Raises ProtocolError for a decision that Batsim 5 does not know."""
        return write_document(self._writer.write(message), self.form)


def read_frame(content: bytes) -> Document:
    """Return any message of batprotocol as a document, whatever its form; of the handshake, its content.

    This is for observers: a conversation reads its own messages through a codec. Raises ProtocolError.
    """
    if is_init(content):
        text = read_init(content)
        return {"init_size": len(text.encode()), "init": text}
    if is_hello(content):
        return read_frame(content[4:])
    return read_document(content, "json" if content.lstrip()[:1] == b"{" else "binary")
