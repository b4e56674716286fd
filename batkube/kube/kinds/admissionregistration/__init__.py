"""The group admissionregistration.k8s.io: its objects are stored, but no webhook or policy is called."""
