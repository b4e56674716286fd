"""Scheduling policies in Python, run inside batkube: ``--scheduler fifo``, ``easy``, or a class of your own.

from batkube.schedulers.policies import Bind, Policy, first_fit

class Mine(Policy):
    def decide(self, cluster):
        for pod in list(cluster.pending.values()):
            for pod, node in first_fit(cluster, [pod]) or ():
                yield Bind(pod, node)
"""

from batkube.schedulers.policies.cluster import Cluster, Gang
from batkube.schedulers.policies.feasibility import admits
from batkube.schedulers.policies.nodes import Node
from batkube.schedulers.policies.placement import Placement, Plan, first_fit, why_waits
from batkube.schedulers.policies.pods import Pod
from batkube.schedulers.policies.policy import Bind, Decision, Policy, Preempt, Unschedulable, WakeUp

__all__ = [
    "Bind",
    "Cluster",
    "Decision",
    "Gang",
    "Node",
    "Placement",
    "Plan",
    "Pod",
    "Policy",
    "Preempt",
    "Unschedulable",
    "WakeUp",
    "admits",
    "first_fit",
    "why_waits",
]
