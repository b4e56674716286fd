"""``batkube fit-startup``: a start-up model from recorded pod times, and how well it fits those kept aside."""

from collections.abc import Sequence
from statistics import fmean

import yaml
from rich.console import Console
from rich.table import Table

from batkube.commands.errors import tell
from batkube.named_file import write_named
from batkube.settings import FitSettings
from batkube.startup import fit
from batkube.startup.delays import quantile
from batkube.startup.errors import StartupError
from batkube.startup.model import STAGES, StartupModel
from batkube.startup.recorded import Delays, read_recorded

BAD_INPUT = 2
SHOWN = (0.1, 0.5, 0.9, 0.99)
"""The quantiles that are printed."""


def main(settings: FitSettings) -> int:
    """Write the model and print the comparison; the exit code."""
    try:
        rows = read_recorded(settings.recorded, process_time=settings.process_time)
        if settings.test:
            aside = read_recorded(settings.test, process_time=settings.process_time)
        else:
            rows, aside = fit.split(rows, settings.hold_out, settings.seed)
        model = _fit(rows, settings)
        write_named(settings.out, _text(model, len(rows), settings))
    except (StartupError, OSError) as error:
        tell(error)
        return BAD_INPUT
    console = Console(emoji=False, highlight=False)
    console.print(comparison(model, rows, aside))
    for stage in STAGES:
        if stage not in model.model_fields_set:
            console.print(_left_out(stage, settings))
    console.print(
        f"{settings.out}: fitted to {len(rows)} rows, compared with {len(aside)} others", soft_wrap=True, markup=False
    )
    return 0


def _fit(rows: Sequence[Delays], settings: FitSettings) -> StartupModel:
    if all(len(fit.delays_of(stage, rows)) < fit.FEWEST for stage in STAGES):
        files = ", ".join(str(path) for path in settings.recorded)
        raise StartupError(f"{files}: no stage has its times in {fit.FEWEST} rows or more")
    return fit.fit(rows, settings.family)


def _left_out(stage: str, settings: FitSettings) -> str:
    if stage == "ended" and settings.process_time is None:
        return "ended: left out; it needs a column exit_time, or --process-time"
    return f"{stage}: left out, since fewer than {fit.FEWEST} rows have its times"


def _text(model: StartupModel, rows: int, settings: FitSettings) -> str:
    files = " ".join(path.name for path in settings.recorded)
    content = model.model_dump(exclude_unset=True)
    lines = [f"# Seconds; {settings.family.value} fitted to {rows} rows of {files} (batkube fit-startup)"]
    for stage, delay in content.items():
        lines.append(yaml.safe_dump({stage: delay}, default_flow_style=None, width=120).rstrip())
    return "\n".join(lines) + "\n"


def comparison(model: StartupModel, rows: Sequence[Delays], aside: Sequence[Delays]) -> Table:
    """Return two lines a stage, as measured in ``aside`` and as the model has it; at the end all up to Running."""
    table = Table(title="rows kept aside, and the model (seconds)", title_justify="left")
    for name in ("stage", "", "rows", "mean", *(f"{p:.0%}" for p in SHOWN), "KS distance"):
        table.add_column(name, justify="left" if name in ("stage", "") else "right")
    for stage in STAGES:
        if stage in model.model_fields_set:
            used = len(fit.delays_of(stage, rows))
            _add(table, stage, fit.delays_of(stage, aside), fit.sample(getattr(model, stage)), used)
    before_running = [stage for stage in STAGES[:-1] if stage in model.model_fields_set]
    whole = [sum(row[stage] for stage in before_running) for row in aside if all(s in row for s in before_running)]
    if len(before_running) > 1:
        complete = sum(all(stage in row for stage in before_running) for row in rows)
        _add(table, "all to Running", whole, fit.start_times(model), complete)
    return table


def _add(table: Table, name: str, measured: Sequence[float], modelled: Sequence[float], used: int) -> None:
    if measured:
        distance = f"{fit.distance(measured, modelled):.3f}"
        table.add_row(name, "measured", str(len(measured)), *_figures(measured), distance)
    else:
        table.add_row(name, "measured", "0")
    table.add_row("", "model", str(used), *_figures(modelled), end_section=True)


def _figures(values: Sequence[float]) -> list[str]:
    ordered = sorted(values)
    return [f"{value:.3f}" for value in (fmean(ordered), *(quantile(ordered, p) for p in SHOWN))]
