"""The rules that are special to each kind (its strategy), by API group."""
