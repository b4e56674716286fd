"""The names of container images, as the kubelet reads them (github.com/distribution/reference 0.6.0)."""

import re

_DOCKER, _LEGACY = "docker.io", "index.docker.io"
_OFFICIAL = "library/"
_IDENTIFIER = re.compile(r"[a-f0-9]{64}")
_LABEL = r"(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])"
_DOMAIN = rf"(?:{_LABEL}(?:\.{_LABEL})*|\[(?:[a-fA-F0-9:]+)\])(?::[0-9]+)?"
_PART = r"[a-z0-9]+(?:(?:[._]|__|[-]+)[a-z0-9]+)*"
_TAG = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}"
_DIGEST = r"[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}"
_REFERENCE = re.compile(rf"({_DOMAIN}/{_PART}(?:/{_PART})*)(?::({_TAG}))?(?:@({_DIGEST}))?")


def full_name(image: str) -> str:
    """Return the name with its registry and its tag, ``latest`` by default.

    Raises ValueError with the kubelet's words.
    """
    if _IDENTIFIER.fullmatch(image):
        raise _invalid(image, f"invalid repository name ({image}), cannot specify 64-byte hexadecimal strings")
    domain, rest = _split(image)
    remote = rest.partition(":")[0]
    if remote.lower() != remote:
        raise _invalid(image, f"invalid reference format: repository name ({remote}) must be lowercase")
    found = _REFERENCE.fullmatch(f"{domain}/{rest}")
    if found is None:
        raise _invalid(image, "invalid reference format")
    return found[0] if found[2] or found[3] else f"{found[0]}:latest"


def tagged(image: str) -> str:
    """Return the name as it is, with the tag ``latest`` if it has none: as kube-scheduler looks for it on nodes."""
    return image if image.rfind(":") > image.rfind("/") else f"{image}:latest"


def default_policy(image: str) -> str:
    """Return the ``imagePullPolicy`` of a container that names none."""
    return "Always" if "@" not in image and tagged(image).endswith(":latest") else "IfNotPresent"


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
    return ValueError(f'Failed to apply default image tag "{image}": couldn\'t parse image name "{image}": {why}')
