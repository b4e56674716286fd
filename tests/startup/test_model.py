"""The start-up model: what it draws, and what it says of a file that is wrong."""

from pathlib import Path
from statistics import fmean, median

import pytest

from batkube.startup.errors import StartupError
from batkube.startup.model import PodDelays, StartupModel, read_startup


def read(tmp_path: Path, text: str) -> StartupModel:
    path = tmp_path / "startup.yaml"
    path.write_text(text)
    return read_startup(path)


def drawn(model: StartupModel, count: int = 4000) -> list[PodDelays]:
    return [model.delays(0, f"w0-{number}", str(number)) for number in range(count)]


def test_what_the_file_leaves_out_takes_no_time(tmp_path: Path) -> None:
    model = read(tmp_path, "pulled: 0.95\nended: {constant: 2}\n")
    assert model.delays(0, "w0-1", "1") == PodDelays(pulling=0.0, pulled=0.95, created=0.0, started=0.0, ended=2.0)


def test_distributions_are_drawn_as_described(tmp_path: Path) -> None:
    delays = drawn(
        read(
            tmp_path,
            "pulling: {lognormal: {median: 2, sigma: 0.5, shift: 1}}\n"
            "pulled: {exponential: {mean: 3, shift: 0.5}}\n"
            "created: {quantiles: [1, 2, 10]}\n",
        )
    )
    lognormal = [delay.pulling for delay in delays]
    assert median(lognormal) == pytest.approx(3, rel=0.02)
    assert fmean(lognormal) == pytest.approx(1 + 2 * 2.718281828 ** (0.5**2 / 2), rel=0.02)
    exponential = [delay.pulled for delay in delays]
    assert min(exponential) >= 0.5
    assert fmean(exponential) == pytest.approx(3.5, rel=0.03)
    measured = [delay.created for delay in delays]
    assert 1 <= min(measured) < 1.02
    assert 9.9 < max(measured) <= 10
    assert sum(value <= 2 for value in measured) / len(measured) == pytest.approx(0.5, abs=0.03)
    assert fmean(measured) == pytest.approx((1.5 + 6) / 2, rel=0.03)


def test_a_pods_delays_come_from_the_seed_and_its_name_alone(tmp_path: Path) -> None:
    text = "pulling: {exponential: {mean: 1}}\npulled: {exponential: {mean: 1}}\n"
    model = read(tmp_path, text)
    first = model.delays(7, "w0-1", "1")
    model.delays(7, "w0-2", "2")
    assert model.delays(7, "w0-1", "1") == first == read(tmp_path, text).delays(7, "w0-1", "1")
    assert first.pulling != first.pulled
    assert model.delays(8, "w0-1", "1") != first
    assert model.delays(7, "w0-2", "2") != first
    # Pinned: a file and a seed must mean the same in later versions.
    assert (first.pulling, first.pulled) == (0.110673, 0.046252)


def test_a_trace_gives_each_pod_its_own(tmp_path: Path) -> None:
    (tmp_path / "times.csv").write_text("pod,job_id,a,b\nw0-1,1,0.5,7\nw0-2,2,1.5,8\n")
    model = read(
        tmp_path, "pulled: {trace: {file: times.csv, column: a}}\nended: {trace: {file: times.csv, column: b}}\n"
    )
    assert model.delays(0, "w0-2", "2") == PodDelays(0.0, 1.5, 0.0, 0.0, 8.0)
    (tmp_path / "times.csv").write_text("job_id,a,b\n1,0.5,7\n2,1.5,8\n")
    model = read(tmp_path, "pulled: {trace: {file: times.csv, column: a}}\n")
    assert model.delays(0, "w0-2-17", "2").pulled == 1.5
    with pytest.raises(StartupError, match=r"times\.csv: no row has job_id 3, which needs its a"):
        model.delays(0, "w0-3", "3")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "line 1: expected some of pulling, pulled, created, started, ended, each with a delay"),
        ("[1]", "line 1: expected some of pulling"),
        ("pulled: {", "line 2: no YAML: did not find expected node content"),
        ("pulled: 1\npuled: 2\n", "line 2: puled: Extra inputs are not permitted, not 2"),
        ("pulled: 1\npulled: 2\n", "line 2: pulled is there twice"),
        ("pulling: 0\npulled: 5s\n", "line 2: pulled: expected seconds, or one of constant, lognormal"),
        ("pulled:\n", "line 1: pulled: expected seconds, or one of constant"),
        ("pulled: {}\n", "line 1: pulled: expected seconds, or one of constant"),
        ("pulled: true\n", "line 1: pulled: expected seconds"),
        ("pulled: {constant: 1, exponential: {mean: 1}}\n", "line 1: pulled: expected seconds, or one of constant"),
        ("pulled: -1\n", "line 1: pulled.constant: Input should be greater than or equal to 0, not -1"),
        ("pulled: .inf\n", "line 1: no YAML: json: unsupported value: +Inf"),
        ("pulled: 1\n---\npulled: 2\n", "line 3: expected one document, found another"),
        (
            "pulled:\n  lognormal:\n    median: 1\n    sigma: x\n",
            "line 4: pulled.lognormal.sigma: Input should be a valid number, not 'x'",
        ),
        ("pulled:\n  lognormal: {median: 1}\n", "line 2: pulled.lognormal.sigma: Field required"),
        (
            "pulled: {exponential: {mean: 0}}\n",
            "line 1: pulled.exponential.mean: Input should be greater than 0, not 0",
        ),
        ("pulled: {quantiles: [1]}\n", "line 1: pulled.quantiles: List should have at least 2 items"),
        ("pulled: {quantiles: [1, 3, 2]}\n", "line 1: pulled: quantiles must not fall: number 3 is 2, after 3"),
        ("pulled:\n  quantiles:\n  - 1\n  - -3\n", "pulled.quantiles.1: Input should be greater than or equal to 0"),
        ("pulled: {trace: {file: no.csv, column: a}}\n", "no.csv: No such file or directory"),
    ],
)
def test_a_wrong_file_is_told_by_line_and_field(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(StartupError) as error:
        read(tmp_path, text)
    assert str(error.value).startswith(f"{tmp_path / 'startup.yaml'}: ")
    assert complaint in str(error.value)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("name,a\n1,2\n", "times.csv: has neither a column pod nor a column job_id"),
        ("pod,b\n1,2\n", "times.csv: has no column a"),
        ("pod,a\nx,1\ny,-2\n", "times.csv: line 3, column a: expected seconds from 0 on, not -2"),
        ("pod,a\nx,1\ny,\n", "times.csv: line 3, column a: expected seconds, not ''"),
        ("pod,a\nx\n", "times.csv: line 2, column a: expected seconds, not None"),
        ("pod,a\nx,1\nx,2\n", "times.csv: line 3, column pod: x is there twice"),
    ],
)
def test_a_wrong_trace_is_told_by_line_and_column(tmp_path: Path, content: str, complaint: str) -> None:
    (tmp_path / "times.csv").write_text(content)
    with pytest.raises(StartupError) as error:
        read(tmp_path, "pulled: {trace: {file: times.csv, column: a}}\n")
    assert f"line 1: pulled.trace: {tmp_path / complaint}" in str(error.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StartupError, match=r"gone\.yaml: No such file"):
        read_startup(tmp_path / "gone.yaml")
