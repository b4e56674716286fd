"""Runs about how long work takes: alone, sharing hosts and links, on storage, by traces, with energy."""

from collections.abc import Iterable
from typing import Any

from tests.batsim.recording.decisions import JSON, execute
from tests.batsim.recording.kind import (
    Kind,
    composed,
    delay,
    homogeneous,
    job,
    parallel,
    storage,
    total,
    workload,
)
from tests.batsim.recording.kinds.jobs import started
from tests.batsim.recording.processes import FirstFit, Script

CALIBRATION: list[tuple[str, float, int, str, str]] = [
    # name, date, res, profile, allocation on the platform ``cores``: 0 to 7 have one core, 8 and 9 four.
    ("a_cpu1_1", 0, 1, "cpu1", "0"),
    ("b_cpu1_4", 100, 4, "cpu1", "0-3"),
    ("c_cpu10_2g4core", 200, 1, "cpu10", "8"),
    ("d_cpu10_hetero", 300, 2, "cpu10", "0 8"),
    ("e_mix_small_2", 400, 2, "mix_small", "0-1"),
    ("f_mix_small_4", 500, 4, "mix_small", "0-3"),
    ("g_mix_big_2", 600, 2, "mix_big", "0-1"),
    ("h_mix_big_4", 700, 4, "mix_big", "0-3"),
    ("i_com_1", 800, 1, "com", "0"),
    ("j_com_2", 900, 2, "com", "0-1"),
    ("k_com_8", 1000, 8, "com", "0-7"),
    ("l_com_tiny_2", 1100, 2, "com_tiny", "0-1"),
    ("m_com_cross", 1200, 2, "com", "0 8"),
    ("n_tot_4", 1300, 4, "tot", "0-3"),
    ("o_tot_2of4", 1400, 4, "tot", "0-1"),
    ("p_totmix_4", 1500, 4, "totmix", "0-3"),
    ("q_par2", 1600, 2, "par2", "0-1"),
    ("r_selfcom", 1700, 1, "selfcom", "0"),
    ("s_delay", 1800, 3, "d7", "0-2"),
    ("w1", 2200, 1, "cpu10", "0"),
    ("w2", 2205, 1, "cpu10", "0"),
    ("x1", 2300, 2, "cpu10", "0-1"),
    ("x2", 2300, 2, "cpu10", "1-2"),
    ("y1", 2400, 2, "mix_big", "0-1"),
    ("y2", 2400, 2, "mix_big", "0 2"),
    *((f"z{n}", 2500, 1, "cpu10", "8") for n in range(4)),
    *((f"za{n}", 2600, 1, "cpu10", "9") for n in range(6)),
    # Staggered starts on one backbone, and on one host with another task on one of its hosts only.
    *((f"zb{n}", 2700 + 3 * n, 4, "mix_big", f"{n}-{n + 3}") for n in range(5)),
    *((f"zc{n}", 3000 + 1.5 * n, 2, "totmix", f"{n} 8") for n in range(4)),
    *((f"zd{n}", 3100 + 0.25 * n, 2, "com", f"{n % 3}-{n % 3 + 1}") for n in range(6)),
]
MAPPINGS = {
    "t_cpu10_wt": (job("t_cpu10_wt", 1900, "cpu10", walltime=3.5), execute("t_cpu10_wt", "0")),
    "u_map4on1": (
        job("u_map4on1", 2000, "cpu10", 4),
        execute("u_map4on1", "8", mapping={str(n): "0" for n in range(4)}),
    ),
    "v_map8on1": (
        job("v_map8on1", 2100, "cpu10", 8),
        execute("v_map8on1", "8", mapping={str(n): "0" for n in range(8)}),
    ),
}
MEASURED: dict[str, JSON] = {
    "cpu1": homogeneous(1e9),
    "cpu10": homogeneous(1e10),
    "mix_small": homogeneous(1e9, 1e6),
    "mix_big": homogeneous(1e9, 1e9),
    "com": homogeneous(0, 1e6),
    "com_tiny": homogeneous(0, 1),
    "tot": total(8e9),
    "totmix": total(8e9, 4e8),
    "par2": parallel([2e9, 1e9], [0, 5e7, 0, 0]),
    "selfcom": parallel([0], [1e8]),
    "d7": delay(7.125),
}


