"""Workloads as people have them: each format is read by a module of its own, and becomes a workload of Batsim's."""
