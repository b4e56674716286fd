"""The pages of a simulated cluster while it goes on: what happens now, and what its own API has."""
