"""The files that Batsim writes, for an embedded simulation."""
