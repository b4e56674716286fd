#!/usr/bin/env python3
"""A scheduler with a cycle of one second: poll, decide, sleep until the next full second of its clock.

    scheduler.py [--name NAME]

Batch schedulers work like this. Nothing is kept from one cycle to the next: each looks at the cluster anew.
"""

import argparse
import math
import time

from kubernetes import client, config


def cycle(api: client.CoreV1Api, name: str) -> None:
    """Give each waiting pod, oldest first, a node without a pod."""
    pods = api.list_pod_for_all_namespaces().items
    waiting = [pod for pod in pods if pod.spec.scheduler_name == name and not pod.spec.node_name]
    if not waiting:
        return
    used = {pod.spec.node_name for pod in pods if pod.status.phase not in ("Succeeded", "Failed")}
    free = [node.metadata.name for node in api.list_node().items if node.metadata.name not in used]
    waiting.sort(key=lambda pod: (pod.metadata.creation_timestamp, pod.metadata.name))
    for pod, node in zip(waiting, free, strict=False):
        meta = client.V1ObjectMeta(name=pod.metadata.name)
        binding = client.V1Binding(metadata=meta, target=client.V1ObjectReference(kind="Node", name=node))
        api.create_namespaced_pod_binding(pod.metadata.name, pod.metadata.namespace, binding, _preload_content=False)
        print(f"{time.time():.3f} {pod.metadata.name} -> {node}", flush=True)


def main() -> None:
    """Schedule until ended."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--name", default="default-scheduler")
    options = parser.parse_args()
    config.load_kube_config()
    api = client.CoreV1Api()
    while True:
        cycle(api, options.name)
        time.sleep(math.floor(time.time()) + 1 - time.time())


if __name__ == "__main__":
    main()