def _calibration() -> tuple[JSON, Script]:
    jobs = [job(name, date, profile, res) for name, date, res, profile, _ in CALIBRATION]
    jobs += [described for described, _ in MAPPINGS.values()]
    script: Script = {
        **{f"submitted {name}": [execute(name, alloc)] for name, _, _, _, alloc in CALIBRATION},
        **{f"submitted {name}": [decision] for name, (_, decision) in MAPPINGS.items()},
    }
    return workload(*jobs, nb_res=10, **MEASURED), script


SHARING = workload(
    job("a", 0, "h"), job("b", 5, "h"), job("c", 60, "d"), job("e", 62, "d"), job("f", 63, "h", 2), h=homogeneous(8e8)
)

LINKS = workload(
    # Two flows on the shared lane, two on the split-duplex brook against and along each other, two on the fat pipe.
    *(
        job(f"{pair}{n}", date, profile, 2)
        for n, (pair, date, profile) in enumerate(
            (
                ("lane", 0, "there"),
                ("lane", 0.5, "there"),
                ("brook", 20, "there"),
                ("brook", 20.5, "back"),
                ("brook", 21, "both"),
                ("sky", 60, "there"),
                ("sky", 60.25, "there"),
                ("all", 90, "both"),
                ("all", 90.5, "work"),
            )
        )
    ),
    there=parallel([0, 0], [0, 5e7, 0, 0]),
    back=parallel([0, 0], [0, 0, 5e7, 0]),
    both=homogeneous(0, 4e7),
    work=homogeneous(2e8, 3e7),
)

ON_STORAGE = workload(
    job("r", 0, "read", 4),
    job("w", 40, "write", 2),
    job("rw", 80, "both", 3),
    job("other", 120, "burst", 4),
    *(job(f"many{n}", 160 + n, "both", 2) for n in range(4)),
    read=storage(read=1.5e8),
    write=storage(write=6e7),
    both=storage(read=4e7, write=2e7),
    burst=storage(read=5e8, write=1e8, storage="burst"),
)

STENCIL = workload(
    *(
        job(f"{group}{n}", 400 * group + gap * n, "stencil", 4, walltime=900)
        for group, (count, gap) in enumerate(((1, 0), (2, 0), (2, 1.5), (4, 0)))
        for n in range(count)
    ),
    job("9cut", 2000, "stencil", 4, walltime=33),
    read=storage(read=1.2e8),
    write=storage(write=6e7),
    iteration=homogeneous(1e9, 1e6),
    steps=composed("iteration", repeat=5),
    stencil=composed("read", "steps", "write", repeat=2),
)

PHASES = {
    "even": ["0 m_usage 1 100\n0 m_usage 0.5 50\n", "1 m_usage 1 100\n1 m_usage 0.5 50\n"],
    "uneven": ["0 m_usage 0.25 80\n", "1 m_usage 0.75 80\n1 m_usage 0.1 30\n"],
    "odd": ["0 m_usage 0.9 0.5\n0 m_usage 0.013 77\n0 m_usage 1 3\n", "1 m_usage 0.31 120\n"],
}


def traced(type_: str, folder: str, names: Iterable[str]) -> dict[str, Any]:
    """A profile for each trace."""
    return {name: {"type": type_, "trace": f"{folder}/{name}.txt"} for name in names}


USAGES = workload(
    job("delay", 0, "d", 2, walltime=100),
    *(
        job(f"{name}{n}", 200 + 300 * place + n, name, 2, walltime=1000)
        for place, name in enumerate(PHASES)
        for n in range(2)
    ),
    job("cut", 1200, "even", 2, walltime=120.5),
    **traced("usage_trace", "usage", PHASES),
)

