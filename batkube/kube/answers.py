"""Answers: the bytes, the type and the headers that go back to a client."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
import yaml

from .negotiation import JSON_TYPE, PLAIN, PROTOBUF_TYPE, YAML_TYPE, Accepted
from .protobuf.encode import encode
from .status import ApiError, TextError, quote

JSON = dict[str, Any]

GZIP_FROM = 128 * 1024  # bytes

_JSON_HEADER = JSON_TYPE.encode()
_PROTOBUF_HEADER = PROTOBUF_TYPE.encode()
_YAML_HEADER = YAML_TYPE.encode()
_TEXT_HEADER = b"text/plain; charset=utf-8"


@dataclass(slots=True)
class Answer:
    """A whole HTTP answer."""

    code: int
    body: bytes
    content_type: bytes = _JSON_HEADER
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)

    def all_headers(self) -> list[tuple[bytes, bytes]]:
        """Those of the body too, which a 204 has not. A body without a type is none."""
        if self.code == 204:
            return self.headers
        size = b"%d" % len(self.body)
        if not self.content_type:
            return [(b"content-length", size), *self.headers]
        return [(b"content-type", self.content_type), (b"content-length", size), *self.headers]


class _Dumper(yaml.SafeDumper):
    """YAML as go-yaml writes it: in double quotes what else were no text, text of several lines as it is."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    style = None
    if "\n" in text:
        style = "|"
    elif text in _OLD_BOOLEANS or _FLOAT.fullmatch(text) or _resolved(dumper, text) != _YAML_TEXT:
        style = '"'
    return dumper.represent_scalar(_YAML_TEXT, text, style=style)


def _resolved(dumper: _Dumper, text: str) -> Any:
    """What a reader would take it for without quotes."""
    return dumper.resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]


_YAML_TEXT = "tag:yaml.org,2002:str"
# Without a dot too, other than YAML 1.1 has it.
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_OLD_BOOLEANS = frozenset("yYnN")
_Dumper.add_representer(str, _text)


def answer_bytes(code: int, data: bytes, accepted: Accepted, warnings: Sequence[str] = ()) -> Answer:
    """An answer whose bytes exist already: in protobuf where that is accepted, else in JSON."""
    answer = Answer(code, data)
    if accepted is not PLAIN:
        if accepted.protobuf:
            answer.content_type = _PROTOBUF_HEADER
        elif accepted.yaml:
            document = orjson.loads(data)
            answer.body = yaml.dump(document, Dumper=_Dumper, default_flow_style=False, allow_unicode=True).encode()
            answer.content_type = _YAML_HEADER
        elif accepted.pretty:
            answer.body = json.dumps(orjson.loads(data), indent=2, ensure_ascii=False).encode()
    for warning in dict.fromkeys(warnings):  # each is said once
        answer.headers.append(warning_header(warning))
    return answer


def warning_header(text: str) -> tuple[bytes, bytes]:
    return b"warning", f"299 - {quote(text)}".encode()


def compressed(answer: Answer) -> Answer:
    """The answer gzipped, if it is large: what the real server does for clients that ask for it."""
    if len(answer.body) < GZIP_FROM:
        return answer
    packer = zlib.compressobj(1, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    answer.body = packer.compress(answer.body) + packer.flush()
    answer.headers.append((b"content-encoding", b"gzip"))
    answer.headers.append((b"vary", b"Accept-Encoding"))
    return answer


def answer_object(code: int, obj: JSON, accepted: Accepted = PLAIN, warnings: Sequence[str] = ()) -> Answer:
    """An answer that is made for this request: a Status, a review, a document."""
    data = encode(obj) if accepted.protobuf else orjson.dumps(obj) + b"\n"
    return answer_bytes(code, data, accepted, warnings)


def answer_text(code: int, text: str) -> Answer:
    return Answer(code, text.encode(), _TEXT_HEADER)


def answer_error(error: ApiError | TextError, accepted: Accepted = PLAIN, warnings: Sequence[str] = ()) -> Answer:
    """The answer of a refused request."""
    if isinstance(error, TextError):
        answer = answer_text(error.code, error.text)
        answer.headers.append((b"x-content-type-options", b"nosniff"))
        return answer
    answer = answer_object(error.code, error.to_status(), accepted, warnings)
    for name, value in error.headers.items():
        answer.headers.append((name.lower().encode(), value.encode()))
    return answer
