"""Workflows of tasks, beside each other and beside a workload."""

from itertools import pairwise
from random import Random
from typing import Any

from tests.simulator.cases.energy import platform
from tests.simulator.scripted import Case

RECORDED = 15
JSON = dict[str, Any]
HOSTS = 4


def cases() -> list[Case]:
    return [random_case(seed) for seed in range(RECORDED)]


def random_case(seed: int) -> Case:
    """One or two workflows, with and without a date to begin at and a limit."""
    rng = Random(seed)
    files = {"flow.dax": _dax(rng)}
    options = ["-W", "flow.dax"]
    if rng.random() < 0.4:
        files["late.dax"] = _dax(rng)
        options += ["--WS", "late.dax", f"{rng.uniform(0, 20):.2f}"]
    if rng.random() < 0.4:
        options += ["--workflow-jobs-limit", str(rng.randint(1, 3))]
    workload: JSON | None = None
    if rng.random() < 0.5:
        jobs = [
            {"id": f"j{number}", "subtime": round(rng.uniform(0, 60), 2), "res": 1, "profile": "d"}
            for number in range(rng.randint(1, 4))
        ]
        workload = {"nb_res": HOSTS, "jobs": jobs, "profiles": {"d": {"type": "delay", "delay": 3.5}}}
        options += rng.choice([[], ["--ignore-beyond-last-workflow"]])
    kinds = [rng.randrange(2) for _ in range(HOSTS)]
    return Case(f"workflow {seed}", platform(rng, kinds), workload, [], options, files, first_come=True)


def _dax(rng: Random) -> str:
    """Tasks in a few layers. Their runtimes are all different, so that no two end at one date."""
    layers = [[f"ID{layer}{task}" for task in range(rng.randint(1, 3))] for layer in range(rng.randint(1, 4))]
    parts = []
    for name in (name for layer in layers for name in layer):
        processors = rng.choice(["", f' num_procs="{rng.randint(0, 3)}"'])
        parts.append(f'<job id="{name}" name="task" runtime="{rng.uniform(1, 20):.4f}"{processors}/>')
    for above, layer in pairwise(layers):
        for name in layer:
            parents = rng.sample(above, rng.randint(0, len(above)))
            lines = "".join(f'<parent ref="{parent}"/>' for parent in parents)
            parts.append(f'<child ref="{name}">{lines}</child>')
    content = "\n".join(parts)
    return (
        f'<?xml version="1.0"?>\n<adag xmlns="http://pegasus.isi.edu/schema/DAX" version="2.1">\n{content}\n</adag>\n'
    )