RANKS = {
    "compute": ["0 init\n0 compute 1e9\n0 finalize\n", "1 init\n1 compute 5e8\n1 finalize\n"],
    "mixed": [
        "0 init\n0 send 1 0 1e6\n0 recv 1 0 1e6\n0 compute 1e9\n0 send 1 0 1e5\n0 finalize\n",
        "1 init\n1 recv 0 0 1e6\n1 send 0 0 1e6\n1 compute 2e9\n1 recv 0 0 1e5\n1 finalize\n",
    ],
    "collective": [
        "0 init\n0 compute 1e8\n0 bcast 1e5 0 0\n0 barrier\n0 finalize\n",
        "1 init\n1 bcast 1e5 0 0\n1 barrier\n1 finalize\n",
    ],
}


def traces(folder: str, of: dict[str, list[str]]) -> dict[str, str]:
    """Files of traces: one that lists those of the ranks, for each name."""
    files = {}
    for name, ranks in of.items():
        names = [f"{name}-{rank}.txt" for rank in range(len(ranks))]
        files[f"{folder}/{name}.txt"] = "".join(f"{rank}\n" for rank in names)
        files.update({f"{folder}/{rank}": text for rank, text in zip(names, ranks, strict=True)})
    return files


def replayed(*names: str) -> JSON:
    return workload(
        *(job(name, 10 * (n + 1), name, 2, walltime=500) for n, name in enumerate(names)),
        **traced("smpi", "smpi", names),
    )


DIAMOND = """\
<?xml version="1.0" encoding="UTF-8"?>
<adag xmlns="http://pegasus.isi.edu/schema/DAX" version="2.1" count="1" index="0" name="diamond"
  jobCount="6" fileCount="0" childCount="5">
  <job id="ID0" namespace="n" name="split" version="1.0" runtime="12.5"/>
  <job id="ID1" namespace="n" name="left" version="1.0" runtime="30"/>
  <job id="ID2" namespace="n" name="middle" version="1.0" runtime="4.25"/>
  <job id="ID3" namespace="n" name="right" version="1.0" runtime="20"/>
  <job id="ID4" namespace="n" name="join" version="1.0" runtime="3"/>
  <job id="ID5" namespace="n" name="report" version="1.0" runtime="1"/>
  <child ref="ID1"><parent ref="ID0"/></child>
  <child ref="ID2"><parent ref="ID0"/></child>
  <child ref="ID3"><parent ref="ID0"/></child>
  <child ref="ID4"><parent ref="ID1"/><parent ref="ID2"/><parent ref="ID3"/></child>
  <child ref="ID5"><parent ref="ID4"/></child>
</adag>
"""


TALKS = workload(
    job("talk", 20, "talk", 2),
    job("all", 40, "talk", 3),
    job("there", 80, "there", 2),
    job("back", 120, "back", 2),
    job("near", 160, "d", 2),
    talk=homogeneous(1e8, 3e6),
    there=parallel([0, 0], [0, 2e6, 0, 0]),
    back=parallel([0, 0], [0, 0, 2e6, 0]),
)
WHERE = started("near:0-1", "talk:0-1", "all:0-2", "there:0+2", "back:0+2")

