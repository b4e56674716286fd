"""Workload files: what is read, and what is refused with a line that says where."""

import contextlib
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batkube.batsim.profiles import ComposedProfile, DelayProfile, HomogeneousProfile, ParallelProfile
from batkube.batsim.workload import WorkloadError, parse_workload, read_workload
from tests.batsim.transcripts import DATASETS, Scenario, by_name, needs_datasets, scenarios

JSON = dict[str, Any]


def workload(*jobs: JSON, profiles: JSON | None = None, **members: Any) -> JSON:
    """A file's content with these jobs."""
    return {"nb_res": 4, "jobs": list(jobs), "profiles": profiles or {"d": {"type": "delay", "delay": 10}}} | members


def job(**members: Any) -> JSON:
    """A job that is right but for what ``members`` say."""
    return {"id": "j7", "subtime": 0, "res": 1, "profile": "d"} | members


def refusal(path: Path, content: object) -> str:
    """Return what is said of a file with this content."""
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(WorkloadError) as refused:
        read_workload(path)
    assert "\n" not in str(refused.value)
    assert str(refused.value).startswith(f"{path}: ")
    return str(refused.value).removeprefix(f"{path}: ")


@needs_datasets
@pytest.mark.parametrize("path", sorted(DATASETS.glob("bat*/workloads/*.json")), ids=lambda path: path.name)
def test_every_workload_of_batsim_and_the_go_batkube_is_read(path: Path) -> None:
    content = json.loads(path.read_text())
    read = read_workload(path)
    assert [job.raw for job in read.jobs.values()] == content["jobs"]
    assert {name: profile.raw for name, profile in read.profiles.items()} == content["profiles"]


REFUSED = {
    "edge_id_contains_workload_name": "job 'raw0-job': id: must not contain 'w0'",
    "error_input_duplicate_job": "job 'a': id: used twice",
    "error_input_empty_sequence": "profile 's': seq: List should have at least 1 item",
    "error_input_float_res": "job 'a': res: expected a valid integer, not 1.5",
    "error_input_id_with_bracket": "job 'a}b': id: must have no '}'",
    "error_input_id_with_comma": "job 'a,b': id: must have no ','",
    "error_input_missing_trace": "profile 's': trace: there is no file",
    "error_input_no_com": "profile 'h': com: missing",
    "error_input_no_cpu": "profile 'h': cpu: missing",
    "error_input_null_walltime": "job 'a': walltime: expected a number, -1 for none, or nothing at all, not null",
    "error_input_parallel_no_com": "profile 'p': com: missing",
    "error_input_pfs_no_bytes": "profile 's': needs bytes_to_read, bytes_to_write or both",
    "error_input_unused_missing_element": "profile 's': seq: there is no profile 'x'",
    "error_input_unused_unknown_type": "profile 'x': type: 'spin' is no profile type",
    "error_input_id_with_bang": "job 'x!y': id: must have no '!'",
    "error_input_missing_element": "job 'a': profile 's': seq: there is no profile 'x'",
    "error_input_missing_profile": "job 'a': profile: there is no profile 'x'",
    "error_input_negative_flops": "profile 'h': cpu: expected greater than or equal to 0, not -1",
    "error_input_negative_res": "job 'a': res: expected greater than or equal to 0, not -1",
    "error_input_negative_walltime": "job 'a': walltime: expected greater than 0, not -2",
    "error_input_no_jobs": "jobs: expected an array, not None",
    "error_input_no_nb_res": "nb_res: missing",
    "error_input_no_subtime": "job 'a': subtime: missing",
    "error_input_parallel_matrix": "profile 'p': com must have 4 numbers for 2 in cpu, not 3",
    "error_input_parallel_size": "job 'a': res: is 1, but profile 'p' is made for 2",
    "error_input_text_subtime": "job 'a': subtime: expected a valid number, not '0'",
    "error_input_unknown_profile_type": "job 'a': profile 'd': type: 'spin' is no profile type",
    "error_input_zero_delay": "profile 'd': delay: expected greater than 0, not 0",
    "error_input_zero_repeat": "profile 's': repeat: expected greater than or equal to 1, not 0",
    "error_input_zero_walltime": "job 'a': walltime: expected greater than 0, not 0",
}
"""Workloads on which Batsim aborts while it loads them."""


