"""The share of pods in their nodes while they run, and what they really use of it."""

from collections.abc import Callable
from typing import Any

from batkube.bridge.cluster import Cluster
from batkube.bridge.job_control import JobControl
from batkube.bridge.oom_killer import OomKiller
from batkube.bridge.plan import Plan
from batkube.bridge.resizes import Resizes
from batkube.bridge.run_times import RunTimeRules
from batkube.bridge.time import SimulatedTime
from batkube.bridge.usage_book import UsageBook
from batkube.bridge.usage_rules import UsageRules
from batkube.kube.server import ApiServer
from batkube.results.events import EventLog

JSON = dict[str, Any]


class PodResources:
    """Resizes, usage and, where it is asked for, the kernel's OOM killer, which acts at the dates of ``plan``."""

    def __init__(
        self,
        server: ApiServer,
        control: JobControl,
        cluster: Cluster,
        time: SimulatedTime,
        events: EventLog,
        plan: Plan,
        warn: Callable[[str], None],
        run_times: RunTimeRules | None,
    ) -> None:
        folder = events.path.parent
        self._usage = UsageBook(server, time, folder / "usage.csv", warn)
        self._resizes = Resizes(control, cluster, time, events, folder)
        cluster.kubelet.usage = self._usage
        self._server = server
        self._rules: UsageRules | None = None
        if run_times is not None and run_times.durations is not None and run_times.durations.say_usage:
            self._rules = UsageRules(run_times.durations)
            server.admission.add(self._rules)
        if run_times is not None and run_times.oom_killer:
            OomKiller(control, cluster, self._usage, time, plan)

    def changed(self, key: str, pod: JSON) -> None:
        """Note that a pod asks for other resources than before."""
        self._resizes.asked(key, pod)

    def advance(self) -> bool:
        """Give pods what they ask for now, as far as there is room; False if nothing changed."""
        return self._resizes.act()

    def close(self) -> None:
        """Write out what is left to write, and annotate pods no more."""
        if self._rules is not None:
            self._server.admission.remove(self._rules)
        self._usage.close()
        self._resizes.close()
