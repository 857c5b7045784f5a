"""Device models of a graph: groups of operators, their kernels, and a plan of memory."""
