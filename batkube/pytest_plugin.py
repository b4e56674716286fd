"""The pytest plugin: an empty Kubernetes API, simulations, and baselines, as fixtures (docs/testing.md).

It loads nothing before a test asks for one of them.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from batkube.testing.baseline import Baseline
    from batkube.testing.kube_api import KubeApi
    from batkube.testing.simulation import Simulation


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that writes baselines anew."""
    group = parser.getgroup("batkube")
    group.addoption(
        "--batkube-update", action="store_true", help="Write the baselines beside the tests anew, with what they find."
    )


@pytest.fixture(scope="session")
def _kube_api_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator["KubeApi"]:
    from batkube.testing.kube_api import KubeApi

    api = KubeApi(tmp_path_factory.mktemp("kube-api"))
    yield api
    api.close()


@pytest.fixture
def kube_api(_kube_api_process: "KubeApi") -> Iterator["KubeApi"]:
    """Give a test an empty API server: ``kube_api.kubeconfig``, ``.url``, and ``.client`` for the official client."""
    yield _kube_api_process
    _kube_api_process.reset()


@pytest.fixture
def simulation(tmp_path: Path) -> "Simulation":
    """Run a workload against a scheduler: ``simulation(jobs, nodes=4, scheduler_cmd="...")`` returns the results."""
    from batkube.testing.simulation import Simulation

    return Simulation(tmp_path / "simulations")


@pytest.fixture
def baseline(request: pytest.FixtureRequest) -> "Baseline":
    """Hold results to those that lie beside the test: ``baseline(result, ["mean_wait <= 1.05 * baseline"])``."""
    from batkube.testing.baseline import Baseline

    update = bool(request.config.getoption("--batkube-update"))
    return Baseline(request.path, request.node.name, update=update)