@pytest.mark.parametrize("scenario", [s for s in scenarios("v3", "v4") if "-w" in s.command], ids=by_name)
def test_every_workload_that_batsim_took_is_read_and_others_are_refused(scenario: Scenario) -> None:
    words = scenario.command
    paths = [scenario.folder / value for word, value in pairwise(words) if word == "-w"]
    if complaint := REFUSED.get(scenario.folder.name):
        assert scenario.exit_code != 0
        with pytest.raises(WorkloadError) as refused:
            read_workload(paths[0])
        assert str(refused.value).startswith(f"{paths[0]}: {complaint}")
    else:
        for number, path in enumerate(paths):
            assert read_workload(path, f"w{number}").nb_res


def test_all_workloads_that_batsim_refused_are_here() -> None:
    refused = {s.folder.name for s in scenarios("v4") if s.exit_code != 0 and not s.dialogue and "-w" in s.command}
    of_platform_and_options = {"error_input_no_master", "error_input_mmax_too_big"}
    assert {name for name in refused if "events" not in name} == REFUSED.keys() | of_platform_and_options


def test_further_members_of_jobs_and_profiles_are_kept_as_written(tmp_path: Path) -> None:
    path = tmp_path / "w.json"
    path.write_text(
        '{"nb_res": 1, "jobs": [{"id": 3, "subtime": 0.5, "res": 1, "profile": "d", "cpu": 0.1234567891, '
        '"pod": {"id": "x", "tiny": 1e-9, "none": null}}], '
        '"profiles": {"d": {"type": "delay", "delay": 1, "scheduler": "s", "np": [1, 2.50]}}}'
    )
    read = read_workload(path)
    (only,) = read.jobs.values()
    assert (only.id, only.subtime, only.res, only.profile, only.walltime) == ("3", 0.5, 1, "d", None)
    assert only.extra == {"cpu": 0.1234567891, "pod": {"id": "x", "tiny": 1e-9, "none": None}}
    assert only.raw["id"] == 3
    assert read.profiles["d"].extra == {"scheduler": "s", "np": [1, 2.5]}
    assert read.path == path


def test_profiles_of_all_spellings_are_understood() -> None:
    read = parse_workload(
        workload(
            job(profile="s", res=2),
            profiles={
                "d": {"type": "delay", "delay": 2.5, "ret": 3},
                "d5": {"type": "DelayProfile", "delay": 1},
                "p": {"type": "parallel", "cpu": [1, 2], "com": [0, 1, 2, 0]},
                "t": {"type": "parallel_homogeneous_total", "cpu": 4, "com": 0},
                "t5": {
                    "type": "ParallelTaskHomogeneousProfile",
                    "cpu": 4,
                    "com": 0,
                    "generation_strategy": "DefinedAmountsSpreadUniformly",
                },
                "s": {"type": "composed", "repeat": 2, "seq": ["d", "p"]},
            },
        )
    )
    delay, total, total5, parallel, sequence = (read.profiles[name] for name in ("d", "t", "t5", "p", "s"))
    assert isinstance(delay, DelayProfile)
    assert (delay.delay, delay.ret) == (2.5, 3)
    assert isinstance(read.profiles["d5"], DelayProfile)
    assert isinstance(total, HomogeneousProfile)
    assert total.total
    assert isinstance(total5, HomogeneousProfile)
    assert total5.total
    assert isinstance(parallel, ParallelProfile)
    assert parallel.executors == 2
    assert isinstance(sequence, ComposedProfile)
    assert sequence.repeat == 2
    assert list(read.used_profiles) == ["d", "p", "s"]


@pytest.mark.parametrize("members", [{"walltime": -1}, {}])
def test_no_walltime_may_be_said_in_two_ways(members: JSON) -> None:
    assert parse_workload(workload(job(**members))).jobs["j7"].walltime is None


