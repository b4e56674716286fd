"""Only the connection part of a user's KubeSchedulerConfiguration is ours."""

from pathlib import Path

import pytest
import yaml

from batkube.schedulers import kube_scheduler

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
    config = kube_scheduler.configuration(Path("/ours"), "ignored", users)
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


def test_exact_times_are_read_as_json() -> None:
    config = kube_scheduler.configuration(Path("/ours"), "mine", exact_times=True)
    assert config["clientConnection"]["acceptContentTypes"] == "application/json"
    assert "acceptContentTypes" not in kube_scheduler.configuration(Path("/ours"), "mine")["clientConnection"]


def test_without_one_the_only_profile_goes_by_the_name_asked_for() -> None:
    config = kube_scheduler.configuration(Path("/ours"), "mine")
    assert kube_scheduler.scheduler_names(config) == ("mine",)
    assert config["apiVersion"] == "kubescheduler.config.k8s.io/v1"
    assert config["leaderElection"] == {"leaderElect": False}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a: [", "config.yaml: not YAML"),
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
