"""``batkube snapshot``: a cluster, or what kubectl has written of it, made into a scenario that replays it."""

from batkube.commands.errors import tell
from batkube.commands.new_files import write_new
from batkube.kube.codec.yaml_text import dumped
from batkube.settings import BAD_INPUT, FINISHED
from batkube.snapshot.anonymous import Anonymous
from batkube.snapshot.objects import Snapshot, snapshot_of
from batkube.snapshot.reading import SnapshotError, from_cluster, from_files
from batkube.snapshot.settings import SnapshotSettings

SCENARIO, NODES, PODS, CLASSES = "scenario.yaml", "nodes.yaml", "pods.yaml", "priority-classes.yaml"

_SCENARIO = """\
# The cluster of a snapshot, replayed:
#
#     batkube run {folder}/{scenario} --scheduler kube-scheduler
#
# Pods come when they were created, and run for as long as they did; those that had not ended run until the end.
platform: {nodes}
workload: {pods}
{objects}enable-compute-sharing: true
epoch: {epoch}
out: out
"""


def main(settings: SnapshotSettings) -> int:
    """Write the files; the exit code: 0, or 2 for bad input, and where one of them is there already."""
    try:
        objects = from_files(settings.dumps) if settings.dumps else from_cluster(settings.kubeconfig, settings.context)
        found = snapshot_of(objects)
        if settings.anonymize:
            Anonymous(settings.salt).hide(found)
        write_new(settings.out, _contents(settings, found).items())
    except (SnapshotError, OSError) as error:
        tell(error)
        return BAD_INPUT
    print(f"{settings.out}: {len(found.nodes)} nodes, {len(found.pods)} pods, of which {found.ended} have ended")
    for what, count in found.left_out.items():
        print(f"left out: {count} {what}")
    print(f"batkube run {settings.out / SCENARIO}")
    return FINISHED


def _contents(settings: SnapshotSettings, found: Snapshot) -> dict[str, str]:
    """Return the files by their names."""
    contents = {
        NODES: dumped({"apiVersion": "v1", "kind": "NodeList", "items": found.nodes}),
        PODS: "---\n".join(map(dumped, found.pods)),
    }
    if found.classes:
        contents[CLASSES] = "---\n".join(map(dumped, found.classes))
    objects = f"objects: {CLASSES}\n" if found.classes else ""
    contents[SCENARIO] = _SCENARIO.format(
        folder=settings.out, scenario=SCENARIO, nodes=NODES, pods=PODS, objects=objects, epoch=found.epoch
    )
    return contents
