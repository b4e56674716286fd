"""Answers: the bytes, the type and the headers that go back to a client."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from ..apimachinery.status import ApiError, TextError, quote
from .negotiation import JSON_TYPE, PLAIN, PROTOBUF_TYPE, YAML_TYPE, Accepted
from .protobuf.encode import encode
from .yaml_text import dumped

JSON = dict[str, Any]

GZIP_FROM = 128 * 1024  # bytes

_JSON_HEADER = JSON_TYPE.encode()
_PROTOBUF_HEADER = PROTOBUF_TYPE.encode()
_YAML_HEADER = YAML_TYPE.encode()
_TEXT_HEADER = b"text/plain; charset=utf-8"


@dataclass(slots=True)
class HttpAnswer:
    """A whole HTTP answer."""

    code: int
    body: bytes
    content_type: bytes = _JSON_HEADER
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)

    def all_headers(self) -> list[tuple[bytes, bytes]]:
        """Return all headers, with those of the body unless the code is 204. A body without a type has no content-type
        header.
        """
        if self.code == 204:
            return self.headers
        size = b"%d" % len(self.body)
        if not self.content_type:
            return [(b"content-length", size), *self.headers]
        return [(b"content-type", self.content_type), (b"content-length", size), *self.headers]


def answer_bytes(code: int, data: bytes, accepted: Accepted, warnings: Sequence[str] = ()) -> HttpAnswer:
    """Return an answer whose bytes exist already: in protobuf if that is accepted, or else in JSON."""
    answer = HttpAnswer(code, data)
    if accepted is not PLAIN:
        if accepted.protobuf:
            answer.content_type = _PROTOBUF_HEADER
        elif accepted.yaml:
            document = orjson.loads(data)
            answer.body = dumped(document).encode()
            answer.content_type = _YAML_HEADER
        elif accepted.pretty:
            answer.body = json.dumps(orjson.loads(data), indent=2, ensure_ascii=False).encode()
    for warning in dict.fromkeys(warnings):  # each is said once
        answer.headers.append(warning_header(warning))
    return answer


def warning_header(text: str) -> tuple[bytes, bytes]:
    return b"warning", f"299 - {quote(text)}".encode()


def compressed(answer: HttpAnswer) -> HttpAnswer:
    """Return the answer gzipped, if it is large, as the real server does for clients that ask for it."""
    if len(answer.body) < GZIP_FROM:
        return answer
    packer = zlib.compressobj(1, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    answer.body = packer.compress(answer.body) + packer.flush()
    answer.headers.append((b"content-encoding", b"gzip"))
    answer.headers.append((b"vary", b"Accept-Encoding"))
    return answer


def answer_object(code: int, obj: JSON, accepted: Accepted = PLAIN, warnings: Sequence[str] = ()) -> HttpAnswer:
    """Return an answer made for this request alone: a Status, a review, a document."""
    data = encode(obj) if accepted.protobuf else orjson.dumps(obj) + b"\n"
    return answer_bytes(code, data, accepted, warnings)


def answer_text(code: int, text: str) -> HttpAnswer:
    return HttpAnswer(code, text.encode(), _TEXT_HEADER)


def answer_error(error: ApiError | TextError, accepted: Accepted = PLAIN, warnings: Sequence[str] = ()) -> HttpAnswer:
    """Return the answer to a refused request."""
    if isinstance(error, TextError):
        answer = answer_text(error.code, error.text)
        answer.headers.append((b"x-content-type-options", b"nosniff"))
        return answer
    answer = answer_object(error.code, error.to_status(), accepted, warnings)
    for name, value in error.headers.items():
        answer.headers.append((name.lower().encode(), value.encode()))
    return answer
