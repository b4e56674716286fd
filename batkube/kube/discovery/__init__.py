"""The descriptions that the server gives of itself: groups, resources, schemas, version, health."""
