"""Jobs and profiles that the decision process registers."""

from tests.batsim.recording.decisions import Decision, call_in, execute, kill, notify, register_job, register_profile
from tests.batsim.recording.kind import Kind, delay, homogeneous, job, parallel, total, workload
from tests.batsim.recording.kinds.jobs import ONE, started
from tests.batsim.recording.processes import Script


def dynamic(count: int, *, acknowledged: bool) -> Script:
    """``count`` jobs registered one after the other by the decision process."""

    def new(number: int) -> list[Decision]:
        made = [
            register_profile(f"p{number}", delay(5 + number)),
            register_job(f"dyn!{number}", f"p{number}", walltime=20.0, colour="blue"),
        ]
        return made if acknowledged else [*made, execute(f"dyn!{number}", "0")]

    script: dict[str, list[Decision]] = {"begins": new(0)}
    for number in range(count):
        last = number == count - 1
        script[f"submitted dyn!{number}"] = [execute(f"dyn!{number}", "0")]
        script[f"completed dyn!{number}"] = [notify("registration_finished")] if last else new(number + 1)
    return script


CONTINUED: Script = {
    "begins": [register_profile("p0", delay(5)), register_job("dyn!0", "p0"), execute("dyn!0", "0")],
    "completed dyn!0": [notify("registration_finished"), notify("continue_registration"), call_in(1)],
    "called 1": [register_profile("p1", delay(6)), register_job("dyn!1", "p1"), execute("dyn!1", "0")],
    "completed dyn!1": [notify("registration_finished")],
}

GOES_AND_COMES = """\
{"type": "machine_unavailable", "resources": "0", "timestamp": 0.7}
{"type": "machine_available", "resources": "0", "timestamp": 20}
"""

KINDS = [
    Kind(
        "dynamic_ack",
        "Jobs registered by the decision process, acknowledged.",
        None,
        dynamic(3, acknowledged=True),
        options="--enable-dynamic-jobs --acknowledge-dynamic-jobs",
    ),
    Kind(
        "dynamic_noack",
        "The same, not acknowledged.",
        None,
        dynamic(3, acknowledged=False),
        options="--enable-dynamic-jobs",
    ),
    Kind(
        "dynamic_continue",
        "Registration ended and taken up again in one reply; a job in a later one.",
        None,
        CONTINUED,
        options="--enable-dynamic-jobs",
    ),
    Kind(
        "dynamic_continue_same_reply",
        "And a job in the very reply.",
        None,
        {
            **CONTINUED,
            "completed dyn!0": [
                notify("registration_finished"),
                notify("continue_registration"),
                register_profile("p1", delay(6)),
                register_job("dyn!1", "p1"),
                execute("dyn!1", "0"),
            ],
        },
        options="--enable-dynamic-jobs",
    ),
    Kind(
        "dynamic_never_finished",
        "registration_finished is never said: a deadlock.",
        ONE,
        started("1:0"),
        options="--enable-dynamic-jobs",
    ),
    Kind(
        "dynamic_profile_gc",
        "A profile is gone with the last job that uses it.",
        workload(job("a", 0, "d", walltime=50)),
        {
            "submitted a": [execute("a", "0")],
            "completed a": [register_job("x1", "d"), execute("x1", "0")],
            "completed x1": [register_job("x2", "d"), execute("x2", "0")],
        },
        options="--enable-dynamic-jobs",
    ),
    Kind(
        "dynamic_profile_reuse",
        "It stays with --enable-profile-reuse.",
        workload(job("a", 0, "d", walltime=50)),
        {
            "submitted a": [execute("a", "0")],
            "completed a": [register_job("x1", "d"), execute("x1", "0")],
            "completed x1": [register_job("x2", "d"), execute("x2", "0")],
            "completed x2": [notify("registration_finished")],
        },
        options="--enable-dynamic-jobs --enable-profile-reuse",
    ),
    Kind(
        "dynamic_requeued",
        "A host goes while a delay, a parallel task and a pod of a client run there: what is left is registered in w0.",
        workload(job("a", 0, "d", walltime=50), job("b", 0, "t", walltime=60), t=homogeneous(9.87654321e8, 1e6)),
        {
            "submitted a": [execute("a", "0")],
            "submitted b": [
                execute("b", "0"),
                register_profile("pod", delay(100), "pods"),
                register_job("pods!pod", "pod"),
                execute("pods!pod", "0"),
            ],
            "event_machine_unavailable": [kill("a"), kill("b"), kill("pods!pod")],
            "completed a": [
                register_profile("a.attempt2", delay(10), "w0"),
                register_job("a.attempt2", "a.attempt2", walltime=50.0),
                execute("a.attempt2", "1"),
            ],
            "completed b": [
                register_profile("b.attempt2", homogeneous(1.23456789e8, 1e5), "w0"),
                register_job("b.attempt2", "b.attempt2", walltime=60.0),
            ],
            "completed pods!pod": [
                register_profile("pod.run2", delay(1e-6), "pods"),
                register_job("pods!pod.run2", "pod.run2"),
                execute("pods!pod.run2", "1"),
            ],
            "event_machine_available": [execute("b.attempt2", "0")],
            "completed b.attempt2": [notify("registration_finished")],
        },
        options="--enable-dynamic-jobs --enable-compute-sharing --events events.txt",
        files={"events.txt": GOES_AND_COMES},
    ),
    Kind(
        "dynamic_mixed",
        "Registered jobs of several profiles beside given ones.",
        workload(*(job(n, 4 * n, "d", walltime=50) for n in range(3))),
        {
            "begins": [
                register_profile("par", parallel([5e7, 5e7], [0, 1e5, 1e5, 0])),
                register_profile("tot", total(9e7)),
                register_job("dyn!p", "par", res=2),
                register_job("dyn!t", "tot", res=3),
                register_job("dyn!u", "tot"),
                execute("dyn!p", "2-3"),
            ],
            "completed dyn!p": [execute("dyn!t", "1-3")],
            "completed dyn!t": [execute("dyn!u", "2"), notify("registration_finished")],
            **{f"submitted {n}": [execute(str(n), "0")] if n == 0 else [] for n in range(3)},
            "completed 0": [execute("1", "0")],
            "completed 1": [execute("2", "0")],
        },
        options="--enable-dynamic-jobs",
    ),
]
