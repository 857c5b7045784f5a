"""Kernels in the cells of notebooks."""
