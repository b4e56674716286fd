"""The group storage.k8s.io."""
