"""The ReplicaSets of a Deployment: which one is the new one, and the annotations that tell their order."""

from collections.abc import Iterable, Sequence
from typing import Any

from batkube.controllers.deployment.limits import max_surge, replicas
from batkube.controllers.templates.hash import POD_TEMPLATE_HASH

JSON = dict[str, Any]

REVISION = "deployment.kubernetes.io/revision"
HISTORY = "deployment.kubernetes.io/revision-history"
DESIRED = "deployment.kubernetes.io/desired-replicas"
MOST = "deployment.kubernetes.io/max-replicas"
ROLLBACK_TO = "deprecated.deployment.rollback.to"
_NOT_COPIED = ("kubectl.kubernetes.io/last-applied-configuration", REVISION, HISTORY, DESIRED, MOST, ROLLBACK_TO)
_LONGEST_HISTORY = 2000


def by_age(replica_sets: Iterable[JSON]) -> list[JSON]:
    """Return them, the oldest first."""
    return sorted(replica_sets, key=lambda each: (each["metadata"]["creationTimestamp"], each["metadata"]["name"]))


def active(replica_sets: Iterable[JSON | None]) -> list[JSON]:
    """Return those that have pods, or ought to."""
    return [each for each in replica_sets if each is not None and replicas(each) > 0]


def same_template(one: JSON, other: JSON) -> bool:
    """Tell whether two pod templates are the same but for the label with the hash."""
    return _plain(one) == _plain(other)


def _plain(template: JSON) -> tuple[JSON, JSON]:
    metadata = {key: value for key, value in (template.get("metadata") or {}).items() if value}
    labels = {key: value for key, value in (metadata.pop("labels", {})).items() if key != POD_TEMPLATE_HASH}
    return {**metadata, "labels": labels}, template["spec"]


def find_new(deployment: JSON, replica_sets: Iterable[JSON]) -> JSON | None:
    """Return the oldest ReplicaSet with the Deployment's template."""
    template = deployment["spec"]["template"]
    return next((each for each in by_age(replica_sets) if same_template(each["spec"]["template"], template)), None)


def revision(obj: JSON) -> int | None:
    """Return its revision, 0 if it has none; None if it cannot be read."""
    try:
        return int((obj["metadata"].get("annotations") or {}).get(REVISION, 0))
    except ValueError:
        return None


def highest_revision(replica_sets: Iterable[JSON]) -> int:
    """Return the highest revision."""
    return max((revision(each) or 0 for each in replica_sets), default=0)


def last_revision(replica_sets: Sequence[JSON]) -> int:
    """Return the second highest revision."""
    highest = last = 0
    for each in replica_sets:
        number = revision(each)
        if number is None:
            continue
        if number >= highest:
            highest, last = number, highest
        elif number > last:
            last = number
    return last


def annotate_new(deployment: JSON, replica_set: JSON, number: int, *, exists: bool) -> bool:
    """Give the new ReplicaSet the Deployment's annotations and its revision; tell whether that changed anything."""
    annotations: JSON = replica_set["metadata"].setdefault("annotations", {})
    given = deployment["metadata"].get("annotations") or {}
    copied = {key: value for key, value in given.items() if key not in _NOT_COPIED and annotations.get(key) != value}
    annotations.update(copied)
    changed = bool(copied)
    before = annotations.get(REVISION)
    if (old := revision(replica_set)) is None:
        return False
    if old < number:
        annotations[REVISION] = str(number)
        changed = True
        if before is not None:
            _remember(annotations, before)
    if not exists and annotate_size(deployment, replica_set):
        changed = True
    return changed


def _remember(annotations: JSON, before: str) -> None:
    """Note a revision that the ReplicaSet has had before it was rolled back to."""
    history = annotations.get(HISTORY, "")
    if not history:
        annotations[HISTORY] = before
        return
    revisions = history.split(",")
    while revisions and len(",".join([*revisions, before])) > _LONGEST_HISTORY:
        revisions.pop(0)
    annotations[HISTORY] = ",".join([*revisions, before])


def sizes(deployment: JSON) -> dict[str, str]:
    """Return the annotations by which a ReplicaSet knows how large the Deployment is."""
    return {DESIRED: str(replicas(deployment)), MOST: str(replicas(deployment) + max_surge(deployment))}


def annotate_size(deployment: JSON, replica_set: JSON) -> bool:
    """Write the Deployment's size into a ReplicaSet; tell whether that changed anything."""
    annotations: JSON = replica_set["metadata"].setdefault("annotations", {})
    changed = any(annotations.get(key) != value for key, value in sizes(deployment).items())
    annotations.update(sizes(deployment))
    return changed


def noted_size(replica_set: JSON, annotation: str) -> int | None:
    """Return a size that a ReplicaSet has noted."""
    text = (replica_set["metadata"].get("annotations") or {}).get(annotation, "")
    return int(text) if text.isdecimal() else None


def copied_back(deployment: JSON, replica_set: JSON) -> JSON:
    """Return the annotations of the Deployment once it is rolled back to this ReplicaSet."""
    own = {key: value for key, value in (deployment["metadata"].get("annotations") or {}).items() if key in _NOT_COPIED}
    given = replica_set["metadata"].get("annotations") or {}
    return {**own, **{key: value for key, value in given.items() if key not in _NOT_COPIED}}
