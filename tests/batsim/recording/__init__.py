"""Runs of a real Batsim, recorded on inputs of our own: what is run, what the decision process says, what is kept."""
