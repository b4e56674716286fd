"""The figures of a run: what each counts."""

from batkube.batsim.outputs import JobRecord
from batkube.results.accounts import Accounts
from batkube.results.figures import Figures, Spread
from batkube.results.metrics import Capacity, JobFacts, jain, job_counts, lower_bound, nearest_rank, size_class
from batkube.results.nodes import Node, NodeChange
from batkube.results.pods import PodRecord


def job(name: str, state: str, submitted: float, start: float | None = None, end: float | None = None) -> JobRecord:
    return JobRecord(
        job_id=name,
        workload_name="w",
        profile="p",
        submission_time=submitted,
        requested_number_of_resources=1,
        requested_time=None,
        success=state == "COMPLETED_SUCCESSFULLY",
        final_state=state,
        starting_time=start,
        finish_time=end,
    )


JOBS = [
    job("at-once", "COMPLETED_SUCCESSFULLY", 0, 0, 10),
    job("waits", "COMPLETED_FAILED", 1, 10, 20),
    job("too-long", "COMPLETED_WALLTIME_REACHED", 2, 20, 50),
    job("killed", "COMPLETED_KILLED", 3, 10, 12),
    job("too-large", "REJECTED", 100),
]


def figures_of(jobs: list[JobRecord]) -> Figures:
    accounts = Accounts([], [], end=100.0)
    for record in jobs:
        accounts.add_job(record)
    return accounts.figures()


def test_figures_are_over_the_jobs_that_ran_however_they_ended() -> None:
    found = figures_of(JOBS)
    assert (found.jobs, found.submitted, found.makespan) == (4, 5, 50.0)
    assert found.waiting_time == Spread(mean=(0 + 9 + 18 + 7) / 4, median=7.0, p95=18.0, p99=18.0, max=18.0)
    assert found.turnaround_time == Spread(mean=(10 + 19 + 48 + 9) / 4, median=10.0, p95=48.0, p99=48.0, max=48.0)
    # 10/10, 19/10, 48/30 and 9/2, which is 9/10 and so 1 where short jobs count for ten seconds.
    assert found.stretch.mean == (1 + 1.9 + 1.6 + 4.5) / 4
    assert found.bounded_slowdown.mean == (1 + 1.9 + 1.6 + 1) / 4
    assert found.throughput == 4 / 50 * 3600


def test_figures_have_the_six_decimals_of_batsims_files() -> None:
    assert figures_of([job("a", "COMPLETED_SUCCESSFULLY", 0, 1 / 3, 2 / 3)]).waiting_time.mean == 0.333333


def test_there_are_no_figures_where_nothing_ran() -> None:
    nothing, rejected = figures_of([]), figures_of([JOBS[-1]])
    assert (nothing.jobs, nothing.makespan, nothing.waiting_time) == (0, None, Spread())
    assert rejected == nothing.model_copy(update={"submitted": 1, "rejected": 1})


def test_each_job_counts_for_one_end() -> None:
    counts = job_counts(JOBS, submitted=7, over=5)
    assert counts.model_dump() == {
        "submitted": 7,
        "succeeded": 1,
        "failed": 1,
        "walltime_reached": 1,
        "killed": 1,
        "stopped": 0,
        "rejected": 1,
        "running": 0,
        "unfinished": 2,
    }
    endless = job_counts(JOBS, submitted=8, over=5, running=1, stopped=1)
    assert (endless.killed, endless.stopped, endless.running, endless.unfinished) == (0, 1, 1, 2)


def test_percentiles_are_by_nearest_rank() -> None:
    ordered = [float(value) for value in range(1, 11)]
    assert [nearest_rank(ordered, percent) for percent in (50, 90, 95, 99, 100)] == [5, 9, 10, 10, 10]
    assert nearest_rank([7.0], 50) == 7


def test_jains_index_is_one_where_all_are_alike() -> None:
    assert jain([3.0, 3.0, 3.0]) == 1
    assert jain([1.0, 3.0]) == 16 / 20
    assert jain([1.0]) is None


def test_size_classes_have_the_cores_of_a_job() -> None:
    names = [size_class(cores) for cores in (0.1, 1, 1.5, 2, 4, 5, 16, 64, 65, 1000)]
    assert names == ["1", "1", "2-4", "2-4", "2-4", "5-16", "5-16", "17-64", "65-", "65-"]


def test_no_schedule_can_be_done_before_the_bound() -> None:
    capacity = Capacity((4.0, 0.0, 0.0))

    def facts(submitted: float, started: float, finished: float, cores: float) -> JobFacts:
        return JobFacts(submitted, started, finished, "COMPLETED_SUCCESSFULLY", requested=(cores, 0, 0))

    # The area of both: 60 core-seconds on 4 cores; that of the second alone begins at 20: 20 + 40 / 4.
    assert lower_bound([facts(0, 0, 10, 2), facts(20, 25, 35, 4)], capacity) == 30
    # One job that is long: its submission and its length.
    assert lower_bound([facts(5, 9, 109, 1)], capacity) == 105
    assert lower_bound([facts(0, 0, 10, 4), facts(0, 10, 20, 4)], capacity) == 20


def test_utilization_counts_what_nodes_offered_while_they_were_up() -> None:
    nodes = [Node("a", "a", 2.0, 100, 0), Node("b", "b", 2.0, 100, 0)]
    accounts = Accounts(nodes, [NodeChange(10.0, "b", False)], end=20.0)
    accounts.add_job(job("x", "COMPLETED_SUCCESSFULLY", 0, 0, 20))
    accounts.add_job(job("y", "COMPLETED_KILLED", 0, 0, 12))
    for name, node, end, memory in (("x", "a", 20.0, 50), ("y", "b", 12.0, 0)):
        accounts.add_pod(
            PodRecord(
                name, "default", f"w!{name}", "s", node=node, bound_time=0.0, starting_time=0.0, finish_time=end,
                cpu=1.0, memory=memory, lost_work=12.0 if name == "y" else 0.0,
            )
        )  # fmt: skip
    figures = accounts.figures()
    # 20 core-seconds on a, 10 on b before it went; 4 cores for 10 s, then 2.
    assert figures.cpu_utilization == 0.5
    assert figures.memory_utilization == round(20 * 50 / (200 * 10 + 100 * 10), 6)
    assert figures.gpu_utilization is None
    assert (figures.killed, figures.lost_work) == (1, 12.0)
