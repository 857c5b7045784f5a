"""Apple GPUs as data: chips, limits, instructions and memories, with units and sources."""
