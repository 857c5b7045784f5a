"""Kernels that move a window over planes."""
