"""The life of a job: started on given hosts, killed, ended in all ways, and dates at the edge."""

from tests.batsim.recording.decisions import (
    JSON,
    Decision,
    call,
    call_in,
    change_state,
    event,
    execute,
    kill,
    metadata,
    reject,
    replied_at,
    tell,
    with_member,
)
from tests.batsim.recording.kind import Kind, composed, delay, homogeneous, job, parallel, total, workload
from tests.batsim.recording.processes import Fcfs, Script

ONE = workload(job("1", 0, "d", walltime=100))
A = workload(job("a", 0, "d"))


def started(*hosts: str) -> Script:
    """Each job is started on hosts of its own: job and allocation in a word each, ``a:0-1``."""
    placed = (host.partition(":") for host in hosts)
    return {f"submitted {name}": [execute(name, alloc.replace("+", " "))] for name, _, alloc in placed}


def killed_after(**seconds: float) -> dict[str, list[Decision]]:
    """Jobs that are started on hosts 0 (and 1), and killed so much later, one after the other."""
    script: dict[str, list[Decision]] = {}
    for number, (name, after) in enumerate(seconds.items(), start=1):
        script[f"submitted {name}"] = [execute(name, "0-1" if name in ("h", "p") else "0"), call_in(after)]
        script[f"called {number}"] = [kill(name)]
    return script


KILLED = workload(
    job("d", 0, "delay", walltime=100),
    job("h", 30, "homo", 2, walltime=100),
    job("s", 60, "seq", walltime=100),
    job("n", 100, "nested", walltime=100),
    job("nw", 140, "delay"),
    job("p", 180, "par", 2),
    job("seqp", 210, "seqhomo"),
    delay=delay(20),
    homo=homogeneous(1e9),
    par=parallel([5e8, 1e8], [0, 1e6, 0, 0]),
    delay5=delay(5),
    seq=composed("delay5", repeat=3),
    nested=composed("delay5", "seq", repeat=2),
    seqhomo=composed("homo", "delay5", repeat=2),
)
TWO = workload(job("a", 0, "d", walltime=100), job("b", 0, "d30", walltime=100), d30=delay(30))
DRIVEN = workload(
    *(job(name, 10 * n, "d", walltime=100) for n, name in enumerate(("ok", "wt", "k", "rej"))), d=delay(30)
)


ALLOCATED = workload(
    job("a", 0, "d", 3), job("b", 10, "d", 3), job("c", 20, "d", 3), job("e", 30, "d", 2), job("f", 40, "d"), d=delay(5)
)

MAPPED = workload(
    job("a", 0, "h", 4),
    job("b", 100, "h", 4),
    job("c", 200, "tot", 4),
    job("e", 300, "d", 2),
    h=homogeneous(1e8),
    tot=total(4e8),
    d=delay(5),
)

TALKING = workload(
    job("a", 0, "main", walltime=200),
    job("b", 50, "main2", walltime=200),
    job("keep", 100, "k5"),
    main=composed("ask", "wait"),
    ask={"type": "send", "msg": {"kind": "hello", "n": 3}, "sleeptime": 1},
    wait={"type": "recv", "regex": "go", "success": "d5", "failure": "d1", "timeout": ""},
    main2=composed("wait2", "ask"),
    wait2={"type": "recv", "regex": "go", "success": "d5", "failure": "d1", "timeout": "d1"},
    d5=delay(5),
    d1=delay(1),
    k5=composed("d5", "d1"),
)

USERS: JSON = {
    "user": {"id": 5, "name": "x"},
    "grid": 3,
    "pod": {"metadata": {"uid": "u-1", "labels": {"n": 1e-7}}, "spec": {"cpu": "500m", "ratio": 0.123456789}},
}

