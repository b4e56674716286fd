"""A Kubernetes API server in memory, usable alone as a test double.

`server.ApiServer` is the way in. From the outside to the inside:

- `listener` and `connection` (sockets), `endpoint` (HTTP), `routes` and `handlers` (from URLs to verbs);
- `verbs`, one a module, the same for all kinds; `strategy` says what a kind may add, `strategies` and `kinds` have it;
- `store` and `watch`: versions, history, streams;
- `bodies`, `typed`, `protobuf`, `patch` read what comes in, `forms`, `tables`, `answers` write what goes out;
- `resources`, `schema`, `api_types` are what Kubernetes publishes about its kinds, `custom` makes kinds at run time;
- `apply` is server-side apply.
"""
