"""Real clients over HTTPS: kubectl, the official Python client as in a pod, kube-scheduler; and who is turned away."""

import base64
import os
import ssl
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from kubernetes import client as official
from kubernetes.client.exceptions import ApiException
from kubernetes.config.incluster_config import InClusterConfigLoader

from batkube.kube.authentication.kubeconfig import write_kubeconfig
from tests import warm
from tests.run.conftest import FIFO_PROGRAM, Batkube, environment
from tests.run.test_serve import Serve, serve, stranger
from tests.waiting import wait_until

__all__ = ["serve"]  # a fixture

TOKEN = "let-me-in"
KUBECTL = "kubectl-1.36.3"
KUBE_SCHEDULER = "kube-scheduler-1.36.3"


def kubectl(program: Path, kubeconfig: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    env = {"KUBECONFIG": str(kubeconfig), "HOME": str(kubeconfig.parent), "PATH": "/usr/bin:/bin"}
    return subprocess.run([str(program), *words], capture_output=True, text=True, env=env, timeout=120)


@pytest.mark.parametrize("shown", [["--token", TOKEN], ["--client-certificate"]])
def test_kubectl_comes_in_with_what_its_kubeconfig_has(
    serve: Callable[..., Serve], built_tool: Callable[[str], Path], shown: list[str]
) -> None:
    server = serve("--api-only", *shown)
    program, config = built_tool(KUBECTL), server.out / "kubeconfig"
    who = kubectl(program, config, "auth", "whoami", "-o", "jsonpath={.status.userInfo.username}")
    assert (who.stdout, who.stderr) == ("admin", "")
    assert "kube-system" in kubectl(program, config, "get", "namespaces").stdout
    assert "created" in kubectl(program, config, "create", "configmap", "c", "--from-literal=a=b").stdout
    written = yaml.safe_load(config.read_text())
    (user,) = written["users"]
    assert ("token" in user["user"]) == ("--token" in shown)
    assert config.stat().st_mode & 0o077 == 0  # it holds a secret

    # The same without what it shows: a stranger; without the authority: the server is one.
    user["user"] = {}
    config.write_text(yaml.safe_dump(written))
    refused = kubectl(program, config, "get", "namespaces")
    assert refused.returncode != 0
    assert "Please enter Username" in refused.stdout
    wrong = kubectl(program, config, "get", "namespaces", "--token", TOKEN + "x")
    assert "You must be logged in to the server" in wrong.stderr
    del written["clusters"][0]["cluster"]["certificate-authority-data"]
    config.write_text(yaml.safe_dump(written))
    assert "certificate signed by unknown authority" in kubectl(program, config, "get", "ns", "--token", TOKEN).stderr


def test_the_official_client_finds_what_a_pod_would(serve: Callable[..., Serve], tmp_path: Path) -> None:
    folder = tmp_path / "serviceaccount"
    serve("--api-only", "--in-cluster-dir", str(folder))
    variables = dict(line.split("=") for line in (folder / "environment").read_text().splitlines())
    configuration = official.Configuration()
    InClusterConfigLoader(
        token_filename=str(folder / "token"), cert_filename=str(folder / "ca.crt"), environ=variables
    ).load_and_set(configuration)
    assert configuration.host.startswith("https://")
    api = official.CoreV1Api(official.ApiClient(configuration))
    assert api.read_namespace("kube-system").kind == "Namespace"
    assert (folder / "namespace").read_text() == "default"
    configuration.api_key.clear()
    configuration.refresh_api_key_hook = None
    with pytest.raises(ApiException, match="Unauthorized"):
        official.CoreV1Api(official.ApiClient(configuration)).list_namespace()


def test_a_scheduler_that_delegates_lets_our_token_read_its_metrics(
    serve: Callable[..., Serve], built_tool: Callable[[str], Path], free_port: Callable[[], int], tmp_path: Path
) -> None:
    server = serve("--api-only", "--token", TOKEN, "--client-certificate")
    config, port = server.out / "kubeconfig", free_port()
    command = [str(built_tool(KUBE_SCHEDULER)), "--leader-elect=false", f"--cert-dir={tmp_path / 'certificates'}"]
    command += [f"--{what}kubeconfig={config}" for what in ("", "authentication-", "authorization-")]
    command += ["--bind-address=127.0.0.1", f"--secure-port={port}"]
    with stranger(command):

        def metrics(url: str = "/metrics", context: ssl.SSLContext | bool = False, **headers: str) -> httpx.Response:
            url = f"https://127.0.0.1:{port}{url}"
            return httpx.get(url, verify=context, headers=headers, trust_env=False, timeout=60)

        def is_up() -> bool:
            try:
                return metrics("/healthz").text == "ok"
            except httpx.TransportError:
                return False

        wait_until("the scheduler's port", is_up)
        seen = metrics(authorization=f"Bearer {TOKEN}")
        assert seen.status_code == 200
        assert "scheduler_pending_pods" in seen.text
        assert metrics(authorization="Bearer wrong").status_code == 401
        assert metrics().status_code == 403  # a stranger

        # A client certificate, by the authority in the config map, which the scheduler reads while it serves already.
        anybody = ssl.create_default_context()
        anybody.check_hostname, anybody.verify_mode = False, ssl.CERT_NONE
        (user,) = yaml.safe_load(config.read_text())["users"]
        pair = tmp_path / "pair.pem"
        parts = [user["user"][f"client-{part}-data"] for part in ("certificate", "key")]
        pair.write_bytes(b"".join(map(base64.b64decode, parts)))
        anybody.load_cert_chain(pair)
        wait_until("the scheduler's copy of the authority", lambda: metrics(context=anybody).status_code == 200)


def test_over_tls_a_kube_scheduler_keeps_the_makespan(
    batkube: Batkube, platform: Callable[..., Path], workload: Callable[..., Path], built_tool: Callable[[str], Path]
) -> None:
    """200 jobs of 170 s every 10 s on 15 hosts, as arithmetic demands."""
    jobs = [{"id": str(i), "subtime": 10 * i, "res": 1, "profile": "delay"} for i in range(200)]
    given = workload(jobs, {"delay": {"type": "delay", "delay": 170}})
    scheduler = ["--scheduler", "kube-scheduler", "--scheduler-binary", built_tool(KUBE_SCHEDULER)]
    done = batkube("-p", platform(15), "-w", given, *scheduler, "--tls")
    assert done.exit_code == 0, done.stderr
    assert done.run["makespan"] == pytest.approx(2420.0, abs=5e-4)
    assert done.run["mean_waiting_time"] == pytest.approx(123.5, abs=5e-4)
    assert done.run["quiescence"]["quiet_period"] == 0


@pytest.mark.parametrize("kind", ["kube-scheduler", "fifo"])
def test_neither_tls_nor_the_date_changes_a_run(
    batkube: Batkube,
    platform: Callable[..., Path],
    workload: Callable[..., Path],
    built_tool: Callable[[str], Path],
    kind: str,
) -> None:
    """The certificates are good in the year in which the scheduler lives, also the minute before 1970."""
    jobs = [{"id": str(i), "subtime": 20 * i, "res": 1, "profile": "delay"} for i in range(10)]
    given = workload(jobs, {"delay": {"type": "delay", "delay": 170}})
    arguments = ["-p", platform(4), "-w", given]
    if kind == "kube-scheduler":
        arguments += ["--scheduler", kind, "--scheduler-binary", built_tool(KUBE_SCHEDULER)]
    else:
        arguments += FIFO_PROGRAM
    prints = set()
    for options in ([], ["--tls", "--epoch", "0"], ["--tls", "--epoch", "9e9"]):
        done = batkube(*arguments, *options)
        assert done.exit_code == 0, done.stderr
        cluster = yaml.safe_load((done.out / "kubeconfig").read_text())["clusters"][0]["cluster"]
        assert cluster["server"].startswith("https://" if options else "http://")
        prints.add((done.run["events_sha256"], (done.out / "jobs.csv").read_bytes()))
    assert len(prints) == 1


IN_A_POD = """
import json, sys
from kubernetes import client
from kubernetes.config.incluster_config import InClusterConfigLoader

folder = sys.argv[1]
InClusterConfigLoader(token_filename=folder + "/token", cert_filename=folder + "/ca.crt").load_and_set()
api = client.CoreV1Api()
for line in api.list_namespaced_pod("default", watch=True, _preload_content=False):
    pod = json.loads(line)["object"]
    if not pod["spec"].get("nodeName"):
        node = api.list_node().items[0].metadata.name
        binding = {"metadata": {"name": pod["metadata"]["name"]}, "target": {"kind": "Node", "name": node}}
        api.create_namespaced_pod_binding(pod["metadata"]["name"], "default", binding, _preload_content=False)
"""
"""A scheduler that finds the API as a pod does: by files, and KUBERNETES_SERVICE_HOST and _PORT."""


def test_a_scheduler_that_knows_pods_only(
    batkube: Batkube, platform: Callable[..., Path], workload: Callable[..., Path], tmp_path: Path
) -> None:
    program, folder = tmp_path / "in_a_pod.py", tmp_path / "serviceaccount"
    program.write_text(IN_A_POD)
    given = workload(
        [{"id": str(i), "subtime": 100 * i, "res": 1, "profile": "p"} for i in range(3)],
        {"p": {"type": "delay", "delay": 50}},
    )
    command = f"{sys.executable} {program} {folder}"
    done = batkube("-p", platform(1), "-w", given, "--scheduler-cmd", command, "--in-cluster-dir", folder)
    assert done.exit_code == 0, done.stderr
    assert done.run["makespan"] == 250.0


def refused(*arguments: Any) -> str:
    """Return what ``batkube serve`` says before it gives up."""
    words = [sys.executable, "-m", "batkube", "serve", "--api-only", "--port", "0", *arguments]
    done = warm.run(words, env=environment(), timeout=120)
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    return done.stderr


@pytest.mark.parametrize("arguments", [[], ["--insecure"], ["--insecure", "--token", TOKEN]])
@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_strangers_are_not_served_off_loopback(host: str, arguments: list[str], tmp_path: Path) -> None:
    said = refused("--host", host, *arguments, "-o", str(tmp_path))
    assert f"--host {host} can be reached from other machines" in said
    assert "--tls" in said


def test_what_contradicts_itself_is_refused(tmp_path: Path) -> None:
    for option in (["--tls"], ["--client-certificate"], ["--in-cluster-dir", str(tmp_path)]):
        said = refused("--insecure", *option, "-o", str(tmp_path))
        assert f"--insecure and {option[0]} exclude each other" in said
        assert f"{option[0]} needs TLS" in said
    assert "--token" in refused("--token", "two words", "-o", str(tmp_path))


def test_a_token_over_plain_http_where_that_is_said_aloud(serve: Callable[..., Serve]) -> None:
    server = serve("--api-only", "--insecure", "--token", TOKEN)
    with httpx.Client(base_url=server.url, trust_env=False, timeout=60) as client:
        assert client.get("/api/v1/nodes").status_code == 401
        assert client.get("/api/v1/nodes", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200


def test_a_kubeconfig_goes_through_a_pipe_and_does_not_replace_it(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    end = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    try:
        config: dict[str, Any] = {"kind": "Config", "users": [{"name": "batkube", "user": {}}]}
        write_kubeconfig(pipe, config)
        assert yaml.safe_load(os.read(end, 1000)) == config
    finally:
        os.close(end)
    assert pipe.is_fifo()


def test_a_short_history_is_soon_forgotten(serve: Callable[..., Serve]) -> None:
    server = serve("--api-only", "--watch-history", "3")
    maps = f"{server.url}/api/v1/namespaces/default/configmaps"
    first = server.http.post(maps, json={"metadata": {"name": "c0"}}).json()["metadata"]["resourceVersion"]
    watch = {"watch": "true", "timeoutSeconds": "1", "resourceVersion": first}
    assert server.http.get(maps, params=watch).text == ""
    for number in range(1, 10):
        assert server.http.post(maps, json={"metadata": {"name": f"c{number}"}}).status_code == 201
    told = server.http.get(maps, params=watch)
    assert told.status_code == 200
    assert (told.json()["type"], told.json()["object"]["reason"]) == ("ERROR", "Expired")
