"""Kernels that networks are made of."""

from typing import Final

from . import gemm as gemms
from . import kernels
from .base import Listed, Ready
from .gemm import gemm, marlin, matmul, striped
from .kernels import argmax, embedding, gemv, layer_norm, rms_norm, rope, softmax, swiglu

KERNELS: Final[dict[str, Listed]] = {**kernels.LISTED, **gemms.LISTED}
"""What `assay foundry` lists; each module of the library has its own `LISTED`."""

__all__ = [
    "KERNELS",
    "Listed",
    "Ready",
    "argmax",
    "embedding",
    "gemm",
    "gemv",
    "layer_norm",
    "marlin",
    "matmul",
    "rms_norm",
    "rope",
    "softmax",
    "striped",
    "swiglu",
]
