"""Record sessions anew from a kube-apiserver with etcd, or show how batkube's differ.

python -m tests.kubectl record [NAME ...]    writes sessions/*.md; needs `make control-plane tools kubectl-1.34.3`
python -m tests.kubectl check [NAME ...]     exit code 1 where something differs
"""

import argparse
import difflib
import sys

from ..conformance.servers import batkube, kube_apiserver
from ..tools import tools_folder
from .sessions import VERSIONS, file_of, names, played, recorded, versions
from .transcript import parse


def main() -> int:
    """0: as recorded; 1: something differs."""
    parser = argparse.ArgumentParser(prog="kubectl", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("command", choices=["record", "check"])
    parser.add_argument("name", nargs="*", help="sessions; default: all")
    parser.add_argument("--kubectl", action="append", metavar="VERSION", choices=VERSIONS, help="default: all")
    options = parser.parse_intermixed_args()
    action = record if options.command == "record" else check
    chosen = [(name, version) for name in options.name or names() for version in versions(name)]
    outcomes = [action(*each) for each in chosen if not options.kubectl or each[1] in options.kubectl]
    return int(not all(outcomes))


def record(name: str, version: str) -> bool:
    """Write down what the real server makes of a session."""
    session = parse(file_of(name).read_text(encoding="utf-8"))
    with kube_apiserver() as server:
        now = played(session, server, tools_folder() / f"kubectl-{version}")
    file = file_of(name, version)
    if file != file_of(name) and now == recorded(name, VERSIONS[0]):
        file.unlink(missing_ok=True)
    else:
        file.write_text(now.text(), encoding="utf-8")
    print(f"{file.name}: {len(now.steps)} commands", flush=True)
    return True


def check(name: str, version: str) -> bool:
    """Print how batkube's session differs from the recorded one."""
    session = recorded(name, version)
    with batkube(tls=True) as server:
        now = played(session, server, tools_folder() / f"kubectl-{version}")
    for was, got in zip(session.steps, now.steps, strict=True):
        if was != got:
            print(f"{name}, kubectl {version}: $ {was.command}")
            lines = difflib.unified_diff(
                was.output.splitlines(), got.output.splitlines(), "recorded", "batkube", lineterm="", n=1
            )
            print("".join(f"  {line}\n" for line in lines))
    return session == now


if __name__ == "__main__":
    sys.exit(main())
