"""The common parts of all API objects: errors, names, quantities, times (k8s.io/apimachinery)."""
