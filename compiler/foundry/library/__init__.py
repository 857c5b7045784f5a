"""Kernels that networks are made of."""

from typing import Final

from . import attention as _attention
from . import gemm as gemms
from . import gemv_columns as columns
from . import gemv_fused, kernels, reductions, sampling
from .attention import attention, attention_merge, cache_shape, cache_write, prefill, rope_tables
from .base import Listed, Ready
from .gemm import gemm, marlin, matmul, striped
from .gemv_columns import gemv_columns
from .gemv_fused import GEGLU, SWIGLU, fused_gemv, gate_up, qkv, small_batch_gemv
from .kernels import argmax, embedding, gemv, layer_norm, rms_norm, rope, softmax, swiglu
from .reductions import dequantise, row_max, row_sum
from .sampling import GREEDY, Sampling, choose, penalise, penalised, sample

KERNELS: Final[dict[str, Listed]] = {
    **kernels.LISTED,
    **gemms.LISTED,
    **gemv_fused.LISTED,
    **columns.LISTED,
    **_attention.LISTED,
    **sampling.LISTED,
    **reductions.LISTED,
}
"""What `assay foundry` lists; each module of the library has its own `LISTED`."""

__all__ = [
    "GEGLU",
    "GREEDY",
    "KERNELS",
    "SWIGLU",
    "Listed",
    "Ready",
    "Sampling",
    "argmax",
    "attention",
    "attention_merge",
    "cache_shape",
    "cache_write",
    "choose",
    "dequantise",
    "embedding",
    "fused_gemv",
    "gate_up",
    "gemm",
    "gemv",
    "gemv_columns",
    "layer_norm",
    "marlin",
    "matmul",
    "penalise",
    "penalised",
    "prefill",
    "qkv",
    "rms_norm",
    "rope",
    "rope_tables",
    "row_max",
    "row_sum",
    "sample",
    "small_batch_gemv",
    "softmax",
    "striped",
    "swiglu",
]
