"""The store in memory, and the watches that follow it (k8s.io/apiserver/pkg/storage)."""
