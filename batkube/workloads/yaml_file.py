"""A file with one document of YAML."""

from typing import Any

from batkube.batsim.input_file import quote
from batkube.kube.codec.yaml_scalars import YamlError
from batkube.kube.codec.yaml_text import first_document
from batkube.workloads.source import Source


def yaml_document(source: Source) -> dict[str, Any]:
    """Return the file's first document, an object. Raises WorkloadError."""
    try:
        document = first_document(source.content())
    except YamlError as error:
        raise source.error(error.line or None, f"not YAML: {error.why}") from None
    if not isinstance(document, dict):
        raise source.error(None, f"expected an object, not {quote(document)}")
    return document
