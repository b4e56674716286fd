"""A cluster as it is, made into files that a run replays: its nodes, and its pods with their dates and run times."""
