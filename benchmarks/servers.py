"""The API servers that are compared, each started empty on free ports of the loopback interface."""

import asyncio
import os
import secrets
import ssl
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml
from api_client import Connection, Endpoint, RequestError
from ports import free_port
from processes import Program, StartError

SERVERS = ("batkube", "kube-apiserver")


@dataclass(frozen=True)
class Server:
    """A server that answers."""

    endpoint: Endpoint
    kubeconfig: Path
    programs: tuple[Program, ...]
    ready_seconds: float
    """From the start of the process that answers to its first 200 on ``/readyz``."""

    def processor_seconds(self) -> float:
        """User and system time so far, of all its processes."""
        return sum(program.processor_seconds() for program in self.programs)

    def peak_bytes(self) -> int:
        """The most memory that was resident, summed over its processes."""
        return sum(program.peak_bytes() for program in self.programs)

    def resident_bytes(self) -> int:
        """The memory that is resident now, summed over its processes."""
        return sum(program.resident_bytes() for program in self.programs)


def built_tool(name: str) -> Path:
    """A program that the Makefile built (`make tools`, `make control-plane`). Raises StartError."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "batkube"
    path = Path(os.environ.get("BATKUBE_TOOLS") or cache) / "bin" / name
    if not path.exists():
        raise StartError(f"{path} is missing: `make control-plane` builds it where Go is installed")
    return path


@contextmanager
def started(name: str, folder: Path) -> Iterator[Server]:
    """Run one of SERVERS, with its files in ``folder``, and stop it afterwards. Raises StartError."""
    with ExitStack() as stack:
        yield (_batkube if name == "batkube" else _kube_apiserver)(stack, folder)


def _batkube(stack: ExitStack, folder: Path) -> Server:
    port, kubeconfig = free_port(), folder / "kubeconfig"
    command = [sys.executable, "-m", "batkube", "serve", "--api-only", "--no-node-lifecycle"]
    command += ["--port", str(port), "--kubeconfig", str(kubeconfig)]
    begun = time.monotonic()
    program = stack.enter_context(Program(command, folder / "batkube.log"))
    endpoint = Endpoint(f"http://127.0.0.1:{port}")
    _wait_until_ready(endpoint, program)
    return Server(endpoint, kubeconfig, (program,), time.monotonic() - begun)


def _kube_apiserver(stack: ExitStack, folder: Path) -> Server:
    apiserver, etcd = built_tool("kube-apiserver-1.36.3"), built_tool("etcd-3.6.16")
    port, client_port, peer_port = free_port(), free_port(), free_port()
    storage, peer = f"http://127.0.0.1:{client_port}", f"http://127.0.0.1:{peer_port}"
    command = [str(etcd), f"--data-dir={folder / 'etcd'}", "--unsafe-no-fsync", "--log-level=error"]
    command += [f"--listen-client-urls={storage}", f"--advertise-client-urls={storage}"]
    command += [f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}"]
    command += [f"--initial-cluster=default={peer}"]
    store = stack.enter_context(Program(command, folder / "etcd.log"))

    endpoint = Endpoint(f"https://127.0.0.1:{port}", token=secrets.token_hex(16))
    tokens, key, public_key = folder / "tokens.csv", folder / "service-account.key", folder / "service-account.pub"
    tokens.write_text(f'{endpoint.token},admin,admin,"system:masters"\n')
    _openssl("genrsa", "-out", str(key), "2048")
    _openssl("rsa", "-in", str(key), "-pubout", "-out", str(public_key))
    command = [str(apiserver), f"--etcd-servers={storage}", f"--cert-dir={folder / 'certificates'}"]
    command += [f"--secure-port={port}", "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1"]
    command += [f"--token-auth-file={tokens}", "--authorization-mode=AlwaysAllow"]
    command += [f"--service-account-key-file={public_key}", f"--service-account-signing-key-file={key}"]
    command += ["--service-account-issuer=https://kubernetes.default.svc", "--service-cluster-ip-range=10.0.0.0/24"]
    command += ["--endpoint-reconciler-type=none"]
    # No controller manager runs that would make service accounts.
    command += ["--disable-admission-plugins=ServiceAccount"]
    begun = time.monotonic()
    program = stack.enter_context(Program(command, folder / "kube-apiserver.log"))
    _wait_until_ready(endpoint, program, store)
    ready_seconds = time.monotonic() - begun
    asyncio.run(_wait_for_default_namespace(endpoint))
    kubeconfig = folder / "kubeconfig"
    kubeconfig.write_text(_kubeconfig(endpoint))
    return Server(endpoint, kubeconfig, (program, store), ready_seconds)


def _kubeconfig(endpoint: Endpoint) -> str:
    cluster = {"server": endpoint.url, "insecure-skip-tls-verify": True}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "real", "cluster": cluster}],
        "users": [{"name": "admin", "user": {"token": endpoint.token}}],
        "contexts": [{"name": "real", "context": {"cluster": "real", "user": "admin"}}],
        "current-context": "real",
    }
    return yaml.safe_dump(config)


def _wait_until_ready(endpoint: Endpoint, *programs: Program, timeout: float = 120.0) -> None:
    request = urllib.request.Request(f"{endpoint.url}/readyz")
    if endpoint.token:
        request.add_header("Authorization", f"Bearer {endpoint.token}")
    trust_all = ssl._create_unverified_context()
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        for program in programs:
            program.check()
        try:
            with urllib.request.urlopen(request, context=trust_all, timeout=5):
                return
        except OSError:
            time.sleep(0.01)
    raise StartError(f"{programs[0].name} was not ready within {timeout:g} s")


async def _wait_for_default_namespace(endpoint: Endpoint, timeout: float = 60.0) -> None:
    end = time.monotonic() + timeout
    while True:
        try:
            async with Connection(endpoint) as connection:
                await connection.request("GET", "/api/v1/namespaces/default")
                return
        except RequestError:
            if time.monotonic() > end:
                raise
            await asyncio.sleep(0.1)


def _openssl(*arguments: str) -> None:
    try:
        subprocess.run(["openssl", *arguments], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise StartError(f"openssl {arguments[0]}, which makes kube-apiserver's keys: {error}") from None
