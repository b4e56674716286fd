"""Random experiments ("mixes"): a platform, workloads, outages and options from a seed, each a valid input of Batsim.

`python -m tests.mixes` plays them beside a real Batsim and beside the built-in simulator, and compares.
"""
