"""How long kernels take on an Apple GPU: instructions, cores, memory, occupancy."""
