"""How long pods take to start and to end: the file that says so, and how it is made from recorded times."""