KINDS = [
    Kind(
        "alloc_formats",
        "Spellings of interval sets; Batsim echoes its own.",
        ALLOCATED,
        started("a:0-1+3", "b:3+0+1", "c:0-0+1+0-1+3", "e:1-2", "f:2"),
    ),
    Kind(
        "mapping",
        "Four executors on two hosts by a mapping; a total profile on fewer hosts without.",
        MAPPED,
        {
            "submitted a": [execute("a", "0-3")],
            "submitted b": [execute("b", "2-3", mapping={"0": "0", "1": "0", "2": "1", "3": "1"})],
            "submitted c": [execute("c", "2-3")],
            "submitted e": [execute("e", "1", mapping={"0": 0, "1": 0})],
        },
    ),
    Kind(
        "additional_io_job",
        "additional_io_job inside EXECUTE_JOB's data.",
        workload(job("a", 0, "h", 2), h=homogeneous(1e8, 1e6)),
        {
            "submitted a": [
                execute(
                    "a",
                    "0-1",
                    additional_io_job={
                        "alloc": "0-3",
                        "profile_name": "my_io",
                        "profile": parallel([0, 0, 0, 0], [0, 0, 5e6, 0, 0, 0, 0, 5e6, 0, 0, 0, 0, 0, 0, 0, 0]),
                    },
                )
            ],
        },
    ),
    Kind(
        "decreasing_timestamps",
        "The events of a reply have dates that go down.",
        workload(*(job(n, 1, "d", walltime=50) for n in range(3))),
        {"submitted 2": [replied_at(6.25), *(execute(str(n), str(n), at=5.25 - n) for n in range(3))]},
    ),
    Kind(
        "integer_dates_extra_fields",
        "Whole numbers for dates, and members that Batsim does not know.",
        ONE,
        {
            "submitted 1": [
                event("EXECUTE_JOB", {"job_id": "w0!1", "alloc": "0"}, at=2, foo="bar"),
                replied_at(2),
                with_member("extra", 1),
            ]
        },
    ),
    Kind(
        "call_me_later_50us",
        "Calls 50 us ahead, one after the other.",
        ONE,
        {
            "begins": [call(1)],
            "submitted 1": [execute("1", "0")],
            **{f"called {n}": [call_in(5e-5)] for n in range(1, 5)},
        },
    ),
    Kind(
        "call_me_later_no_workload",
        "No workload; calls alone.",
        None,
        {"begins": [call(1)], **{f"called {n}": [call_in(10)] for n in range(1, 5)}},
    ),
    Kind(
        "call_me_later_tiny",
        "A call 1e-7 s ahead: past when the server handles it.",
        ONE,
        {"begins": [call(1)], "submitted 1": [execute("1", "0")], "called 1": [call_in(1e-7)]},
    ),
    Kind(
        "calls_among_decisions",
        "Calls before and behind decisions, just far enough ahead.",
        workload(*(job(n, 0, "d") for n in range(4)), d=delay(1)),
        {
            "submitted 3": [
                call_in(9e-5),
                execute("0", "0"),
                call_in(2e-4),
                execute("1", "1"),
                execute("2", "2"),
                call_in(1e-3),
                execute("3", "3"),
                call_in(1.2),
            ]
        },
    ),
    Kind(
        "error_call_behind_decisions",
        "A call for a date that four decisions before it use up.",
        workload(*(job(n, 0, "d") for n in range(4)), d=delay(1)),
        {"submitted 3": [*(execute(str(n), str(n)) for n in range(4)), call_in(5e-5)]},
    ),
    Kind(
        "kill_running",
        "Kills of running jobs of all kinds, and their progress.",
        KILLED,
        killed_after(d=5, h=4, s=7, n=13, nw=5, p=3, seqp=18),
    ),
    Kind(
        "kill_twice_same_reply",
        "Two kills in a reply that name the same job.",
        workload(job("a", 0, "d30", walltime=100), job("b", 0, "d30", walltime=100), d30=delay(30)),
        {
            "submitted a": [execute("a", "0")],
            "submitted b": [execute("b", "1"), call_in(5)],
            "called 1": [kill("a"), kill("a", "b")],
        },
    ),
    Kind(
        "kill_asked_again",
        "A kill of a job that is being killed, in the next message.",
        TWO,
        {
            "submitted a": [execute("a", "0")],
            "submitted b": [execute("b", "1"), call(5), call(5.00002)],
            "called 1": [kill("b")],
            "called 2": [kill("b")],
        },
    ),
    Kind(
        "kill_completed",
        "A kill of a job that ended before.",
        TWO,
        {"submitted a": [execute("a", "0")], "submitted b": [execute("b", "1"), call_in(15)], "called 1": [kill("a")]},
    ),
    Kind(
        "kill_just_completed",
        "A kill in the answer to the message that tells of the end.",
        TWO,
        {"submitted a": [execute("a", "0")], "submitted b": [execute("b", "1")], "completed a": [kill("a")]},
    ),
    Kind(
        "edge_execute_then_kill_same_reply",
        "A job started and killed in one reply.",
        A,
        {"submitted a": [execute("a", "0"), kill("a")]},
    ),
    Kind(
        "edge_kill_after_completion_delivered",
        "A kill at a call that comes with the end of the job.",
        A,
        {"submitted a": [execute("a", "0"), call_in(10.0005)], "called 1": [], "completed a": [kill("a")]},
    ),
    Kind(
        "edge_kill_racing_completion",
        "A kill dated after the end of a job that is not told yet.",
        workload(job("a", 0, "d"), job("b", 0, "d30"), d30=delay(30)),
        {
            "submitted a": [execute("a", "0")],
            "submitted b": [execute("b", "1"), call(5)],
            "called 1": [replied_at(10.0006), kill("a", "b", at=10.0005)],
        },
    ),
    Kind(
        "edge_negative_subtime",
        "A date of submission below 0.",
        workload(job("a", -5, "d"), job("b", 0.5, "d")),
        started("a:0", "b:1"),
    ),
    Kind(
        "edge_nested_id",
        "Members of the users' in a job: a nested id is overwritten, floats have six decimals.",
        workload(job("a", 0, "d", **USERS)),
        started("a:0"),
    ),
    Kind(
        "edge_reject_only_with_call",
        "All jobs refused while a call is pending.",
        A,
        {"submitted a": [reject("a"), call_in(5)]},
    ),
    Kind(
        "edge_too_many_resources",
        "A job that asks for more hosts than there are.",
        workload(job("a", 0, "d", 99)),
        {"submitted a": [reject("a")]},
    ),
    Kind(
        "edge_walltime_minus_one", "A walltime of -1 is none.", workload(job("a", 0, "d", walltime=-1)), started("a:0")
    ),
    Kind("edge_empty_workload", "A workload without jobs.", workload()),
    Kind(
        "edge_events_after_end",
        "A call in the reply to SIMULATION_ENDS.",
        ONE,
        {"submitted 1": [execute("1", "0")], "ends": [call_in(5)]},
    ),
    Kind(
        "zero_length",
        "No work at all, very little, and a walltime as long as the job.",
        workload(
            job("z", 0, "h0"),
            job("tiny", 1, "t"),
            job("eq", 2, "d3", walltime=3),
            h0=homogeneous(0),
            t=delay(1e-9),
            d3=delay(3),
        ),
        started("z:0", "tiny:0", "eq:0"),
    ),
    Kind(
        "return_codes",
        "Profiles that fail, also within a sequence; ids that are numbers.",
        workload(
            job(1, 0, "r0", walltime=100),
            job(2, 0, "r1", walltime=100),
            job(3, 0, "r42"),
            job(4, 0, "r1", walltime=5),
            job(5, 50, "seqfail", user={"name": "x", "list": [1, 2.5, None, True]}, prio=1e-7),
            r0=delay(10),
            r1=delay(10, ret=1),
            r42=homogeneous(1e8, ret=42, np=3),
            seqfail=composed("r0", "r1", "r0"),
        ),
        started("1:0", "2:1", "3:2", "4:3", "5:0"),
    ),
    Kind(
        "set_job_metadata",
        "Metadata of a job is kept in the table of jobs.",
        ONE,
        {"submitted 1": [metadata("1", "node=n1, reason: ok; \u00e9"), execute("1", "0")]},
    ),
    Kind(
        "long_workload",
        "Dates of submission up to 1e15 s: what the printed dates are worth.",
        workload(*(job(f"at1e{n}", 10.0**n, "d") for n in range(2, 16)), d=delay(10)),
        policy=Fcfs,
    ),
    Kind(
        "job_messages",
        "Profiles that send to the decision process and wait for it.",
        TALKING,
        {
            "submitted a": [execute("a", "0")],
            "message from a": [tell("a", "go")],
            "submitted b": [execute("b", "0"), call_in(1)],
            "called 1": [tell("b", "go")],
            "submitted keep": [execute("keep", "0")],
        },
    ),
    Kind(
        "change_job_state_completed_abort",
        "Jobs driven by CHANGE_JOB_STATE: a final state aborts.",
        DRIVEN,
        {
            "submitted ok": [change_state("ok", "RUNNING"), call_in(5)],
            "called 1": [change_state("ok", "COMPLETED_SUCCESSFULLY")],
        },
    ),
    Kind(
        "change_job_state_failed",
        "COMPLETED_FAILED is refused by CHANGE_JOB_STATE.",
        workload(job("ok", 0, "d", walltime=100)),
        {
            "submitted ok": [change_state("ok", "RUNNING"), call_in(5)],
            "called 1": [change_state("ok", "COMPLETED_FAILED")],
        },
    ),
]
