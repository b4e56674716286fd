"""The options of the simulator, and those of Batsim that mean something to it."""
