"""Pod templates: the hash by which Kubernetes tells them apart."""
