"""The parts of the pytest plugin: an API server for tests, simulations, and baselines that lie beside tests."""
