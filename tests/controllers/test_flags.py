"""A file of `--controllers`: which of those built in are played, and how."""

from pathlib import Path

import pytest

from batkube.bridge.controller_settings import read_controllers
from batkube.bridge.errors import InputError
from batkube.controllers.flag_file import read_flags
from batkube.controllers.flags import Flags

from .plane import Plane, template
from .test_volumes import CLAIMS, VOLUMES, claim, volume

JOB, CRON_JOB = ("job-controller", "job"), ("cronjob-controller", "cronjob")


def file_of(folder: Path, text: str) -> Path:
    path = folder / "controllers.yaml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("entries", "job", "cron_job"),
    [
        ("'*'", True, True),
        ("['*', -cronjob-controller]", True, False),
        ("'*,-job'", False, True),
        ("job-controller", True, False),
        ("[]", False, False),
    ],
)
def test_controllers_are_named_as_the_flag_of_kube_controller_manager_does(
    tmp_path: Path, entries: str, job: bool, cron_job: bool
) -> None:
    flags = read_flags(file_of(tmp_path, f"controllers: {entries}\n"))
    assert (flags.play(JOB), flags.play(CRON_JOB)) == (job, cron_job)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "controllers.yaml: line 1: expected flags of kube-controller-manager, such as"),
        ("controllers: [job, endpoint]\n", "line 1: controllers: 'endpoint' is not built in; there are cronjob-cont"),
        (
            "\nterminated-pod-gc-treshold: 3\n",
            "is no flag that the controllers here heed: did you mean terminated-pod-gc",
        ),
        ("controllers: job\nterminated-pod-gc-threshold: -1\n", "line 2: terminated-pod-gc-threshold: "),
        ("pvclaimbinder-sync-period: soon\n", "line 1: pvclaimbinder-sync-period: expected seconds or a length"),
        ("pvclaimbinder-sync-period: 0\n", "line 1: pvclaimbinder-sync-period: "),
        ("controllers: [job\n", "no YAML"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError) as raised:
        read_controllers(file_of(tmp_path, text))
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_controller_that_is_left_out_does_nothing() -> None:
    jobs = [Plane(flags=Flags(entries)) for entries in (("*",), ("*", "-job-controller"))]
    for plane in jobs:
        plane.create("jobs.batch", {"metadata": {"name": "work"}, "spec": {"template": template()}})
    assert [len(plane.pods()) for plane in jobs] == [1, 0]


def test_ended_pods_go_the_oldest_first_where_no_more_may_stay() -> None:
    plane = Plane(flags=Flags(terminated_pod_gc_threshold=2))
    for name in ("d", "c", "b", "a"):
        plane.create("pods", {"metadata": {"name": name}, "spec": template()["spec"]})
        plane.end(plane.run(plane.get("pods", name)), code=int(name == "d"))
        plane.until(plane.time.now + 1)
    plane.create("pods", {"metadata": {"name": "waiting"}, "spec": template()["spec"]})
    plane.until(19)
    assert len(plane.pods()) == 5
    plane.until(20)
    assert [pod["metadata"]["name"] for pod in plane.pods()] == ["b", "a", "waiting"]


def test_claims_are_looked_at_when_the_period_says() -> None:
    plane = Plane(flags=Flags(pvclaimbinder_sync_period=40))
    plane.create(CLAIMS, claim("data", storageClassName=""))
    plane.create(VOLUMES, volume("late", "1Gi"))
    plane.until(39)
    assert plane.get(CLAIMS, "data")["status"]["phase"] == "Pending"
    plane.until(40)
    assert plane.get(CLAIMS, "data")["status"]["phase"] == "Bound"
