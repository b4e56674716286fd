"""Job identifiers: ``WORKLOAD!NAME`` on the wire, the bare name in workload files and in jobs.csv."""


def job_id(workload: str, name: str) -> str:
    """Return the full identifier of the job ``name`` of ``workload``."""
    return f"{workload}!{name}"


def split_job_id(text: str) -> tuple[str, str]:
    """Return workload and name. Raises ValueError for a text that is no full identifier."""
    workload, _, name = text.partition("!")
    if not workload or not name or "!" in name:
        raise ValueError("expected a job identifier, WORKLOAD!NAME")
    return workload, name
