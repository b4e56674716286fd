"""The group apps: kinds that make pods from a template."""
