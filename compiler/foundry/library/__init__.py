"""Kernels that networks are made of."""

from typing import Final

from . import kernels
from .base import Listed, Ready
from .kernels import argmax, embedding, gemv, layer_norm, rms_norm, rope, softmax, swiglu

KERNELS: Final[dict[str, Listed]] = {**kernels.LISTED}
"""What `assay foundry` lists; each module of the library has its own `LISTED`."""

__all__ = [
    "KERNELS",
    "Listed",
    "Ready",
    "argmax",
    "embedding",
    "gemv",
    "layer_norm",
    "rms_norm",
    "rope",
    "softmax",
    "swiglu",
]
