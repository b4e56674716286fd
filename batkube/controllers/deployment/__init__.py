"""Deployments: a ReplicaSet for each pod template, scaled up and down step by step (``pkg/controller/deployment``)."""