KINDS = [
    Kind("vivaldi", "Latencies by coordinates, without links.", TALKS, WHERE, platform="hills"),
    Kind("vivaldi_peers", "Peers: latencies by coordinates, and links of their own.", TALKS, WHERE, platform="peers"),
    Kind("cluster_talks", "The same jobs in a cluster.", TALKS, WHERE, platform="cluster"),
    Kind("zones_talk", "The same jobs in zones, with split-duplex links.", TALKS, WHERE, platform="valley"),
    Kind(
        "ptask_calibration",
        "Each profile alone, then chosen overlaps, on hosts of one and four cores.",
        *_calibration(),
        platform="cores",
        options="--enable-compute-sharing",
    ),
    Kind(
        "one_computation_job",
        "A homogeneous job on hosts of unlike speeds.",
        workload(job("1", 0, "h", 4), h=homogeneous(1e8, 1e6)),
        started("1:0-3"),
    ),
    Kind(
        "one_computation_job_tot",
        "The same work as a total.",
        workload(job("1", 0, "t", 4), t=total(4e8, 1.2e7)),
        started("1:0-3"),
    ),
    Kind(
        "compute_sharing",
        "Jobs on one host at once: work slows down, delays do not.",
        SHARING,
        started("a:0", "b:0", "c:0", "e:0", "f:0+2"),
        options="--enable-compute-sharing",
    ),
    Kind(
        "link_sharing",
        "Flows on shared, split-duplex and fat-pipe links.",
        LINKS,
        {
            **{f"submitted lane{n}": [execute(f"lane{n}", "1-2")] for n in (0, 1)},
            **{f"submitted brook{n}": [execute(f"brook{n}", "0 2")] for n in (2, 3, 4)},
            **{f"submitted sky{n}": [execute(f"sky{n}", "2-3")] for n in (5, 6)},
            **{f"submitted all{n}": [execute(f"all{n}", f"{n - 7} {n - 5}")] for n in (7, 8)},
        },
        options="--enable-compute-sharing",
    ),
    Kind(
        "pfs_cluster",
        "Reads from and writes to storage hosts, alone and together.",
        ON_STORAGE,
        {
            f"submitted {name}": [execute(name, alloc, storage_mapping={"pfs": 97, "burst": 96})]
            for name, alloc in (
                ("r", "0-3"),
                ("w", "0-1"),
                ("rw", "0-2"),
                ("other", "0-3"),
                *((f"many{n}", f"{10 + 2 * n}-{11 + 2 * n}") for n in range(4)),
            )
        },
        platform="cluster",
    ),
    Kind(
        "stencil",
        "Jobs that read, iterate and write, alone and together on one storage host.",
        STENCIL,
        {
            f"submitted {described['id']}": [
                execute(described["id"], f"{4 * n}-{4 * n + 3}", storage_mapping={"pfs": 97})
            ]
            for n, described in enumerate(STENCIL["jobs"])
        },
        platform="cluster",
    ),
    Kind(
        "pfs_one_storage",
        "One storage host needs no mapping.",
        workload(job("r", 0, "read", 2), read=storage(read=3e7)),
        started("r:0-1"),
        options="-r cedar:storage",
    ),
    Kind(
        "data_staging",
        "Bytes from one storage host to another; the job is on a storage host.",
        workload(job("s", 0, "st"), st={"type": "data_staging", "nb_bytes": 1e7, "from": "pfs", "to": "nfs"}),
        {"submitted s": [execute("s", "2", storage_mapping={"pfs": 2, "nfs": 3})]},
        options="-r alder2,cedar:storage",
    ),
    Kind(
        "usage_trace",
        "Traces of the use of cores, with energy.",
        USAGES,
        {
            **started(
                "delay:0-1", "even0:0-1", "even1:2-3", "uneven0:0-1", "uneven1:2-3", "odd0:0-1", "odd1:2-3", "cut:0-1"
            )
        },
        platform="usage",
        options="-E",
        files=traces("usage", PHASES),
    ),
    Kind(
        "smpi_compute_only",
        "An MPI trace that computes.",
        replayed("compute"),
        started("compute:0-1"),
        files=traces("smpi", RANKS),
    ),
    Kind(
        "smpi_mixed",
        "MPI traces with point-to-point messages.",
        replayed("mixed"),
        started("mixed:0-1"),
        files=traces("smpi", RANKS),
    ),
    Kind(
        "smpi_collective",
        "MPI traces with collective operations.",
        replayed("collective"),
        started("collective:0-1"),
        files=traces("smpi", RANKS),
    ),
    Kind(
        "workflow",
        "A workflow: tasks become jobs when those before them have ended.",
        None,
        policy=FirstFit,
        options="-W diamond.dax",
        files={"diamond.dax": DIAMOND},
    ),
    Kind(
        "workflow_later",
        "--WS: a workflow that begins at 7.5 s, beside a workload.",
        workload(job("x", 5, "d", 3)),
        policy=FirstFit,
        options="--WS diamond.dax 7.5",
        files={"diamond.dax": DIAMOND},
    ),
]
