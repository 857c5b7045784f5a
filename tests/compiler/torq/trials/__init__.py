"""Kernels on the emulated slice, each beside the reference and a chain of operators for IREE.

A function of this package runs one kernel and says what should have come out: `expected` by the
reference in NumPy, `iree` as TOSA operators that IREE compiles for the CPU.
"""
