"""Kernels composed in Python."""
