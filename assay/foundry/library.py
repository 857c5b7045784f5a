"""The library's kernels, ready to be called: `softmax(half)(x=scores)`.

They take what the kernels of `assay.compiler.foundry.library` take, and are called by the names of
their arguments; `softmax(half).on("native")` is the same on a Mac's own Metal.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

from assay.compiler.foundry import library as declared

from .kernel import Kernel

P = ParamSpec("P")


def _called(make: Callable[P, declared.Ready]) -> Callable[P, Kernel]:
    """The same, giving a kernel that can be called."""

    @wraps(make)
    def made(*args: P.args, **kwargs: P.kwargs) -> Kernel:
        kernel, grid = make(*args, **kwargs)
        return Kernel(kernel, grid=grid)

    return made


softmax = _called(declared.softmax)
rms_norm = _called(declared.rms_norm)
layer_norm = _called(declared.layer_norm)
rope = _called(declared.rope)
swiglu = _called(declared.swiglu)
argmax = _called(declared.argmax)
gemv = _called(declared.gemv)
embedding = _called(declared.embedding)
gemm = _called(declared.gemm)
marlin = _called(declared.marlin)
matmul = _called(declared.matmul)
attention = _called(declared.attention)
attention_merge = _called(declared.attention_merge)
cache_write = _called(declared.cache_write)
prefill = _called(declared.prefill)
cache_shape = declared.cache_shape
rope_tables = declared.rope_tables
fused_gemv = _called(declared.fused_gemv)
small_batch_gemv = _called(declared.small_batch_gemv)
qkv = _called(declared.qkv)
gate_up = _called(declared.gate_up)
SWIGLU, GEGLU = declared.SWIGLU, declared.GEGLU
gemv_columns = _called(declared.gemv_columns)
dequantise = _called(declared.dequantise)
row_sum = _called(declared.row_sum)
row_max = _called(declared.row_max)
sample = _called(declared.sample)
penalise = _called(declared.penalise)
GREEDY = declared.GREEDY
Sampling = declared.Sampling
choose = declared.choose
penalised = declared.penalised
