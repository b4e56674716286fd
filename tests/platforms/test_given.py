"""The forms of clusters that ``-p`` takes beside platforms of SimGrid's, and the nodes that come of them."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tests.batsim.hypothesis_profile  # noqa: F401
from batkube.batsim.platform import PlatformError, read_platform
from batkube.batsim.routing import Router
from batkube.bridge.hosts import Host, node
from batkube.platforms.given import read_given_platform
from batkube.platforms.short_form import is_short_form

ROOT = Path(__file__).parents[2]
DATASETS = ROOT.parent / "shared" / "datasets"
JSON = dict[str, Any]
DUMP = """
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Node
  metadata:
    name: n1
    labels: {topology.kubernetes.io/zone: "1", example.com/count: "8", kubernetes.io/hostname: other}
  spec:
    unschedulable: true
    taints:
    - {key: node.kubernetes.io/unschedulable, effect: NoSchedule, timeAdded: "2026-01-01T00:00:00Z"}
    - {key: dedicated, value: web, effect: NoExecute}
  status:
    capacity: {cpu: "4", memory: 17Gi, pods: "110"}
    allocatable: {cpu: 3920m, memory: 16Gi, pods: "58", nvidia.com/gpu: "8", ephemeral-storage: 10Gi}
- apiVersion: v1
  kind: Pod
  metadata: {name: p}
