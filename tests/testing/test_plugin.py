"""The pytest plugin, as a project uses it that tests its scheduler. The examples are those of docs/testing.md."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest_plugins = ("pytester",)

DOCUMENT = Path(__file__).parents[2] / "docs" / "testing.md"
EXAMPLES = {
    match[1]: match[2]
    for match in re.finditer(r"`(test_\w+)\.py`[^\n]*\n\n((?:    [^\n]*\n|\n)+)", DOCUMENT.read_text())
}
"""The examples of the document, by the name of their module."""
PLUGIN = ("-p", "no:batkube", "-p", "batkube.pytest_plugin", "-p", "no:cacheprovider", "-p", "no:asyncio")
"""The plugin by its module, whether or not its entry point is installed here."""


@pytest.fixture(autouse=True)
def no_other_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Load no plugin that is only installed beside this one: that takes longer than the tests."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


def example(pytester: pytest.Pytester, *names: str) -> None:
    """Write examples into the folder of the test."""
    for name in names:
        text = "\n".join(line.removeprefix("    ") for line in EXAMPLES[name].splitlines())
        pytester.makepyfile(**{name: text})


def test_the_document_has_three_examples() -> None:
    assert sorted(EXAMPLES) == ["test_controller", "test_placement", "test_regression"]


def test_an_empty_api_for_each_test(pytester: pytest.Pytester) -> None:
    example(pytester, "test_controller")
    pytester.makepyfile(
        test_again="""
        from kubernetes import client

        def test_nothing_is_left_of_the_others(kube_api):
            assert client.CoreV1Api(kube_api.client).list_pod_for_all_namespaces().items == []
            assert kube_api.url in kube_api.kubeconfig.read_text()
        """
    )
    done = pytester.runpytest_subprocess(*PLUGIN, "test_controller.py", "test_again.py")
    done.assert_outcomes(passed=3)


def test_a_simulation_in_a_test(pytester: pytest.Pytester) -> None:
    example(pytester, "test_placement")
    pytester.runpytest_subprocess(*PLUGIN).assert_outcomes(passed=1)


def test_a_baseline_is_written_and_held(pytester: pytest.Pytester) -> None:
    example(pytester, "test_regression")
    first = pytester.runpytest_subprocess(*PLUGIN)
    first.assert_outcomes(failed=1)
    first.stdout.fnmatch_lines(["*there is no baseline*baselines/test_regression/*pytest --batkube-update writes it*"])
    pytester.runpytest_inprocess(*PLUGIN, "--batkube-update").assert_outcomes(passed=1)
    stored = pytester.path / "baselines" / "test_regression" / "test_no_regression"
    kept = {path.name: path.read_bytes() for path in stored.iterdir()}
    assert sorted(kept) == ["events.jsonl", "jobs.csv", "nodes.csv", "pods.csv", "run.json"]
    assert str(pytester.path).encode() not in kept["run.json"]
    pytester.runpytest_inprocess(*PLUGIN).assert_outcomes(passed=1)
    # A scheduler that prefers the newest pod keeps the first ones waiting.
    source = pytester.path / "test_regression.py"
    source.write_text(source.read_text().replace('scheduler="fifo"', 'scheduler="lifo:Lifo"'))
    (pytester.path / "lifo.py").write_text(
        "from batkube.schedulers.policies import Bind, Policy, first_fit\n\n"
        "class Lifo(Policy):\n"
        "    def decide(self, cluster):\n"
        "        for pod in reversed(list(cluster.pending.values())):\n"
        "            for pod, node in first_fit(cluster, [pod]) or ():\n"
        "                yield Bind(pod, node)\n"
    )
    worse = pytester.runpytest_inprocess(*PLUGIN)
    worse.assert_outcomes(failed=1)
    worse.stdout.fnmatch_lines(
        ["*max_wait <= baseline: 510 <= 270*", "*worse for pod w0-job-1: waits 510 s (no capacity), +480 s*"]
    )
    pytester.runpytest_inprocess(*PLUGIN, "--batkube-update").assert_outcomes(passed=1)
    assert (stored / "jobs.csv").read_bytes() != kept["jobs.csv"]


def test_workers_of_xdist_have_servers_of_their_own(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest
        from kubernetes import client

        @pytest.mark.parametrize("number", range(4))
        def test_alone(kube_api, number):
            api = client.CoreV1Api(kube_api.client)
            assert [one.metadata.name for one in api.list_node().items] == []
            api.create_node({"metadata": {"name": f"n{number}"}})
            assert [one.metadata.name for one in api.list_node().items] == [f"n{number}"]
        """
    )
    pytester.runpytest_subprocess(*PLUGIN, "-p", "xdist", "-n", "2").assert_outcomes(passed=4)


def test_a_simulation_that_fails_says_why(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        def test_too_large(simulation):
            simulation([{"id": "a", "subtime": 0, "res": 9, "delay": 3}], nodes=2, on_deadlock="nothing")
        """
    )
    done = pytester.runpytest_subprocess(*PLUGIN)
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*SimulationFailed: batkube run ended with 2*"])


def test_loading_it_loads_nothing_of_batkube() -> None:
    program = (
        "import sys, batkube.pytest_plugin\n"
        "print([name for name in sys.modules if name.startswith(('batkube.', 'kubernetes', 'pydantic'))])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "['batkube.pytest_plugin']"
