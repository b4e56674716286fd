"""The rules of ``--durations`` on what pods really use, as the annotation that pods of clients get when they come."""

from batkube.bridge.pods import JOB_ANNOTATION
from batkube.bridge.run_times import facts_of
from batkube.bridge.usage_phases import USAGE_ANNOTATION
from batkube.kube.admission.plugin import Attributes, Plugin
from batkube.startup.durations import Durations


class UsageRules(Plugin):
    """Annotates new pods that say nothing themselves."""

    name = "SimulatedUsage"
    handles = ("pods",)

    def __init__(self, durations: Durations) -> None:
        self._durations = durations

    def admit(self, write: Attributes) -> None:
        """Annotate a pod, unless it is one of a job of Batsim's."""
        metadata = write.obj["metadata"]
        annotations = metadata.get("annotations") or {}
        if write.old is not None or USAGE_ANNOTATION in annotations or JOB_ANNOTATION in annotations:
            return
        usage = self._durations.usage_of(facts_of(write.obj))
        if usage is not None:
            metadata["annotations"] = {**annotations, USAGE_ANNOTATION: usage}
