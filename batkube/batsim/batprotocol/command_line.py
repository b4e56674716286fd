"""The command line of Batsim 5."""

from collections.abc import Sequence
from pathlib import Path

from batkube.batsim.batprotocol.init_string import Options, write_init_string


def arguments(
    address: str,
    *,
    platform: Path,
    workloads: Sequence[Path] = (),
    external_events: Sequence[Path] = (),
    export_prefix: Path = Path("out"),
    master_host: str | None = None,
    roles: Sequence[str] = (),
    mmax: int | None = None,
    mmax_workload: bool = False,
    energy: bool = False,
    state_tracing: bool = True,
    quiet: bool = False,
    init: str | None = None,
    options: Options | None = None,
    further: Sequence[str] = (),
) -> list[str]:
    """Return the arguments for a Batsim 5 that shall call at ``address``.

    ``export_prefix``: the prefix of its output files, before ``_jobs.csv`` and the like, as for Batsim 4. ``roles``: as
    Batsim 4 writes them, ``HOST[,HOST]:ROLE``. ``init``: an init string of the user's own, which replaces ``options``.
    ``energy``: the energy of hosts; Batsim 5 has none of links. ``state_tracing``: write ``machine_states.csv`` and
    ``pstate_changes.csv``, which Batsim 4 does without being asked.

    Raises ValueError for a wrong role.
    """
    said = ["-p", str(platform.absolute())]
    for path in workloads:
        said += ["-w", str(path.absolute())]
    for path in external_events:
        said += ["--ee", str(path.absolute())]
    # Batsim 5.0.0-rc2 aborts on a prefix without a folder.
    said += ["-e", f"{export_prefix.absolute()}_"]
    said += ["-s", address, write_init_string(options or Options()) if init is None else init]
    if master_host is not None:
        said += ["-m", master_host]
    for host, role in _roles(roles):
        said += ["-r", host, role]
    if mmax is not None:
        said += ["--mmax", str(mmax)]
    for wanted, option in (
        (mmax_workload, "--mmax-workload"),
        (energy, "--energy-host"),
        (state_tracing, "--trace-machine-state"),
        (state_tracing, "--trace-pstate-changes"),
        (quiet, "-q"),
    ):
        if wanted:
            said.append(option)
    return said + list(further)


def _roles(texts: Sequence[str]) -> list[tuple[str, str]]:
    roles = []
    for text in texts:
        hosts, colon, role = text.rpartition(":")
        if not colon or not hosts or not role:
            raise ValueError(f"role: expected HOST[,HOST]:ROLE, not {text!r}")
        roles += [(host, role) for host in hosts.split(",")]
    return roles
