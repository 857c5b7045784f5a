"""How long a kernel takes on a core: occupancy, issue, memory, and the whole dispatch."""