"""
LIST = "sn,cpu_milli,memory_mib,gpu,model\nm1,32000,262144,0,\nm2,64500,1024,2,P100\n"


def nodes_of(*words: object, added: tuple[str, ...] = ()) -> dict[str, JSON]:
    """The nodes by name, through the file that is written."""
    found = read_given_platform([Path(str(word)) for word in words], added)
    hosts = [host for host in found.platform.hosts if host.name != "master_host"]
    return {
        host.name: node(
            Host(number, host.name, host.cores, host.properties, host.zone_properties, host.zones),
            host.name,
            exclusive=False,
            now="2020-01-01T00:00:00Z",
        )
        for number, host in enumerate(hosts)
    }


def labels_of(made: JSON) -> dict[str, str]:
    """The labels of a node that tell something of it."""
    general = ("kubernetes.io/arch", "kubernetes.io/hostname", "kubernetes.io/os")
    return {name: value for name, value in made["metadata"]["labels"].items() if name not in general}


def test_machines_in_a_few_words() -> None:
    nodes = nodes_of(
        "10x32cpu,128Gi,4gpu,20pods,example.com/nic=2 zone=a region=eu", "500mcpu disk=ssd taint=gpu=yes:NoSchedule"
    )
    assert list(nodes) == [f"node-{number:02}" for number in range(1, 12)]
    offered = {"cpu": "32", "memory": "128Gi", "pods": "20", "nvidia.com/gpu": "4", "example.com/nic": "2"}
    assert nodes["node-01"]["status"]["allocatable"] == nodes["node-10"]["status"]["capacity"] == offered
    assert labels_of(nodes["node-01"]) == {"topology.kubernetes.io/zone": "a", "topology.kubernetes.io/region": "eu"}
    assert nodes["node-11"]["status"]["capacity"] == {"cpu": "500m", "memory": "1Ti", "pods": "110"}
    assert labels_of(nodes["node-11"]) == {"disk": "ssd"}
    assert nodes["node-11"]["spec"] == {"taints": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]}


def test_machines_of_another_speed(tmp_path: Path) -> None:
    (tmp_path / "nodes.yaml").write_text(
        DUMP.replace("    name: n1\n", "    name: n1\n    annotations: {batkube.io/speed: '1.5'}\n")
    )
    text = read_given_platform([Path("2cpu speed=0.5"), Path("2cpu"), tmp_path / "nodes.yaml"]).text
    assert text is not None
    (tmp_path / "platform.xml").write_text(text)
    speeds = {host.name: host.speed for host in read_platform(tmp_path / "platform.xml").resources().compute}
    assert speeds == {"node-1": 0.5e9, "node-2": 1e9, "n1": 1.5e9}
    notes = {
        name: node["metadata"]["annotations"].get("batkube.io/speed") for name, node in nodes_of("1cpu speed=2").items()
    }
    assert notes == {"node-1": "2"}


def test_more_nodes_like_one(tmp_path: Path) -> None:
    (tmp_path / "nodes.yaml").write_text(DUMP)
    nodes = nodes_of("2 x 8cpu zone=b", tmp_path / "nodes.yaml", added=("10 like node-2", "1 like n1"))
    assert list(nodes) == ["node-1", "node-2", "n1", *(f"node-2-more-{n:02}" for n in range(1, 11)), "n1-more-1"]
    assert labels_of(nodes["node-2-more-07"]) == labels_of(nodes["node-2"])
    assert nodes["n1-more-1"]["status"] == {
        **nodes["n1"]["status"],
        "addresses": [{"type": "Hostname", "address": "n1-more-1"}],
    }


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_nodes_as_kubectl_writes_them(tmp_path: Path, form: str) -> None:
    path = tmp_path / f"nodes.{form}"
    path.write_text(DUMP)
    if form == "json":
        import yaml

        path.write_text(json.dumps(yaml.safe_load(DUMP)))
    made = nodes_of(path)["n1"]
    assert made["status"]["allocatable"] == {"cpu": "3920m", "memory": "16Gi", "pods": "58", "nvidia.com/gpu": "8"}
    # A label with a number stays a label; the hostname is the node's.
    assert labels_of(made) == {"topology.kubernetes.io/zone": "1", "example.com/count": "8"}
    assert made["metadata"]["labels"]["kubernetes.io/hostname"] == "n1"
    assert made["spec"] == {
        "unschedulable": True,
        "taints": [{"key": "dedicated", "value": "web", "effect": "NoExecute"}],
    }
    assert read_given_platform([path]).warnings == [f"{path}: objects that are no nodes are left out: 1 Pod"]


def test_nodes_of_openb(tmp_path: Path) -> None:
    path = tmp_path / "nodes.csv"
    path.write_text(LIST)
    nodes = nodes_of(path)
    assert nodes["m1"]["status"]["capacity"] == {"cpu": "32", "memory": "256Gi", "pods": "110"}
    shares = {"nvidia.com/gpu": "2", "alibabacloud.com/gpu-milli": "2000"}
    assert nodes["m2"]["status"]["capacity"] == {"cpu": "64500m", "memory": "1Gi", "pods": "110", **shares}
    assert labels_of(nodes["m2"]) == {"alibabacloud.com/gpu-card-model": "P100"}


def test_the_file_that_is_written_is_a_platform_with_a_flat_network(tmp_path: Path) -> None:
    text = read_given_platform([Path("3 x 2cpu a=b")]).text
    assert text is not None
    path = tmp_path / "platform.xml"
    path.write_text(text)
    platform = read_platform(path)
    assert [host.name for host in platform.resources().compute] == ["node-1", "node-2", "node-3"]
    links = Router(platform).route("node-1", "master_host")
    assert sum(link.latency for link in links) == pytest.approx(50e-6)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["0 x 4cpu"], "expected from 1 to 100000 machines, not 0"),
        (["4cpu,4cpu"], "'4cpu,4cpu': cpu is named twice"),
        (["4cpu speed=0"], "'4cpu speed=0': speed: expected a number from 0.001 to 1000, not '0'"),
        (["4cpu,lots"], "expected such as 32cpu, 128Gi, 4gpu, 110pods or NAME/RESOURCE=2, not 'lots'"),
        (["4cpu,1.5gpu"], "'1.5gpu': expected a whole number that is not negative"),
        (["4cpu zone"], "'4cpu zone': expected a label such as zone=a, or taint=KEY=VALUE:EFFECT, not 'zone'"),
        (["4cpu taint=a"], "'4cpu taint=a': expected a label such as zone=a, or taint=KEY=VALUE:EFFECT, not 'taint=a'"),
        (["4cpu", ROOT / "platforms" / "small-cluster.xml"], "small-cluster.xml: a platform of SimGrid's stands alone"),
        (["nosuch.yaml"], "nosuch.yaml: No such file or directory"),
        ([ROOT / "README.md"], "README.md: expected a platform of SimGrid's"),
    ],
    ids=str,
)
def test_what_is_no_cluster_is_told_in_a_line(words: list[object], error: str) -> None:
    with pytest.raises(PlatformError) as raised:
        nodes_of(*words)
    assert error in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("added", "error"),
    [("20", "--add-nodes: expected such as '20 like n1', not '20'"), ("2 like x", "there is no node 'x' to be like")],
)
def test_nodes_like_none_are_refused(added: str, error: str) -> None:
    with pytest.raises(PlatformError, match=error):
        nodes_of("4cpu", added=(added,))


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ('"allocatable": {}', "node 'n': status.allocatable.cpu: missing"),
        ('"allocatable": {"cpu": "lots"}', "node 'n': cpu: expected a quantity, not 'lots'"),
        ('"allocatable": 5', "node 'n': allocatable: expected an object, not 5"),
    ],
)
def test_a_node_that_is_wrong_is_named(tmp_path: Path, change: str, error: str) -> None:
    path = tmp_path / "nodes.json"
    path.write_text(f'{{"apiVersion": "v1", "kind": "Node", "metadata": {{"name": "n"}}, "status": {{{change}}}}}')
    with pytest.raises(PlatformError) as raised:
        nodes_of(path)
    assert str(raised.value) == f"{path}: document at line 1: {error}"


TEXTS = st.sampled_from([DUMP, LIST, '{"apiVersion": "v1", "kind": "NodeList", "items": [{}]}'])


@given(
    text=TEXTS, begin=st.integers(0, 900), cut=st.integers(0, 9), piece=st.text(alphabet='{}[]:,"-\n\t 0aé', max_size=6)
)
def test_whatever_is_in_a_file(
    text: str, begin: int, cut: int, piece: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "any-nodes"
    path.write_text(f"{text[:begin]}{piece}{text[begin + cut :]}", newline="")
    try:
        read_given_platform([path])
    except PlatformError as error:
        told = str(error)
        assert "\n" not in told


@given(words=st.text(alphabet="0123456789 xcpugiGM,.=/:-ataintzone", max_size=40))
def test_whatever_is_in_a_few_words(words: str) -> None:
    if is_short_form(words):
        try:
            read_given_platform([Path(words)])
        except PlatformError as error:
            told = str(error)
            assert "\n" not in told


@pytest.mark.skipif(not DATASETS.exists(), reason="needs published data of others beside the repository")
def test_published_lists_of_nodes() -> None:
    nodes = nodes_of(DATASETS / "openb" / "openb_node_list_all_node.csv")
    assert len(nodes) == 1523
    assert sum(int(made["status"]["capacity"].get("nvidia.com/gpu", 0)) for made in nodes.values()) == 6212
    assert list(nodes_of(DATASETS / "openb" / "quickstart" / "node" / "pai-node-00.yaml")) == ["pai-node-00"]
