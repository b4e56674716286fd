"""The rules of the built-in kinds, one kind or group of kinds a module. `strategies.py` has the table."""
