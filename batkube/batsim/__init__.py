"""Batsim as it is: the messages of its protocol 4.x, its socket and process, its input and output files."""
