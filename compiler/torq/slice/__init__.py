"""Slice programs: kernels written as one loop nest with load, ALU, ACT and store inside."""
