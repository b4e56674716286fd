"""The way from sockets to verbs: connections, HTTP, paths."""
