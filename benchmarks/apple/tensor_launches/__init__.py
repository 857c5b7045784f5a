"""Kernels of tensor operations in PyTorch's library for macOS 26, as its host launches them."""

from __future__ import annotations

from . import attention, convolutions, decompositions, grouped, matrices, rows, triangular
from .run import TensorRun

__all__ = ["TensorRun", "run_of"]


def run_of(kernel: str) -> TensorRun | None:
    """How a kernel is launched, and what it computes; None for one that is not known."""
    for of in (grouped, convolutions, rows, attention, matrices, decompositions, triangular):
        found = of.run_of(kernel)
        if found is not None:
            return found
    return None
