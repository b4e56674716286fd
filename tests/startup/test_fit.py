"""``batkube fit-startup``: models from recorded times."""

import csv
import subprocess
import sys
from collections.abc import Iterable
from math import exp
from pathlib import Path
from random import Random

import pytest

from batkube.startup import fit
from batkube.startup.errors import StartupError
from batkube.startup.families import Family
from batkube.startup.model import read_startup
from batkube.startup.recorded import read_recorded
from tests import warm

ROOT = Path(__file__).parents[2]
REAL = ROOT.parent / "shared" / "datasets" / "batkube-test" / "real"


def command(*words: object) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "batkube", "fit-startup", *map(str, words)]
    return warm.run(line, timeout=120)


def write(path: Path, header: str, rows: Iterable[Iterable[object]]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header.split(","))
        writer.writerows(rows)
    return path


def test_a_lognormal_is_found_again() -> None:
    random = Random(1)
    rows = [{"pulled": 0.9 + 0.4 * exp(random.gauss(0, 0.8))} for _ in range(5000)]
    found = fit.fit(rows, Family.LOGNORMAL).pulled.lognormal
    assert found is not None
    assert found.median == pytest.approx(0.4, rel=0.05)
    assert found.sigma == pytest.approx(0.8, rel=0.05)
    assert found.shift == pytest.approx(0.9, abs=0.03)


def test_an_exponential_is_found_again() -> None:
    random = Random(1)
    rows = [{"ended": 0.25 + random.expovariate(1 / 3)} for _ in range(5000)]
    found = fit.fit(rows, Family.EXPONENTIAL).ended.exponential
    assert found is not None
    assert found.mean == pytest.approx(3, rel=0.05)
    assert found.shift == pytest.approx(0.25, abs=0.01)


def test_quantiles_repeat_what_was_measured() -> None:
    random = Random(1)
    rows = [{"pulling": random.choice((0.5, 2.9)) + random.random() / 10} for _ in range(1000)]
    model = fit.fit(rows)
    assert fit.distance(fit.sample(model.pulling), [row["pulling"] for row in rows]) < 0.02


def test_the_distance_is_kolmogorov_and_smirnovs() -> None:
    assert fit.distance([1, 2, 3, 4], [1, 2, 3, 4]) == 0
    assert fit.distance([1, 2], [3, 4]) == 1
    assert fit.distance([1, 2, 3, 4], [2.5, 2.5]) == 0.5


def test_both_sets_of_columns_are_read(tmp_path: Path) -> None:
    real = write(
        tmp_path / "jobs.csv",
        "job_id,starting_time,finish_time,scheduled,pulling,pulled,created",
        [(1, 7.5, 18.25, 1, 2, 5, 7), (2, 8, 19, "", 3, 6, 7.25)],
    )
    assert read_recorded([real], process_time=10) == [
        {"pulling": 1, "pulled": 3, "created": 2, "started": 0.5, "ended": 0.75},
        {"pulled": 3, "created": 1.25, "started": 0.75, "ended": 1},
    ]
    assert "ended" not in read_recorded([real])[0]
    ours = write(
        tmp_path / "pods.csv",
        "pod,created_time,bound_time,starting_time,finish_time,exit_time",
        [("a", 0, 1, 4, 10, 9)],
    )
    # Without the stages between, the time from binding is the last one's.
    assert read_recorded([ours]) == [{"started": 3, "ended": 1}]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("a,b\n1,2\n", "times.csv: needs two at least of the columns scheduled, pulling, pulled, created"),
        ("", "times.csv: needs two at least of the columns"),
        ("pulling,pulled\n1,2\n3,x\n", "times.csv: line 3, column pulled: expected seconds, not 'x'"),
        ("pulling,pulled\n1,2\n3,nan\n", "times.csv: line 3, column pulled: expected seconds, not 'nan'"),
        ("pulling,pulled\n1,2\n3,2.5\n", "times.csv: line 3, column pulled: 2.5 is before pulling (3)"),
        ("pulling,pulled\n1,2\n3\n", "times.csv: line 3: has no column pulled, the line is too short"),
        ("starting_time,finish_time\n1,5\n", "column finish_time: 5 is before starting_time + 10 (11)"),
    ],
)
def test_a_wrong_file_is_told_by_line_and_column(tmp_path: Path, content: str, complaint: str) -> None:
    path = tmp_path / "times.csv"
    path.write_text(content)
    with pytest.raises(StartupError) as error:
        read_recorded([path], process_time=10)
    assert complaint in str(error.value)


def test_the_command_writes_a_model_and_says_how_well_it_fits(tmp_path: Path) -> None:
    random = Random(3)
    rows = [(t, t + random.uniform(1, 2), t + 4) for t in range(500)]
    recorded = write(tmp_path / "times.csv", "pulling,pulled,created", rows)
    out = tmp_path / "startup.yaml"
    done = command(recorded, "-o", out)
    assert done.returncode == 0, done.stderr
    assert "fitted to 400 rows, compared with 100 others" in done.stdout
    assert "ended: left out; it needs a column exit_time, or --process-time" in done.stdout
    model = read_startup(out)
    assert 1 <= model.delays(0, "a", "a").pulled <= 2
    assert model.pulling.constant == 0
    assert command(recorded, "-o", tmp_path / "again.yaml").stdout.replace("again", "startup") == done.stdout


def test_the_command_refuses_what_it_cannot_use(tmp_path: Path) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_text("pulling,pulled\n1,0\n")
    for words, complaint in (
        ((bad,), f"batkube: {bad}: line 2, column pulled: 0 is before pulling (1)"),
        ((tmp_path / "gone.csv",), "gone.csv: No such file or directory"),
    ):
        done = command(*words, "-o", tmp_path / "startup.yaml")
        assert done.returncode == 2
        assert complaint in done.stderr
        assert "Traceback" not in done.stderr
    empty = write(tmp_path / "empty.csv", "pulling,pulled", [])
    done = command(empty, "-o", tmp_path / "startup.yaml")
    assert (done.returncode, done.stderr) == (2, f"batkube: {empty}: no stage has its times in 2 rows or more\n")
    assert not (tmp_path / "startup.yaml").exists()


def test_the_published_runs_are_fitted_and_those_kept_aside_agree() -> None:
    if not REAL.exists():
        pytest.skip("the recorded runs of a real cluster are not here")
    rows, others = (
        read_recorded([REAL / f"spaced_200_delay170_{run}_jobs.csv" for run in runs], process_time=170)
        for runs in ((0, 1, 2), (3, 4))
    )
    model = fit.fit(rows)
    for stage in ("pulling", "pulled", "started"):
        measured = fit.delays_of(stage, others)
        assert fit.distance(measured, fit.sample(getattr(model, stage))) < 0.2, stage