def test_a_job_may_be_called_by_its_full_identifier() -> None:
    assert list(parse_workload(workload(job(id="w0!a"))).jobs) == ["a"]
    with pytest.raises(WorkloadError, match="id: used twice"):
        parse_workload(workload(job(id="w0!a"), job(id="a")))


def test_batsim_5_takes_a_parallel_profile_of_flops_or_bytes_alone() -> None:
    profiles = {"p": {"type": "ParallelTaskProfile", "com": [0, 1, 1, 0]}}
    assert parse_workload(workload(job(profile="p", res=2), profiles=profiles)).profiles["p"]


@pytest.mark.parametrize(
    ("members", "complaint"),
    [
        ({"res": -1}, "job 'j7': res: expected greater than or equal to 0, not -1"),
        ({"res": "2"}, "job 'j7': res: expected a valid integer, not '2'"),
        ({"res": True}, "job 'j7': res: expected a valid integer, not True"),
        ({"res": 10**30}, "job 'j7': res: expected less than or equal to 10000000, not 1000"),
        ({"subtime": "0"}, "job 'j7': subtime: expected a valid number, not '0'"),
        ({"subtime": 1e300}, "job 'j7': subtime: expected less than or equal to"),
        ({"walltime": 0}, "job 'j7': walltime: expected greater than 0, not 0"),
        ({"walltime": -2}, "job 'j7': walltime: expected greater than 0, not -2"),
        ({"walltime": "1h"}, "job 'j7': walltime: expected a valid number, not '1h'"),
        ({"profile": "x"}, "job 'j7': profile: there is no profile 'x'"),
        ({"profile": 3}, "job 'j7': profile: expected a valid string, not 3"),
        ({"id": "a!b"}, "job 'a!b': id: must have no '!'"),
        ({"id": "raw0-x"}, "job 'raw0-x': id: must not contain 'w0'"),
        ({"id": ""}, "job '': id: must not be empty"),
        ({"id": 1.5}, "job 1.5: id: expected a valid string, not 1.5"),
    ],
)
def test_a_wrong_job_is_named_with_its_member(tmp_path: Path, members: JSON, complaint: str) -> None:
    assert refusal(tmp_path / "w.json", workload(job(id="first"), job(**members))).startswith(complaint)


@pytest.mark.parametrize(
    ("profile", "complaint"),
    [
        ({"type": "delay", "delay": 0}, "profile 'd': delay: expected greater than 0, not 0"),
        ({"type": "delay"}, "profile 'd': delay: missing"),
        ({"delay": 3}, "profile 'd': type: expected the name of a profile type, not None"),
        (17, "profile 'd': expected an object, not 17"),
        ({"type": "spin"}, "job 'j7': profile 'd': type: 'spin' is no profile type"),
        ({"type": "parallel", "cpu": [1, 2], "com": [0]}, "profile 'd': com must have 4 numbers for 2 in cpu, not 1"),
        ({"type": "parallel", "cpu": [-1]}, "profile 'd': cpu.0: expected greater than or equal to 0, not -1"),
        (
            {"type": "parallel", "cpu": [1, 1], "com": [0, 0, 0, 0]},
            "job 'j7': res: is 1, but profile 'd' is made for 2",
        ),
        ({"type": "parallel", "cpu": [1]}, "profile 'd': com: missing"),
        ({"type": "parallel_homogeneous", "cpu": 1e40}, "profile 'd': cpu: expected less than or equal to 1000"),
        ({"type": "composed", "seq": []}, "profile 'd': seq: List should have at least 1 item"),
        ({"type": "composed", "seq": ["d"]}, "job 'j7': profile 'd' contains itself: d > d"),
        ({"type": "composed", "seq": ["e"]}, "job 'j7': profile 'd': seq: there is no profile 'e'"),
        ({"type": "composed", "seq": ["d"], "repeat": 0}, "profile 'd': repeat: expected greater than or equal to 1"),
    ],
)
def test_a_wrong_profile_is_named_with_its_member(tmp_path: Path, profile: Any, complaint: str) -> None:
    assert refusal(tmp_path / "w.json", workload(job(), profiles={"d": profile})).startswith(complaint)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "line 1, column 1: not JSON"),
        ('{"nb_res": 1,\n "jobs": [}', "line 2, column 11: not JSON"),
        ("[]", "expected an object with jobs and profiles, not []"),
        ('{"nb_res": 0, "jobs": [], "profiles": {}}', "nb_res: expected a number of hosts greater than 0, not 0"),
        ('{"nb_res": 1, "profiles": {}}', "jobs: expected an array, not None"),
        ('{"nb_res": 1, "jobs": [], "profiles": []}', "profiles: expected an object, not []"),
        ('{"nb_res": 1, "jobs": [3], "profiles": {}}', "job number 0: expected an object, not 3"),
        ('{"nb_res": 1, "jobs": [{"subtime": 0}], "profiles": {}}', "job number 0: id: missing"),
        ('{"nb_res": NaN, "jobs": [], "profiles": {}}', "NaN is not a number that JSON knows"),
        ('{"nb_res": 1, "jobs": [], "profiles": {"d": {"delay": 1e999}}}', "the number '1e999' is too large"),
        ('{"nb_res": 1, "jobs": [], "profiles": {"a": {}, "a": {}}}', "an object has two members named 'a'"),
        ("[" * 100_000, "is nested too deeply"),
    ],
)
def test_a_file_that_is_no_workload_is_refused(tmp_path: Path, text: str, complaint: str) -> None:
    assert refusal(tmp_path / "w.json", text).startswith(complaint)


