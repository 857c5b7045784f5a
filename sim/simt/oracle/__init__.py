"""The reference engine: one lane at a time, slow and obvious, the oracle of the fast one."""
