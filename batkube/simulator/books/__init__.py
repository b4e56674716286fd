"""The records of the simulation: hosts, jobs and their profiles; the states of machines, their joules and pstates."""
