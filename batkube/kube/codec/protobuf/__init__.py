"""Objects in Kubernetes' protobuf encoding (`application/vnd.kubernetes.protobuf`), to and from plain dictionaries.

A dictionary here is what Go's encoding/json makes of the decoded object: it has the same content as a JSON body. All
built-in kinds are known, through one table (`api_types`).
"""

from .decode import decode
from .encode import encode, encode_list, encode_object, encode_watch_event, enveloped
from .wire import NotProtobuf, ProtobufError, UnknownKind

__all__ = [
    "NotProtobuf",
    "ProtobufError",
    "UnknownKind",
    "decode",
    "encode",
    "encode_list",
    "encode_object",
    "encode_watch_event",
    "enveloped",
]
