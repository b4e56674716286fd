"""Only the connection part of a user's KubeSchedulerConfiguration is ours."""

from pathlib import Path

import pytest
import yaml

from batkube.schedulers import kube_scheduler
from batkube.schedulers.under_test import SchedulerChoiceError, choose

USERS = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: /elsewhere, qps: 5, contentType: application/json}
leaderElection: {leaderElect: true, leaseDuration: 20s}
podMaxBackoffSeconds: 3
profiles:
- schedulerName: packing
  pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated}}
- plugins: {score: {disabled: [{name: "*"}]}}
"""


def test_the_users_profiles_and_plugins_stay(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(USERS)
    users = kube_scheduler.read_configuration(path)
    config = kube_scheduler.configuration(Path("/ours"), ("ignored",), users)
    assert config["profiles"] == yaml.safe_load(USERS)["profiles"]
    assert config["podMaxBackoffSeconds"] == 3
    assert config["clientConnection"] == {
        "kubeconfig": "/ours",
        "qps": 5000,
        "burst": 5000,
        "contentType": "application/json",
    }
    assert config["leaderElection"] == {"leaderElect": True, "leaseDuration": "20s"}
    assert kube_scheduler.scheduler_names(config) == ("packing", "default-scheduler")


def test_victims_are_told_apart_by_fractions_of_seconds_and_looked_for_everywhere() -> None:
    config = kube_scheduler.configuration(Path("/ours"), ("mine",), repeatable_preemption=True)
    assert config["clientConnection"]["acceptContentTypes"] == "application/json"
    (profile,) = config["profiles"]
    assert profile["pluginConfig"] == [{"name": "DefaultPreemption", "args": {"minCandidateNodesPercentage": 100}}]
    users = {"profiles": [{"schedulerName": "mine"}]}
    own = kube_scheduler.configuration(Path("/ours"), (), users, repeatable_preemption=True)
    assert own["profiles"] == users["profiles"]
    assert "acceptContentTypes" not in kube_scheduler.configuration(Path("/ours"), ("mine",))["clientConnection"]


def test_without_one_the_only_profile_goes_by_the_name_asked_for() -> None:
    config = kube_scheduler.configuration(Path("/ours"), ("mine",))
    assert kube_scheduler.scheduler_names(config) == ("mine",)
    assert config["apiVersion"] == "kubescheduler.config.k8s.io/v1"
    assert config["leaderElection"] == {"leaderElect": False}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a: [", "config.yaml: line 2: no YAML"),
        ("kind: Pod", "config.yaml: expected one KubeSchedulerConfiguration"),
        ("[]", "config.yaml: expected one KubeSchedulerConfiguration"),
        ("kind: KubeSchedulerConfiguration\nprofiles: 3", "config.yaml: profiles: expected a list"),
    ],
)
def test_a_bad_file_is_named(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(text)
    with pytest.raises(kube_scheduler.ConfigError) as caught:
        kube_scheduler.read_configuration(path)
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(kube_scheduler.ConfigError, match=r"nowhere.yaml: No such file"):
        kube_scheduler.read_configuration(tmp_path / "nowhere.yaml")


@pytest.mark.parametrize(
    ("says", "version", "known"),
    [
        ("Kubernetes v1.36.3", (1, 36), True),
        ("Kubernetes v1.33.0-rc.1", (1, 33), True),
        ("Kubernetes v1.32.9", (1, 32), False),
        ("something else", (0, 0), False),
    ],
)
def test_since_which_version_its_timers_place_no_pod(
    tmp_path: Path, says: str, version: tuple[int, int], known: bool
) -> None:
    binary = tmp_path / "kube-scheduler"
    binary.write_text(f"#!/bin/sh\necho '{says}'\n")
    binary.chmod(0o755)
    assert kube_scheduler.version(binary) == version
    assert choose("kube-scheduler", names=("s",), binary=binary).retries_on_events() is known


def test_a_version_that_is_not_told_in_time_is_no_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    binary = tmp_path / "kube-scheduler"
    binary.write_text("#!/bin/sh\nexec sleep 1000\n")
    binary.chmod(0o755)
    monkeypatch.setattr(kube_scheduler, "VERSION_PATIENCE", 0.05)
    with pytest.raises(SchedulerChoiceError, match=r"--version says nothing for 0\.05 s"):
        choose("kube-scheduler", names=("s",), binary=binary).retries_on_events()


def test_nothing_is_known_of_the_timers_of_others(tmp_path: Path) -> None:
    binary = tmp_path / "kube-scheduler"
    binary.write_text("#!/bin/sh\necho 'Kubernetes v1.36.3'\n")
    binary.chmod(0o755)
    config = tmp_path / "config.yaml"
    config.write_text(USERS)  # its plugins may have timers of their own
    assert not choose("kube-scheduler", names=("s",), binary=binary, config=config).retries_on_events()
    assert not choose("fifo", names=("s",)).retries_on_events()
    assert not choose("fifo", names=("s",), command=f"{binary} {{kubeconfig}}").retries_on_events()
