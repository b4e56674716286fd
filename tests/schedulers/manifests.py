"""Nodes and pods for policies, as short as they may be."""

from typing import Any

JSON = dict[str, Any]


def node(name: str, cpu: str = "2", **more: Any) -> JSON:
    return {
        "metadata": {"name": name, "labels": more.get("labels", {})},
        "spec": more.get("spec", {}),
        "status": {"allocatable": {"cpu": cpu, "memory": "4Gi", "pods": "10"}},
    }


def pod(name: str, cpu: str = "1", **more: Any) -> JSON:
    requests = {"cpu": cpu, **more.get("requests", {})}
    return {
        "metadata": {
            "name": name,
            "uid": name,
            "labels": more.get("labels", {}),
            "annotations": more.get("annotations", {}),
        },
        "spec": {
            "schedulerName": "mine",
            "containers": [{"resources": {"requests": requests}}],
            **more.get("spec", {}),
        },
        "status": {"phase": more.get("phase", "Pending")},
    }
