"""Cordons a node, and uncordons it after a while: ``cordon.py SERVER NODE SECONDS``."""

import json
import sys
import time
import urllib.request


def set_unschedulable(server: str, node: str, unschedulable: bool) -> None:
    """Cordon or uncordon the node."""
    body = json.dumps({"spec": {"unschedulable": unschedulable}}).encode()
    headers = {"Content-Type": "application/merge-patch+json"}
    request = urllib.request.Request(f"{server}/api/v1/nodes/{node}", body, headers, method="PATCH")
    with urllib.request.urlopen(request) as answer:
        print(f"{node}: unschedulable={unschedulable}: {answer.status}", flush=True)


def main() -> None:
    """Do it; time is simulated, so that nobody waits for it."""
    server, node, seconds = sys.argv[1:]
    set_unschedulable(server, node, True)
    time.sleep(float(seconds))
    set_unschedulable(server, node, False)


if __name__ == "__main__":
    main()
