"""A Kubernetes API server in memory, usable alone as a test double.

`server.ApiServer` is the way in. From the outside to the inside: `listener` (sockets), `endpoint` (HTTP),
`routes` and `handlers` (from URLs to verbs), `verbs` (one a module, the same for all kinds), `strategy` and
`strategies` (what is special to a kind), `store` and `watch` (versions, history, streams), `forms` (the bytes
that go out).
"""
