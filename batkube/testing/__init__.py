"""What the pytest plugin is made of: an API server for tests, simulations, and baselines that lie beside tests."""
