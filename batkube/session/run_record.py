"""The content of ``run.json`` from the start: what is run, with what, and why another run may differ."""

import shutil
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from batkube import __version__
from batkube.bridge.controller_settings import controller_file
from batkube.bridge.step_settings import QuiescenceMeans
from batkube.clock.launch import Mode
from batkube.results.run import IN_PROCESS, DecisionTime, ImportedFile, InputFile, Program, Run, Scheduler, input_file
from batkube.schedulers.policies.loading import ordered_sets
from batkube.schedulers.programs import Programs
from batkube.schedulers.under_test import SchedulerUnderTest
from batkube.session.inputs import Inputs
from batkube.session.manifests import given_files
from batkube.session.programs import program_records
from batkube.settings import Clock, Determinism, RunSettings, ServeSettings


def run_record(
    settings: RunSettings, inputs: Inputs, command: list[str], mode: Mode, programs: Programs | None = None
) -> Run:
    """Return the record of ``batkube run``. Raises OSError, and ManifestError."""
    return Run(
        batkube=__version__,
        scenario=input_file(settings.scenario) if settings.scenario else None,
        platform=input_file(settings.platform[0]) if settings.platform else None,
        platform_sources=_sources(inputs),
        workloads=_workloads(settings, inputs),
        startup=input_file(settings.startup) if settings.startup else None,
        durations=input_file(settings.run_times.durations) if settings.run_times.durations else None,
        schedule=input_file(settings.schedule) if settings.schedule else None,
        controllers=input_file(file) if (file := controller_file(settings.controllers)) else None,
        objects=[input_file(file) for file in given_files(settings.api)],
        scheduler=Scheduler(
            kind=inputs.scheduler.kind,
            command=command,
            clock=IN_PROCESS if inputs.scheduler.policy else mode,
            determinism=(settings.determinism if command or inputs.scheduler.policy else Determinism.NONE).value,
            names=list(inputs.scheduler.names),
            log="scheduler.log" if command else None,
            source=input_file(source) if (source := inputs.scheduler.source) else None,
            binary=_program(inputs.scheduler, command),
            configuration=input_file(settings.scheduler_config) if settings.scheduler_config else None,
        ),
        programs=program_records(settings, programs, mode),
        decision_time=DecisionTime(model=str(settings.step.decision_time)),
        not_repeatable=_not_repeatable(mode, settings, inputs),
        simulator=settings.simulator,
        exact=settings.exact,
        compute_sharing=settings.batsim.compute_sharing,
        batsim=settings.batsim.model_dump(mode="json", exclude_defaults=True),
        batsim_inputs=[input_file(path) for path in settings.batsim.input_files],
        seed=settings.seed,
        epoch=settings.epoch,
        settings=settings.step.model_dump(mode="json"),
        options=options_given(settings),
    )


def served_run_record(settings: ServeSettings) -> Run:
    """Return the record of a simulation of ``batkube serve``. Raises OSError, and ManifestError."""
    return Run(
        batkube=__version__,
        scheduler=Scheduler(kind="none", names=list(settings.scheduler_names)),
        simulator=settings.batsim,
        startup=input_file(settings.startup) if settings.startup else None,
        durations=input_file(settings.run_times.durations) if settings.run_times.durations else None,
        controllers=input_file(file) if (file := controller_file(settings.controllers)) else None,
        objects=[input_file(file) for file in given_files(settings.api)],
        seed=settings.seed,
        epoch=settings.epoch,
        not_repeatable=["the scheduler lives on the real clock"],
        settings=settings.step.model_dump(mode="json"),
        options=options_given(settings),
    )


def options_given(settings: BaseModel) -> dict[str, Any]:
    """Return the settings that are not as they are by default; a token is nobody's business."""
    given = settings.model_dump(mode="json", exclude_defaults=True)
    if "token" in given.get("access", {}):
        given["access"]["token"] = "..."
    return given


def _sources(inputs: Inputs) -> list[InputFile]:
    """Return the files that the platform was made of, where it was made."""
    given = inputs.given_platform
    return [input_file(path) for path in given.files] if given is not None and given.text is not None else []


def _workloads(settings: RunSettings, inputs: Inputs) -> list[ImportedFile | InputFile]:
    """Return the files; of one that was converted the original."""
    paths = zip(inputs.workloads, settings.workloads, strict=True)
    jobs = [inputs.imported[name].file if name in inputs.imported else input_file(path) for name, path in paths]
    return [*jobs, *inputs.dated.files]


def _program(scheduler: SchedulerUnderTest, command: list[str]) -> Program | None:
    found = shutil.which(command[0]) if command else None
    if found is None:
        return None
    file = input_file(Path(found))
    return Program(path=file.path, sha256=file.sha256, version=scheduler.version())


def _not_repeatable(mode: Mode, settings: RunSettings, inputs: Inputs) -> list[str]:
    """Return why runs in this mode may differ; in others they gave the same bytes when it was tried (docs/time.md)."""
    why = (
        "; `batkube doctor` says why"
        if settings.clock is Clock.AUTO and settings.step.quiescence is QuiescenceMeans.AUTO
        else ""
    )
    scheduler = inputs.scheduler
    apart = scheduler.policy is None
    reasons = [
        (
            apart and mode == "real",
            f"the scheduler lives on the real clock{why if scheduler.kind != 'none' else ''}",
        ),
        (
            apart and settings.determinism is Determinism.NONE,
            "nothing makes the scheduler do the same each time (--no-determinism)",
        ),
        (
            scheduler.source is not None and not ordered_sets(),
            "Python's sets have another order in each process (PYTHONHASHSEED is not set)",
        ),
        (settings.step.decision_time.model == "real", "decisions take real time"),
    ]
    return [reason for holds, reason in reasons if holds]
