"""docker-compose.yml fits together, and fits the programs it starts. Docker itself is not needed."""

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import pytest
import typer.main
import yaml
from pydantic import BaseModel, ConfigDict

from batkube.api_settings import AccessSettings
from batkube.commands.cli import app
from batkube.session.access import check_access, wants_tls

ROOT = Path(__file__).parent.parent


class Strict(BaseModel):
    """The part of the Compose specification that the file uses; other keys are spelling mistakes."""

    model_config = ConfigDict(extra="forbid")


class Build(Strict):
    context: Literal["."]
    dockerfile_inline: str


class Healthcheck(Strict):
    test: list[str]
    interval: str
    timeout: str
    retries: int


class Dependency(Strict):
    condition: Literal["service_started", "service_healthy", "service_completed_successfully"]


class Service(Strict):
    image: str
    build: Build | None = None
    command: list[str]
    volumes: list[str] = []
    ports: list[str] = []
    networks: list[str]
    depends_on: dict[str, Dependency] = {}
    healthcheck: Healthcheck | None = None

    def option(self, name: str) -> str:
        """The value of ``--name=value`` or ``-n value``."""
        for position, argument in enumerate(self.command):
            if argument == name:
                return self.command[position + 1]
            if argument.startswith(f"{name}="):
                return argument.partition("=")[2]
        raise AssertionError(f"{name} is missing in {self.command}")


class Network(Strict):
    pass


class Volume(Strict):
    pass


class Compose(Strict):
    name: str
    services: dict[str, Service]
    networks: dict[str, Network]
    volumes: dict[str, Volume]


@pytest.fixture(scope="module")
def compose() -> Compose:
    text = (ROOT / "docker-compose.yml").read_text()
    with_defaults = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", text)
    return Compose.model_validate(yaml.safe_load(with_defaults))


def test_all_that_is_referred_to_exists(compose: Compose) -> None:
    for service in compose.services.values():
        assert set(service.networks) <= set(compose.networks)
        for other, dependency in service.depends_on.items():
            assert other in compose.services
            if dependency.condition == "service_healthy":
                assert compose.services[other].healthcheck
        for volume in service.volumes:
            source = volume.split(":")[0]
            assert source == "./out" or source in compose.volumes or (ROOT / source).is_dir()


def test_the_sample_files_are_where_the_mounts_put_them(compose: Compose) -> None:
    for service, option in (("batkube", "--platform"), ("batsim", "-p"), ("batsim", "-w")):
        path = compose.services[service].option(option)
        assert (ROOT / path.removeprefix("/data/")).is_file()
    assert compose.services["batkube"].option("--platform") == compose.services["batsim"].option("-p")


def copied(compose: Compose) -> list[str]:
    """The files and folders of the checkout that the image is built from."""
    build = compose.services["batkube"].build
    assert build
    return [name for line in re.findall(r"COPY (.*)", build.dockerfile_inline) for name in line.split()[:-1]]


def test_the_image_gets_every_file_that_the_build_is_told_of(compose: Compose) -> None:
    told = tomllib.loads((ROOT / "pyproject.toml").read_text())
    project, wheel = told["project"], told["tool"]["hatch"]["build"]["targets"]["wheel"]
    hooks = [hook["path"] for hook in wheel["hooks"].values()]
    assert hooks
    needed = {"pyproject.toml", project["readme"], *project["license-files"], *wheel["packages"], *hooks}
    assert set(copied(compose)) == needed


def test_the_files_that_the_image_gets_make_a_wheel(compose: Compose, tmp_path: Path) -> None:
    source = tmp_path / "src"
    source.mkdir()
    for name in copied(compose):
        original = ROOT / name
        if original.is_dir():
            shutil.copytree(original, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(original, source)
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "dist")]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as file:
        assert "batkube/commands/cli.py" in file.namelist()


def test_batkube_takes_its_command_line_and_listens_where_others_call(compose: Compose) -> None:
    batkube = compose.services["batkube"]
    name, *arguments = batkube.command
    group = typer.main.get_command(app)
    context = group.make_context("batkube", [name, *arguments], resilient_parsing=False)
    command = group.get_command(context, name)  # type: ignore[attr-defined]
    options = command.make_context(name, arguments, parent=context).params
    assert options["host"] == "0.0.0.0"
    assert f"127.0.0.1:{options['port']}:{options['port']}" in batkube.ports
    assert batkube.healthcheck
    access = AccessSettings(tls=options["tls"], external_hostname=options["external_hostname"])
    check_access(access, options["host"])
    assert wants_tls(access)
    assert f"https://127.0.0.1:{options['port']}/readyz" in batkube.healthcheck.test[-1]
    compile(batkube.healthcheck.test[-1], "healthcheck", "exec")
    assert access.external_hostname in compose.services
    metrics = urlsplit(options["scheduler_metrics"])
    assert (metrics.hostname in compose.services, metrics.port) == (True, 10259)  # kube-scheduler's secure port
    assert options["scheduler_metrics_insecure"]
    allowed = compose.services["kube-scheduler"].option("--authorization-always-allow-paths").split(",")
    assert "/metrics" in allowed
    batsim_calls = compose.services["batsim"].option("-s")
    assert batsim_calls == options["batsim"].replace("0.0.0.0", "batkube")


def test_kube_scheduler_knows_its_options_and_reads_the_kubeconfig(
    compose: Compose, built_tool: Callable[[str], Path]
) -> None:
    service = compose.services["kube-scheduler"]
    version = service.image.rpartition(":v")[2]
    assert service.option("--kubeconfig") == compose.services["batkube"].option("--kubeconfig")
    (mount,) = service.volumes
    assert service.option("--kubeconfig").startswith(mount.split(":")[1] + "/")
    assert mount.removesuffix(":ro") in compose.services["batkube"].volumes

    name, *arguments = service.command
    binary = built_tool(f"{name}-{version}")
    checked = subprocess.run([binary, *arguments, "--help"], capture_output=True, text=True, timeout=120)
    assert checked.returncode == 0, checked.stderr
