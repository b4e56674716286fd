"""The images of containers, pulled on nodes as a kubelet does it (``pkg/kubelet/images/image_manager.go``).

A node pulls one image at a time, and keeps them. A pull that fails is tried again after 10 s, then twice as long each
time, up to 300 s; meanwhile the pod is Pending, and holds its node.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from batkube.back_off import FIRST, LONGEST
from batkube.bridge.cluster import Cluster
from batkube.bridge.image_names import full_name, tagged
from batkube.bridge.job_control import JobControl
from batkube.bridge.jobs import Job
from batkube.bridge.kubelet_events import go_duration
from batkube.bridge.plan import Plan
from batkube.bridge.pod_status import waiting_state
from batkube.bridge.run_times import facts_of
from batkube.bridge.time import SimulatedTime
from batkube.controllers.recorder import NORMAL, WARNING
from batkube.event_queue import Action
from batkube.results.events import EventLog
from batkube.startup.images import Images, luck

JSON = dict[str, Any]

ERR_IMAGE_PULL, IMAGE_PULL_BACK_OFF = "ErrImagePull", "ImagePullBackOff"
INVALID_IMAGE_NAME, ERR_IMAGE_NEVER_PULL = "InvalidImageName", "ErrImageNeverPull"
_SEEN_AFTER = 1.0
"""Simulated seconds after a failure in which the kubelet looks at the pod again, and sees that it backs off."""


@dataclass(slots=True)
class _Tries:
    """The tries to get the image of a container."""

    made: int = 0
    wait: float = 0.0
    """The simulated seconds of the last back-off; 0 if nothing has failed yet."""
    turn: int = 0
    """The number of times that the next try was planned."""


@dataclass(slots=True, eq=False)
class _Pull:
    """The pulls of a pod's images that are still to be done."""

    job: Job
    pod: str
    node: str
    overhead: float
    """The seconds of each pull that do not depend on the size of the image."""
    holds: Callable[[], bool]
    then: Action
    """Called when all are there."""
    initial: bool
    """True for the images of init containers, one after the other; else those of containers, each by itself."""
    left: dict[str, _Tries] = field(default_factory=dict)


@dataclass(slots=True)
class _Store:
    """The images of a node."""

    sizes: dict[str, int] = field(default_factory=dict)
    """The images that are there, or are coming, with their bytes."""
    there: set[str] = field(default_factory=set)
    free_at: float = 0.0
    """The date at which all pulls that were asked for will be done."""
    missed: list[Action] = field(default_factory=list)
    """The pulls that look again when an image has come."""


