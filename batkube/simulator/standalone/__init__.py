"""The simulator as a program of its own, in the place of Batsim 4 or 5."""
