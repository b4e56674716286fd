"""Dates inside the simulator, the present, and what is to happen, by date."""
