"""StatefulSets: pods with names and volumes of their own, one after the other (``pkg/controller/statefulset``)."""
