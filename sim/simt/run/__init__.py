"""Running compiled kernels: memory, dispatches, tapes, and what watchers saw."""
