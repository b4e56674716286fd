"""The Job controller (``pkg/controller/job`` of Kubernetes 1.36)."""
