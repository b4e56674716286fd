"""The verbs of the Kubernetes API, one a module, the same for all kinds.

They work on objects that are decoded already, for requests over HTTP and in process alike, and raise ApiError.
"""
