"""Kernels that networks are made of."""

from typing import Final

from . import attention as _attention
from . import gemm as gemms
from . import gemv_fused, kernels
from .attention import attention, attention_merge, cache_shape, cache_write, prefill, rope_tables
from .base import Listed, Ready
from .gemm import gemm, marlin, matmul, striped
from .gemv_fused import SWIGLU, fused_gemv, gate_up, qkv, small_batch_gemv
from .kernels import argmax, embedding, gemv, layer_norm, rms_norm, rope, softmax, swiglu

KERNELS: Final[dict[str, Listed]] = {
    **kernels.LISTED,
    **gemms.LISTED,
    **gemv_fused.LISTED,
    **_attention.LISTED,
}
"""What `assay foundry` lists; each module of the library has its own `LISTED`."""

__all__ = [
    "KERNELS",
    "SWIGLU",
    "Listed",
    "Ready",
    "argmax",
    "attention",
    "attention_merge",
    "cache_shape",
    "cache_write",
    "embedding",
    "fused_gemv",
    "gate_up",
    "gemm",
    "gemv",
    "layer_norm",
    "marlin",
    "matmul",
    "prefill",
    "qkv",
    "rms_norm",
    "rope",
    "rope_tables",
    "small_batch_gemv",
    "softmax",
    "striped",
    "swiglu",
]
