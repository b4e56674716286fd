"""The comparison of runs by what they mean: figures, pods, decisions, and whether a difference can be told."""
