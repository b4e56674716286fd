"""The verbs of the Kubernetes API, one in each module, the same for all kinds.

They work on decoded objects, for requests over HTTP and in process alike, and raise ApiError.
"""