def test_two_jobs_of_one_id_are_refused_also_when_one_is_a_number(tmp_path: Path) -> None:
    assert refusal(tmp_path / "w.json", workload(job(id=1), job(id="1"))) == "job '1': id: used twice"


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(WorkloadError, match=r"absent\.json: No such file"):
        read_workload(tmp_path / "absent.json")
    with pytest.raises(WorkloadError, match="Is a directory"):
        read_workload(tmp_path)
    (tmp_path / "latin").write_bytes(b'{"nb_res": "\xe9"}')
    with pytest.raises(WorkloadError, match="is not UTF-8: byte 12 is 0xe9"):
        read_workload(tmp_path / "latin")


def nested(depth: int, repeat: int) -> JSON:
    """Sequences in sequences."""
    profiles: JSON = {"d": {"type": "delay", "delay": 1}}
    for level in range(depth):
        below = f"s{level - 1}" if level else "d"
        profiles[f"s{level}"] = {"type": "composed", "seq": [below, below], "repeat": repeat}
    return workload(job(profile=f"s{depth - 1}"), profiles=profiles)


def test_sequences_that_would_never_be_read_or_played_to_their_end_are_refused(tmp_path: Path) -> None:
    assert "sequences in sequences more than 100 deep" in refusal(tmp_path / "w.json", nested(5000, 1))
    assert "profile 's23': repeat: plays 16777216 profiles in all" in refusal(tmp_path / "w.json", nested(60, 1))
    assert "profile 's0': repeat: plays 2000000000 profiles" in refusal(tmp_path / "w.json", nested(1, 10**9))
    assert len(parse_workload(nested(8, 3)).used_profiles) == 9


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["d", "delay", "w0!a"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["id", "res", "subtime", "profile", "walltime", "type", "seq", "d"]), inner)
    ),
    max_leaves=8,
)


@given(json_values, json_values, json_values)
def test_whatever_is_in_a_file_it_is_read_or_refused(jobs: object, profiles: object, nb_res: object) -> None:
    for content in (
        jobs,
        {"nb_res": nb_res, "jobs": jobs, "profiles": profiles},
        {"nb_res": 1, "jobs": [jobs], "profiles": {"d": profiles}},
        workload(job(), profiles={"d": profiles}),
        workload({**job(), "id": jobs, "res": nb_res}),
    ):
        with contextlib.suppress(WorkloadError):
            parse_workload(content)
