"""Kernels that Apple's compiler made beside our own compilation of their source."""
