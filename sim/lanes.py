"""How many lanes a simdgroup has. C code gets the number by its headers."""

LANES = 32
