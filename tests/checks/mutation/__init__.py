"""Correct kernels, damaged in every small way: what may go wrong must be reported."""
