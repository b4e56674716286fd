"""Rules that results are held to, and invariants that no schedule may break."""
