"""Named passes over TorqHL: each does one thing, shows it in its docstring, and runs alone."""
