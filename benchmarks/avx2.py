"""A machine with AVX-512 as one with AVX2 alone: for us, and for OpenBLAS."""

from __future__ import annotations

import os

import llvmlite.binding as llvm

_WIDE = "avx512"
_ALONG = ("gfni", "vaes", "vpclmulqdq", "avx10.1-512", "evex512", "prefer-256-bit")
_CPU = "znver3"
_BLAS = "Haswell"


def limit() -> None:
    """Let this process make code, and those it starts multiply, with AVX2 at most.

    Before anything is compiled. Raises SystemExit where there is no AVX2.
    """
    features = {
        name: has
        for name, has in llvm.get_host_cpu_features().items()
        if not name.startswith(_WIDE) and name not in _ALONG
    }
    if not features.get("avx2"):
        raise SystemExit("--avx2: this machine has no AVX2")
    # LLVM would add what the processor's own name implies.
    llvm.get_host_cpu_features = lambda: llvm.FeatureMap(features)
    llvm.get_host_cpu_name = lambda: _CPU
    os.environ["OPENBLAS_CORETYPE"] = _BLAS
    os.environ[LIMITED] = "1"


LIMITED = "ASSAY_BENCHMARKS_AVX2"


def is_limited() -> bool:
    """Whether `limit` holds here or in the process that started this one."""
    return LIMITED in os.environ