class ImagePulls:
    """Pulls what pods need. ``plan``: where what must be waited for is planned."""

    def __init__(
        self,
        images: Images,
        seed: int,
        control: JobControl,
        cluster: Cluster,
        time: SimulatedTime,
        events: EventLog,
        plan: Plan,
    ) -> None:
        self._images = images
        self._seed = seed
        self._control = control
        self._kubelet = cluster.kubelet
        self._time = time
        self._events = events
        self._plan = plan
        self.idle = Plan()
        """The tries of which none will ever succeed: nobody waits for them."""
        self._stores: dict[str, _Store] = {}

    def begin(
        self, job: Job, pod: str, overhead: float, holds: Callable[[], bool], then: Action, *, initial: bool
    ) -> None:
        """Pull the images of a pod's containers, or of its init containers (``initial``), and then call ``then``."""
        found = self._kubelet.pod(pod)
        if found is None:
            return
        pull = _Pull(job, pod, job.nodes[pod], overhead, holds, then, initial)
        pull.left = {container["name"]: _Tries() for container in _containers(found, initial=initial)}
        self._kubelet.wait_for_images(pod, {})
        for name in list(pull.left)[:1] if initial else list(pull.left):
            self._try(pull, name)

    def _try(self, pull: _Pull, name: str) -> None:
        """Look for the image of a container, and pull it if it must be pulled."""
        pod = self._kubelet.pod(pull.pod)
        if pod is None:
            return
        container = next(each for each in _containers(pod, initial=pull.initial) if each["name"] == name)
        image: str = container["image"]
        tries, store = pull.left[name], self._store(pull.node)
        try:
            known_as = full_name(image)
        except ValueError as error:
            self._tell(pull, container, WARNING, "InspectFailed", str(error))
            self._wait(pull, container, INVALID_IMAGE_NAME, str(error), endless=True)
            return
        policy = container["imagePullPolicy"]
        there = known_as in store.there
        if policy == "Never" and not there:
            text = f'Container image "{image}" is not present with pull policy of Never'
            self._tell(pull, container, WARNING, ERR_IMAGE_NEVER_PULL, text)
            self._wait(pull, container, ERR_IMAGE_NEVER_PULL, text, endless=True)
            store.missed.append(partial(self._look_again, pull, name))
            return
        if policy != "Always" and there:
            text = f'Container image "{image}" already present on machine and can be accessed by the pod'
            self._tell(pull, container, NORMAL, "Pulled", text)
            self._pulled(pull, name)
            return
        self._tell(pull, container, NORMAL, "Pulling", f'Pulling image "{image}"')
        failure = self._failure(pull, pod, container, tries.made)
        tries.made += 1
        coming = failure is None and known_as in store.sizes
        takes = pull.overhead + (0.0 if failure is not None or coming else self._images.seconds(image))
        begun = max(self._time.now, store.free_at)
        store.free_at = begun + takes
        if failure is not None:
            self._plan.add(store.free_at, partial(self._failed, pull, container, *failure), pull.holds)
            return
        if not coming:
            store.sizes[known_as] = self._images.size(image)
            arrive = partial(self._arrive, pull.node, store, known_as, tagged(image))
            self._plan.add(store.free_at, arrive, lambda: True)
        size, waited = store.sizes[known_as], store.free_at - self._time.now
        text = (
            f'Successfully pulled image "{image}" in {go_duration(takes)} ({go_duration(waited)} including waiting). '
            f"Image size: {size} bytes."
        )

        def done() -> None:
            self._tell(pull, container, NORMAL, "Pulled", text)
            self._pulled(pull, name)

        self._plan.add(store.free_at, done, pull.holds)

    def _failure(self, pull: _Pull, pod: JSON, container: JSON, tries: int) -> tuple[str, bool] | None:
        """Return the runtime's words on a try that fails, and whether all do; None for one that succeeds."""
        image, metadata = container["image"], pod["metadata"]
        for number, failure in enumerate(self._images.about(image, pull.node, facts_of(pod))):
            drawn = luck(self._seed, metadata["namespace"], metadata["name"], container["name"], tries, number)
            if failure.fails(tries, self._time.now, drawn):
                name = full_name(image)
                text = failure.message or (
                    f'rpc error: code = NotFound desc = failed to pull and unpack image "{name}": failed to resolve '
                    f'reference "{name}": {name}: not found'
                )
                return text, failure.endless
        return None

    def _failed(self, pull: _Pull, container: JSON, said: str, endless: bool) -> None:
        """Note that a pull has failed, and back off."""
        self._tell(pull, container, WARNING, "Failed", f'Failed to pull image "{container["image"]}": {said}')
        self._wait(pull, container, ERR_IMAGE_PULL, said, endless=endless)

        def back_off() -> None:
            text = f'Back-off pulling image "{container["image"]}"'
            self._tell(pull, container, NORMAL, "BackOff", text)
            self._tell(pull, container, WARNING, "Failed", f"Error: {IMAGE_PULL_BACK_OFF}")
            state = waiting_state(IMAGE_PULL_BACK_OFF, f"{text}: {ERR_IMAGE_PULL}: {said}")
            self._kubelet.wait_for_images(pull.pod, {container["name"]: state})

        plan = self.idle if endless else self._plan
        plan.add(self._time.now + _SEEN_AFTER, back_off, pull.holds)

    def _wait(self, pull: _Pull, container: JSON, reason: str, message: str, *, endless: bool) -> None:
        """Let a container wait for its image, and try again later."""
        name, tries = container["name"], pull.left[container["name"]]
        self._tell(pull, container, WARNING, "Failed", f"Error: {reason}")
        self._kubelet.wait_for_images(pull.pod, {name: waiting_state(reason, message)})
        told = {"pod": pull.pod, "node": pull.node, "container": name, "image": container["image"], "reason": reason}
        self._events.write(self._time.now, "image_pull_failed", **told)
        tries.wait, tries.turn = min(max(2 * tries.wait, FIRST), LONGEST), tries.turn + 1
        turn = tries.turn
        if endless:
            why = f"pod {pull.pod} on {pull.node}: container {name}: {reason}: {message}"
            pull.job.hold(f"{pull.pod}/{name}", why)
            self._control.clients.hold(pull.job)
        plan = self.idle if endless else self._plan
        plan.add(
            self._time.now + tries.wait,
            partial(self._try, pull, name),
            lambda: pull.holds() and name in pull.left and tries.turn == turn,
        )

    def _pulled(self, pull: _Pull, name: str) -> None:
        """Note that the image of a container is there."""
        tries = pull.left.pop(name)
        if tries.wait:
            pull.job.hold_no_more(f"{pull.pod}/{name}")
            self._kubelet.wait_for_images(pull.pod, {name: None})
        if not pull.left:
            pull.then()
        elif pull.initial:
            self._try(pull, next(iter(pull.left)))

    def _look_again(self, pull: _Pull, name: str) -> None:
        if pull.holds() and name in pull.left:
            self._try(pull, name)

    def _arrive(self, node: str, store: _Store, image: str, name: str) -> None:
        """Note that an image is on a node now."""
        store.there.add(image)
        if self._store(node) is not store:  # the node was deleted meanwhile
            return
        self._kubelet.show_image(node, name, store.sizes[image])
        missed, store.missed = store.missed, []
        for look in missed:
            look()

    def _tell(self, pull: _Pull, container: JSON, kind: str, reason: str, message: str) -> None:
        self._kubelet.tell_pod(pull.pod, kind, reason, message, container["name"])

    def _store(self, node: str) -> _Store:
        """Return the images of a node: none on one that was deleted, and created again."""
        return self._stores.setdefault(self._kubelet.uid_of_node(node), _Store())


def _containers(pod: JSON, *, initial: bool) -> list[JSON]:
    containers: list[JSON] = pod["spec"]["initContainers" if initial else "containers"]
    return containers
