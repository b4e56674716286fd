"""Time for real processes: the simulated clock, and the means to know that a scheduler has come to rest.

Imports nothing else of batkube. Linux only where it looks into processes.
"""
