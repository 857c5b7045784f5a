"""Kernels that put elements elsewhere."""
