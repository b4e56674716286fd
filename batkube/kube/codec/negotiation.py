"""Content negotiation: the meaning of a request's Accept and Content-Type headers.

The first form that is asked for is sent, be it JSON, YAML or protobuf. Go clients ask for protobuf, which costs them a
fraction of the time that JSON does.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ..apimachinery.status import ApiError, Unrouted

JSON_TYPE = "application/json"
YAML_TYPE = "application/yaml"
PROTOBUF_TYPE = "application/vnd.kubernetes.protobuf"
SERVED = (JSON_TYPE, YAML_TYPE, PROTOBUF_TYPE)
STREAMED = tuple(f"{media_type};stream=watch" for media_type in (JSON_TYPE, PROTOBUF_TYPE))

META_GROUP = "meta.k8s.io"
FORMS = ("Table", "PartialObjectMetadata", "PartialObjectMetadataList")


@dataclass(frozen=True, slots=True)
class Clause:
    """One alternative of an Accept header."""

    media_type: str
    params: tuple[tuple[str, str], ...]
    quality: float

    def param(self, name: str) -> str:
        return next((value for key, value in self.params if key == name), "")


@dataclass(frozen=True, slots=True)
class Accepted:
    """The form of an answer. `form` is "" for the object as it is, or one of FORMS, in `form_version` of
    meta.k8s.io.
    """

    yaml: bool = False
    form: str = ""
    form_version: str = ""
    pretty: bool = False
    protobuf: bool = False


PLAIN = Accepted()


@lru_cache(maxsize=256)
def parse_accept(header: str) -> tuple[Clause, ...]:
    """Return the alternatives, best first. Those of equal quality stay in their order."""
    clauses = []
    for part in header.split(","):
        media_type, *rest = (piece.strip() for piece in part.split(";"))
        params = []
        quality = 1.0
        for piece in rest:
            key, _, value = piece.partition("=")
            if key.strip() == "q":
                try:
                    quality = float(value)
                except ValueError:
                    quality = 1.0
            else:
                params.append((key.strip(), value.strip().strip('"')))
        if media_type:
            clauses.append(Clause(media_type, tuple(params), quality))
    return tuple(sorted(clauses, key=lambda clause: -clause.quality))


@lru_cache(maxsize=256)
def negotiate(
    header: str,
    stream: bool = False,
    custom: bool = False,
    tables: bool = True,
    forms: tuple[str, ...] = FORMS,
    lists: bool = False,
) -> Accepted:
    """Return the form of the answer to a request with this Accept header. Raise 406 if it allows nothing that is
    served.

    Custom resources have no protobuf form, only their metadata have one: a client that accepts nothing else is refused.
    `tables` is False if there is no Table; a client that accepts nothing else is refused as well. `forms` are the other
    forms that there are. `lists`: the objects can be streamed as well, and the refusal offers that.
    """
    if not header:
        return PLAIN
    known = False
    for clause in parse_accept(header):
        if clause.media_type not in SERVED and clause.media_type != "*/*":
            continue
        protobuf = clause.media_type == PROTOBUF_TYPE
        if custom and protobuf and not clause.param("as"):
            continue
        known = True
        if stream and clause.media_type == YAML_TYPE:
            continue
        form, version, group = clause.param("as"), clause.param("v"), clause.param("g")
        if (form or version or group) and not (form in forms and _transforms(form, version, group)):
            continue
        if form == "Table" and (protobuf or not tables):  # has no protobuf form
            continue
        if clause.param("stream") not in ("", "watch"):
            continue
        pretty = clause.param("pretty") == "1"
        return Accepted(clause.media_type == YAML_TYPE, form, version, pretty, protobuf)
    if known:
        raise ApiError.not_acceptable(STREAMED if stream else SERVED)
    offered = [*SERVED, *(STREAMED if lists else ())]
    message = "406: Not Acceptable\n\nAvailable representations: " + ", ".join(offered)
    raise Unrouted(406, "NotAcceptable", message, {})


def stream_type(accepted: Accepted) -> bytes:
    """Return the Content-Type of a watch."""
    return b"application/vnd.kubernetes.protobuf;stream=watch" if accepted.protobuf else b"application/json"


def _transforms(form: str, version: str, group: str) -> bool:
    return form in FORMS and group == META_GROUP and version in ("v1", "v1beta1")


@lru_cache(maxsize=256)
def media_type(header: str) -> str:
    """Return the media type of a Content-Type header, without its parameters; "" if it is malformed."""
    kind = header.partition(";")[0].strip().lower()
    main, slash, sub = kind.partition("/")
    return kind if main and slash and sub and " " not in kind else ""
