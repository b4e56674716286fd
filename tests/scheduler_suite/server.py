"""Becomes batkube for one test, with what the test asks of its API server: `server.py PORT KUBECONFIG`."""

import csv
import os
import sys
from collections.abc import Iterable
from pathlib import Path

_TAKEN = ("--disable-admission-plugins", "--enable-admission-plugins", "--feature-gates", "--runtime-config")
"""Flags of kube-apiserver that batkube has too."""

_PLUGINS = {"*podtolerationrestriction.Plugin": "PodTolerationRestriction", "*priority.Plugin": "Priority"}
"""Go types of admission plugins, and their names."""


def options(flags: Iterable[str], admission: str) -> list[str]:
    """The options for batkube that such a test asks for."""
    wanted = _PLUGINS.get(admission)
    taken = [f"--enable-admission-plugins={wanted}"] if wanted else []
    for flag in flags:
        name, _, value = flag.partition("=")
        if name == "--disable-admission-plugins":
            value = ",".join(plugin for plugin in value.split(",") if plugin != wanted)
        if name in _TAKEN and value:
            taken.append(f"{name}={value}")
        elif name == "--token-auth-file":
            taken += ["--insecure", "--token", _first_token(Path(value))]
    return taken


def _first_token(file: Path) -> str:
    """Of a file of tokens: lines of token, user, uid, groups."""
    with file.open(newline="") as lines:
        return next(csv.reader(lines))[0]


def main(port: str, kubeconfig: str) -> None:
    words = [sys.executable, "-m", "batkube", "serve", "--api-only", "--port", port, "--kubeconfig", kubeconfig]
    words += options(os.environ["SUITE_SERVER_FLAGS"].splitlines(), os.environ["SUITE_SERVER_ADMISSION"])
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # as for users: the first start leaves bytecode to the next
    os.execv(sys.executable, words)


if __name__ == "__main__":
    main(*sys.argv[1:])
