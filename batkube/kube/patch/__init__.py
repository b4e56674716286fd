"""The ways to change an object by a patch."""
