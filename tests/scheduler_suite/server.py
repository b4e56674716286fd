"""Becomes batkube for one test, with what the test asks of its API server: `server.py PORT KUBECONFIG`."""

import os
import sys
from collections.abc import Iterable

_TAKEN = ("--disable-admission-plugins", "--enable-admission-plugins", "--feature-gates", "--runtime-config")
"""Flags of kube-apiserver that batkube has too."""

_PLUGINS = {"*podtolerationrestriction.Plugin": "PodTolerationRestriction", "*priority.Plugin": "Priority"}
"""Go types of admission plugins, and their names."""

_ON = "TaintTolerationComparisonOperators"
"""A feature gate that tests turn on in their own process once the server runs."""


def options(flags: Iterable[str], admission: str) -> list[str]:
    """The options for batkube that such a test asks for."""
    wanted = _PLUGINS.get(admission)
    taken = [f"--feature-gates={_ON}=true"]
    if wanted:
        taken.append(f"--enable-admission-plugins={wanted}")
    for flag in flags:
        name, _, value = flag.partition("=")
        if name == "--disable-admission-plugins":
            value = ",".join(plugin for plugin in value.split(",") if plugin != wanted)
        if name in _TAKEN and value:
            taken.append(f"{name}={value}")
    return taken


def main(port: str, kubeconfig: str) -> None:
    words = [sys.executable, "-m", "batkube", "serve", "--api-only", "--port", port, "--kubeconfig", kubeconfig]
    words.append("--no-node-lifecycle")
    words += options(os.environ["SUITE_SERVER_FLAGS"].splitlines(), os.environ["SUITE_SERVER_ADMISSION"])
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # as for users: the first start leaves bytecode to the next
    os.execv(sys.executable, words)


if __name__ == "__main__":
    main(*sys.argv[1:])
