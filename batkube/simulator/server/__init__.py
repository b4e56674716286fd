"""Batsim's server and the actors around it: submitters, jobs that run, killers, waiters, hosts that switch."""
