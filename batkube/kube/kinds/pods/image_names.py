"""The names of container images, read as Kubernetes does (``pkg/util/parsers``, github.com/distribution/reference)."""

import re
from typing import NamedTuple

_DOCKER, _LEGACY = "docker.io", "index.docker.io"
_OFFICIAL = "library/"
_LATEST = "latest"
_MAX_REPOSITORY = 255
_IDENTIFIER = re.compile(r"[a-f0-9]{64}")  # an image's own id, which is no name
_LABEL = r"(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])"
_DOMAIN = rf"(?:{_LABEL}(?:\.{_LABEL})*|\[(?:[a-fA-F0-9:]+)\])(?::[0-9]+)?"
_PART = r"[a-z0-9]+(?:(?:[._]|__|[-]+)[a-z0-9]+)*"
_TAG = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}"
_DIGEST = r"[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}"
_REFERENCE = re.compile(rf"({_DOMAIN})/({_PART}(?:/{_PART})*)(?::({_TAG}))?(?:@({_DIGEST}))?")


class ImageName(NamedTuple):
    """The parts of a name."""

    repository: str
    """With its registry."""
    tag: str
    """``latest`` for a name without tag and digest; empty for one with a digest alone."""
    digest: str
    """Empty if there is none."""


def parse_image_name(image: str) -> ImageName:
    """Return the parts of a name. Raises ValueError with Kubernetes' words."""
    if _IDENTIFIER.fullmatch(image):
        raise _invalid(image, f"invalid repository name ({image}), cannot specify 64-byte hexadecimal strings")
    domain, rest = _split(image)
    remote = rest.partition(":")[0]
    if remote.lower() != remote:
        raise _invalid(image, f"invalid reference format: repository name ({remote}) must be lowercase")
    found = _REFERENCE.fullmatch(f"{domain}/{rest}")
    if found is None:
        raise _invalid(image, "invalid reference format")
    path, tag, digest = found[2], found[3] or "", found[4] or ""
    if len(path) > _MAX_REPOSITORY:
        raise _invalid(image, f"repository name must not be more than {_MAX_REPOSITORY} characters")
    return ImageName(f"{found[1]}/{path}", tag if tag or digest else _LATEST, digest)


def _split(image: str) -> tuple[str, str]:
    """Return the registry and the rest of a name."""
    first, slash, rest = image.partition("/")
    if not slash:
        return _DOCKER, _OFFICIAL + image
    if first == _LEGACY:
        domain = _DOCKER
    elif first == "localhost" or "." in first or ":" in first or first.lower() != first:
        domain = first
    else:
        domain, rest = _DOCKER, image
    return domain, rest if "/" in rest or domain != _DOCKER else _OFFICIAL + rest


def _invalid(image: str, why: str) -> ValueError:
    return ValueError(f'couldn\'t parse image name "{image}": {why}')
