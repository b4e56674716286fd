"""``batkube generate``: a workload that is drawn from a seed."""

from batkube.batsim.workload import WorkloadError
from batkube.commands.errors import tell
from batkube.settings import BAD_INPUT, FINISHED
from batkube.workloads.formats import reader_for
from batkube.workloads.settings import GenerateSettings, cpus_of, priorities_of, sizes_of
from batkube.workloads.source import Source
from batkube.workloads.synthetic import Shape, drawn, drawn_like
from batkube.workloads.writers import WRITERS, format_to_write


def main(settings: GenerateSettings) -> int:
    """Draw and write; the exit code."""
    try:
        name = format_to_write(settings.out, settings.to)
        if settings.like is not None:
            trace = Source(settings.like)
            known = list(reader_for(trace, settings.format).records(trace))
            trace.taken = len(known)
            if line := trace.left_out:
                tell(line)
            records = drawn_like(known, settings.jobs, settings.seed, settings.every)
        else:
            given = {} if settings.every is None else {"every": settings.every}
            shape = Shape(
                duration=settings.duration,
                spread=settings.spread,
                sizes=sizes_of(settings.sizes),
                cpus=cpus_of(settings.cpu),
                users=settings.users,
                priorities=() if settings.priorities is None else priorities_of(settings.priorities),
                **given,
            )
            records = drawn(shape, settings.jobs, settings.seed)
        for line in WRITERS[name](settings.out, Source(settings.out), records):
            tell(line)
    except (WorkloadError, OSError) as error:
        tell(error)
        return BAD_INPUT
    print(f"{settings.out}: {settings.jobs} jobs ({name})")
    return FINISHED
