"""The names of container images, as the kubelet and kube-scheduler say them."""

from batkube.kube.kinds.pods.image_names import parse_image_name


def full_name(image: str) -> str:
    """Return the name with its registry and its tag, ``latest`` by default.

    Raises ValueError with the kubelet's words.
    """
    try:
        repository, tag, digest = parse_image_name(image)
    except ValueError as error:
        raise ValueError(f'Failed to apply default image tag "{image}": {error}') from None
    return repository + (f":{tag}" if tag else "") + (f"@{digest}" if digest else "")


def tagged(image: str) -> str:
    """Return the name as it is, with the tag ``latest`` if it has none: as kube-scheduler looks for it on nodes."""
    return image if image.rfind(":") > image.rfind("/") else f"{image}:latest"
